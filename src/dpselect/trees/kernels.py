"""Compiled loops: leaves of records, and sensitivities by distance.

The loops over distances add up ``δ(0), δ(1), ...``, the largest change that one record makes at
each distance, for dampening. The formulas of δ are derived in ``dpselect.trees.criteria`` and
``dpselect.trees.rates``.
"""

from __future__ import annotations

from math import log, log1p, log2

import numpy as np

from dpselect._compiled import compiled
from dpselect.typing import Indices, Values

LN2 = log(2.0)


@compiled
def leaves(
    codes: Indices, columns: Indices, firsts: Indices, targets: Indices, root: int
) -> Indices:
    """Return the leaf that each row of codes reaches, -1 for none.

    Args:
        codes: Shape ``(m, columns)``.
        columns: The column of each split.
        firsts: Where the targets of its codes start.
        targets: A split ``b >= 0``; or ``-2 - leaf``; or -1 for no leaf.
        root: Such a target.
    """
    out = np.empty(codes.shape[0], dtype=np.int64)
    for i in range(codes.shape[0]):
        target = root
        while target >= 0:
            target = targets[firsts[target] + codes[i, columns[target]]]
        out[i] = -2 - target
    return out


_X = np.arange(1, 2**16, dtype=np.float64)
RISES = np.concatenate([[0.0], np.log2(_X + 1) + _X * np.log1p(1 / _X) / LN2])
"""``rise`` of few records, ten times as fast as by its formula: half a megabyte."""


@compiled
def rise(x: int) -> float:
    """Return ``(x + 1) log2(x + 1) - x log2 x`` without cancellation, ``x >= 0``."""
    return RISES[x] if x < RISES.size else x_log_x_rise(x, 1)


@compiled
def column_change(
    totals: Indices, least: Indices, start: int, end: int, distance: int
) -> float:
    """Return the largest change of an attribute within ``distance`` records, O(1) a value.

    Args:
        totals: Records with each value.
        least: Those of its rarest class, at most half of them.
        start: Where the values of the attribute start.
        end: Where they end.
        distance: Records between the databases.
    """
    out = 0.0
    for j in range(start, end):
        removed = min(least[j], distance + 1)
        if removed == 0:
            change = rise(totals[j] + distance)
        else:
            grown = totals[j] + distance + 1 - 2 * removed
            change = rise(grown) - rise(least[j] - removed)
        out = max(out, change)
    return out


@compiled
def gain_change(totals: Indices, least: Indices, ends: Indices, distance: int) -> Values:
    """Return the largest change of each attribute; its values end at ``ends``."""
    out = np.zeros(ends.size)
    for r in range(ends.size):
        start = ends[r - 1] if r else 0
        out[r] = column_change(totals, least, start, ends[r], distance)
    return out


@compiled
def steady_from(totals: Indices, least: Indices, start: int, end: int) -> tuple[int, int]:
    """Return ``(t, k)`` such that from distance ``t`` on the change is ``rise(k + t)``.

    Once its rarest class can be removed, a value of ``a`` records, ``b`` of that class,
    gives ``rise(a - 2 b + 1 + t)``, for ``b = 0`` ``rise(a + t)``. Before, it gives no more:
    ``rise(A) - rise(B) <= rise(A - 2 B)`` for ``A > 2 B``, because the right side grows
    faster with ``A`` and ``rise(2 B + 1) - rise(B) <= log2(e) < 2 = rise(1)``.
    """
    best, since = -1, 0
    for j in range(start, end):
        lead = totals[j] - 2 * least[j] + (1 if least[j] > 0 else 0)
        if lead > best or (lead == best and least[j] < since):
            best, since = lead, least[j]
    return since, best


@compiled
def gain_change_sums(
    totals: Indices, least: Indices, ends: Indices, upto: Indices, most: int
) -> Values:
    """Return the sums of the changes, each cut at ``rise(most)``, below some distances.

    Args:
        totals: Records with each value, the values of all attributes in a row.
        least: Those of its rarest class.
        ends: Where the values of each attribute end.
        upto: The distance ``t`` of each attribute; the sum is over ``0, ..., t - 1``.
        most: One less than the largest number of records.
    """
    bound = rise(most)
    out = np.zeros(ends.size)
    for r in range(ends.size):
        start = ends[r - 1] if r else 0
        since, lead = steady_from(totals, least, start, ends[r])
        first = min(since, upto[r])
        for t in range(first):
            out[r] += min(column_change(totals, least, start, ends[r], t), bound)
        # The sum of rise(k + t) telescopes to the difference of x log2 x.
        end = min(max(most - lead, first), upto[r])
        out[r] += x_log_x_rise(lead + first, end - first) + (upto[r] - end) * bound
    return out


@compiled
def x_log_x_rise(x: int, n: int) -> float:
    """Return ``(x + n) log2(x + n) - x log2 x`` without cancellation, 0 log2 0 being 0."""
    if n <= 0:
        return 0.0
    return n * log2(x + n) + (x * log1p(n / x) / LN2 if x > 0 else 0.0)


@compiled
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


@compiled
def record_change(hits: Indices, totals: Indices, weights: Values, distance: int) -> float:
    """Return the largest change of the weighted sum: one record is of one class."""
    return max(
        weights[0] * rate_change(hits[0], totals[0], distance),
        weights[1] * rate_change(hits[1], totals[1], distance),
    )


@compiled
def weighted_change(hits: Indices, totals: Indices, weights: Values, distance: int) -> Values:
    """Return the largest change of each weighted sum within a distance."""
    out = np.zeros(hits.shape[0])
    for r in range(hits.shape[0]):
        out[r] = record_change(hits[r], totals, weights, distance)
    return out


@compiled
def walk_weighted(
    hits: Indices, totals: Indices, weights: Values, heights: Values, upto: Indices
) -> Values:
    """Return steps, start and width of the interval of each height, shape ``(3, n)``.

    The sums of changes are compensated as in ``RunningSum``.

    Args:
        hits: Shape ``(n, 2)``.
        totals: Shape ``(2,)``.
        weights: Shape ``(2,)``, >= 0.
        heights: Shape ``(n,)``.
        upto: The most steps of each, shape ``(n,)``.
    """
    out = np.zeros((3, heights.size))
    for r in range(heights.size):
        total, lost, t = 0.0, 0.0, 0
        delta = record_change(hits[r], totals, weights, t)
        while t < upto[r] and total + lost + delta <= heights[r]:
            raised = total + delta
            lost += max(total, delta) - raised + min(total, delta)
            total = raised
            t += 1
            delta = record_change(hits[r], totals, weights, t)
        out[0, r], out[1, r], out[2, r] = t, total + lost, delta
    return out
