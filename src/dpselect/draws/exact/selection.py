"""Samplers of the largest noisy scores, with noise that is drawn as far as it decides.

A whole release is a few passes over the scores whatever they are: the first 64 bits of the
noise leave one candidate almost always, and the few that are left are compared exactly
(``dpselect.draws.exact.lazy_noise``).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cmp_to_key, partial
from math import inf, nextafter
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dpselect.draws.exact import bits as source
from dpselect.draws.exact.lazy_noise import (
    CHUNK,
    FIRST_BYTE,
    Bounds,
    Noise,
    Refined,
    bounds,
    bounds_of,
    larger,
    small_words,
)
from dpselect.draws.exact.samplers import sampler
from dpselect.draws.grid import SENSITIVITY, STEPS_PER_UNIT, to_grid
from dpselect.errors import ParameterError
from dpselect.typing import Indices, Scores

MOST_SCALE = 1e250
"""Above it sums of noisy scores could overflow."""

FAR_BYTES = 4
"""Bytes of 0 without which noise does not reach what is far."""

Largest: TypeAlias = Callable[[Indices, float, int], list[int]]
"""Positions of the ``k`` largest numbers with noise of a scale."""


class Rows(Protocol):
    """Unit scores in rows, of which few are computed; private."""

    shape: tuple[int, int]

    def near(self, reach: float) -> tuple[Indices, Indices]:
        """Return the first position of each row, and the end, of all near its best score.

        Others are less by more than ``reach``; the best is among those that are returned.
        """

    def at(self, row: Indices, place: Indices) -> Scores:
        """Return the scores at positions of rows."""

    def __array__(self) -> Scores:
        """Return all scores."""


def spans(first: Indices, sizes: Indices) -> tuple[Indices, Indices]:
    """Return so many positions from a first one on, of each row, and before them the rows."""
    row = np.repeat(np.arange(sizes.size), sizes)
    return row, np.arange(row.size) - np.repeat(sizes.cumsum() - sizes - first, sizes)


@sampler
def top_k_exponential_noise(scores: Scores, epsilon: float, k: int) -> list[int]:
    """Draw ``k`` positions, each round the maximum after fresh exponential noise."""
    return in_rounds(partial(_largest, Noise.EXPONENTIAL), scores, epsilon, k)


@sampler
def top_k_laplace_noise(scores: Scores, epsilon: float, k: int) -> list[int]:
    """Draw ``k`` positions, each round the maximum after fresh discrete Laplace noise.

    A tie goes to the earlier candidate. The proof of report-noisy-max holds for a fixed
    order: given the others' noise, a candidate wins if its own exceeds an integer that one
    neighbour step moves by at most two sensitivities.
    """
    return in_rounds(partial(_largest, Noise.LAPLACE), scores, epsilon, k)


@sampler
def top_k_gumbel_noise(scores: Scores, epsilon: float, k: int) -> list[int]:
    """Draw the ``k`` largest positions after Gumbel noise, once for all rounds."""
    return _largest(Noise.GUMBEL, to_grid(scores), scale_for(epsilon, k), k)


@sampler
def largest_of_each(scores: Rows, epsilon: float) -> Indices:
    """Draw a position of each row, the maximum after fresh exponential noise.

    The noisy score is at least the best, since no noise is below 0. Of scores that are far
    below it the first bytes of the bits tell that nearly all do not reach it, and these are not
    computed.

    Args:
        scores: At least one in each row. Private.
        epsilon: Epsilon of each row. Public.

    Returns:
        Shape ``(rows,)``; the distribution of each is that of ``top_k_exponential_noise``.
    """
    scale, (rows, size) = scale_for(epsilon, 1), scores.shape
    first, end = scores.near(FAR_BYTES * FIRST_BYTE * scale / STEPS_PER_UNIT)
    others = size - (end - first)
    ends = others.cumsum()
    beyond, few_words = small_words(int(ends[-1]), FAR_BYTES)
    # Those beyond are counted before what is near, and go on after it.
    of = ends.searchsorted(beyond, side="right")
    at = beyond - (ends - others)[of]
    at += np.where(at < first[of], 0, end[of] - first[of])
    row, place = spans(first, end - first)
    number = row.size
    row, place = np.append(row, of), np.append(place, at)
    numbers = to_grid(scores.at(row, place))
    numbers -= np.maximum.reduceat(
        numbers[:number], row[:number].searchsorted(np.arange(rows))
    )[row]
    is_far = numbers[:number] < -scale * FIRST_BYTE
    near, far = np.flatnonzero(~is_far), np.flatnonzero(is_far)
    small, some_words = small_words(far.size)
    left = np.concatenate([near, far[small], np.arange(number, row.size)])
    words = np.concatenate([source.words(near.size), some_words, few_words])
    order = np.argsort(row[left])
    left, words = left[order], words[order][None]
    return _of_rows(row[left], place[left], numbers[left], scale, words)


def _of_rows(
    row: Indices, place: Indices, numbers: Indices, scale: float, words: NDArray[np.uint64]
) -> Indices:
    """Return the place of the largest noisy number of each row, of rows in their order."""
    noisy = bounds_of(Noise.EXPONENTIAL, numbers, scale, words)
    least = np.maximum.reduceat(noisy.low, row.searchsorted(np.arange(row[-1] + 1)))
    [left] = (noisy.high >= least[row]).nonzero()
    drawn = np.empty(least.size, dtype=np.int64)
    drawn[row[left]] = place[left]
    for one in np.flatnonzero(np.bincount(row[left]) > 1).tolist():
        at = left[row[left] == one]
        drawn[one] = place[_sorted(Noise.EXPONENTIAL, numbers, scale, at, noisy.of(at))[0]]
    return drawn


def in_rounds(largest: Largest, scores: Scores, epsilon: float, k: int) -> list[int]:
    """Draw ``k`` positions, each as the largest of those that are left with fresh noise."""
    grid, scale = to_grid(scores), scale_for(epsilon, k)
    if k == 1:
        return largest(grid, scale, 1)
    left = np.arange(grid.size)
    chosen: list[int] = []
    for _ in range(k):
        [best] = largest(grid[left], scale, 1)
        chosen.append(int(left[best]))
        left = left[left != left[best]]
    return chosen


def _largest(noise: Noise, grid: Indices, scale: float, k: int) -> list[int]:
    """Return the positions of the ``k`` largest noisy scores, the largest first."""
    below_best = grid - grid.max()
    drawn = bounds(noise, below_best[:CHUNK], scale)
    positions, contenders = _contenders(np.arange(drawn.low.size), drawn, k)
    for first in range(CHUNK, grid.size, CHUNK):
        drawn = bounds(noise, below_best[first : first + CHUNK], scale)
        more = np.arange(first, first + drawn.low.size)
        positions, contenders = _contenders(
            np.concatenate([positions, more]), contenders.joined(drawn), k
        )
    return _sorted(noise, below_best, scale, positions, contenders)[:k]


def _sorted(
    noise: Noise, numbers: Indices, scale: float, positions: Indices, contenders: Bounds
) -> list[int]:
    """Return positions by their noisy numbers, the largest first."""
    if positions.size == 1:
        return positions.tolist()
    parts = zip(
        positions.tolist(),
        numbers[positions].tolist(),
        contenders.words.T.tolist(),
        contenders.low.tolist(),
        contenders.high.tolist(),
        strict=True,
    )
    noisy = {
        at: Refined(noise, number, scale, words, low, high)
        for at, number, words, low, high in parts
    }

    def compared(one: int, other: int) -> int:
        return larger(noisy[one], noisy[other])

    # A tie goes to the earlier one: sorting keeps their order.
    return sorted(noisy, key=cmp_to_key(compared), reverse=True)


def _contenders(positions: Indices, noisy: Bounds, k: int) -> tuple[Indices, Bounds]:
    """Return those that can be among the ``k`` largest, with their bounds."""
    if positions.size <= k:
        return positions, noisy
    # k of them are at least the k-th largest lower bound.
    can_win = noisy.high >= np.partition(noisy.low, -k)[-k]
    return positions[can_win], noisy.of(can_win)


def scale_for(epsilon: float, k: int) -> float:
    """Return the noise scale for epsilon / k a round, in grid steps, rounded up."""
    scale = nextafter(2 * SENSITIVITY * k / float(epsilon), inf)
    if not scale <= MOST_SCALE:
        raise ParameterError(f"epsilon / k must be at least 1e-240, got {epsilon / k!r}")
    return scale
