r"""Work on all pairs of classes of candidates, compiled; no pair is stored.

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
def _met(table: Values, gap: _Gap, steps: int) -> bool:
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
def _charged(table: Values, gap: _Gap, steps: int) -> float:
    """Return what both sums are charged within the table."""
    return gap.share * (table[gap.low_row + steps] + table[gap.high_row + steps])


@compiled
def _guess(table: Values, gap: _Gap, most: int) -> int:
    """Return a number of steps near which two candidates meet: beyond the table, a line."""
    left = gap.high - gap.low - _charged(table, gap, gap.last)
    if left <= 0:
        return 1
    further = left / (2 * gap.share * gap.slope)
    return most if further > most - gap.last else gap.last + int(np.ceil(further))


@compiled
def _meeting(table: Values, gap: _Gap, least: int, most: int) -> int:
    """Return the least number of steps in ``least .. most`` that closes the gap.

    ``most + 1`` if there is none. Doubles from a guess, then bisects.
    """
    at = min(max(least, _guess(table, gap, most)), most)
    stride = 1
    if _met(table, gap, at):
        upper, lower = at, at - 1
        while lower >= least and _met(table, gap, lower):
            stride *= 2
            upper, lower = lower, lower - stride
        lower = max(lower, least - 1)
    else:
        lower, upper = at, at + 1
        while upper <= most and not _met(table, gap, upper):
            stride *= 2
            lower, upper = upper, upper + stride
        upper = min(upper, most + 1)
    while upper - lower > 1:
        middle = (lower + upper) // 2
        if _met(table, gap, middle):
            upper = middle
        else:
            lower = middle
    return upper


@compiled
def _flip(of: GroupTable, rival: int, candidate: int, most: int) -> int:
    """Return when ``rival`` can begin to dominate ``candidate``, or, negative, cease to.

    It can begin as soon as the *last* objective in which it is behind can be level, and
    cease as soon as the *first* in which it is ahead can. ``most + 1`` is never.
    """
    begins, behind, ahead = 1, False, False
    for i in range(of.lasts.size):
        if of.scores[i, rival] < of.scores[i, candidate]:
            behind = True
            if begins <= most:
                begins = _meeting(of.table, _gap(of, i, rival, candidate), begins, most)
        elif of.scores[i, rival] > of.scores[i, candidate]:
            ahead = True
    if behind or not ahead:
        return begins
    ceases = most + 1
    for i in range(of.lasts.size):
        if of.scores[i, rival] == of.scores[i, candidate]:
            return -1
        if ceases > 1:
            ceases = _meeting(of.table, _gap(of, i, candidate, rival), 1, ceases - 1)
    return -ceases


@compiled
def pareto_shortfall(
    of: GroupTable, weights: Indices, most: int, totals: Indices, first: int, step: int
) -> None:
    r"""Add up :math:`n - 1 - \delta^{PS}(x, t, r)` over ``t < most``.

    Args:
        of: GroupTable of the classes.
        weights: The candidates in each class, shape ``(n,)``.
        most: Distances to add.
        totals: Zeros, shape ``(n,)``; the sums are written here.
        first: The first candidate to do.
        step: From each candidate to the next.
    """
    classes, bound = weights.size, weights.sum() - 1
    begin, cease = np.empty(most + 2, np.int64), np.empty(most + 2, np.int64)
    for candidate in range(first, classes, step):
        begin[:] = 0
        cease[:] = 0
        begin[1] = weights[candidate] - 1
        possible = 0
        for rival in range(classes):
            if rival != candidate:
                at = _flip(of, rival, candidate, most)
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
def _steps_apart(table: Values, gap: _Gap) -> float:
    """Return the gap of two candidates, dampened by the sums of both."""
    height = gap.high - gap.low
    if height == 0:
        return 0.0  # also where the sums stay 0 for some distance
    at_last = _charged(table, gap, gap.last)
    if height >= at_last:
        return gap.last + (height - at_last) / (2 * gap.share * gap.slope)
    lower, upper = 0, gap.last
    while upper - lower > 1:
        middle = (lower + upper) // 2
        if _charged(table, gap, middle) <= height:
            lower = middle
        else:
            upper = middle
    start = _charged(table, gap, lower)
    end = _charged(table, gap, lower + 1)
    return lower + (height - start) / (end - start)


@compiled
def local_margins(of: GroupTable, worst: Values, first: int, step: int) -> None:
    """Find by how many steps the worst rival of every class beats it in all objectives.

    Args:
        of: GroupTable of the classes, up to where all pairs have met.
        worst: What rivals of the same class do, shape ``(n,)``; raised to what others do.
        first: The first candidate to do.
        step: From each candidate to the next.
    """
    classes = worst.size
    for candidate in range(first, classes, step):
        for rival in range(classes):
            if rival == candidate:
                continue
            least = np.inf
            for i in range(of.lasts.size):
                if of.scores[i, rival] < of.scores[i, candidate]:
                    ahead = -_steps_apart(of.table, _gap(of, i, rival, candidate))
                else:
                    ahead = _steps_apart(of.table, _gap(of, i, candidate, rival))
                least = min(least, ahead)
                if least <= worst[candidate]:
                    break
            worst[candidate] = max(worst[candidate], least)


@compiled
def margins(
    scores: Values, widths: Values, monotone: Flags, worst: Values, first: int, step: int
) -> None:
    """Find the largest, over rivals, of the least lead in any objective over widths.

    Args:
        scores: Shape ``(m, n)``, ``n >= 2``.
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
                least = min(least, (scores[i, rival] - scores[i, candidate]) / width)
                if least <= worst[candidate]:
                    break
            worst[candidate] = max(worst[candidate], least)
