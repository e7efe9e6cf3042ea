from itertools import combinations_with_replacement, product
from math import inf, nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpselect as dp
from dpselect.errors import DataError, NeighboursError, ParameterError
from dpselect.percentiles import percentile_rank, rank_of

VALUES = range(5)
PERCENTS = [1, 20, 50, 75, 90, 100]
BOTH = [dp.Neighbours.ADD_REMOVE, dp.Neighbours.SUBSTITUTE]


def scores(database, p, neighbours):
    return percentile_rank(database, p=p, candidates=list(VALUES), neighbours=neighbours).scores


def steps(neighbours):
    if neighbours is dp.Neighbours.ADD_REMOVE:
        for n in range(5):
            for x in combinations_with_replacement(VALUES, n):
                yield from ((x, (*x, record)) for record in VALUES)
    else:
        for n in range(1, 5):
            for x in combinations_with_replacement(VALUES, n):
                yield from ((x, (*x[:-1], record)) for record in VALUES)


@pytest.mark.parametrize("p", PERCENTS)
@pytest.mark.parametrize("neighbours", BOTH, ids=str)
def test_the_bound_is_the_largest_change_of_one_step(p, neighbours):
    changes = [
        np.abs(scores(x, p, neighbours) - scores(y, p, neighbours)).max()
        for x, y in steps(neighbours)
    ]
    bound = percentile_rank([1], p=p, candidates=[0], neighbours=neighbours).sensitivity.bound

    assert max(changes) == pytest.approx(bound, rel=1e-12)


@pytest.mark.parametrize("p", [20, 50, 75])
@pytest.mark.parametrize("neighbours", BOTH, ids=str)
def test_the_audit_passes_the_objective(p, neighbours):
    sizes = range(5) if neighbours is dp.Neighbours.ADD_REMOVE else [3]
    universe = [x for n in sizes for x in product(range(3), repeat=n)]
    if neighbours is dp.Neighbours.ADD_REMOVE:
        universe = sorted({tuple(sorted(x)) for x in universe})
    report = dp.audit.check_admissible(
        lambda x: percentile_rank(x, p=p, candidates=[0, 1, 2], neighbours=neighbours),
        universe,
        neighbours,
        scalings={"by_global": dp.scaling.by_global},
    )

    assert report.ok, str(report)


@pytest.mark.parametrize("p", [20, 50, 75])
def test_scores_move_both_ways_so_it_is_not_monotone(p):
    moves = [scores(y, p, BOTH[0]) - scores(x, p, BOTH[0]) for x, y in steps(BOTH[0])]

    assert any(move.min() < 0 < move.max() for move in moves)
    assert not percentile_rank([1], p=p, candidates=[0], neighbours=BOTH[0]).monotone


@given(
    values=st.lists(st.integers(0, 4), min_size=1, max_size=9),
    p=st.integers(1, 100),
    neighbours=st.sampled_from(BOTH),
)
def test_the_percentile_itself_has_the_best_score(values, p, neighbours):
    best = scores(values, p, neighbours)
    k = rank_of(p, len(values))
    score = best[sorted(values)[k - 1]]

    assert score == best.max()
    if p * (len(values) + 1) <= 100 * len(values):
        assert score == 0


def test_a_missing_value_is_dropped_or_counts_as_zero():
    def of(values, neighbours):
        return scores(values, 50, neighbours).tolist()

    for missing in (nan, None):
        assert of([3, missing, 4], BOTH[0]) == of([3, 4], BOTH[0])
        assert of([3, missing, 4], BOTH[1]) == of([3, 0, 4], BOTH[1])
    with pytest.raises(DataError, match="a value is missing"):
        percentile_rank([nan], p=50, candidates=[1], neighbours=BOTH[0], on_invalid="raise")


def test_infinite_values_have_a_rank():
    assert (
        scores([inf, -inf, 2], 50, BOTH[0]).tolist() == scores([4, 0, 2], 50, BOTH[0]).tolist()
    )


def test_no_record_is_a_database_where_their_number_is_private():
    assert scores([], 50, BOTH[0]).tolist() == [-0.5] * 5
    with pytest.raises(DataError, match="at least one record"):
        scores([], 50, BOTH[1])


@pytest.mark.parametrize("candidates", [[], [nan], [inf, 1], [[1, 2]], ["a"]], ids=str)
def test_candidates_are_finite_numbers(candidates):
    with pytest.raises(ParameterError, match="candidates must be"):
        percentile_rank([1], p=50, candidates=candidates, neighbours=BOTH[0])


def test_relations_are_accepted_by_name():
    for relation in BOTH:
        by_name = percentile_rank([1, 2], p=90, candidates=[1], neighbours=str(relation))
        assert by_name.neighbours is relation


@pytest.mark.parametrize("neighbours", [dp.Neighbours.EDGE, "swap", "nobody", None])
def test_other_relations_are_refused(neighbours):
    with pytest.raises(NeighboursError, match="neighbours"):
        percentile_rank([1], p=50, candidates=[1], neighbours=neighbours)


def test_mechanisms_need_no_other_facts_of_the_objective():
    objective = percentile_rank([1, 2], p=50, candidates=[1, 2], neighbours=BOTH[0])

    assert objective.highest == 0
    assert dp.AnchoredLocalDampening(epsilon=1).for_objective(objective).anchor == 0
    assert dp.ShiftedLocalDampening(epsilon=1).for_objective(objective).direction is not None
