"""Pairwise local dampening: dampened differences between candidates.

Plain dampening can rank a worse candidate above a better one whose sensitivity is larger. A
*difference* ``u_r - u_r'`` moves by at most ``δ_r + δ_r'``, which is admissible for it, and

    s_r = min_(r' ≠ r) D(u_r - u_r')

is a minimum of unit scores. It is >= 0 for the best candidates and < 0 for all others, so
nothing outranks them, whatever the sensitivities. Two candidates that tie lead each other by
the distances at which both their sensitivities are 0.
"""

from __future__ import annotations

import numpy as np

from dpselect._twofold import Twofold, add, difference, greater, largest
from dpselect.objective import Objective
from dpselect.scaling.by_global import finite
from dpselect.scaling.dampened import dampen
from dpselect.scaling.envelope import floored, largest_ratio, relevant_gaps
from dpselect.sensitivity import Sensitivity
from dpselect.sensitivity.summation import RunningSum
from dpselect.typing import Indices, Scores, Values

SCREEN = 2.0**-48
"""Part of a number that is more than floats have rounded away of it."""

ROWS = 256
"""Candidates compared with all others at a time, where no faster form is known."""


@finite
def pairwise(objective: Objective) -> Scores:
    """Return ``min_(r' ≠ r) D_(δ_r + δ_r')(u_r - u_r')``.

    If the objective is monotone, a difference moves by at most ``max(δ_r, δ_r')``, which
    replaces the sum.

    Returns:
        Shape ``(n,)``; 0 for a single candidate. As private as the scores. In O(T n log n) for
        the T distances that the dampening visits; in O(T n^2), with memory for 256 n numbers,
        if monotone with a sensitivity that is not flat. If neither, sensitivities below
        ``2^-40 Δ`` are raised to that, by which ties are 0.

    Source: ours; each ``D`` is Farias et al., VLDB J. 2023, Definition 12.
    """
    sensitivity = objective.sensitivity
    if len(objective) == 1:
        return np.zeros(1)
    if sensitivity.flat:
        gaps, everyone = objective.gaps(), np.arange(len(objective))
        ahead = difference(gaps, _best_other(gaps, everyone, everyone))
        halves = ahead if objective.monotone else ahead / 2
        # The half of the least float is 0, and no tie.
        return dampen(np.where(halves == 0, ahead, halves), sensitivity)
    return _by_rows(objective) if objective.monotone else _by_envelope(objective)


def _by_envelope(objective: Objective) -> Values:
    """Find all minima in one pass over the distances.

    Let ``b_r(t) = ∑_(j<t) δ_r(j)``. Candidate ``r`` is ``t + x`` steps behind the rival ``j``,
    ``0 ≤ x < 1``, if

        u_j - b_j(t) - x δ_j(t) = u_r + b_r(t) + x δ_r(t),

    and the minimum over rivals is minus the largest such number of steps. So ``r`` is done at
    the last ``t`` at which some rival is still above, ``max_j (u_j - b_j(t)) ≥ u_r + b_r(t)``,
    with ``x`` the largest ratio of the gaps to the sums of widths there. A single leader is
    ahead of all others, and the least of its ratios counts.

    Floats tell which candidates can be at their last ``t``, and which rivals can be the best up
    to the next one; pairs of floats are added for these alone.
    """
    sensitivity, scores = objective.sensitivity, relevant_gaps(objective)
    bound, size = sensitivity.bound, len(objective)
    result, everyone = np.zeros(size), np.arange(size)
    behind = (scores.high < 0) | (scores.low < 0)
    leader = np.flatnonzero(~behind)
    leading = leader.size == 1  # equal leaders are 0 steps apart
    running = RunningSum()
    running.add(np.zeros(size))
    for t in range(sensitivity.horizon + 1):
        if not (leading or behind.any()):
            break
        last = t == sensitivity.horizon
        delta = floored(np.broadcast_to(sensitivity.at(t), result.shape), bound)
        total = running.total
        lower, upper = scores.high - total - delta, scores.high + total + delta
        error = -SCREEN * lower  # of each of these numbers, and more
        first = lower.argmax()
        ahead = lower[first] - error[first]
        rest = lower - error
        rest[first] = -np.inf
        near = everyone if last else np.flatnonzero(scores.high - total + error >= rest.max())
        reached = upper + error >= ahead
        reached[first] = True
        ends = np.flatnonzero(behind & (reached | last))
        rivals, ending = _moved(scores, running, near, -1), _moved(scores, running, ends, 1)
        met = leader
        if leading:
            may_meet = (upper + error >= lower[leader] - error[leader]) | last
            may_meet[leader] = False
            met = np.flatnonzero(may_meet)
            leads = difference(
                _moved(scores, running, leader, -1), _moved(scores, running, met, 1)
            )
        running.add(delta)
        # The sums are now b(t + 1): is any rival more than t + 1 steps ahead?
        best = _best_other(_moved(scores, running, near, -1), near, ends)
        done = ~greater(best, _moved(scores, running, ends, 1)) | last
        if done.any():
            ends = ends[done]
            result[ends] = -t - largest_ratio(
                rivals, delta[near], ending.at(done), delta[ends], bound=bound
            )
            behind[ends] = False
        if leading and met.size:
            # The same equation with the leader above: the first rival to be met.
            fraction = np.min(leads / (delta[leader] + delta[met]))
            if fraction < 1 or last:
                result[leader] = t + fraction
                leading = False
    return result


def _moved(scores: Twofold, by: RunningSum, positions: Indices, sign: int) -> Twofold:
    """Return some of the scores and their sums, added or taken away."""
    sums = by.at(positions)
    return add(scores.at(positions), sums if sign > 0 else -sums)


def _best_other(values: Twofold, rivals: Indices, candidates: Indices) -> Twofold:
    """Return for each candidate the best value among the other rivals, of at least two."""
    first = largest(values)
    rest = Twofold(*(np.delete(part, first) for part in values))
    best, second = values.at(first), rest.at(largest(rest))
    own = candidates == rivals[first]
    return Twofold(*(np.where(own, two, one) for one, two in zip(best, second, strict=True)))


def _by_rows(objective: Objective) -> Values:
    """Dampen every pair, a block of rows at a time."""
    scores, size = objective.scores_twofold, len(objective)
    result = np.empty(size)
    for first in range(0, size, ROWS):
        rows = np.arange(first, min(first + ROWS, size))
        gaps = -objective.less(scores.at(rows[:, None])).high
        steps = dampen(gaps.ravel(), Pairs(objective.sensitivity, rows, size))
        steps = steps.reshape(gaps.shape)
        steps[np.arange(rows.size), rows] = np.inf
        result[rows] = steps.min(axis=1)
    return result


class Pairs(Sensitivity):
    """The larger sensitivity of each pair of one of some rows and any candidate.

    It bounds their difference where all scores move in one direction. Pairs are ordered by the
    row, then by the candidate.
    """

    def __init__(self, single: Sensitivity, rows: Indices, size: int) -> None:
        super().__init__(single.bound, single.neighbours, single.horizon)
        self._single, self._rows, self._size = single, rows, size

    def _local(self, distance: int) -> Values:
        delta = np.broadcast_to(self._single.at(distance), self._size)
        return np.maximum(delta[self._rows, None], delta).ravel()

    def leading_zeros(self, positions: Indices, most: int) -> Indices:
        pairs = np.stack([self._rows[positions // self._size], positions % self._size])
        each, places = np.unique(pairs, return_inverse=True)
        return self._single.leading_zeros(each, most)[places.reshape(pairs.shape)].min(axis=0)
