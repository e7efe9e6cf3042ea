"""Pairwise scalings: each candidate by its least lead over any other.

Plain dampening can rank a worse candidate above a better one whose sensitivity is larger. A
*difference* ``u_r - u_r'`` moves by at most ``δ_r + δ_r'``, which is admissible for it, and

    s_r = min_(r' ≠ r) D(u_r - u_r')

is a minimum of unit scores. It is >= 0 for the best candidates and < 0 for all others, so
nothing outranks them, whatever the sensitivities. Two candidates that tie lead each other by
the distances at which both their sensitivities are 0. The generalized exponential mechanism is
the same of one bound per candidate.
"""

from fractions import Fraction
from math import inf

from dpselect import validation
from dpselect._optional import np, silent
from dpselect._twofold import Twofold, add, difference, exact_product, largest
from dpselect.objective import Objective
from dpselect.scaling.dampening import dampen
from dpselect.scaling.dividing import cut
from dpselect.sensitivity import maximum
from dpselect.sensitivity.summation import RunningSum
from dpselect.typing import Indices, Scores, Values

LARGEST_PENALTY = 2.0**40

FLOOR = 2.0**-40
"""Least sensitivity, in units of the largest: divided by it, pairs of floats are right."""

SCREEN = 2.0**-48
"""Part of a number that is more than floats have rounded away of it."""

ROUNDINGS = 2.0**-50
"""Part of a ratio, or of a slope between two corners, that is more than its roundings."""

PAIRS = 2**17
"""Pairs of candidates compared at a time, in rows of one with all."""


def floored(sensitivity: Values, objective: Objective) -> Values:
    """Return ``max(δ, 2^-40 Δ)`` of each candidate, which keeps a sensitivity admissible."""
    least = FLOOR * objective.sensitivity.bound
    return np.maximum(np.broadcast_to(sensitivity, objective.scores.shape), least)


@silent
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
    bounds = floored(objective.sensitivity.bounds, objective)
    penalised = add(objective.gaps(), -exact_product(bounds, np.asarray(t)))
    return cut(-largest_ratio(penalised, bounds, penalised, bounds))


def largest_ratio(lines: Twofold, slopes: Values, levels: Twofold, widths: Values) -> Values:
    """Return ``max_j (a_j - b_r)/(δ_j + δ_r)``, up to a few roundings of the ratio.

    The largest ratio is the λ at which ``max_j (a_j - λ δ_j)`` is ``b_r + λ δ_r``. That maximum
    is of a corner of the points ``(δ_j, a_j)``, the one up to which their slopes are above λ.
    From 0 on, each λ finds a corner whose ratio is the next λ (Newton's method), and it is the
    largest one where it no longer grows: the corners before have smaller ratios, and no slope
    beyond is above it.

    Args:
        lines: ``a_j``, shape ``(n,)``.
        slopes: ``δ_j``, shape ``(n,)``, > 0.
        levels: ``b_r``, shape ``(m,)``; each at most the largest line.
        widths: ``δ_r``, shape ``(m,)``, > 0.

    Returns:
        Shape ``(m,)``; >= 0.
    """
    top = _corners(lines, slopes)
    falling = difference(lines.at(top[:-1]), lines.at(top[1:])) / np.diff(slopes[top])
    lines, slopes = lines.at(top), slopes[top]
    result, grows = np.zeros(widths.size), True
    while grows:
        # The first corner of several that roundings do not tell apart: another one's ratio
        # can be less by a rounding times its own slope.
        ends = np.searchsorted(falling, -(1 + ROUNDINGS) * result)
        ratios = difference(lines.at(ends), levels) / (slopes[ends] + widths)
        grows = bool((ratios > result).any())
        result = np.maximum(ratios, result)
    return result


def _corners(lines: Twofold, slopes: Values) -> Indices:
    """Return the corners of the least concave curve above points, by ascending slopes.

    Up to the highest one, and exactly, by fractions: roundings of many corners would add up.
    """
    # A rival below a flatter one, or level with it, is never the furthest ahead.
    heights = np.lexsort((lines.low, lines.high)).argsort()
    order = np.lexsort((-heights, slopes))
    rising = heights[order]
    front = order[rising == np.maximum.accumulate(rising)]
    x = [*map(Fraction, slopes[front].tolist())]
    y = [Fraction(one) + Fraction(low) for one, low in zip(*lines.at(front), strict=True)]
    # Each corner with the slope of the curve before it.
    found: list[tuple[int, float | Fraction]] = [(0, inf)]
    for k in range(1, front.size):
        while (rise := (y[k] - y[found[-1][0]]) / (x[k] - x[found[-1][0]])) >= found[-1][1]:
            found.pop()
        found.append((k, rise))
    return front[[corner for corner, _ in found]]


