"""The walk over distances that information gain's sensitivity needs, compiled."""

from __future__ import annotations

from math import log, log1p, log2

import numpy as np
from numba import njit

from dpselect.typing import Indices, Values

LN2 = log(2.0)


@njit(cache=True)  # type: ignore[untyped-decorator]
def rise(x: int, table: Values) -> float:
    """Return ``(x + 1) log2(x + 1) - x log2 x`` without cancellation, ``x >= 0``."""
    if x < table.size:
        return table[x]
    return log2(x + 1.0) + x * log1p(1.0 / x) / LN2


def rise_table(size: int) -> Values:
    """Return :func:`rise` for ``0, ..., size - 1``, size >= 1."""
    x = np.arange(1, size, dtype=np.float64)
    return np.concatenate([[0.0], np.log2(x + 1) + x * np.log1p(1 / x) / LN2])


@njit(cache=True)  # type: ignore[untyped-decorator]
def cell(total: int, least: int, distance: int, table: Values) -> float:
    """Return the largest change in one value within ``distance`` records, in O(1).

    Args:
        total: Records with the value.
        least: Those of its rarest class, at most half of them.
        distance: Records between the databases.
        table: From :func:`rise_table`.
    """
    if least == 0:
        return rise(total + distance, table)
    removed = min(least, distance + 1)
    grown = total + distance + 1 - 2 * removed
    return rise(grown, table) - rise(least - removed, table)


@njit(cache=True)  # type: ignore[untyped-decorator]
def largest(
    totals: Indices, least: Indices, start: int, end: int, distance: int, table: Values
) -> float:
    """Return the largest change of an attribute with the values from start to end."""
    out = 0.0
    for j in range(start, end):
        out = max(out, cell(totals[j], least[j], distance, table))
    return out


@njit(cache=True)  # type: ignore[untyped-decorator]
def at(totals: Indices, least: Indices, ends: Indices, distance: int, table: Values) -> Values:
    """Return the largest change of each attribute; its values end at ``ends``."""
    out = np.zeros(ends.size)
    for r in range(ends.size):
        start = ends[r - 1] if r else 0
        out[r] = largest(totals, least, start, ends[r], distance, table)
    return out


@njit(cache=True)  # type: ignore[untyped-decorator]
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


@njit(cache=True)  # type: ignore[untyped-decorator]
def sums(
    totals: Indices,
    least: Indices,
    ends: Indices,
    upto: Indices,
    stride: int,
    most: int,
    table: Values,
) -> Values:
    """Return the sums of the changes, each cut at ``rise(most)``, below some distances.

    Args:
        totals: Records with each value, the values of all attributes in a row.
        least: Those of its rarest class.
        ends: Where the values of each attribute end.
        upto: The distance ``t`` of each attribute; the sum is over ``0, ..., t - 1``.
        stride: Records added or removed by one neighbour step: 1 or 2.
        most: One less than the largest number of records.
        table: From :func:`rise_table`.
    """
    bound = rise(most, table)
    out = np.zeros(ends.size)
    for r in range(ends.size):
        start = ends[r - 1] if r else 0
        since, lead = steady_from(totals, least, start, ends[r])
        t = 0
        while t < upto[r] and (stride > 1 or t < since):
            delta = largest(totals, least, start, ends[r], stride * t, table)
            if stride > 1 and delta >= bound:
                break
            out[r] += min(delta, bound)
            t += 1
        if stride == 1:
            # The sum of rise(k + t) telescopes to the difference of x log2 x.
            end = min(max(most - lead, t), upto[r])
            out[r] += x_log_x(lead + end) - x_log_x(lead + t)
            t = end
        out[r] += (upto[r] - t) * bound
    return out


@njit(cache=True)  # type: ignore[untyped-decorator]
def x_log_x(x: int) -> float:
    """Return ``x log2 x``, 0 at 0."""
    return x * log2(x) if x > 0 else 0.0


@njit(cache=True)  # type: ignore[untyped-decorator]
def locate(
    totals: Indices,
    least: Indices,
    ends: Indices,
    heights: Values,
    stride: int,
    horizon: int,
    most: int,
    table: Values,
) -> Values:
    """Return steps, start and width of the interval of each height, shape ``(3, n)``."""
    bound = rise(most, table)
    out = np.zeros((3, ends.size))
    for r in range(ends.size):
        start = ends[r - 1] if r else 0
        passed, t = 0.0, 0
        while t < horizon:
            delta = min(largest(totals, least, start, ends[r], stride * t, table), bound)
            out[2, r] = delta
            if passed + delta > heights[r]:
                break
            passed += delta
            t += 1
        if t == horizon:
            out[2, r] = bound
        out[0, r], out[1, r] = t, passed
    return out
