r"""Kernels over all pairs of groups of identical candidates, which store no pair.

Each kernel does the candidates ``first, first + step, ...`` and writes to their places.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dpselect._compiled import compiled
from dpselect.combine.candidate_groups import GroupTable
from dpselect.combine.score_range import SLACK
from dpselect.typing import Indices, Values

Flags: TypeAlias = NDArray[np.bool_]

KINDS = ("pareto", "weak", "strict")
"""Kinds of dominance, by their numbers here."""
PARETO, WEAK, STRICT = range(3)


class _Gap(NamedTuple):
    """Two candidates in one objective: numbers alone, which a call passes in registers."""

    low: float
    """The smaller score."""

    high: float

    low_row: int
    """Where the sums of the candidate with the smaller score begin."""

    high_row: int

    last: int
    """The last distance that is tabulated."""

    slope: float
    """What each further distance adds to the sum of either."""

    share: float
    """The part of the sums that is charged."""


@compiled
def _gap(of: GroupTable, i: int, low: int, high: int) -> _Gap:
    return _Gap(
        of.scores[i, low],
        of.scores[i, high],
        of.starts[i, low],
        of.starts[i, high],
        of.lasts[i],
        of.slopes[i],
        of.shares[i],
    )


@compiled
def _overlap(table: Values, gap: _Gap, steps: int) -> bool:
    inside = min(steps, gap.last)
    beyond = (steps - inside) * gap.slope
    low_sum = table[gap.low_row + inside] + beyond
    high_sum = table[gap.high_row + inside] + beyond
    # The operations of score_range.radius in their order: both decide every comparison alike.
    slack = steps * SLACK
    low_radius = gap.share * low_sum + slack * (abs(gap.low) + low_sum)
    high_radius = gap.share * high_sum + slack * (abs(gap.high) + high_sum)
    return gap.low + low_radius >= gap.high - high_radius


@compiled
def _both_sums(table: Values, gap: _Gap, steps: int) -> float:
    """Return the charged parts of both sums, at a distance within the table."""
    return gap.share * (table[gap.low_row + steps] + table[gap.high_row + steps])


@compiled
def _guess(table: Values, gap: _Gap, most: int) -> int:
    """Return a number of steps near the first overlap: 1 within the table, exact beyond it.

    Beyond the last tabulated distance both sums grow by ``slope`` a step, so the rest of the
    gap closes after ``left / (2 share slope)`` further steps, but for the slack.
    """
    left = gap.high - gap.low - _both_sums(table, gap, gap.last)
    if left <= 0:
        return 1
    further = left / (2 * gap.share * gap.slope)
    return most if further > most - gap.last else gap.last + int(np.ceil(further))


@compiled
def _first_overlap(table: Values, gap: _Gap, least: int, most: int) -> int:
    """Return the least number of steps in ``least .. most`` after which the ranges overlap.

    ``most + 1`` if there is none. The radii grow with the steps, so overlaps are monotone in
    them: the stride doubles from a guess until it brackets the first one, then bisection.
    """
    at = min(max(least, _guess(table, gap, most)), most)
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


@compiled
def _turning_point(of: GroupTable, rival: int, candidate: int, most: int, kind: int) -> int:
    """Return the steps after which ``rival`` can begin to dominate ``candidate``.

    Or, negative, after which it can cease to, if it dominates now. It can begin as soon as
    the ranges overlap in the *last* objective in which it is behind, and cease as soon as
    they do in the *first* in which it is ahead. ``most + 1`` is never.
    """
    begins, behind, ahead, level = 1, False, False, False
    for i in range(of.lasts.size):
        if of.scores[i, rival] < of.scores[i, candidate]:
            behind = True
            if begins <= most:
                begins = _first_overlap(of.table, _gap(of, i, rival, candidate), begins, most)
        elif of.scores[i, rival] > of.scores[i, candidate]:
            ahead = True
        else:
            level = True
    if behind or (kind == PARETO and not ahead) or (kind == STRICT and level):
        return begins
    ceases = most + 1
    for i in range(of.lasts.size):
        if of.scores[i, rival] == of.scores[i, candidate]:
            return -1
        if ceases > 1:
            ceases = _first_overlap(of.table, _gap(of, i, candidate, rival), 1, ceases - 1)
    return -ceases


@compiled
def pareto_intervals(
    scores: Values,
    radii: Values,
    heights: Values,
    first: int,
    horizon: int,
    bound: float,
    left: Indices,
    found: Values,
) -> None:
    """Follow the sums of the Pareto score's sensitivity over some distances.

    Args:
        scores: Shape ``(m, n)``.
        radii: In ``first + 1``, ``first + 2``, ... steps, shape ``(d, m, n)``.
        heights: What each sum is to reach, shape ``(n,)``.
        first: The first distance.
        horizon: The distance from which on the sensitivity is ``bound``.
        bound: The largest change.
        left: Possible and sure rivals at ``first``, and whether the candidate's interval is
            still to be found, shape ``(3, n)``; changed.
        found: Steps, start and width of the intervals, shape ``(3, n)``; changed.
    """
    possible, sure, open_ = left
    steps, start, width = found
    for r in range(heights.size):
        block = 0
        while open_[r] and block < radii.shape[0]:
            some, every = _rivals(scores, radii[block], r)
            change = max(some - sure[r], possible[r] - every)
            possible[r], sure[r] = some, every
            further = 0.0
            if change == bound:  # a sensitivity that has reached its bound stays there
                further = min((heights[r] - start[r]) // bound, horizon - first - block)
            elif start[r] + change <= heights[r]:
                start[r] += change
                block += 1
                continue
            steps[r], width[r] = first + block + further, change
            start[r] += further * change
            open_[r] = 0


@compiled
def _rivals(scores: Values, radii: Values, r: int) -> tuple[int, int]:
    """Return how many others dominate ``r`` in some, and in every, database of the radii."""
    some, every = -1, 0  # without the candidate itself, whose range overlaps with its own
    for other in range(scores.shape[1]):
        possibly, surely = 1, 1
        for i in range(scores.shape[0]):
            low, high = scores[i, r] - radii[i, r], scores[i, r] + radii[i, r]
            possibly &= scores[i, other] + radii[i, other] >= low
            surely &= scores[i, other] - radii[i, other] > high
        some += possibly
        every += surely
    return some, every


@compiled
def pareto_shortfall(
    of: GroupTable,
    weights: Indices,
    most: int,
    kind: int,
    totals: Indices,
    first: int,
    step: int,
) -> None:
    r"""Add up :math:`n - 1 - \delta(x, t, r)` over ``t < most``, for the Pareto score.

    Every rival changes its state once: one that does not dominate ``r`` is possible from its
    turning point on, one that does is sure before it. So ``begin[k]`` and ``cease[k]`` count
    the rivals whose turning point is ``k``, and one pass over ``k`` gives

        P_k = P_(k-1) + begin[k],    S_k = S_(k-1) - cease[k],
        delta(k - 1) = max(P_k - S_(k-1), P_(k-1) - S_k).

    Identical candidates are possible from the first step on; if they dominate each other,
    they are not sure after it.

    Args:
        of: Tables of the groups.
        weights: The candidates in each group, shape ``(n,)``.
        most: Distances to add.
        kind: Position in ``KINDS``: identical scores dominate each other if it is weak.
        totals: Zeros, shape ``(n,)``; the sums are written here.
        first: The first candidate to do.
        step: From each candidate to the next.
    """
    groups, bound = weights.size, weights.sum() - 1
    begin, cease = np.empty(most + 2, np.int64), np.empty(most + 2, np.int64)
    for candidate in range(first, groups, step):
        begin[:] = 0
        cease[:] = 0
        identical = weights[candidate] - 1
        possible = identical if kind == WEAK else 0
        (cease if kind == WEAK else begin)[1] = identical
        for rival in range(groups):
            if rival != candidate:
                at = _turning_point(of, rival, candidate, most, kind)
                if at > 0:
                    begin[at] += weights[rival]
                else:
                    cease[-at] += weights[rival]
                    possible += weights[rival]
        sure = possible
        for steps in range(1, most + 1):
            before_possible, before_sure = possible, sure
            possible += begin[steps]
            sure -= cease[steps]
            delta = max(possible - before_sure, before_possible - sure)
            totals[candidate] += bound - delta


@compiled
def _dampened_gap(table: Values, gap: _Gap, height: float) -> float:
    """Return the difference of two scores, dampened by the sums of both candidates.

    With :math:`B(t)` the charged parts of both sums, this is the piecewise linear ``D`` with
    ``D(B(t)) = t``: ``t + (gap - B(t)) / (B(t + 1) - B(t))`` for the last ``t`` with
    ``B(t) <= gap``, found by bisection in the table and in closed form beyond it.
    """
    if height == 0:
        return 0.0  # also where the sums stay 0 for some distance
    at_last = _both_sums(table, gap, gap.last)
    if height >= at_last:
        return gap.last + (height - at_last) / (2 * gap.share * gap.slope)
    lower, upper = 0, gap.last
    while upper - lower > 1:
        middle = (lower + upper) // 2
        if _both_sums(table, gap, middle) <= height:
            lower = middle
        else:
            upper = middle
    start = _both_sums(table, gap, lower)
    end = _both_sums(table, gap, lower + 1)
    return lower + (height - start) / (end - start)


@compiled
def local_margins(of: GroupTable, worst: Values, first: int, step: int) -> None:
    """Find the largest, over rivals, of the least dampened lead in any objective.

    A rival whose lead is at most the largest so far in one objective cannot raise it, and its
    other objectives are skipped.

    Args:
        of: Tables of the groups, up to where all ranges overlap.
        worst: The largest lead among identical candidates: 0, or minus infinity where there is
            none; shape ``(n,)``. Raised to the largest of all.
        first: The first candidate to do.
        step: From each candidate to the next.
    """
    groups = worst.size
    for candidate in range(first, groups, step):
        for rival in range(groups):
            if rival == candidate:
                continue
            least = np.inf
            for i in range(of.lasts.size):
                lead = of.scores[i, rival] - of.scores[i, candidate]
                lead += of.rests[i, rival] - of.rests[i, candidate]
                if lead < 0:
                    ahead = -_dampened_gap(of.table, _gap(of, i, rival, candidate), -lead)
                else:
                    ahead = _dampened_gap(of.table, _gap(of, i, candidate, rival), lead)
                least = min(least, ahead)
                if least <= worst[candidate]:
                    break
            worst[candidate] = max(worst[candidate], least)


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
