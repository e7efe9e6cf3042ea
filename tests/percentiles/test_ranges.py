"""Ranges of candidates that are not listed: cells, and draws within them."""

from itertools import combinations_with_replacement

import numpy as np
import pytest

import dpselect as dp
from dpselect.percentiles import choice
from dpselect.percentiles.candidates import Range, around
from dpselect.percentiles.choice import Refined
from dpselect.percentiles.methods import ByRank, Draws
from dpselect.percentiles.reading import Records
from support.neighbours import are_neighbours
from support.refusals import refused

BOTH = [dp.Neighbours.ADD_REMOVE, dp.Neighbours.SUBSTITUTE]
EPSILON = 1.5


class Law(Draws):
    """The law of the one draw that is asked for, and the first of its outcomes."""

    def largest(self, scores, epsilon):
        objective = dp.Objective(np.array(scores)[0], dp.GlobalSensitivity(1, BOTH[0]))
        self.law = dp.PermuteAndFlip(epsilon=epsilon).probabilities(objective)
        return np.array([0])


def loss(relation, p, price=0.5):
    """Return the report of a cell and the candidate in it together, of small databases."""
    records, points = Records(relation), Range(-2, 12, 1)
    within = Refined((p,), points, records, EPSILON * 0.5)
    cells = ByRank((p,), within.first, records, EPSILON * price)

    def law(database):
        places, both = records.counted(np.array(database, dtype=float), points), []
        of_cells = cells.probabilities(places.in_cells(within.edges))
        for chance, first, low, high in zip(
            of_cells, within.first, within.edges, within.edges[1:], strict=False
        ):
            by = Law()
            within.draw(np.array([[first]]), places, by)
            both.append(chance * by.law[low:high])
            assert by.law[low:high].sum() == pytest.approx(1)
        return np.concatenate(both)

    some = [x for n in range(1, 4) for x in combinations_with_replacement((-9, 1, 4, 8, 11), n)]
    universe = [(), *some] if relation is BOTH[0] else some
    return dp.audit.check_private(law, universe, are_neighbours(relation), EPSILON)


@pytest.mark.parametrize("relation", BOTH, ids=str)
@pytest.mark.parametrize("p", [50, 100, pytest.param(10, marks=pytest.mark.slow)])
def test_a_cell_and_the_candidate_in_it_are_private(p, relation, monkeypatch):
    monkeypatch.setattr(choice, "CELLS", 2)
    found = loss(relation, p)

    assert found.ok, str(found)
    assert found.loss > 0.5 * EPSILON
    assert not loss(relation, p, price=1.0).ok


@pytest.mark.parametrize(
    "points", [Range(-50, 10**6, 0.1), Range(0, 10**15, 1), Range(-3, -1, 1e-6)]
)
def test_cells_grow_away_from_zero_and_have_every_position_once(points):
    edges = points.cells(2**10)
    low, high = points[edges[:-1]], points[edges[1:] - 1]
    away = np.minimum(np.abs(low), np.abs(high))
    origin = min(max(0, points.lower), points[len(points) - 1])

    assert (edges[0], edges[-1]) == (0, len(points))
    assert (np.diff(edges) > 0).all()
    assert edges.size < 2_200
    assert ((high - low) <= 0.1 * np.abs(away - abs(origin)) + points.step).all()


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
