"""Range counts against a comparison of every pair."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from dpselect.combine.fronts import dominance, dominance_kernels as kernels


@st.composite
def points_and_queries(draw, *, coordinates=None):
    m = draw(st.integers(1, 5)) if coordinates is None else coordinates
    rng, far = np.random.default_rng(draw(st.integers(0, 2**32))), draw(st.integers(0, 6))
    sizes = draw(st.integers(1, 40)), draw(st.integers(1, 20))
    return tuple(rng.integers(-far, far + 1, (m, size)) / 2 for size in sizes)


def at_least(points, queries):
    return (points[:, None, :] >= queries[:, :, None]).all(axis=0).sum(axis=1)


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
