from functools import cache
from itertools import combinations_with_replacement

import numpy as np
import pytest
from hypothesis import given, strategies as st

import dpselect as dp
from dpselect.percentiles import percentile_rank
from support.placing import nearest, signed_scores

VALUES = range(5)
PERCENTS = [1, 20, 50, 75, 90, 100]
BOTH = [dp.Neighbours.ADD_REMOVE, dp.Neighbours.SUBSTITUTE]
FORMS = ["signed", "interpolated"]
every_form = pytest.mark.parametrize("form", FORMS)


def scores(database, p, neighbours, form="interpolated", candidates=tuple(VALUES)):
    return percentile_rank(
        database, p=p, candidates=candidates, form=form, neighbours=neighbours
    ).scores


@cache
def cached_scores(database, *asked, **options):
    """Return the scores of a sorted database; every one is in many steps."""
    return scores(database, *asked, **options)


def scores_of_step(x, y, *asked, **options):
    return (cached_scores(tuple(sorted(z)), *asked, **options) for z in (x, y))


def steps(neighbours):
    if neighbours is dp.Neighbours.ADD_REMOVE:
        for n in range(4):
            for x in combinations_with_replacement(VALUES, n):
                yield from ((x, (*x, record)) for record in VALUES)
    else:
        for n in range(1, 4):
            for x in combinations_with_replacement(VALUES, n):
                yield from ((x, (*x[:-1], record)) for record in VALUES)


@every_form
@pytest.mark.parametrize("p", PERCENTS)
@pytest.mark.parametrize("neighbours", BOTH, ids=str)
def test_the_bound_is_the_largest_change_of_one_step(p, neighbours, form):
    changes = [
        np.abs(np.subtract(*scores_of_step(x, y, p, neighbours, form))).max()
        for x, y in steps(neighbours)
    ]
    bound = percentile_rank([1], p=p, candidates=[0], neighbours=neighbours).sensitivity.bound

    assert max(changes) == pytest.approx(bound, rel=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("p", PERCENTS)
@pytest.mark.parametrize("neighbours", BOTH, ids=str)
@pytest.mark.parametrize("candidates", [(2,), (1, 3), (0.5, 1, 2.5, 3.5), (3, 0, 2)], ids=str)
def test_interpolation_keeps_the_bound_between_and_beyond_candidates(p, neighbours, candidates):
    bound = percentile_rank([1], p=p, candidates=[0], neighbours=neighbours).sensitivity.bound

    for x, y in steps(neighbours):
        one, other = scores_of_step(x, y, p, neighbours, "signed", candidates=candidates)
        assert np.abs(one - other).max() <= bound + 1e-12


@given(
    values=st.lists(st.integers(-1, 6), max_size=9),
    p=st.integers(1, 100),
    candidates=st.lists(st.integers(0, 10), min_size=1, max_size=6).map(
        lambda c: [x / 2 for x in c]
    ),
)
def test_interpolated_ranks_are_those_of_the_definition(values, p, candidates):
    points = np.unique(candidates)
    places = np.array([nearest(value, points) for value in values], dtype=int)
    of_point = dict(zip(points.tolist(), signed_scores(places, p, points), strict=True))
    expected = np.array([of_point[one] for one in candidates])

    signed, cut = (
        scores(values, p, BOTH[0], form, candidates) for form in ("signed", "interpolated")
    )
    assert signed == pytest.approx(expected)
    assert cut == pytest.approx(np.minimum(expected, 0))


@pytest.mark.parametrize("p", [20, 50, 75])
def test_scores_move_both_ways_so_it_is_not_monotone(p):
    moves = [np.subtract(*scores_of_step(y, x, p, BOTH[0])) for x, y in steps(BOTH[0])]

    assert any(move.min() < 0 < move.max() for move in moves)
    assert not percentile_rank([1], p=p, candidates=[0], neighbours=BOTH[0]).monotone


def test_mechanisms_need_no_other_facts_of_the_objective():
    objective = percentile_rank([1, 2], p=50, candidates=[1, 2], neighbours=BOTH[0])

    assert objective.highest == 0
    assert dp.AnchoredLocalDampening(epsilon=1).for_objective(objective).anchor == 0
    assert dp.ShiftedLocalDampening(epsilon=1).for_objective(objective).direction is not None
