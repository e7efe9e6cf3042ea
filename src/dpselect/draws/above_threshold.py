"""Exact draw and distribution of AboveThreshold: the first queries above a noisy threshold.

The threshold gets noise ρ, every query noise ``ν_i`` of its own, both geometric, ``P(ρ = z) ∝
e^(-z/b_1)`` and ``P(ν_i = z) ∝ e^(-z/b_2)`` for ``z = 0, 1, ...``. Query ``i`` is above if
``q_i + ν_i ≥ T + ρ``, which given ρ has probability ``e^(-(T + ρ - q_i)^+ / b_2)``. The draw
ends after a number of queries above. Given ρ the queries are independent, so every distribution
is a sum over ρ.

Guarantee:
    Let one neighbour step raise no query by more than ``u`` and let it lower those that are
    found above by at most ``d``. A step from ρ to ``ρ + u`` costs ``u/b_1``, leaves every query
    below that was below, and each of ``c`` queries above costs ``(u + d)^+/b_2``. So the loss
    is at most ``u/b_1 + c (u + d)^+/b_2``, for any number of queries. Geometric noise needs no
    steps downwards, and has half of the variance of Laplace noise.

Source: Dwork and Roth 2014, section 3.6; noise on the threshold drawn once: Lyu, Su and Li,
VLDB 2017; one-sided noise: Durfee, NeurIPS 2023.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import ceil, expm1, inf, log, nextafter

import numpy as np

from dpselect.draws.base import NEGLIGIBLE
from dpselect.draws.exact.lazy_noise import reaches
from dpselect.draws.exact.noisy_counts import check_scale, geometric
from dpselect.draws.exact.samplers import sampler
from dpselect.errors import ParameterError
from dpselect.typing import Indices, Probabilities, Values

LARGEST = 2**52
"""Queries and thresholds beyond are clamped to it."""

LEAST = 2.0**-100
"""Probabilities that no sum of them shows."""

BLOCK = 4096
"""Queries that get their noise at a time."""

CELLS = 2**20
"""Numbers held at a time by a distribution."""


@sampler
def first_above(
    queries: Indices, threshold: int, threshold_scale: float, query_scale: float, stops: int
) -> list[int]:
    """Return the positions of the first queries above the noisy threshold.

    Args:
        queries: Integers of at most 2**52, shape ``(n,)``. Private.
        threshold: An integer of at most 2**52. Public.
        threshold_scale: ``b_1``; finite, > 0, at most 2**50. Public.
        query_scale: ``b_2``, likewise. Public.
        stops: How many positions at most; >= 1. Public.

    Returns:
        Ascending; fewer than ``stops`` if the queries end; a release.
    """
    noisy = threshold + int(geometric(1, threshold_scale)[0])
    found: list[int] = []
    for start in range(0, queries.size, BLOCK):
        block = queries[start : start + BLOCK]
        above = np.flatnonzero(reaches(noisy - block, query_scale))
        found += [start + int(position) for position in above]
        if len(found) >= stops:
            break
    return found[:stops]


@sampler
def first_above_of_each(
    queries: Indices,
    threshold: int,
    threshold_scale: float,
    query_scale: float,
    sizes: Indices | None = None,
) -> Indices:
    """Return the position of the first query of each row above a noisy threshold of its own.

    Args:
        queries: Shape ``(rows, n)``, else as for ``first_above``. Private.
        threshold: As for ``first_above``, and so are the next two.
        threshold_scale: ``b_1``.
        query_scale: ``b_2``.
        sizes: How many queries of each row there are, shape ``(rows,)``; all if not given.
            Public.

    Returns:
        Shape ``(rows,)``, the number of queries where none is above; a release.
    """
    noisy = threshold + geometric(len(queries), threshold_scale)
    found = np.full(len(queries), queries.shape[1]) if sizes is None else sizes.copy()
    left = np.flatnonzero(found > 0)
    size = max(1, min(BLOCK, CELLS // max(1, len(queries))))
    for start in range(0, queries.shape[1], size):
        block = queries[left, start : start + size]
        above = reaches(noisy[left, None] - block, query_scale)
        above &= start + np.arange(block.shape[1]) < found[left, None]
        first = above.argmax(axis=1)
        stops = above[np.arange(left.size), first]
        found[left[stops]] = start + first[stops]
        left = left[~stops & (found[left] > start + block.shape[1])]
        if left.size == 0:
            break
    return found


@dataclass(slots=True, eq=False, repr=False)
class Stream:
    """Queries that come one at a time, and the noisy threshold of all of them; private.

    Attributes:
        queries: Integers of at most 2**52, the last one not answered yet.
        noisy: The threshold with its noise, drawn with the first answer; it stays secret.
    """

    queries: list[int] = field(default_factory=list)
    noisy: int | None = None


@sampler
def is_above(
    stream: Stream,
    threshold: int,
    threshold_scale: float,
    query_scale: float,
    stops: int,
    found: tuple[int, ...],
) -> bool:
    """Return whether the last query of a stream is above the noisy threshold.

    A query may depend on the answers before it: given these, its value is a function of the
    data, and the proof above goes through query by query.

    Args:
        stream: Private.
        threshold: As for ``first_above``, and so are the next three.
        threshold_scale: ``b_1``.
        query_scale: ``b_2``.
        stops: How many positions at most.
        found: Those found so far, fewer. Public.

    Returns:
        A release.

    Raises:
        ParameterError: All stops are used.
    """
    if len(found) >= stops:
        raise ParameterError("all stops are used")
    if stream.noisy is None:
        stream.noisy = threshold + int(geometric(1, threshold_scale)[0])
    return stream.queries[-1] + int(geometric(1, query_scale)[0]) >= stream.noisy


def scales_for(
    epsilon: float | Fraction, *, rise: int, move: int, least: int = 0
) -> tuple[float, float]:
    """Return the scales of the noise on the threshold and on a query.

    They have the least ``b_1^2 + b_2^2`` with ``rise/b_1 + move/b_2 ≤ ε`` and
    ``least/b_1 ≤ ε``, rounded up.

    Args:
        epsilon: In nats; finite, > 0.
        rise: What one step can raise a query by, in their units; >= 1.
        move: What it can then move all queries above by, together; >= 1.
        least: What it can raise a query by where it moves none that is above.

    Raises:
        ParameterError: ``epsilon`` is too small for these units.
    """
    share = 1 / (1 + (move / rise) ** (2 / 3))
    first = max(
        _up(rise / (Fraction(epsilon) * Fraction(share))), _up(least / Fraction(epsilon))
    )
    second = _up(move / (Fraction(epsilon) - rise / Fraction(first)))
    check_scale(max(first, second))
    return first, second


def _up(number: Fraction) -> float:
    near = float(number)
    return near if Fraction(near) >= number else nextafter(near, inf)


def stop_probabilities(
    queries: Indices,
    threshold: int,
    threshold_scale: float,
    query_scale: float,
    stops: int,
) -> Probabilities:
    """Return the distribution of each stop.

    Args:
        queries: As for ``first_above``, and so are the next four.
        threshold: In the units of the queries.
        threshold_scale: Scale of its noise.
        query_scale: Scale of the noise on each query.
        stops: How many at most.

    Returns:
        Shape ``(stops, n + 1)``: the probability that stop ``j`` is at query ``i``, and in the
        last column that there is no such stop. Exact up to what is beyond ``NEGLIGIBLE``
        scales. As private as the queries.
    """
    law = np.zeros((stops, queries.size + 1))
    near = np.flatnonzero(queries >= threshold - NEGLIGIBLE * query_scale)
    for noise, mass in _noise(threshold_scale):
        waiting = np.zeros((stops, mass.size))
        waiting[0] = mass
        for place in near.tolist():
            over = np.maximum(threshold + noise - int(queries[place]), 0)
            stopping = waiting * np.exp(-over / query_scale)
            law[:, place] += stopping.sum(axis=1)
            waiting -= stopping
            waiting[1:] += stopping[:-1]
            if waiting.max() < LEAST:
                break
    law[:, -1] = 1 - law[:, :-1].sum(axis=1)
    return law


def log_probability(
    queries: Indices,
    threshold: int,
    threshold_scale: float,
    query_scale: float,
    stops: int,
    found: Sequence[int],
) -> float:
    """Return the natural logarithm of the probability of an output, however small it is.

    Args:
        queries: As for ``first_above``, and so are the next four.
        threshold: In the units of the queries.
        threshold_scale: Scale of its noise.
        query_scale: Scale of the noise on each query.
        stops: How many at most.
        found: The output.
    """
    seen = int(found[-1]) + 1 if len(found) == stops else queries.size
    above = np.zeros(seen, dtype=np.bool_)
    above[list(found)] = True
    gaps = threshold - queries[:seen]
    # Below this noise some query that was not found would have been.
    least = max(0, 1 - int(gaps[~above].min(initial=1)))
    steps = ceil(NEGLIGIBLE * (threshold_scale + query_scale) + query_scale * log(seen + 1))
    logs = []
    for start in range(least, least + steps, CELLS // (seen + 1) + 1):
        noise = np.arange(start, min(start + CELLS // (seen + 1) + 1, least + steps))
        over = np.maximum(noise[:, None] + gaps, 0) / query_scale
        each = -noise / threshold_scale - over[:, above].sum(axis=1)
        logs.append(each + np.log(-np.expm1(-over[:, ~above])).sum(axis=1))
    return float(np.logaddexp.reduce(np.concatenate(logs)) + log(-expm1(-1 / threshold_scale)))


def _noise(scale: float) -> Iterator[tuple[Indices, Values]]:
    """Yield the noise of the threshold and its probabilities, so many at a time."""
    values = np.arange(ceil(NEGLIGIBLE * scale) + 1)
    masses = -expm1(-1 / scale) * np.exp(-values / scale)
    for start in range(0, values.size, CELLS):
        yield values[start : start + CELLS], masses[start : start + CELLS]
