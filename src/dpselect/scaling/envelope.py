"""Largest ratio over all rivals, for every candidate, from an upper envelope of lines.

The generalized exponential mechanism takes it of one bound per candidate, pairwise dampening of
local sensitivities.

Pairwise scalings need ``max_j (a_j - b_r)/(δ_j + δ_r)``. The root λ of
``max_j (a_j - λδ_j) = b_r + λδ_r`` is that maximum, and the left side is an upper envelope of
lines: O(n log n) for all r together.

A wrong rival, chosen because of a rounded comparison, can change the maximum by the quotient of
the largest and the smallest δ times the rounding error. So all comparisons are made in
integers: in multiples of ``2^-94`` of the largest δ, of which every float that is at least
``2^-41`` of it is one.
"""

from __future__ import annotations

from math import frexp
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dpselect import validation
from dpselect._twofold import Twofold
from dpselect.objective import Objective
from dpselect.scaling.by_global import finite
from dpselect.typing import Indices, Scores, Values

BITS = 94
"""Lines are rounded to multiples of 2^-BITS of the largest slope."""

LARGEST_PENALTY = 2.0**40

PENALTY_BITS = 60
"""Multiples of a slope are rounded to 2^-PENALTY_BITS."""

FLOOR = 2.0**-40
"""Least slope, in units of the largest."""

LARGEST_GAP = 2.0**60
"""Gaps are cut here, in units of the bound: the penalty, and then 2^20 times as far."""

Whole: TypeAlias = NDArray[Any]
"""Python integers, which do not overflow."""


def floored(sensitivity: Values, bound: float) -> Values:
    """Return ``max(δ, 2^-40 Δ)``, which keeps a sensitivity admissible.

    Lines are right to ``2^-94 Δ`` and, as pairs of floats, to ``2^-72 Δ`` where their ratio is
    below ``2^30``: by the least width that is ``2^-33`` of a step.
    """
    return np.maximum(sensitivity, FLOOR * bound)


def relevant_gaps(objective: Objective) -> Twofold:
    """Return the gaps to the best score, cut at 2^60 bounds, where no draw tells them apart."""
    gaps = objective.gaps()
    far = gaps.high < -(LARGEST_GAP * objective.sensitivity.bound)
    return Twofold(
        np.where(far, -LARGEST_GAP * objective.sensitivity.bound, gaps.high),
        np.where(far, 0.0, gaps.low),
    )


@finite
def generalized(objective: Objective, t: float) -> Scores:
    """Return the least penalised lead over any candidate, in units of both sensitivities.

        s_r = min_j ((u_r - tΔ_r) - (u_j - tΔ_j))/(Δ_r + Δ_j)

    Each ratio moves by at most 1, so their minimum does. Two candidates are compared on the
    scale of *their* sensitivities, not of the largest of all; the public penalty ``tΔ_r`` keeps
    a candidate of large sensitivity from winning by noise.

    Args:
        objective: Scores with one global bound per candidate (``GlobalSensitivity`` of an
            array); with one for all this is ``(u - u_*)/2Δ``, half the precision of
            ``by_global``.
        t: Penalty, in units of the sensitivity; from 0 to 2^40. Public.

    Returns:
        Shape ``(n,)``, <= 0. As private as the scores. In O(n log n). Bounds below ``2^-40`` of
        the largest are raised to that.

    Raises:
        ParameterError: ``t`` is out of range.

    Source: Raskhodnikova and Smith, arXiv:1504.07912, section 4.
    """
    t = validation.within("t", t, 0, LARGEST_PENALTY)
    sensitivity, bound = objective.sensitivity, objective.sensitivity.bound
    bounds = floored(np.broadcast_to(sensitivity.bounds, objective.scores.shape), bound)
    gaps = relevant_gaps(objective)
    return -largest_ratio(gaps, bounds, gaps, bounds, bound=bound, penalty=t)


