"""The walk over distances that a weighted sum of two rates needs, compiled."""

from __future__ import annotations

import numpy as np
from numba import njit

from dpselect.typing import Indices, Values


@njit(cache=True)  # type: ignore[untyped-decorator]
def rate_change(hits: int, total: int, distance: int) -> float:
    """Return the largest change of ``hits / total`` within a distance, 0/0 := 0."""
    left = total - distance
    if left < 1:
        return 1.0
    if left == 1:
        return 1.0 if hits >= 1 else 0.5
    more = max(hits, total - hits)
    less = total - more
    if distance < less:
        return more / (left * (left - 1.0))
    return 1.0 / left if less > 0 else 1.0 / (left + 1)


@njit(cache=True)  # type: ignore[untyped-decorator]
def change(hits: Indices, totals: Indices, weights: Values, distance: int) -> float:
    """Return the largest change of the weighted sum: one record is of one class."""
    return max(
        weights[0] * rate_change(hits[0], totals[0], distance),
        weights[1] * rate_change(hits[1], totals[1], distance),
    )


@njit(cache=True)  # type: ignore[untyped-decorator]
def locate(
    hits: Indices, totals: Indices, weights: Values, heights: Values, horizon: int
) -> Values:
    """Return steps, start and width of the interval of each height, shape ``(3, n)``.

    Args:
        hits: Shape ``(n, 2)``.
        totals: Shape ``(2,)``.
        weights: Shape ``(2,)``, >= 0.
        heights: Shape ``(n,)``.
        horizon: The distance from which on the bound is used.
    """
    out = np.zeros((3, heights.size))
    for r in range(heights.size):
        passed, t = 0.0, 0
        while t < horizon:
            delta = change(hits[r], totals, weights, t)
            out[2, r] = delta
            if passed + delta > heights[r]:
                break
            passed += delta
            t += 1
        if t == horizon:
            out[2, r] = weights.max()
        out[0, r], out[1, r] = t, passed
    return out


@njit(cache=True)  # type: ignore[untyped-decorator]
def at(hits: Indices, totals: Indices, weights: Values, distance: int) -> Values:
    """Return the largest change of each weighted sum within a distance."""
    out = np.zeros(hits.shape[0])
    for r in range(hits.shape[0]):
        out[r] = change(hits[r], totals, weights, distance)
    return out
