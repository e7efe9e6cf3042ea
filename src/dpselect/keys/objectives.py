"""Objectives over keys: counts of public candidates, or of the most common keys.

Where the candidates are not public, they are the ``k̄`` keys of the largest counts, ties in a
fixed order of the keys, and a candidate to stop at (``STOP``) whose score is

    h_(k̄ + 1) + c,
    c = 1 + (1/η) ln(b (1 - δ)/δ),
    b = min(m, k̄),

for an exponential mechanism with weights ``e^(η h)``. Draws without replacement go on until
``k`` keys or the stop. Where fewer than ``k̄`` keys have a count, the rest are dummies of count
0 that nobody has, and a dummy stops too. The release of ``k`` draws is ``(kη, δ)``-DP for one
person who is added or removed and changes ``m`` counts by one (``docs/methods.md`` has the
proof, which gives the constant exactly).

Source: Durfee and Rogers, NeurIPS 2019, arXiv:1905.04273, Algorithm 1, which has ``ln(b / δ)``.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from enum import Enum
from math import ceil, exp, log, log1p
from typing import TYPE_CHECKING

import numpy as np

from dpselect.neighbours import Neighbours
from dpselect.objective import Objective
from dpselect.sensitivity import GlobalSensitivity
from dpselect.typing import Indices, Probabilities

if TYPE_CHECKING:
    from dpselect.keys.counts import Counted

STEP = 2.0**-16
"""The offset of the stop is a multiple of it, so that scores are exact on the draws' grid."""

ROUNDING = 1e-5
"""Relative; twice what the grid takes off the weights' exponent (``dpselect.draws.grid``)."""


class Stop(Enum):
    """The candidate that ends a release of keys that are not public."""

    STOP = "stop"

    def __repr__(self) -> str:
        return "STOP"


STOP = Stop.STOP
"""Drawn in place of a key, it ends the release."""


def by_count(
    people: Indices, candidates: Sequence[Hashable], neighbours: Neighbours, changed: int
) -> Objective:
    """Return the objective of the counts of public candidates.

    One person moves every count by at most 1, and at most ``changed`` counts: all in one
    direction if added or removed.
    """
    return Objective(
        people,
        GlobalSensitivity(1, neighbours, l1=min(changed, len(candidates))),
        candidates,
        monotone=neighbours is Neighbours.ADD_REMOVE,
        step=1,
    )


def of_most_common(
    counted: Counted, *, limit: int, offset: float, neighbours: Neighbours
) -> Objective:
    """Return the objective of the most common keys and the stop; private, and so are the keys.

    Args:
        counted: The ``limit + 1`` keys of the largest counts, in order.
        limit: The number of candidates besides the stop; public.
        offset: What the stop's score is above the count after the last candidate.
        neighbours: The relation.

    Returns:
        ``limit + 1`` candidates in order of the value, the last of them ``STOP``; dummies are
        ``STOP`` too.
    """
    scores = np.zeros(limit + 1)
    held = min(limit, counted.people.size)
    # By value: in order of the counts a position would be another key for one person more.
    places = sorted(range(held), key=lambda one: (counted.keys[one] is None, counted.keys[one]))
    scores[:held] = counted.people[places]
    after = counted.people[limit] if counted.people.size > limit else 0
    scores[limit] = after + offset
    keys = [counted.key(place) for place in places]
    candidates = [*keys, *[STOP] * (limit + 1 - held)]
    # The candidates change with the data: delta pays for those that one person brings.
    return Objective(
        scores,
        GlobalSensitivity(1, neighbours),
        candidates,
        monotone=neighbours is Neighbours.ADD_REMOVE,
    )


def ahead_of_stop(people: Indices, *, exponent: float, offset: float) -> Probabilities:
    """Return the probability that a key is drawn before the stop, if the draws go on so long.

        1/(1 + e^(η (c - n)))

    Args:
        people: How many people more than the key after the candidates have it; any shape.
        exponent: η.
        offset: ``c``, of the stop.

    Returns:
        Same shape. The relative order of two candidates does not depend on the others.
    """
    # Far below the stop the exponential overflows to infinity, and the quotient is 0.
    with np.errstate(over="ignore"):
        chances: Probabilities = 1 / (1 + np.exp(exponent * (offset - people)))
    return chances


def offset_of_stop(
    *, k: int, limit: int, per_user: int, epsilon: float, delta: float, neighbours: Neighbours
) -> float:
    """Return how far the stop is above the count after the last candidate.

    Under substitution a step is one person removed and one added, each at half of epsilon:
    ``δ = δ_1 (1 + e^(ε/2))``.

    Args:
        k: The number of draws.
        limit: The number of candidates besides the stop.
        per_user: How many keys of a person are counted.
        epsilon: Epsilon of all draws.
        delta: Delta of all draws.
        neighbours: The relation.

    Returns:
        In people; rounded up to a multiple of ``STEP``. Public.
    """
    exponent, log_delta = epsilon / k, log(delta)
    if neighbours is Neighbours.SUBSTITUTE:
        exponent /= 2
        log_delta -= epsilon / 2 + log1p(exp(-epsilon / 2))  # by 1 + e^(ε/2), which overflows
    odds = log(min(per_user, limit)) + log1p(-exp(log_delta)) - log_delta
    offset = 1 + odds / exponent * (1 + (ROUNDING if odds > 0 else -ROUNDING))
    return ceil(offset / STEP) * STEP
