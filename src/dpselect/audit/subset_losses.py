"""Exact privacy losses of the draws of subsets of people."""

from __future__ import annotations

from collections.abc import Mapping
from math import comb, fsum, inf, log
from typing import Any

import numpy as np

from dpselect.audit.loss import Loss, log_binomial, loss_between
from dpselect.draws.subset_distance import DistanceDistribution
from dpselect.typing import Values


def swapped(
    here: list[int], there: list[int], public: Mapping[str, Any], _: list[int]
) -> Loss | None:
    """Return the loss of a retrieval; the number of members may differ."""
    distribution: DistanceDistribution = public["distribution"]
    common, only_here, only_there = _parts(here, there)
    rest = distribution.n - common - only_here - only_there
    a, b, c = np.indices((common + 1, only_here + 1, only_there + 1)).reshape(3, -1)
    others = distribution.d - a - b - c
    possible = (others >= 0) & (others <= rest)
    a, b, c, others = (part[possible] for part in (a, b, c, others))
    outputs = log_binomial(common, a) + log_binomial(only_here, b)
    outputs += log_binomial(only_there, c) + log_binomial(rest, others)
    return loss_between(
        outputs,
        _logs_of_swaps(len(here), distribution)[a + b],
        _logs_of_swaps(len(there), distribution)[a + c],
    )


def joined(
    here: list[int], there: list[int], public: Mapping[str, Any], _: list[int]
) -> Loss | None:
    """Return the loss of members hidden among ``beta`` uniform people."""
    n, beta = public["n"], public["beta"]
    common, only_here, only_there = _parts(here, there)
    union = common + only_here + only_there
    more = np.arange(n - union + 1)
    logs = [
        log_binomial(size, beta - (union + more - size)) - log(comb(n, beta))
        for size in (len(here), len(there))
    ]
    outputs = log_binomial(n - union, more)
    both = [outputs, *logs]
    # Outputs that miss somebody who is a member of one database alone.
    for side, missing in enumerate((only_there, only_here)):
        mass = 1 - fsum(np.exp(outputs + logs[side]))
        if missing and mass > 0:
            lost = [0.0, -inf, -inf]
            lost[1 + side] = log(mass)
            both = [np.append(logs_, one) for logs_, one in zip(both, lost, strict=True)]
    return loss_between(*both)


def _logs_of_swaps(members: int, distribution: DistanceDistribution) -> Values:
    """Return the log probability of an output, by how many members are in it.

    Given an output with ``i`` members, the subset that was brought to size ``d`` has a
    hypergeometric number of people in common with it.
    """
    weights = distribution.log_weights()
    logs = np.full(min(members, distribution.d) + 1, -inf)
    for i in range(logs.size):
        if members >= distribution.d:
            shared = np.arange(i + 1)
            chance = log_binomial(i, shared) + log_binomial(
                members - i, distribution.d - shared
            )
            chance -= log_binomial(members, np.array(distribution.d))
        else:
            added = np.arange(distribution.d - i + 1)
            outside, more = distribution.n - members, distribution.d - members
            chance = log_binomial(distribution.d - i, added)
            chance = chance + log_binomial(outside - (distribution.d - i), more - added)
            chance -= log_binomial(outside, np.array(more))
            shared = i + added
        distance = distribution.d - shared
        reachable = (chance > -inf) & (distance < weights.size)
        if reachable.any():
            logs[i] = np.logaddexp.reduce(chance[reachable] + weights[distance[reachable]])
    return logs


def _parts(here: list[int], there: list[int]) -> tuple[int, int, int]:
    """Return how many members two databases share, and how many each has alone."""
    one, other = set(here), set(there)
    return len(one & other), len(one - other), len(other - one)
