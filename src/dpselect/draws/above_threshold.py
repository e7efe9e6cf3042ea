"""Exact draw of AboveThreshold: the first queries above a noisy threshold.

The threshold gets noise ρ, every query noise ``ν_i`` of its own, both geometric, ``P(ρ = z) ∝
e^(-z/b_1)`` and ``P(ν_i = z) ∝ e^(-z/b_2)`` for ``z = 0, 1, ...``. Query ``i`` is above if
``q_i + ν_i ≥ T + ρ``, which given ρ has probability ``e^(-(T + ρ - q_i)^+ / b_2)``. The draw
ends after a number of queries above. Given ρ the queries are independent, so every distribution
is a sum over ρ.

In rows with long runs of queries that are alike, a query far below can be above only if the
bits of its noise begin with enough zeros. Where that is next is drawn with one number for all
queries up to there (``exact.leading_zeros``), and the distribution is the same.

Guarantee:
    Let one neighbour step raise no query by more than ``u`` and let it lower those that are
    found above by at most ``d``. A step from ρ to ``ρ + u`` costs ``u/b_1``, leaves every query
    below that was below, and each of ``c`` queries above costs ``(u + d)^+/b_2``. So the loss
    is at most ``u/b_1 + c (u + d)^+/b_2``, for any number of queries. Geometric noise needs no
    steps downwards, and has half of the variance of Laplace noise.

Source: Dwork and Roth 2014, section 3.6; noise on the threshold drawn once: Lyu, Su and Li,
VLDB 2017; one-sided noise: Durfee, NeurIPS 2023.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from math import ceil, expm1, inf, log, nextafter
from typing import Any

import numpy as np

from dpselect.draws.base import NEGLIGIBLE
from dpselect.draws.exact import samplers as source
from dpselect.draws.exact.lazy_noise import reached, reaches
from dpselect.draws.exact.leading_zeros import (
    FIRST_BIT,
    MOST,
    TRIALS,
    kept,
    rates_by_zeros,
    spans,
)
from dpselect.draws.exact.noisy_counts import check_scale, geometric
from dpselect.draws.exact.samplers import sampler
from dpselect.typing import Indices

LARGEST = 2**52
"""Queries and thresholds beyond are clamped to it."""

BLOCK = 4096
"""Queries that get their noise at a time."""

STEPS = 64
"""Parts of positions, at most, whose queries are lowered by about as much."""

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


@dataclass(frozen=True, eq=False, repr=False)
class Runs:
    """Queries of rows: integers that are alike for a while, less public ones; private.

    Attributes:
        row: The row of each run, ascending.
        first: Its first position, ascending in a row.
        value: What its queries are without ``lowered``, at most 2**52.
        begin: The position of the first query of each row; a run begins there. Public.
        end: The position after the last one. Public.
        lowered: What is taken off the queries at each position, >= 0. Public.
    """

    row: Indices
    first: Indices
    value: Indices
    begin: Indices
    end: Indices
    lowered: Indices

    @cached_property
    def keys(self) -> Indices:
        """The first position of each run, in rows one after the other."""
        return self.row * (self.lowered.size + 1) + self.first

    @property
    def shape(self) -> tuple[int, int]:
        """How many rows there are, and positions."""
        return self.begin.size, self.lowered.size

    def values(self, row: Indices, place: Indices) -> Indices:
        """Return what queries of rows are without ``lowered``."""
        key = row * (self.lowered.size + 1) + place
        return self.value[self.keys.searchsorted(key, side="right") - 1]

    def __array__(self, dtype: Any = None, copy: Any = None) -> Indices:  # noqa: ANN401 -- NumPy's
        """Return all queries, those that are none far below all thresholds."""
        del dtype, copy
        (rows, size), place = self.shape, np.arange(self.lowered.size)
        first = np.where(np.diff(self.row, prepend=-1), 0, self.first) + self.row * size
        values = np.repeat(self.value, np.diff(first, append=rows * size)).reshape(rows, size)
        is_none = (place < self.begin[:, None]) | (place >= self.end[:, None])
        return np.where(is_none, -4 * LARGEST, values - self.lowered)


@sampler
def first_above_of_each(
    queries: Runs, threshold: int, threshold_scale: float, query_scale: float
) -> Indices:
    """Return the position of the first query of each row above a noisy threshold of its own.

    Args:
        queries: Private.
        threshold: As for ``first_above``, and so are the next two.
        threshold_scale: ``b_1``.
        query_scale: ``b_2``.

    Returns:
        Shape ``(rows,)``, the position after the last query where none is above; a release.
    """
    rows, size = queries.shape
    noisy = threshold + geometric(rows, threshold_scale)
    if rows * size > BLOCK:
        return _first_of_runs(queries, noisy, query_scale)
    gaps = noisy[:, None] - np.asarray(queries)
    above = reaches(gaps, query_scale) & (gaps < 2 * LARGEST)
    return np.where(above.any(axis=1), above.argmax(axis=1), queries.end)


def _first_of_runs(queries: Runs, noisy: Indices, scale: float) -> Indices:
    """Return the first positions of queries that are above thresholds.

    A query is above only if its word begins with enough zeros (``leading_zeros``). The first
    position whose word does is drawn with one number, whether its query is above, then; if not,
    the next one is drawn.
    """
    size, every = queries.lowered.size, np.arange(noisy.size)
    row, first, end = queries.row, queries.first, queries.end.copy()
    # Behind a query that is above without noise nothing is drawn.
    sure = np.flatnonzero(
        (queries.value - queries.lowered[first.clip(max=size - 1)] >= noisy[row])
        & (first < end[row])
    )
    np.minimum.at(end, row[sure], first[sure] + 1)
    steps = _steps(queries.lowered, scale)
    least = np.minimum.reduceat(queries.lowered, steps)
    begin_at, end_at = (steps.searchsorted(one) for one in (queries.begin + 1, end))
    of, step = spans(begin_at, (end_at - begin_at).clip(0))
    runs = np.flatnonzero(first < end[row])
    keys = np.append(queries.keys[runs], of * (size + 1) + steps[step])
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    run = runs[(order < runs.size).cumsum() - 1]
    row, first = np.divmod(keys, size + 1)
    last = np.minimum(np.append(first[1:], size), end[row])
    last[:-1] = np.where(row[1:] == row[:-1], last[:-1], end[row[:-1]])
    gaps = noisy[row] - queries.value[run] + least[steps.searchsorted(first, side="right") - 1]
    zeros = (gaps / (FIRST_BIT * scale)).clip(0, MOST).astype(np.int64)
    rates = rates_by_zeros()[zeros]
    ends = ((last - first) * rates).cumsum()
    before = ends - (last - first) * rates
    visited = np.where((zeros == 0) & (last > first), np.arange(zeros.size), zeros.size)
    visited = np.minimum.accumulate(visited[::-1])[::-1]
    row, first = np.append(row, -1), np.append(first, 0)
    found, at = queries.end.copy(), queries.begin.copy()
    left = every[at < end]
    while left.size:
        here = keys.searchsorted(left * (size + 1) + at[left], side="right") - 1
        success = before[here] + (at[left] - first[here]) * rates[here]
        success += geometric(left.size, float(TRIALS))
        struck = ends.searchsorted(success, side="right")
        next_one = np.minimum(struck, visited[here])
        is_there = row[next_one] == left
        left, next_one, here = left[is_there], next_one[is_there], success[is_there]
        begin, rate = before[next_one], rates[next_one]
        at[left] = np.where(
            rate == 0,
            np.maximum(first[next_one], at[left]),
            first[next_one] + (here - begin) // np.maximum(rate, 1),
        )
        place, bits = at[left], zeros[next_one]
        words = source.words(left.size) >> bits.astype(np.uint64)
        wanted = noisy[left] - queries.values(left, place) + queries.lowered[place]
        above = kept(bits) & reached(wanted, words, scale)
        found[left[above]] = place[above]
        at[left] += 1
        left = left[~above]
        left = left[at[left] < end[left]]
    return found


def _steps(lowered: Indices, scale: float) -> Indices:
    """Return positions from which on public numbers are about alike, few and ascending."""
    alike = lowered // max(1, int(scale))
    steps = np.append(0, np.flatnonzero(np.diff(alike)) + 1)
    return (
        steps if steps.size <= STEPS else np.arange(0, lowered.size, -(-lowered.size // STEPS))
    )


@lru_cache(maxsize=1024)
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
