r"""Work on all pairs of classes of candidates, compiled; no pair is stored."""

from __future__ import annotations

import numpy as np
from numba import njit

from dpselect.combine.profiles import Profiles
from dpselect.combine.reach import SLACK
from dpselect.typing import Indices, Values


@njit(cache=True, nogil=True)
def _sum(of: Profiles, i: int, candidate: int, steps: int) -> float:
    start, last = of.starts[i, candidate], of.lasts[i]
    if steps <= last:
        return of.table[start + steps]
    return of.table[start + last] + (steps - last) * of.slopes[i]


@njit(cache=True, nogil=True)
def _reach(of: Profiles, i: int, candidate: int, steps: int) -> float:
    # The operations of reach.py in their order: both decide every comparison alike.
    total = _sum(of, i, candidate, steps)
    slack = steps * SLACK * (abs(of.scores[i, candidate]) + total)
    return of.shares[i] * total + slack


@njit(cache=True, nogil=True)
def _met(of: Profiles, i: int, low: int, high: int, steps: int) -> bool:
    lifted = of.scores[i, low] + _reach(of, i, low, steps)
    return lifted >= of.scores[i, high] - _reach(of, i, high, steps)


@njit(cache=True, nogil=True)
def _guess(of: Profiles, i: int, low: int, high: int, most: int) -> int:
    """Return a number of steps near which two candidates meet: beyond the table, a line."""
    last, share = of.lasts[i], of.shares[i]
    gap = of.scores[i, high] - of.scores[i, low]
    gap -= share * (_sum(of, i, low, last) + _sum(of, i, high, last))
    if gap <= 0:
        return 1
    further = gap / (2 * share * of.slopes[i])
    return most if further > most - last else max(last + int(np.ceil(further)), 1)


@njit(cache=True, nogil=True)
def _meeting(of: Profiles, i: int, low: int, high: int, least: int, most: int) -> int:
    """Return the least number of steps in ``least .. most`` that closes the gap.

    ``most + 1`` if there is none.
    """
    at = min(max(least, _guess(of, i, low, high, most)), most)
    stride = 1
    if _met(of, i, low, high, at):
        upper, lower = at, at - 1
        while lower >= least and _met(of, i, low, high, lower):
            stride *= 2
            upper, lower = lower, lower - stride
        lower = max(lower, least - 1)
    else:
        lower, upper = at, at + 1
        while upper <= most and not _met(of, i, low, high, upper):
            stride *= 2
            lower, upper = upper, upper + stride
        upper = min(upper, most + 1)
    while upper - lower > 1:
        middle = (lower + upper) // 2
        if _met(of, i, low, high, middle):
            upper = middle
        else:
            lower = middle
    return upper


@njit(cache=True, nogil=True)
def _flip(of: Profiles, rival: int, candidate: int, most: int) -> int:
    """Return when ``rival`` can begin to dominate ``candidate``, or, negative, cease to.

    It can begin as soon as the *last* objective in which it is behind can be level, and
    cease as soon as the *first* in which it is ahead can. ``most + 1`` is never.
    """
    begins, behind, ahead = 1, False, False
    for i in range(of.lasts.size):
        if of.scores[i, rival] < of.scores[i, candidate]:
            behind = True
            if begins <= most:
                begins = _meeting(of, i, rival, candidate, begins, most)
        elif of.scores[i, rival] > of.scores[i, candidate]:
            ahead = True
    if behind or not ahead:
        return begins
    ceases = most + 1
    for i in range(of.lasts.size):
        if of.scores[i, rival] == of.scores[i, candidate]:
            return -1
        if ceases > 1:
            ceases = _meeting(of, i, candidate, rival, 1, ceases - 1)
    return -ceases


@njit(cache=True, nogil=True)
def pareto_shortfall(of: Profiles, weights: Indices, most: int) -> Indices:
    r"""Return :math:`\sum_{t < most} (n - 1 - \delta^{PS}(x, t, r))` of every class.

    Args:
        of: Profiles of the classes.
        weights: The candidates in each class, shape ``(n,)``.
        most: Distances to add.
    """
    classes, bound = weights.size, weights.sum() - 1
    totals = np.zeros(classes, np.int64)
    begin, cease = np.empty(most + 2, np.int64), np.empty(most + 2, np.int64)
    for candidate in range(classes):
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
    return totals


@njit(cache=True, nogil=True)
def _steps_apart(of: Profiles, i: int, low: int, high: int) -> float:
    """Return the gap of two candidates, dampened by the sums of both."""
    gap = of.scores[i, high] - of.scores[i, low]
    last, share = of.lasts[i], of.shares[i]
    at_last = share * (_sum(of, i, low, last) + _sum(of, i, high, last))
    if gap >= at_last:
        return last + (gap - at_last) / (2 * share * of.slopes[i])
    lower, upper = 0, last
    while upper - lower > 1:
        middle = (lower + upper) // 2
        if share * (_sum(of, i, low, middle) + _sum(of, i, high, middle)) <= gap:
            lower = middle
        else:
            upper = middle
    start = share * (_sum(of, i, low, lower) + _sum(of, i, high, lower))
    end = share * (_sum(of, i, low, lower + 1) + _sum(of, i, high, lower + 1))
    return lower + (gap - start) / (end - start) if gap > 0 else 0.0


@njit(cache=True, nogil=True)
def local_margins(of: Profiles, weights: Indices) -> Values:
    """Return by how many steps the closest rival of every class beats it in all objectives.

    Args:
        of: Profiles of the classes, up to where all pairs have met.
        weights: The candidates in each class, shape ``(n,)``.
    """
    classes = weights.size
    worst = np.where(weights > 1, 0.0, -np.inf)
    for candidate in range(classes):
        for rival in range(classes):
            if rival == candidate:
                continue
            least = np.inf
            for i in range(of.lasts.size):
                if of.scores[i, rival] < of.scores[i, candidate]:
                    ahead = -_steps_apart(of, i, rival, candidate)
                else:
                    ahead = _steps_apart(of, i, candidate, rival)
                least = min(least, ahead)
                if least <= worst[candidate]:
                    break
            worst[candidate] = max(worst[candidate], least)
    return worst


@njit(cache=True, nogil=True)
def margins(scores: Values, widths: Values, monotone: Values) -> Values:
    """Return the largest, over rivals, of the least lead in any objective over widths.

    Args:
        scores: Shape ``(m, n)``, ``n >= 2``.
        widths: Sensitivity of each objective and candidate, shape ``(m, n)``.
        monotone: Shape ``(m,)``, bool: the larger width of a pair instead of the sum.
    """
    m, n = scores.shape
    worst = np.full(n, -np.inf)
    for candidate in range(n):
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
    return worst
