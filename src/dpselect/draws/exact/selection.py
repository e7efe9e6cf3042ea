"""Samplers of the largest noisy scores, with noise that is drawn as far as it decides.

A whole release is a few passes over the scores whatever they are: the first 64 bits of the
noise leave one candidate almost always, and the few that are left are compared exactly
(``dpselect.draws.exact.lazy_noise``).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cmp_to_key, partial
from math import inf, nextafter
from typing import TypeAlias

import numpy as np

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
from dpselect.draws.grid import SENSITIVITY, to_grid
from dpselect.errors import ParameterError
from dpselect.typing import Indices, Scores

MOST_SCALE = 1e250
"""Above it sums of noisy scores could overflow."""

Largest: TypeAlias = Callable[[Indices, float, int], list[int]]
"""Positions of the ``k`` largest numbers with noise of a scale."""


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
def largest_of_each(scores: Scores, epsilon: float) -> Indices:
    """Draw a position of each row, the maximum after fresh exponential noise.

    Args:
        scores: Shape ``(rows, n)``, ``n >= 1``. Private.
        epsilon: Epsilon of each row. Public.

    Returns:
        Shape ``(rows,)``; the distribution of each is that of ``top_k_exponential_noise``.
    """
    grid, scale = to_grid(scores), scale_for(epsilon, 1)
    drawn = np.empty(len(grid), dtype=np.int64)
    rows = max(1, CHUNK // grid.shape[1])
    for first in range(0, len(grid), rows):
        _of_rows(grid[first : first + rows], scale, drawn[first : first + rows])
    return drawn


def _of_rows(grid: Indices, scale: float, drawn: Indices) -> None:
    """Write the position of the largest noisy number of each row.

    It is at least the largest number, since no noise is below 0. Of most numbers that are far
    below that one the first byte of their bits tells that they do not reach it.
    """
    size = grid.shape[1]
    below_best = (grid - grid.max(axis=1, keepdims=True)).ravel()
    is_far = below_best < -scale * FIRST_BYTE
    near, far = np.flatnonzero(~is_far), np.flatnonzero(is_far)
    small, whole = small_words(far.size)
    places = np.concatenate([near, far[small]])
    words = np.concatenate([source.words(near.size), whole])
    order = np.argsort(places)
    places, row = places[order], places[order] // size
    noisy = bounds_of(Noise.EXPONENTIAL, below_best[places], scale, words[order][None])
    least = np.maximum.reduceat(noisy.low, row.searchsorted(np.arange(len(grid))))
    [left] = (noisy.high >= least[row]).nonzero()
    drawn[row[left]] = places[left] % size
    for one in np.flatnonzero(np.bincount(row[left]) > 1).tolist():
        at = left[row[left] == one]
        drawn[one] = (
            _sorted(Noise.EXPONENTIAL, below_best, scale, places[at], noisy.of(at))[0] % size
        )


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
