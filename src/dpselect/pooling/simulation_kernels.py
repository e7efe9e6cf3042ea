"""Compiled simulation of rounds of pooled tests, for the comparison of designs."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dpselect._compiled import compiled
from dpselect.pooling.kernels import (
    Limits,
    Links,
    Marks,
    covered,
    definite,
    possible,
    propagated,
)
from dpselect.typing import Indices, Values


class Chances(NamedTuple):
    """The fields of a :class:`~dpselect.pooling.Assay`."""

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
"""Columns of the result of :func:`rounds`, and how many there are."""


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
