r"""Pairwise local dampening: dampened differences between candidates.

Plain dampening can rank a worse candidate above a better one whose sensitivity is larger. A
*difference* :math:`u_r - u_{r'}` moves by at most :math:`\delta_r + \delta_{r'}`, which is
admissible for it, and

.. math:: s_r = \min_{r' \ne r} D(u_r - u_{r'})

is a minimum of unit scores. It is >= 0 for the best candidates and < 0 for all others, so
nothing outranks them, whatever the sensitivities.
"""

from __future__ import annotations

import numpy as np

from dpselect.objective import Objective
from dpselect.scaling.dampened import dampen
from dpselect.scaling.envelope import largest_ratio
from dpselect.sensitivity import Sensitivity
from dpselect.sensitivity.summation import RunningSum
from dpselect.typing import Indices, Scores, Values

ROWS = 256
"""Candidates compared with all others at a time, where no faster form is known."""


def pairwise(objective: Objective) -> Scores:
    r"""Return :math:`\min_{r' \ne r} D_{\delta_r + \delta_{r'}}(u_r - u_{r'})`.

    If the objective is monotone, a difference moves by at most
    :math:`\max(\delta_r, \delta_{r'})`, which replaces the sum.

    Returns:
        Shape ``(n,)``; 0 for a single candidate. As private as the scores. In
        O(T n log n) for the T distances that the dampening visits; in O(T n^2), with
        memory for 256 n numbers, if monotone with a sensitivity that is not flat.

    Source: ours; each :math:`D` is Farias et al., VLDB J. 2023, Definition 12.
    """
    scores, sensitivity = objective.scores, objective.sensitivity
    if scores.size == 1:
        return np.zeros(1)
    if sensitivity.flat:
        share = 1.0 if objective.monotone else 2.0
        return dampen((scores - _best_other(scores)) / share, sensitivity)
    if objective.monotone:
        return _by_rows(scores, sensitivity)
    return _by_envelope(scores, sensitivity)


def _best_other(scores: Values) -> Values:
    """Return for every candidate the best score among the others."""
    second, first = np.partition(scores, -2)[-2:]
    others = np.full(scores.shape, first)
    others[np.argmax(scores)] = second
    return others


def _by_envelope(scores: Values, sensitivity: Sensitivity) -> Values:
    r"""Find all minima in one pass over the distances.

    Let :math:`b_r(t) = \sum_{j<t} \delta_r(j)`. Candidate ``r`` is :math:`t + x` steps behind
    the rival ``j``, :math:`0 \le x < 1`, if

    .. math:: u_j - b_j(t) - x \delta_j(t) = u_r + b_r(t) + x \delta_r(t),

    and the minimum over rivals is minus the largest such number of steps. So ``r`` is done at
    the last ``t`` at which some rival is still above, :math:`\max_j (u_j - b_j(t)) \ge
    u_r + b_r(t)`, with ``x`` the largest ratio of the gaps to the sums of widths there. A
    single leader is ahead of all others, and the least of its ratios counts.
    """
    result = np.zeros(scores.shape)
    behind = scores < scores.max()
    leader = np.flatnonzero(~behind)
    leading = leader.size == 1  # equal leaders are 0 steps apart
    running = RunningSum()
    for t in range(sensitivity.horizon + 1):
        if not (leading or behind.any()):
            break
        delta = np.broadcast_to(sensitivity.at(t), scores.shape)
        lower, upper = scores - running.total, scores + running.total
        running.add(delta)
        # The sums are now b(t + 1): is any rival more than t + 1 steps ahead?
        further = _best_other(scores - running.total) > scores + running.total
        ends = behind & (~further | (t == sensitivity.horizon))
        if ends.any():
            result[ends] = -t - largest_ratio(lower, delta, upper[ends], delta[ends])
            behind = behind & ~ends
        if leading:
            # The same equation with the leader above: the first rival to be met.
            fraction = _least_ratio(lower[leader] - upper, delta[leader] + delta, leader)
            if fraction < 1 or t == sensitivity.horizon:
                result[leader] = t + fraction
                leading = False
    return result


def _least_ratio(margins: Values, widths: Values, leader: Indices) -> float:
    """Return the least margin over width among the others than the leader."""
    others = widths > 0
    others[leader] = False
    return float(np.min(margins[others] / widths[others], initial=np.inf))


def _by_rows(scores: Values, sensitivity: Sensitivity) -> Values:
    """Dampen every pair, a block of rows at a time."""
    result = np.empty(scores.shape)
    for first in range(0, scores.size, ROWS):
        rows = np.arange(first, min(first + ROWS, scores.size))
        gaps = scores[rows, None] - scores
        steps = dampen(gaps.ravel(), _PairMaximum(sensitivity, rows)).reshape(gaps.shape)
        steps[np.arange(rows.size), rows] = np.inf
        result[rows] = steps.min(axis=1)
    return result


class _PairMaximum(Sensitivity):
    """The larger sensitivity of each pair (row, candidate), pairs in row-major order."""

    def __init__(self, single: Sensitivity, rows: Indices) -> None:
        super().__init__(single.bound, single.neighbours, single.horizon)
        self._single, self._rows = single, rows

    def _local(self, distance: int) -> Values:
        delta = self._single.at(distance)
        return np.maximum(delta[self._rows, None], delta).ravel()
