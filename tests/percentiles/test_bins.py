"""Percentiles of noisy counts of few bins: what a step changes, and right exact counts."""

from functools import cache
from itertools import combinations, combinations_with_replacement

import numpy as np
import polars as pl
import pytest

import dpselect as dp
from dpselect.percentiles.methods import FEWEST, MOST, ByBins
from dpselect.percentiles.reading import Records, counts_of
from dpselect.tables.people import PeopleCap
from support.neighbours import are_neighbours

BOTH = [dp.Neighbours.ADD_REMOVE, dp.Neighbours.SUBSTITUTE]
POINTS = np.arange(0.0, 40)
DECILES = tuple(float(p) for p in range(10, 100, 10))


def bins(relation, *, points=POINTS, users=None, epsilon=1.0, assumed=10.0, p=DECILES):
    of = Records(relation, "v" if users else None, users)
    return ByBins(p, points, of, epsilon, assumed)


def counts(by, database):
    return by.held(counts_of(np.array(database, dtype=float), by.points))


@pytest.mark.parametrize("relation", BOTH, ids=str)
def test_a_step_changes_the_counts_by_so_much_and_no_more(relation):
    """All pairs of databases of at most 4 records, over values in, between and beyond bins."""
    by = bins(relation)
    values = [-3, 0, 0.5, 17, 38, 99]
    universe = [x for n in range(5) for x in combinations_with_replacement(values, n)]
    near = are_neighbours(relation)
    changes = [
        int(abs(counts(by, one) - counts(by, other)).sum())
        for one, other in combinations(universe, 2)
        if near(one, other)
    ]

    assert max(changes) == by.records.changed
    assert by.scale * 1.0 >= by.records.changed


@pytest.mark.parametrize("relation", BOTH, ids=str)
def test_a_person_changes_as_much_for_each_record(relation):
    """One person of up to 3 rows more, or another: of at most 2 that count."""
    by = bins(relation, users=PeopleCap("who", 2))
    kinds = [rows for n in range(4) for rows in combinations_with_replacement((0, 17, 38), n)]
    of_step = combinations(kinds, 2) if relation is BOTH[1] else ((one, ()) for one in kinds)

    @cache
    def counted(rows):
        table = pl.DataFrame(
            {"who": ["ada"] * len(rows) + ["bob"] * 2, "v": [*rows, 17, 38]},
            schema={"who": pl.String, "v": pl.Float64},
        )
        return by.held(by.records.counted(table, by.points))

    changes = [int(abs(counted(one) - counted(other)).sum()) for one, other in of_step]

    assert max(changes) == by.records.changed


@pytest.mark.parametrize(("records", "found"), [(1, FEWEST), (300, 100), (10**6, MOST)])
def test_bins_are_as_many_as_records_and_epsilon_can_pay_for(records, found):
    by = bins(BOTH[0], points=np.arange(1e5), assumed=records)

    assert 0.8 * found <= by.ends.size <= 1.1 * found
    assert by.ends[-1] == 99_999


@pytest.mark.parametrize("points", [[7], [0, 1], [-10, 0, 10, 1e6], range(1, 17)], ids=str)
def test_exact_counts_of_few_candidates_are_the_percentiles(points):
    """Those of ``numpy.percentile``, between two records the one that is nearer."""
    points, rng = np.array(points, dtype=float), np.random.default_rng(0)
    by = bins(BOTH[0], points=points, epsilon=10.0, p=(1.0, *DECILES, 99.0, 100.0))
    for number in (1, 2, 10, 999):
        values = np.sort(rng.choice(points, number))
        ends = [np.percentile(values, by.percents, method=end) for end in ("lower", "higher")]
        [found] = by.answers(counts(by, values))

        assert np.all((ends[0] <= found) & (found <= ends[1]))


def test_negative_counts_are_made_up_by_all_others_alike():
    """The nearest without one are 5 1/3, 7 1/3, 0 and 6 1/3; wanted are 5.7 and 12.7 of 19."""
    by = bins(BOTH[0], points=np.arange(4.0), p=(29.0, 68.0))

    assert by.answers(np.array([[6, 8, -2, 7]])).tolist() == [[1.0, 3.0]]


def test_percentiles_of_nobody_are_not_at_an_end():
    """They are those of the bins: quartiles of empty groups were the smallest value."""
    by = bins(BOTH[0], points=np.arange(16.0), p=(25.0, 50.0, 75.0))

    assert by.answers(np.zeros((1, 16), dtype=np.int64)).tolist() == [[4.0, 7.0, 11.0]]


def test_steps_are_told_apart_far_from_zero():
    """What floats lose was taken to be a step of .001 at 10^9, so answers were one below."""
    by = bins(BOTH[0], points=10**9 + np.array([0, 0.001]), p=(30.0, 50.0))

    assert by.answers(np.array([[0, 3]])).tolist() == [[10**9 + 0.001] * 2]
