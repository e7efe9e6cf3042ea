r"""Kernels of the margins: the largest, over rivals, of the least lead in any objective.

Kernels over all pairs do the candidates ``first, first + step, ...`` and write to their places.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from dpselect._compiled import compiled
from dpselect.combine.candidate_groups import GroupTable
from dpselect.combine.gap_kernels import Gap, both_sums, gap_of
from dpselect.combine.overlap_kernels import sort, still_open, write_ranges
from dpselect.combine.score_range import SLACK
from dpselect.typing import Indices, Values

Flags: TypeAlias = NDArray[np.bool_]

FAR = 2.0**52
"""Distances up to here are integers that floats hold."""


@compiled
def _dampened_gap(table: Values, gap: Gap, height: float) -> float:
    """Return the difference of two scores, dampened by the sums of both candidates.

    With ``B(t)`` the charged parts of both sums, this is the piecewise linear ``D`` with
    ``D(B(t)) = t``: ``t + (gap - B(t)) / (B(t + 1) - B(t))`` for the last ``t`` with ``B(t) <=
    gap``, found by bisection in the table and in closed form beyond it.
    """
    if height == 0:
        return 0.0  # also where the sums stay 0 for some distance
    last = max(gap.low_last, gap.high_last)
    at_last = both_sums(table, gap, last)
    if height >= at_last:
        return last + (height - at_last) / (2 * gap.share * gap.slope)
    lower, upper = 0, last
    while upper - lower > 1:
        middle = (lower + upper) // 2
        if both_sums(table, gap, middle) <= height:
            lower = middle
        else:
            upper = middle
    start = both_sums(table, gap, lower)
    end = both_sums(table, gap, lower + 1)
    return lower + (height - start) / (end - start)


@compiled
def _dampened_lead(table: Values, gap: Gap, lead: float, worst: float) -> float:
    """Return a lead, dampened, or minus infinity if it is at most ``worst``.

    ``D(lead)`` is below an integer ``t`` if the lead is below ``B(t)``: most leads are decided
    by one such sum, without a search.
    """
    if lead < 0:
        if worst > -FAR and both_sums(table, gap, int(np.ceil(max(-worst, 0)))) <= -lead:
            return -np.inf
        return -_dampened_gap(table, gap, -lead)
    if 0 <= worst < FAR and lead < both_sums(table, gap, int(worst)):
        return -np.inf
    return _dampened_gap(table, gap, lead)


@compiled
def raise_to(
    scores: Values,
    rests: Values,
    table: Values,
    rows: Indices,
    rates: Values,
    rival: int,
    candidate: int,
    worst: Values,
) -> None:
    """Raise the largest lead over a candidate to that of a rival, if that is larger.

    A rival whose lead is at most the largest so far in one objective cannot raise it, and its
    other objectives are skipped.
    """
    least = np.inf
    for i in range(rates.shape[1]):
        lead = scores[i, rival] - scores[i, candidate]
        lead += rests[i, rival] - rests[i, candidate]
        behind, ahead = (rival, candidate) if lead < 0 else (candidate, rival)
        gap = gap_of(scores, rows, rates, i, behind, ahead)
        least = min(least, _dampened_lead(table, gap, lead, worst[candidate]))
        if least <= worst[candidate]:
            return
    worst[candidate] = least


@compiled
def local_margins(
    of: GroupTable, worst: Values, candidates: Indices, first: int, step: int
) -> None:
    """Find the largest, over rivals, of the least dampened lead in any objective.

    Args:
        of: Tables of the groups, up to where all ranges overlap.
        worst: The largest lead among identical candidates: 0, or minus infinity where there is
            none; shape ``(n,)``. Raised to the largest of all.
        candidates: The groups to do.
        first: The first candidate to do.
        step: From each candidate to the next.
    """
    scores, rests, table, rows, rates = of
    for place in range(first, candidates.size, step):
        candidate = candidates[place]
        for rival in range(worst.size - 1, -1, -1):
            if rival != candidate:
                raise_to(scores, rests, table, rows, rates, rival, candidate, worst)


@compiled
def local_margins_of_two(of: GroupTable, narrow: int, worst: Values, most: int) -> Flags:
    """Find the same for two objectives, and return which groups remain to be done.

    A rival leads by at least ``k`` dampened steps in an objective if its range within ``k``
    steps is above the candidate's. Whether any rival is above in both objectives is read off
    one sweep over the groups, for ``k = 0, 1, ...`` up to ``most``. When none is any more, only
    those that were at ``k - 1`` are compared. Groups whose range in objective ``narrow``
    overlaps all others by then are left out: they neither lead by as much nor are led.

    All ranges are smaller than they are, by far more than rounding, so that no rival that leads
    by ``k`` is missed. What remains to be done are groups that no rival is above, which are few
    on real data, those whose largest lead turns out to be below ``k - 1``, and those that are
    led by more than ``most``.

    Args:
        of: Tables of the groups, up to where all ranges overlap.
        narrow: The objective in which groups soon close, 0 or 1.
        worst: As for ``local_margins``.
        most: Steps to follow; the length of a lead is private, and may be any.
    """
    scores, rests, table, rows, rates = of
    now, before = np.empty((2, 2, worst.size)), np.empty((2, 2, worst.size))
    by_low, by_high = np.arange(worst.size), np.arange(worst.size)
    earlier = by_low[:0]  # nothing is compared before a first distance
    led, remain = np.ones(worst.size, np.bool_), np.zeros(worst.size, np.bool_)
    steps, left = 0, worst.size
    while left > 0 and steps <= most:
        for i in range(2):
            write_ranges(of, i, by_low, steps, -(steps + 1) * SLACK, now[i])
        sort(now[narrow, 0], by_low)
        sort(now[narrow, 1], by_high)
        beaten = _beaten(now, narrow, by_low, by_high)
        for place in range(by_high.size):
            group = by_high[place]
            if not led[group] or beaten[place]:
                continue
            led[group] = False
            left -= 1
            for at in range(earlier.size - 1, -1, -1):
                other = earlier[at]
                if before[narrow, 0, other] <= before[narrow, 1, group]:
                    break
                if (
                    other != group
                    and before[1 - narrow, 0, other] > before[1 - narrow, 1, group]
                ):
                    raise_to(scores, rests, table, rows, rates, other, group, worst)
            remain[group] = worst[group] < steps - 1
        earlier = by_low
        by_low, by_high = (
            still_open(now[narrow], by_low, by_low),
            still_open(now[narrow], by_high, by_low),
        )
        now, before = before, now
        steps += 1
    return remain | led


@compiled
def _beaten(ends: Values, narrow: int, by_low: Indices, by_high: Indices) -> Flags:
    """Return whether any range is above in both objectives, in the order ``by_high``.

    A range smaller than nothing can be above itself, so that its group remains to be done.
    """
    beaten = np.empty(by_high.size, np.bool_)
    best, at = -np.inf, by_low.size - 1
    for place in range(by_high.size - 1, -1, -1):
        group = by_high[place]
        while at >= 0 and ends[narrow, 0, by_low[at]] > ends[narrow, 1, group]:
            best = max(best, ends[1 - narrow, 0, by_low[at]])
            at -= 1
        beaten[place] = best > ends[1 - narrow, 1, group]
    return beaten


@compiled
def margins(
    scores: Values,
    rests: Values,
    widths: Values,
    monotone: Flags,
    worst: Values,
    first: int,
    step: int,
) -> None:
    """Find the largest, over rivals, of the least lead in any objective over widths.

    Args:
        scores: Shape ``(m, n)``, ``n >= 2``.
        rests: What the scores as floats lack, shape ``(m, n)``.
        widths: Sensitivity of each objective and candidate, shape ``(m, n)``.
        monotone: Shape ``(m,)``: the larger width of a pair instead of the sum.
        worst: Minus infinity, shape ``(n,)``; the leads are written here.
        first: The first candidate to do.
        step: From each candidate to the next.
    """
    m, n = scores.shape
    for candidate in range(first, n, step):
        for rival in range(n):
            if rival == candidate:
                continue
            least = np.inf
            for i in range(m):
                one, other = widths[i, candidate], widths[i, rival]
                width = max(one, other) if monotone[i] else one + other
                lead = scores[i, rival] - scores[i, candidate]
                lead += rests[i, rival] - rests[i, candidate]
                least = min(least, lead / width)
                if least <= worst[candidate]:
                    break
            worst[candidate] = max(worst[candidate], least)
