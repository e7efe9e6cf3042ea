"""Range counts against a comparison of every pair."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as hnp

from dpselect.combine.pareto import dominance, dominance_kernels as kernels

halves = st.integers(-6, 6).map(lambda q: q / 2)


@st.composite
def points_and_queries(draw, *, coordinates=None):
    m = draw(st.integers(1, 5)) if coordinates is None else coordinates
    n, q = draw(st.integers(1, 40)), draw(st.integers(1, 20))
    return (
        draw(hnp.arrays(float, (m, n), elements=halves)),
        draw(hnp.arrays(float, (m, q), elements=halves)),
    )


def at_least(points, queries):
    return (points[:, None, :] >= queries[:, :, None]).all(axis=0).sum(axis=1)


@given(points_and_queries())
def test_counts_equal_those_of_all_pairs(drawn):
    points, queries = drawn

    assert (dominance.count_at_least(points, queries) == at_least(points, queries)).all()


@given(points_and_queries())
def test_strict_counts_equal_those_of_all_pairs(drawn):
    points, queries = drawn
    expected = (points[:, None, :] > queries[:, :, None]).all(axis=0).sum(axis=1)

    assert (dominance.count_above(points, queries) == expected).all()


@given(points_and_queries(coordinates=2))
def test_the_sweep_counts_small_problems_too(drawn):
    assert (dominance._in_two(*drawn) == at_least(*drawn)).all()


@given(points_and_queries(coordinates=3))
def test_divide_and_conquer_counts_small_problems_too(drawn):
    assert (dominance._in_three(*drawn) == at_least(*drawn)).all()


@pytest.mark.parametrize("coordinates", [2, 3, 4])
def test_all_algorithms_agree_on_a_large_problem_with_ties(coordinates):
    points = np.random.default_rng(0).integers(0, 60, (coordinates, 3_000)).astype(float)
    queries = points[:, ::2] + 0.5

    assert (dominance.count_at_least(points, queries) == at_least(points, queries)).all()
    assert (kernels.compare_all(points, queries) == at_least(points, queries)).all()


@given(points_and_queries())
def test_dominators_are_better_somewhere_and_worse_nowhere(drawn):
    scores, _ = drawn
    noworse = (scores[:, None, :] >= scores[:, :, None]).all(axis=0)
    better = (scores[:, None, :] > scores[:, :, None]).any(axis=0)

    assert (dominance.dominators(scores) == (noworse & better).sum(axis=1)).all()
    assert (dominance.dominators(scores, "weak") == noworse.sum(axis=1) - 1).all()
    everywhere = (scores[:, None, :] > scores[:, :, None]).all(axis=0)
    assert (dominance.dominators(scores, "strict") == everywhere.sum(axis=1)).all()


def test_alike_numbers_equal_columns_equally():
    groups, first = dominance.alike(np.array([[1.0, 2.0, 1.0, 1.0], [0.0, 0.0, 0.0, 5.0]]))

    assert groups[0] == groups[2]
    assert len(set(groups)) == 3
    assert (groups[first] == np.arange(3)).all()


@given(
    hnp.arrays(np.float64, st.integers(1, 40), elements=st.floats(-3, 3, width=16)),
    hnp.arrays(np.float64, st.integers(1, 40), elements=st.floats(-3, 3, width=16)),
)
def test_points_and_queries_are_placed_as_sorting_and_searching_do(points, queries):
    order, places, below = kernels.place(points, queries)

    assert sorted(order) == list(range(points.size))
    assert (np.diff(points[order]) >= 0).all()
    assert (order[places] == np.arange(points.size)).all()
    assert (below == np.searchsorted(np.sort(points), queries)).all()


def test_places_know_the_signs_of_zero_and_both_infinities():
    points = np.array([0.0, -0.0, -1e-320, 1e-320, 1e308, -1e308])

    below = kernels.place(points, np.array([-np.inf, -0.0, 0.0, np.inf]))[2]

    assert below.tolist() == [0, 2, 2, 6]
