"""Compiled decoders and simulations: loops over people of pools and pools of people.

``benchmarks/pooling.py`` compares them with the same in array expressions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numba import njit
from numpy.typing import NDArray

from dpselect.extend import Indices, Values

Marks = NDArray[np.bool_]
Function = TypeVar("Function", bound=Callable[..., Any])

compiled: Callable[[Function], Function] = njit(cache=True, nogil=True, error_model="numpy")


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
    """Pass messages from pools to people, pool after pool, until they converge.

    The message of pool ``t`` to person ``i`` is the log likelihood ratio of ``i`` being
    positive, given the outcome of ``t``. With ``q`` the probability that everybody else in the
    pool is negative, ``ln q = -∑_(j ≠ i) ln(1 + e^(ℓ_j))`` for their log odds ``ℓ_j`` without
    the message of ``t`` itself, it is

        ln(some_t/(q none_t + (1 - q) some_t)):

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


class Chances(NamedTuple):
    """The fields of a ``Assay``."""

    sensitivity: float
    specificity: float
    dilution: float
    flip: float


class Setting(NamedTuple):
    """The public facts that all rounds share."""

    positives: int
    """How many are positive; negative if everybody is positive independently."""

    prevalence: float
    noisy: bool
    doubt: float
    limits: Limits


FALSE_POSITIVES, FALSE_NEGATIVES, RIGHT, DOUBTFUL, UNSEEN = range(5)
COLUMNS = 5
"""Columns of the result of ``rounds``, and how many there are."""


@compiled
def rounds(links: Links, chances: Chances, setting: Setting, seeds: Indices) -> Values:
    """Simulate one round for each seed.

    Returns:
        Shape ``(rounds, 5)``: false positives, false negatives, whether all was right, how
        many people were left in doubt, and wrong answers about people who were not.
    """
    seen = np.zeros((seeds.size, COLUMNS))
    n = links.person_starts.size - 1
    for r in range(seeds.size):
        np.random.seed(seeds[r])  # noqa: NPY002 -- what compiled code has
        status = _statuses(n, setting)
        positive = _outcomes(links, status, chances)
        if setting.noisy:
            found, doubtful = _by_posterior(links, positive, chances, setting)
        else:
            candidates = possible(links, positive, 0)
            sure = definite(links, positive, candidates, 1)
            found = covered(links, positive, candidates, sure, 1)
            doubtful = candidates & ~sure
        seen[r, FALSE_POSITIVES] = (found & ~status).sum()
        seen[r, FALSE_NEGATIVES] = (status & ~found).sum()
        seen[r, RIGHT] = seen[r, FALSE_POSITIVES] + seen[r, FALSE_NEGATIVES] == 0
        seen[r, DOUBTFUL] = doubtful.sum()
        seen[r, UNSEEN] = ((found != status) & ~doubtful).sum()
    return seen


@compiled
def _statuses(n: int, setting: Setting) -> Marks:
    if setting.positives < 0:
        return np.random.random(n) < setting.prevalence  # noqa: NPY002
    status = np.zeros(n, np.bool_)
    left = setting.positives
    while left > 0:
        i = np.random.randint(n)  # noqa: NPY002
        if not status[i]:
            status[i] = True
            left -= 1
    return status


@compiled
def _outcomes(links: Links, status: Marks, chances: Chances) -> Marks:
    positive = np.zeros(links.starts.size - 1, np.bool_)
    for t in range(positive.size):
        inside = 0
        for e in range(links.starts[t], links.starts[t + 1]):
            if status[links.people[e]]:
                inside += 1
        chance = _chance(inside, links.starts[t + 1] - links.starts[t], chances)
        positive[t] = np.random.random() < chance  # noqa: NPY002
    return positive


@compiled
def _chance(inside: int, size: int, chances: Chances) -> float:
    chance = 1 - chances.specificity
    if inside > 0:
        chance = chances.sensitivity * (inside / size) ** chances.dilution
    return chance * (1 - chances.flip) + (1 - chance) * chances.flip


@compiled
def _by_posterior(
    links: Links, positive: Marks, chances: Chances, setting: Setting
) -> tuple[Marks, Marks]:
    some = np.empty(positive.size)
    none = np.empty(positive.size)
    for t in range(positive.size):
        size = links.starts[t + 1] - links.starts[t]
        some[t] = _chance(1, max(size, 1), chances)
        none[t] = _chance(0, size, chances)
        if not positive[t]:
            some[t], none[t] = 1 - some[t], 1 - none[t]
        some[t], none[t] = max(some[t], 1e-12), max(none[t], 1e-12)
    prior = np.log(setting.prevalence) - np.log1p(-setting.prevalence)
    logs, _, _ = propagated(links, some, none, prior, setting.limits)
    limit = np.log(1 - setting.doubt) - np.log(setting.doubt)
    return logs > 0, np.abs(logs) < limit
