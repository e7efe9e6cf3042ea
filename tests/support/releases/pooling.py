"""Releases of the outcomes of pooled tests: flipped, and with the collector's noise."""

import numpy as np

from dpselect.neighbours import Neighbours
from dpselect.release import Release
from dpselect_conformance import ReleaseCase
from dpselect_pooling import PooledOutcomes, ReplacedSamples, SwappedPools, array_2d, outcomes

DESIGN = array_2d(12, rows=3, columns=4)


def one_status_changed(rng):
    """Outcomes of two lists of statuses, one of which has one positive more."""
    status = rng.random(12) < 0.2
    other = status ^ (np.arange(12) == rng.integers(12))
    return outcomes(DESIGN, status), outcomes(DESIGN, other)


def statuses_swapped(rng):
    """Two lists of statuses with three positives each, one swap apart."""
    *positives, stranger = rng.choice(12, 4, replace=False)
    people = np.arange(12)
    return np.isin(people, positives), np.isin(people, [*positives[1:], stranger])


def outcomes_swapped(rng):
    return [outcomes(DESIGN, status) for status in statuses_swapped(rng)]


def flipped(relation, pair):
    query = PooledOutcomes(matrix=DESIGN, flip=0.2, neighbours=relation)
    return ReleaseCase(f"PooledOutcomes, {relation}", query, pair)


REPLACED = ReplacedSamples(people=12, beta=6)


def pooled_with_replaced(status, budget):
    """What the lab sees: the outcomes once some samples are known positives."""
    replaced = REPLACED.draw(budget=budget)
    seen = outcomes(DESIGN, status | np.isin(np.arange(12), replaced.answer))
    return Release(tuple(map(bool, seen)), replaced.plan)


SWAPPED = SwappedPools(
    matrix=DESIGN, clean=0.1, contaminated=0.3, epsilon=2.0, neighbours="substitute"
)


def with_pools_exchanged(tested, budget):
    """What the lab sees once some pools are clean and some contaminated."""
    drawn = SWAPPED.draw(budget=budget)
    seen = np.where(np.equal(drawn.answer, 2), tested, np.equal(drawn.answer, 1))
    return Release(tuple(map(bool, seen)), drawn.plan)


def drawn_before(query, pair, run):
    """Return the case of a query whose answer stays with the collector."""
    stated = {"delta": query.plan.delta, "secret": True}
    return ReleaseCase(type(query).__name__, query, pair, run=run, **stated)


CASES = [
    flipped(Neighbours.SUBSTITUTE, one_status_changed),
    flipped(Neighbours.SWAP, outcomes_swapped),
    drawn_before(REPLACED, statuses_swapped, pooled_with_replaced),
    drawn_before(SWAPPED, one_status_changed, with_pools_exchanged),
]