def largest_ratio(
    lines: Twofold,
    slopes: Values,
    levels: Twofold,
    widths: Values,
    *,
    bound: float,
    penalty: float = 0.0,
) -> Values:
    """Return ``max_j (a_j - b_r - t(δ_j - δ_r))/(δ_j + δ_r)``.

    Args:
        lines: ``a_j``, shape ``(n,)``; at most 2^60 ``bound``.
        slopes: ``δ_j``, shape ``(n,)``, as from ``floored``.
        levels: ``b_r``, shape ``(m,)``; each of them, less its penalty, at most the largest
            line less its.
        widths: ``δ_r``, shape ``(m,)``, as from ``floored``.
        bound: The number that all slopes and widths were floored by. Public.
        penalty: ``t``, from 0 to 2^40. Public.

    Returns:
        Shape ``(m,)``; >= 0, rounded once.
    """
    places = BITS - frexp(bound)[1]
    share = round(penalty * 2**PENALTY_BITS)
    first = _best_of_each_slope(lines, slopes)
    slope = _whole(slopes[first], places)
    line = _penalised(_whole_sum(lines.at(first), places), slope, share)
    width = _whole(widths, places)
    level = _penalised(_whole_sum(levels, places), width, share)
    hull = _upper_envelope(line, slope)
    line, slope = line[hull], slope[hull]
    # E(x) = max_j (a_j - x delta_j) falls in x and b_r + x delta_r rises, so their difference
    # has one root. It is >= 0 because E(0) = max a_j >= b_r. The last piece of E that starts
    # above the right side contains it: bisect over the starts of the pieces.
    rise, run = line[:-1] - line[1:], slope[:-1] - slope[1:]
    low = np.zeros(level.shape, dtype=np.int64)
    high = np.full(level.shape, hull.size)
    while (open_ := np.flatnonzero(high - low > 1)).size:
        middle = (low[open_] + high[open_]) // 2
        ahead = (line[middle] - level[open_]) * run[middle - 1]
        above = (ahead > rise[middle - 1] * (slope[middle] + width[open_])).astype(bool)
        low[open_[above]], high[open_[~above]] = middle[above], middle[~above]
    ratio = (line[low] - level) / ((slope[low] + width) << PENALTY_BITS)
    return np.maximum(ratio.astype(np.float64), 0.0)


def _best_of_each_slope(lines: Twofold, slopes: Values) -> Indices:
    """Return the positions of lines that no other of the same slope exceeds, flattest first."""
    order = np.lexsort((-lines.low, -lines.high, slopes))
    ordered = slopes[order]
    return order[np.concatenate([[True], ordered[1:] != ordered[:-1]])]


def _whole(values: Values, places: int) -> Whole:
    """Return ``values * 2**places``, rounded to integers."""
    return np.array([int(v) for v in np.rint(np.ldexp(values, places)).tolist()], dtype=object)


def _whole_sum(values: Twofold, places: int) -> Whole:
    return _whole(values.high, places) + _whole(values.low, places)


def _penalised(line: Whole, slope: Whole, share: int) -> Whole:
    """Return lines less ``share`` of their slopes, in units of 2^-PENALTY_BITS."""
    return (line << PENALTY_BITS) - share * slope


def _upper_envelope(lines: Whole, slopes: Whole) -> Indices:
    """Return the lines ``a - x * slope`` that are largest somewhere on ``x >= 0``.

    Args:
        lines: The values ``a``.
        slopes: Ascending, all different.

    Returns:
        Their positions from ``x = 0`` on.
    """
    # At x >= 0 a line with a larger slope and no larger value at 0 is below the flatter one.
    # What remains has a_j and delta_j increasing together; steepest first, for x = 0.
    rising: list[int] = []
    for line in range(lines.size):
        if not rising or lines[line] > lines[rising[-1]]:
            rising.append(line)
    hull: list[int] = []
    for line in reversed(rising):
        while len(hull) > 1:
            # The flatter line exceeds the last one from `meet` on. If that is no later than
            # where the last one begins, the last one is nowhere the largest.
            before, last = hull[-2], hull[-1]
            rise, run = lines[before] - lines[last], slopes[before] - slopes[last]
            meet, over = lines[last] - lines[line], slopes[last] - slopes[line]
            if meet * run > rise * over:
                break
            hull.pop()
        hull.append(line)
    return np.array(hull, dtype=np.int64)
