"""Compiled decoders: loops over the people of each pool and the pools of each person.

``benchmarks/pooling.py`` compares them with the same in array expressions.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpselect._compiled import compiled
from dpselect.typing import Indices, Values

Marks = NDArray[np.bool_]


class Links(NamedTuple):
    """A design as lists of the people of each pool and of the pools of each person."""

    starts: Indices
    """Where each pool begins in ``people``, shape ``(pools + 1,)``."""

    people: Indices
    """The people of all pools."""

    person_starts: Indices
    """Where each person begins in ``pools``, shape ``(people + 1,)``."""

    pools: Indices
    """The pools of all people."""


class Limits(NamedTuple):
    """When belief propagation ends."""

    rounds: int
    damping: float
    tolerance: float


def links(design: Marks) -> Links:
    """Return a design as lists."""
    pools, people = np.divmod(np.flatnonzero(design), design.shape[1])
    # A stable sort of what is in the order of pools: a quarter of nonzero(design.T)'s time.
    order = np.argsort(people, kind="stable")
    return Links(
        np.searchsorted(pools, np.arange(design.shape[0] + 1)),
        people,
        np.concatenate([[0], np.cumsum(np.bincount(people, minlength=design.shape[1]))]),
        pools[order],
    )


@compiled
def possible(links: Links, positive: Marks, negative_allowed: int) -> Marks:
    """Mark everybody who is in at most ``negative_allowed`` negative pools."""
    negatives = np.zeros(links.person_starts.size - 1, np.int64)
    for t in range(positive.size):
        if not positive[t]:
            for e in range(links.starts[t], links.starts[t + 1]):
                negatives[links.people[e]] += 1
    return negatives <= negative_allowed


@compiled
def definite(links: Links, positive: Marks, candidates: Marks, needed: int) -> Marks:
    """Mark the candidates that are alone in at least ``needed`` positive pools."""
    alone = np.zeros(candidates.size, np.int64)
    for t in range(positive.size):
        if positive[t]:
            inside = 0
            last = 0
            for e in range(links.starts[t], links.starts[t + 1]):
                if candidates[links.people[e]]:
                    inside += 1
                    last = links.people[e]
            if inside == 1:
                alone[last] += 1
    return alone >= needed


@compiled
def covered(
    links: Links, positive: Marks, candidates: Marks, chosen: Marks, needed: int
) -> Marks:
    """Add the candidate in most unexplained positive pools, until none is in ``needed``.

    ``gain`` holds, for each candidate, the number of unexplained positive pools it is in; it
    is kept up to date as pools are explained, so the whole costs one pass over the design
    and one search for the maximum per person added.
    """
    unexplained = positive & ~_touched(links, chosen)
    gain = np.zeros(candidates.size, np.int64)
    for t in range(positive.size):
        if unexplained[t]:
            _count(links, t, 1, candidates, gain)
    result = chosen.copy()
    while True:
        best = np.argmax(gain)
        if gain[best] < needed:
            return result
        result[best] = True
        for at in range(links.person_starts[best], links.person_starts[best + 1]):
            t = links.pools[at]
            if unexplained[t]:
                unexplained[t] = False
                _count(links, t, -1, candidates, gain)


@compiled
def _touched(links: Links, chosen: Marks) -> Marks:
    touched = np.zeros(links.starts.size - 1, np.bool_)
    for i in np.flatnonzero(chosen):
        for at in range(links.person_starts[i], links.person_starts[i + 1]):
            touched[links.pools[at]] = True
    return touched


@compiled
def _count(links: Links, t: int, step: int, candidates: Marks, gain: Indices) -> None:
    for e in range(links.starts[t], links.starts[t + 1]):
        if candidates[links.people[e]]:
            gain[links.people[e]] += step


@compiled
def propagated(
    links: Links, some: Values, none: Values, prior: float, limits: Limits
) -> tuple[Values, bool, int]:
    r"""Pass messages from pools to people, pool after pool, until they converge.

    The message of pool :math:`t` to person :math:`i` is the log likelihood ratio of ``i``
    being positive, given the outcome of ``t``. With :math:`q` the probability that everybody
    else in the pool is negative, :math:`\ln q = -\sum_{j \ne i} \ln(1 + e^{\ell_j})` for
    their log odds :math:`\ell_j` without the message of ``t`` itself, it is

    .. math:: \ln \frac{\text{some}_t}{q\,\text{none}_t + (1 - q)\,\text{some}_t} :

    a positive ``i`` makes the pool contain a positive, and with a negative ``i`` it depends
    on the others. ``total`` is the log odds of each person with all messages, updated at
    once, so later pools of the same round use the new ones.

    Args:
        links: The design.
        some: Probability of each pool's outcome with a positive in it, > 0.
        none: The same without one, > 0.
        prior: Log odds of being positive before any test.
        limits: When to stop.

    Returns:
        Log odds of being positive; whether the messages converged; the number of rounds.
    """
    message = np.zeros(links.people.size)
    total = np.full(links.person_starts.size - 1, prior)
    for step in range(limits.rounds):
        moved = 0.0
        for t in range(links.starts.size - 1):
            log_none = 0.0
            for e in range(links.starts[t], links.starts[t + 1]):
                # ln P[this person is negative] without the message of this pool.
                log_none -= np.logaddexp(0.0, total[links.people[e]] - message[e])
            for e in range(links.starts[t], links.starts[t + 1]):
                i = links.people[e]
                own = -np.logaddexp(0.0, total[i] - message[e])
                others_none = min(1.0, np.exp(log_none - own))
                without = others_none * none[t] + (1 - others_none) * some[t]
                new = limits.damping * message[e]
                new += (1 - limits.damping) * np.log(some[t] / without)
                moved = max(moved, abs(new - message[e]))
                total[i] += new - message[e]
                message[e] = new
        if moved < limits.tolerance:
            return total, True, step + 1
    return total, False, limits.rounds
