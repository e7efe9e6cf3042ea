"""Percentiles by AboveThreshold: private on every small database, over its candidates."""

from itertools import combinations_with_replacement

import numpy as np
import pytest

import dpselect as dp
from dpselect.draws.above_threshold import log_probability
from dpselect.percentiles.methods import Draws
from dpselect.percentiles.reading import Records, counts_of
from dpselect.percentiles.sparse_vector import ByThreshold
from support.neighbours import are_neighbours
from support.ranks import law_of, log_law_of_stops

EPSILON, POINTS = 1.2, np.array([0.0, 1.0, 2.0])
BOTH = [dp.Neighbours.ADD_REMOVE, dp.Neighbours.SUBSTITUTE]
SMALL = [x for n in range(5) for x in combinations_with_replacement(range(4), n)]


def single(p, relation, *, upwards, points=POINTS, epsilon=EPSILON, assumed=10):
    return ByThreshold((p,), points, Records(relation), epsilon, upwards, assumed)


def log_law(database, by, scales=None):
    """Return the logarithms of the probabilities of every stop, the last of none."""
    [queries] = np.asarray(by.queries(counts_of(np.array(database, dtype=float), by.points)))
    return log_law_of_stops(queries, by.threshold, scales or by.scales)


def report(by, scales=None):
    universe = [x for x in SMALL if x or by.records.neighbours is BOTH[0]]
    return dp.audit.check_private(
        lambda x: log_law(x, by, scales),
        universe,
        are_neighbours(by.records.neighbours),
        EPSILON,
        log=True,
    )


@pytest.mark.slow
@pytest.mark.parametrize("relation", BOTH, ids=str)
@pytest.mark.parametrize("upwards", [True, False], ids=["up", "down"])
@pytest.mark.parametrize("p", [10, 50, 90])
def test_it_is_private_on_every_small_database(p, upwards, relation):
    found = report(single(p, relation, upwards=upwards))

    assert found.ok, str(found)
    assert found.pairs == (140 if relation is BOTH[0] else 210)
    assert found.loss > 0.5 * EPSILON


class Told(Draws):
    """Draws of which one stop is told; what was asked is kept."""

    def __init__(self, at):
        self.at = at

    def first_above(self, queries, threshold, scales):
        self.asked = np.asarray(queries)[0], threshold, *scales, 1
        return np.array([self.at])


@pytest.mark.parametrize("upwards", [True, False], ids=["up", "down"])
def test_a_draw_has_the_law_that_is_stated(upwards):
    by = single(50, BOTH[0], upwards=upwards, points=np.arange(8.0), epsilon=2.0)
    counts, found = counts_of(np.array([0.0, 1, 1, 2, 3, 7]), by.points), np.zeros(8)
    for at in range(9):
        told = Told(at)
        [[value]] = by.draw(counts, np.zeros(1), told)
        found[int(value)] += np.exp(log_probability(*told.asked, (at,) if at < 8 else ()))

    assert found == pytest.approx(law_of(by, counts))


@pytest.mark.slow
@pytest.mark.parametrize("high", [1e6, None])
@pytest.mark.parametrize("low", [0, -1e6, None])
@pytest.mark.parametrize("value", [0, 3, -7, 1e5, 7e9])
def test_no_end_needs_to_be_known(low, high, value):
    query = dp.Percentiles(
        p=95, lower=low, upper=high, step=0.5, epsilon=2.0, neighbours="add-remove",
    )  # fmt: skip
    release = query.release([value] * 1000)
    reached = min(max(value, -np.inf if low is None else low), high or np.inf)

    assert "AboveThreshold" in release.chosen
    assert abs(release.candidate - reached) <= 0.02 * abs(reached) + 0.5


def test_raised_thresholds_leave_the_loss_as_it_is():
    close = single(90, BOTH[0], upwards=False, points=np.arange(1, 13) / 4, assumed=2)
    close.__dict__["growth"] = 2.0

    assert close.raised.max() > 0
    assert report(close).ok
