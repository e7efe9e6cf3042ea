r"""The exponential mechanism over sets: all ``k`` candidates in one draw.

A set :math:`S` of ``k`` of ``n`` candidates with integer scores has the weight

.. math:: \exp\big(\eta\,(\min_{r \in S} s_r - \max_{r \notin S} s_r)\big).

With scores in falling order let ``o`` be the place of the best that is left out and ``t`` that
of the last one that is in the set. Either the set is the ``k`` best, or :math:`o \le k < t`:
all before ``o`` are in it, ``t`` is, and any :math:`k - o` of those between. So the sets are
counted by pairs of ``o`` and the score of ``t``, and within a pair all are equally likely.

The draw needs no floats: a pair is drawn by inversion, with powers of :math:`e` that integers
enclose (:mod:`dpselect.draws.exact.inversion`), and a set of it by uniform integers.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from itertools import pairwise
from math import comb, lgamma
from typing import NamedTuple

import numpy as np

from dpselect.draws.exact import bits as source, inversion
from dpselect.draws.exact.exp_bounds import Powers
from dpselect.draws.exact.inversion import Weights
from dpselect.draws.exact.samplers import sampler
from dpselect.typing import Indices, Values

FIRST_BITS = 128


class Pair(NamedTuple):
    """Sets that are alike: places count from 0."""

    out: int
    """Place of the best that is left out; ``k`` if the set is the best one."""

    start: int
    """First place of the score of the last that is in a set."""

    stop: int
    """The place after the last one of that score."""


@sampler
def draw_set(steps: Indices, k: int, decay: Fraction) -> list[int]:
    r"""Draw a set, exactly.

    Args:
        steps: Scores as integers, shape ``(n,)``. Private; their number is public.
        k: 1 to ``n``. Public.
        decay: :math:`\eta` > 0, in nats a step. Public.

    Returns:
        ``k`` positions in ascending order, which tells of the set alone; a release.
    """
    order = np.argsort(-steps, kind="stable")
    if k == steps.size:
        return list(range(k))
    ranked = steps[order]
    found = _pairs(ranked, k)
    costs = _costs(ranked, k, found)
    ways = [_ways(pair, k) for pair in found]
    digits = FIRST_BITS + max(ways).bit_length() + len(ways).bit_length()

    @cache
    def weights(bits: int) -> Weights:
        low, high = Powers(decay, bits + digits).of(costs)
        return Weights.of(
            (number * one, number * other)
            for number, one, other in zip(ways, low, high, strict=True)
        )

    out, start, stop = found[inversion.draw(weights, FIRST_BITS)]
    if out == k:
        return sorted(order[:k].tolist())
    last = _last(out, start, stop, k)
    between = source.system.sample(range(out + 1, last), k - out - 1)
    return sorted(order[[*range(out), *between, last]].tolist())


def log_probability(steps: Indices, k: int, decay: float, positions: Sequence[int]) -> float:
    """Return the natural logarithm of the probability of a set."""
    if k == steps.size:
        return 0.0
    inside = np.zeros(steps.size, dtype=bool)
    inside[list(positions)] = True
    ranked = -np.sort(-steps)
    cost = int(ranked[k - 1] - ranked[k]) - int(steps[inside].min() - steps[~inside].max())
    _, logs = log_pairs(ranked, k, decay)
    return -decay * cost - float(np.logaddexp.reduce(logs))


def log_pairs(ranked: Indices, k: int, decay: float) -> tuple[list[Pair], Values]:
    """Return the pairs, and the logarithm of the weight of all sets of each.

    Args:
        ranked: Scores in falling order.
        k: Below their number.
        decay: In nats a step.
    """
    found = _pairs(ranked, k)
    ways = [_log_ways(pair, k) for pair in found]
    return found, np.array(ways) - decay * _costs(ranked, k, found)


def simulated(
    ranked: Indices, k: int, decay: float, size: int, rng: np.random.Generator
) -> Indices:
    """Return places of simulated sets, shape ``(size, k)``, ascending in each row."""
    places = np.repeat(np.arange(k)[None, :], size, axis=0)
    if k == ranked.size:
        return places
    found, logs = log_pairs(ranked, k, decay)
    law = np.exp(logs - logs.max())
    for row, at in zip(places, rng.choice(len(found), size, p=law / law.sum()), strict=True):
        out, start, stop = found[at]
        if out == k:
            continue
        # Of two numbers of ways the logarithm of the quotient is small enough for a float.
        each = np.array([_log_comb(t - out - 1, k - out - 1) for t in range(start, stop)])
        chances = np.exp(each - each.max())
        last = start + int(rng.choice(stop - start, p=chances / chances.sum()))
        between = out + 1 + rng.choice(last - out - 1, k - out - 1, replace=False)
        row[out:] = [*np.sort(between), last]
    return places


def _pairs(ranked: Indices, k: int) -> list[Pair]:
    """Return the pairs, that of the best set first."""
    _, starts = np.unique(-ranked[k:], return_index=True)
    ends = [*(starts + k).tolist(), ranked.size]
    return [
        Pair(k, k, k),
        *(Pair(out, start, stop) for out in range(k) for start, stop in pairwise(ends)),
    ]


def _costs(ranked: Indices, k: int, found: list[Pair]) -> Indices:
    """Return by how much a set of each pair is behind the best one, in steps."""
    lead = ranked[k - 1] - ranked[k]
    costs = [lead + ranked[out] - ranked[start] for out, start, _ in found[1:]]
    return np.array([0, *costs], dtype=np.int64)


def _ways(pair: Pair, k: int) -> int:
    """Return the number of sets: of those whose last place is before ``stop``, less others."""
    out, start, stop = pair
    return 1 if out == k else comb(stop - out - 1, k - out) - comb(start - out - 1, k - out)


def _log_ways(pair: Pair, k: int) -> float:
    out, start, stop = pair
    if out == k:
        return 0.0
    most, least = _log_comb(stop - out - 1, k - out), _log_comb(start - out - 1, k - out)
    return most + float(np.log(-np.expm1(least - most)))


def _log_comb(n: int, k: int) -> float:
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1) if 0 <= k <= n else -np.inf


def _last(out: int, start: int, stop: int, k: int) -> int:
    """Draw the last place of a set: so many sets have theirs before a place."""
    before = comb(start - out - 1, k - out)
    at = before + source.randbelow(comb(stop - out - 1, k - out) - before)
    while stop - start > 1:
        middle = (start + stop) // 2
        if at < comb(middle - out - 1, k - out):
            stop = middle
        else:
            start = middle
    return start