@silent
def pairwise(objective: Objective) -> Scores:
    """Return ``min_(r' ≠ r) D_(δ_r + δ_r')(u_r - u_r')``.

    If the objective is monotone, a difference moves by at most ``max(δ_r, δ_r')``, which
    replaces the sum.

    Returns:
        Shape ``(n,)``; 0 for a single candidate. As private as the scores. In O(T n log n) for
        the T distances that the dampening visits; in O(T n^2) if monotone with a sensitivity
        that is not flat. If neither, sensitivities below ``2^-40 Δ`` are raised to that, by
        which ties are 0.

    Source: ours; each ``D`` is Farias et al., VLDB J. 2023, Definition 12.
    """
    sensitivity = objective.sensitivity
    if len(objective) == 1:
        return np.zeros(1)
    if sensitivity.flat:
        gaps = objective.gaps()
        ahead, first = gaps.high, largest(gaps)
        ahead[first] = -np.delete(ahead, first).max()
        halves = ahead if objective.monotone else ahead / 2
        # The half of the least float is 0, and no tie.
        return cut(dampen(np.where(halves == 0, ahead, halves), sensitivity))
    return cut(_by_rows(objective) if objective.monotone else _by_distance(objective))


def _by_distance(objective: Objective) -> Values:
    """Find all minima in one pass over the distances.

    Let ``b_r(t) = ∑_(j<t) δ_r(j)``. Candidate ``r`` is ``t + x`` steps behind the rival ``j``,
    ``0 ≤ x ≤ 1``, if

        u_j - b_j(t) - x δ_j(t) = u_r + b_r(t) + x δ_r(t),

    and the minimum over rivals is minus the largest such number of steps. So ``r`` is done at
    the first ``t`` where the largest ``x`` is at most 1, which is the largest ratio of the gaps
    to the sums of widths there. (It is never behind itself.) A single leader is ahead of all
    others, and the least of its ratios counts.

    Floats tell which candidates can be at their last ``t``, and which rivals can be the best up
    to the next one; pairs of floats are added for these alone.
    """
    scores, horizon = objective.gaps(), objective.sensitivity.horizon
    result, running, delta = np.zeros(len(objective)), RunningSum(), np.zeros(len(objective))
    behind = (scores.high < 0) | (scores.low < 0)
    leader = np.flatnonzero(~behind)
    leads = leader.size == 1  # equal leaders are 0 steps apart
    for t in range(horizon + 1):
        if not behind.any():
            break
        running.add(delta)
        delta = floored(objective.sensitivity.at(t), objective)
        lower, upper = scores.high - running.total, scores.high + running.total
        error = SCREEN * (delta - lower)
        least = lower - delta - error
        reached = least[leader[0]] if leads else least.max()
        ends = np.flatnonzero(behind & ((upper + delta + error >= reached) | (t == horizon)))
        if not ends.size:
            continue
        levels = add(scores.at(ends), running.at(ends))
        if leads:
            ahead = difference(add(scores.at(leader), -running.at(leader)), levels)
            part = (ahead / (delta[leader] + delta[ends])).min()
            if part <= 1 or t == horizon:
                result[leader], leads = t + part, False
        rivals = np.flatnonzero(lower + error >= least.max())
        lines = add(scores.at(rivals), -running.at(rivals))
        parts = largest_ratio(lines, delta[rivals], levels, delta[ends])
        done = (parts <= 1) | (t == horizon)
        result[ends[done]] = -t - parts[done]
        behind[ends[done]] = False
    return result


def _by_rows(objective: Objective) -> Values:
    """Dampen every pair, a block of rows at a time."""
    scores, whole, size = objective.scores_twofold, objective.sensitivity, len(objective)
    result, everyone = np.empty(size), np.arange(size)
    for rows in np.array_split(everyone, 1 + size * size // PAIRS):
        gaps = -objective.less(scores.at(rows[:, None])).high
        sides = [np.repeat(rows, size), np.tile(everyone, rows.size)]
        larger = maximum([whole.take(side) for side in sides])
        steps = dampen(gaps.ravel(), larger).reshape(gaps.shape)
        steps[np.arange(rows.size), rows] = np.inf
        result[rows] = steps.min(axis=1)
    return result
