r"""Kernels over all pairs of candidates, which store no pair.

Those of the Pareto score are over pairs of groups of identical candidates: after how many
steps the ranges of two overlap. A kernel with ``first`` and ``step`` does the candidates
``first, first + step, ...`` and writes to their places.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpselect._compiled import compiled
from dpselect.combine.score_range import SLACK
from dpselect.typing import Indices, Values

if TYPE_CHECKING:
    from dpselect.combine.candidate_groups import GroupTable

KINDS = ("standard", "weak", "strict")
"""Kinds of dominance, by their numbers here."""
STANDARD, WEAK, STRICT = range(3)


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


@compiled
def _dominates(scores: Values, rival: int, candidate: int, kind: int) -> bool:
    ahead, level = False, False
    for i in range(scores.shape[0]):
        if scores[i, rival] < scores[i, candidate]:
            return False
        ahead |= scores[i, rival] > scores[i, candidate]
        level |= scores[i, rival] == scores[i, candidate]
    return kind == WEAK or (ahead if kind == STANDARD else not level)


@compiled
def _alike(scores: Values, rows: Indices, i: int, one: int, other: int) -> bool:
    """Return whether two groups, of which the second may be -1 for none, have one range."""
    return (
        other >= 0
        and scores[i, one] == scores[i, other]
        and rows[0, i, one] == rows[0, i, other]
    )


@compiled
def _begins(
    scores: Values,
    table: Values,
    rows: Indices,
    rates: Values,
    rival: int,
    candidate: int,
    most: int,
    near: Indices,
) -> int:
    """Return the steps after which ``rival`` can begin to dominate, ``most + 1`` for never.

    As soon as the ranges overlap in the *last* objective in which it is behind. ``near`` has
    the overlaps of an earlier rival, and who that was, shape ``(2, m)``: groups are sorted, so
    it is like this one.
    """
    begins = 1
    for i in range(near.shape[1]):
        if scores[i, rival] < scores[i, candidate] and begins <= most:
            gap = gap_of(scores, rows, rates, i, rival, candidate)
            if begins == 1 and _alike(scores, rows, i, rival, near[1, i]):
                begins = near[0, i]
                continue
            found = first_overlap(table, gap, near[0, i], begins, most)
            if begins == 1:
                near[0, i], near[1, i] = found, rival
            begins = found
    return begins


@compiled
def _ceases(
    scores: Values,
    table: Values,
    rows: Indices,
    rates: Values,
    rival: int,
    candidate: int,
    most: int,
    near: Indices,
) -> int:
    """Return the steps after which ``rival`` can cease to dominate, ``most + 1`` for never.

    As soon as the ranges overlap in the *first* objective; they do where scores are equal.
    """
    ceases = most + 1
    for i in range(near.shape[1]):
        if scores[i, rival] == scores[i, candidate]:
            return 1
        if _alike(scores, rows, i, rival, near[1, i]):
            ceases = min(ceases, near[0, i])
        elif ceases > 1:
            gap = gap_of(scores, rows, rates, i, candidate, rival)
            found = first_overlap(table, gap, near[0, i], 1, ceases - 1)
            if ceases == most + 1:
                near[0, i], near[1, i] = found, rival
            ceases = found
    return ceases


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
    """Add up ``n - 1 - δ(x, t, r)`` over ``t < most``, for the Pareto score.

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
    # Taken apart, for every access to an array in a tuple counts a reference, in all threads.
    scores, table, rows, rates = of.scores, of.table, of.rows, of.rates
    near, nearly = np.ones((2, 2, rates.shape[1]), np.int64)
    for candidate in range(first, groups, step):
        begin.fill(0)
        cease.fill(0)
        near[1].fill(-1)
        nearly[1].fill(-1)
        identical = weights[candidate] - 1
        possible = identical if kind == WEAK else 0
        (cease if kind == WEAK else begin)[1] = identical
        for rival in range(groups):
            if rival != candidate:
                if _dominates(scores, rival, candidate, kind):
                    at = _ceases(scores, table, rows, rates, rival, candidate, most, near)
                    cease[at] += weights[rival]
                    possible += weights[rival]
                else:
                    at = _begins(scores, table, rows, rates, rival, candidate, most, nearly)
                    begin[at] += weights[rival]
        sure = possible
        for steps in range(1, most + 1):
            before_possible, before_sure = possible, sure
            possible += begin[steps]
            sure -= cease[steps]
            delta = max(possible - before_sure, before_possible - sure)
            totals[candidate] += bound - delta


@compiled
def margins(
    scores: Values,
    rests: Values,
    widths: Values,
    monotone: NDArray[np.bool_],
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
