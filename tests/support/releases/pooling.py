"""Releases of the outcomes of pooled tests: flipped, and with replaced samples."""

from functools import partial

import numpy as np

from dpselect.neighbours import Neighbours
from dpselect.pooling import (
    IndependentNoise,
    array_2d,
    draw_replaced,
    draw_swapped,
    outcomes,
    plan_outcomes,
    plan_replaced,
    plan_swapped,
    release_outcomes,
)
from dpselect.release import Release
from support.releases import ReleaseCase

DESIGN = array_2d(12, rows=3, columns=4)
FLIP = 0.2


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
    first, second = statuses_swapped(rng)
    return outcomes(DESIGN, first), outcomes(DESIGN, second)


def flipped(relation, pair):
    public = {"design": DESIGN, "flip": FLIP, "neighbours": relation}
    return ReleaseCase(
        name=f"release_outcomes, {relation}",
        neighbours=relation,
        release=lambda tested, budget: release_outcomes(tested, budget=budget, **public),
        plan=partial(plan_outcomes, **public),
        pair=pair,
    )


def pooled_with_replaced(status, budget):
    """What the lab sees: the outcomes once some samples are known positives."""
    replaced = draw_replaced(people=12, beta=6, budget=budget)
    seen = outcomes(DESIGN, status | np.isin(np.arange(12), replaced.positions))
    return Release(tuple(map(bool, seen)), replaced.plan, exact=True)


NOISE = {
    "design": DESIGN,
    "noise": IndependentNoise(0.1, 0.3),
    "epsilon": 2.0,
    "neighbours": Neighbours.SUBSTITUTE,
}


def with_pools_exchanged(tested, budget):
    """What the lab sees once some pools are clean and some contaminated."""
    drawn = draw_swapped(**NOISE, budget=budget)
    seen = np.where(np.equal(drawn.states, 2), tested, np.equal(drawn.states, 1))
    return Release(tuple(map(bool, seen)), drawn.plan, exact=True)


CASES = [
    flipped(Neighbours.SUBSTITUTE, one_status_changed),
    flipped(Neighbours.SWAP, outcomes_swapped),
    ReleaseCase(
        name="draw_replaced",
        neighbours=Neighbours.SWAP,
        release=pooled_with_replaced,
        plan=partial(plan_replaced, people=12, beta=6),
        pair=statuses_swapped,
        delta=0.5,
    ),
    ReleaseCase(
        name="draw_swapped",
        neighbours=Neighbours.SUBSTITUTE,
        release=with_pools_exchanged,
        plan=partial(plan_swapped, **NOISE),
        pair=one_status_changed,
        delta=plan_swapped(**NOISE).delta,
    ),
]
