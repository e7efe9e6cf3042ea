r"""Kernels over all pairs of groups of identical candidates, which store no pair.

Each kernel does the candidates ``first, first + step, ...`` and writes to their places.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from dpselect._compiled import compiled
from dpselect.combine.candidate_groups import GroupTable
from dpselect.combine.gap_kernels import Gap, both_sums, first_overlap, gap_of
from dpselect.typing import Indices, Values

Flags: TypeAlias = NDArray[np.bool_]

KINDS = ("pareto", "weak", "strict")
"""Kinds of dominance, by their numbers here."""
PARETO, WEAK, STRICT = range(3)

FAR = 2.0**52
"""Distances up to here are integers that floats hold."""


@compiled
def _dominates(scores: Values, rival: int, candidate: int, kind: int) -> bool:
    ahead, level = False, False
    for i in range(scores.shape[0]):
        if scores[i, rival] < scores[i, candidate]:
            return False
        ahead |= scores[i, rival] > scores[i, candidate]
        level |= scores[i, rival] == scores[i, candidate]
    return kind == WEAK or (ahead if kind == PARETO else not level)


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
    # Taken apart, for every access to an array in a tuple counts a reference, in all threads.
    scores, table, rows, rates = of.scores, of.table, of.rows, of.rates
    near, nearly = np.ones((2, 2, rates.shape[1]), np.int64)
    for candidate in range(first, groups, step):
        begin[:] = 0
        cease[:] = 0
        near[1], nearly[1] = -1, -1
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
def _dampened_gap(table: Values, gap: Gap, height: float) -> float:
    """Return the difference of two scores, dampened by the sums of both candidates.

    With :math:`B(t)` the charged parts of both sums, this is the piecewise linear ``D`` with
    ``D(B(t)) = t``: ``t + (gap - B(t)) / (B(t + 1) - B(t))`` for the last ``t`` with
    ``B(t) <= gap``, found by bisection in the table and in closed form beyond it.
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
    scores, rests, table, rows, rates = of
    for candidate in range(first, worst.size, step):
        for rival in range(worst.size - 1, -1, -1):
            if rival == candidate:
                continue
            least = np.inf
            for i in range(rates.shape[1]):
                lead = scores[i, rival] - scores[i, candidate]
                lead += rests[i, rival] - rests[i, candidate]
                behind, ahead = (rival, candidate) if lead < 0 else (candidate, rival)
                gap = gap_of(scores, rows, rates, i, behind, ahead)
                least = min(least, _dampened_lead(table, gap, lead, worst[candidate]))
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
