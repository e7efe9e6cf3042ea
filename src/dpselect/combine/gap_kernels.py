"""Kernels of two candidates in one objective: the steps after which their ranges overlap."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dpselect._compiled import compiled
from dpselect.combine.score_range import SLACK
from dpselect.typing import Indices, Values


class Gap(NamedTuple):
    """Two candidates in one objective: numbers alone, which a call passes in registers."""

    low: float
    """The smaller score."""

    high: float

    low_row: int
    """Where the sums of the candidate with the smaller score begin."""

    high_row: int

    low_last: int
    """The last distance in its row."""

    high_last: int

    slope: float
    """What each distance beyond the last adds to a sum."""

    share: float
    """The part of the sums that is charged."""


@compiled
def last_before_slope(sums: Values, slope: float) -> Indices:
    """Return for each row of sums the distance from which on it is a line, to the last bit.

    The length of a row is that of its varying part, which for most candidates is short.
    """
    lasts = np.zeros(sums.shape[0], np.int64)
    end = sums.shape[1] - 1
    for row in range(sums.shape[0]):
        last = end
        while last > 0:
            if abs(sums[row, last] - sums[row, last - 1] - slope) > slope * 2.0**-30:
                break
            last -= 1
        lasts[row] = last
        for steps in range(last + 1, end + 1):
            if sums[row, steps] != sums[row, last] + (steps - last) * slope:
                lasts[row] = end
                break
    return lasts


@compiled
def gap_of(scores: Values, rows: Indices, rates: Values, i: int, low: int, high: int) -> Gap:
    """Return objective ``i`` of the groups with the smaller and the larger score."""
    return Gap(
        scores[i, low],
        scores[i, high],
        rows[0, i, low],
        rows[0, i, high],
        rows[1, i, low],
        rows[1, i, high],
        rates[0, i],
        rates[1, i],
    )


@compiled
def _sum(table: Values, row: int, last: int, slope: float, steps: int) -> float:
    inside = min(steps, last)
    return table[row + inside] + (steps - inside) * slope


@compiled
def _overlap(table: Values, gap: Gap, steps: int) -> bool:
    low_sum = _sum(table, gap.low_row, gap.low_last, gap.slope, steps)
    high_sum = _sum(table, gap.high_row, gap.high_last, gap.slope, steps)
    # The operations of score_range.radius in their order: both decide every comparison alike.
    slack = steps * SLACK
    low_radius = gap.share * low_sum + slack * (abs(gap.low) + low_sum)
    high_radius = gap.share * high_sum + slack * (abs(gap.high) + high_sum)
    return gap.low + low_radius >= gap.high - high_radius


@compiled
def both_sums(table: Values, gap: Gap, steps: int) -> float:
    """Return the charged parts of both sums."""
    low_sum = _sum(table, gap.low_row, gap.low_last, gap.slope, steps)
    high_sum = _sum(table, gap.high_row, gap.high_last, gap.slope, steps)
    return gap.share * (low_sum + high_sum)


@compiled
def _guess(table: Values, gap: Gap, near: int, most: int) -> int:
    """Return a number of steps near the first overlap: ``near`` in the table, else exact.

    Beyond the last tabulated distance both sums grow by ``slope`` a step, so the rest of the
    gap closes after ``left / (2 share slope)`` further steps, but for the slack.
    """
    last = max(gap.low_last, gap.high_last)
    left = gap.high - gap.low - both_sums(table, gap, last)
    if left <= 0:
        return near
    further = left / (2 * gap.share * gap.slope)
    return most if further > most - last else last + int(np.ceil(further))


@compiled
def first_overlap(table: Values, gap: Gap, near: int, least: int, most: int) -> int:
    """Return the least number of steps in ``least .. most`` after which the ranges overlap.

    ``most + 1`` if there is none. The radii grow with the steps, so overlaps are monotone in
    them: the stride doubles from a guess until it brackets the first one, then bisection.
    """
    if least <= most and _overlap(table, gap, least):
        return least
    at = min(max(least + 1, _guess(table, gap, near, most)), most)
    stride = 1
    if _overlap(table, gap, at):
        upper, lower = at, at - 1
        while lower >= least and _overlap(table, gap, lower):
            stride *= 2
            upper, lower = lower, lower - stride
        lower = max(lower, least - 1)
    else:
        lower, upper = at, at + 1
        while upper <= most and not _overlap(table, gap, upper):
            stride *= 2
            lower, upper = upper, upper + stride
        upper = min(upper, most + 1)
    while upper - lower > 1:
        middle = (lower + upper) // 2
        if _overlap(table, gap, middle):
            upper = middle
        else:
            lower = middle
    return upper
