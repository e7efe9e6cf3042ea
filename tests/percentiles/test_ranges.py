"""Ranges of candidates that are not listed: cells, and draws within them."""

from itertools import combinations_with_replacement, product

import numpy as np
import pytest

import dpselect as dp
from dpselect.percentiles import choice
from dpselect.percentiles.candidates import Range, around, cells
from dpselect.percentiles.choice import Around
from dpselect.percentiles.methods import ByRank, Draws
from dpselect.percentiles.reading import Records
from support.neighbours import are_neighbours
from support.refusals import refused

BOTH = [dp.Neighbours.ADD_REMOVE, dp.Neighbours.SUBSTITUTE]
EPSILON = 1.5


class Laws(Draws):
    """The laws of draws by rank, of which the first outcomes are given."""

    def __init__(self, *outcomes):
        self.outcomes, self.laws = [*outcomes], []

    def largest(self, scores, epsilon):
        objective = dp.Objective(np.array(scores)[0], dp.GlobalSensitivity(1, BOTH[0]))
        self.laws.append(dp.PermuteAndFlip(epsilon=epsilon).probabilities(objective))
        return np.array([self.outcomes.pop(0) if self.outcomes else 0])


class ByRanks(Around):
    """All draws are by rank."""

    first, last, price = 0.3, 0.3, 0.4

    @property
    def inner(self):
        return ByRank(self.percents, self.edges[:-1] * 1.0, self.records, self.price * EPSILON)


def loss(relation, p, **shares):
    """Return the report of all draws in a range together, of small databases."""
    points, records = Range(-2, 12, 1), Records(relation)
    made = type("Made", (ByRanks,), shares)((p,), points, records, EPSILON, 1.0)
    starts, ends = made._zero[1].size - 1, made.edges.size - 1

    def law(database):
        counts, every = records.counted(np.array(database, dtype=float), points), []
        for drawn in product(range(starts), range(ends)):
            by = Laws(*drawn)
            made.draw(counts, counts.numbers, by)
            chances = [of[at] for of, at in zip(by.laws, drawn, strict=False)]
            every.append(np.prod(chances) * by.laws[-1])
        assert np.sum(every) == pytest.approx(1)
        return np.concatenate(every)

    some = [x for n in range(1, 3) for x in combinations_with_replacement((-9, 4, 11), n)]
    universe = [(), *some] if relation is BOTH[0] else some
    return dp.audit.check_private(law, universe, are_neighbours(relation), EPSILON)


@pytest.mark.parametrize("relation", BOTH, ids=str)
@pytest.mark.parametrize("p", [50, 100])
def test_a_start_a_cell_and_the_candidate_in_it_are_private(p, relation, monkeypatch):
    monkeypatch.setattr(choice, "CELLS", 2)
    found = loss(relation, p)

    assert found.ok, str(found)
    assert found.loss > 0.5 * EPSILON
    assert not any(loss(relation, p, **{share: 1.0}).ok for share in ("first", "last", "price"))


@pytest.mark.parametrize(("below", "above"), [(500, 10**7), (0, 10**15), (10**6, 1)])
def test_cells_grow_away_from_zero_and_have_every_position_once(below, above):
    edges = cells(below, above, 2**10)
    low, high = edges[:-1], edges[1:] - 1

    assert (edges[0], edges[-1]) == (-below, above)
    assert (np.diff(edges) > 0).all()
    assert edges.size < 2_200
    assert ((high - low) <= 0.1 * np.minimum(np.abs(low), np.abs(high)) + 1).all()


def test_listed_candidates_grow_away_from_zero():
    for points in (np.arange(-500, 10**6) / 10, np.geomspace(1e-3, 1e6, 5000), np.arange(7.0)):
        some = points[around(points, 100)]

        assert (some[0], some[-1]) == (points[0], points[-1])
        assert some.size <= 203
    assert around(np.array([3.0]), 100).tolist() == [0]


@pytest.mark.parametrize("upper", [None, 7, np.inf])
@pytest.mark.parametrize("lower", [None, -np.inf])
def test_a_range_without_a_lower_end_can_be_written_down(lower, upper):
    query = dp.Percentiles(
        p=50, lower=lower, upper=upper, step=1, epsilon=1.0, neighbours="add-remove"
    )

    assert query.design().points.lower < -(10**14)
    assert dp.Query.from_json(query.to_json()) == query


def test_listed_integers_are_those_that_floats_hold():
    """2^53 + 1 was counted as 2^53."""
    for listed in ([2**53, 2**53 + 1], [-(2**53) - 1, 0], [2**60 + 1]):
        with refused("candidates"):
            dp.Percentiles(candidates=listed, p=50, epsilon=1.0, neighbours="add-remove")


@pytest.mark.parametrize(
    ("values", "upper", "epsilon"),
    [
        ([123_456_789] * 20, 2 * 10**8, 1e3),
        ([123_456_789] * 9 + [5] * 4, 2 * 10**8, 1e3),
        *(([5 * 10**14] * 51, None, epsilon) for epsilon in (1e2, 1e6)),
        *((5e14 + 2e9 * (np.arange(51) - 25), None, epsilon) for epsilon in (1e4, 1e9)),
    ],
)
def test_records_in_a_wide_cell_are_found(values, upper, epsilon):
    """Equal ones, and those that have the next ones far away."""
    query = dp.Percentiles(p=50, upper=upper, step=1, epsilon=epsilon, neighbours=BOTH[0])

    assert {query.release(values).answer for _ in range(5)} == {
        (sorted(values)[len(values) // 2],)
    }


@pytest.mark.parametrize("p", [1, 99, (1, 99), (*range(10, 100, 10),)])
@pytest.mark.parametrize("records", [1_000, 10_000])
def test_one_day_of_thirty_years_is_told_to_the_hour(p, records):
    """Cells from 0 on were two days wide there, and a tenth of epsilon chose in them."""
    day = 12_780_000 + 1_440 * np.arange(records) / records
    query = dp.Percentiles(p=p, upper=15_778_800, step=1, epsilon=1.0, neighbours=BOTH[0])
    far = [
        np.abs(np.array(query.release(day).answer) - np.percentile(day, p)).max()
        for _ in range(9)
    ]

    assert np.median(far) <= 60 if records > 1_000 else 240
