"""Element local sensitivity of percentile selection, exact at every distance.

Let ``X_1 ≤ ... ≤ X_n`` be the sorted values in ``[0, Λ]``, with ``X_j = 0`` for ``j < 1`` and Λ
for ``j > n``, and let ``s ≤ X_k`` be the value of a candidate that is sorted before the
percentile ``X_k``. Its element local sensitivity is, for ``t ≥ 2``,

    max{X_(k+t-1), Λ - X_(k-t+2), X_(k+t) - s, Λ - X_(k-t+1) - (X_(k-t) - s)^+},

for ``t = 1`` the same with ``X_(k+2) - X_k`` among the terms, and for ``t = 0``
``max{X_(k+1) - X_k, X_k - s, s, Λ - X_(k+1) - X_k + s}``. A candidate sorted after the
percentile is one before it in the reflected database ``Λ - x``.

Source: ours; equal to the O(1) form in ``docs/report`` and to Definition 5 of Farias
et al., VLDB J. 2023, in every cell that the tests enumerate. The forms in the paper (Lemma 10,
Algorithm 2) are not equal to it: one is too large, the other not admissible.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import fsum

import numpy as np

from dpselect._compiled import compiled
from dpselect.neighbours import Neighbours
from dpselect.sensitivity import Sensitivity
from dpselect.typing import Indices, Values


class PercentileSensitivity(Sensitivity):
    """Equal to ``LS(x, t, r)`` of ``u_r = -|x_(k) - x_r|`` below the horizon.

    After one sort every candidate and distance costs O(1), and the sum over all distances O(log
    n) a candidate. From distance ``min(k, n - k + 1) + 1`` on it is the bound at every
    database, so a larger horizon changes nothing.

    Args:
        values: The records' values in ``[0, upper]``, shape ``(n,)``. Private.
        k: Rank of the percentile, 1 to ``n``. Public.
        upper: ``Λ = Δ``. Public.
        horizon: The distance from which on the bound is used. Public.

    Guarantee:
        Admissible under substitution, with ``n``, ``k`` and ``upper`` public.
    """

    def __init__(self, values: Values, k: int, upper: float, horizon: int) -> None:
        n = values.size
        super().__init__(upper, Neighbours.SUBSTITUTE, min(horizon, min(k, n - k + 1) + 1))
        order = np.argsort(values, kind="stable")
        ordered = values[order]
        reflected = upper - ordered[::-1]
        distances = max(self.horizon, 1)
        self._before, self._at, self._after = order[: k - 1], order[k - 1], order[: k - 1 : -1]
        self._low, self._high = ordered[: k - 1], reflected[: n - k]
        self._gaps_before = gaps_before(ordered, k, upper, distances)
        self._gaps_after = gaps_before(reflected, n - k + 1, upper, distances)
        self._gaps_at, self._first_at = self._of_the_percentile(ordered, k)

    def _of_the_percentile(self, ordered: Values, k: int) -> tuple[Values, float]:
        """Return the gaps of the candidate that holds the percentile, shape ``(T,)``.

        And its sensitivity at distance 0, which is 0 for some values. The bound less the gap
        would be 0 for more: for all below its rounding.
        """
        upper, n = self.bound, ordered.size
        if n == 1:
            return np.full(max(self.horizon, 1), upper), 0.0
        before, here, after = order_statistics(ordered, upper, k + np.arange(-1, 2))
        before_it = self._gaps_before
        gaps = before_it.gap(np.arange(before_it.steady.size), here)
        # It moves away from the percentile only if another record takes its place: with
        # k = 1 nobody is left below it to rise, with k = n nobody above it to fall.
        rise, fall = (after - here if k > 1 else 0.0), (here - before if k < n else 0.0)
        gaps[0] = min(upper - before, after, upper - rise, upper - fall)
        gaps[1:2] = np.minimum(gaps[1:2], upper - (after - before))
        return gaps, float(max(before, upper - after, rise, fall))

    def _local(self, distance: int) -> Values:
        gaps = np.empty(self._before.size + 1 + self._after.size)
        gaps[self._before] = self._gaps_before.gap(distance, self._low)
        gaps[self._at] = self._gaps_at[distance]
        gaps[self._after] = self._gaps_after.gap(distance, self._high)
        changes = self.bound - gaps
        if distance == 0:
            changes[self._at] = self._first_at
        return changes

    def shortfall(self) -> Values:
        total = np.zeros(self._before.size + 1 + self._after.size)
        if self.horizon > 0:
            total[self._before] = self._gaps_before.total(self._low)
            total[self._at] = fsum(self._gaps_at)
            total[self._after] = self._gaps_after.total(self._high)
        return total


@dataclass(frozen=True, slots=True)
class Gaps:
    """The gaps ``Λ - δ(x, t, s)`` before the percentile, as functions of ``s``.

    Each is ``min{steady_t, rising_t + s, max(falling_t - s, floor_t)}``. Gaps are kept instead
    of sensitivities because they are what is summed over thousands of distances, and near 0
    they keep the digits that a difference from the bound would lose.

    Attributes:
        steady: Shape ``(T,)``; value units, as all of them.
        rising: Shape ``(T,)``.
        falling: Shape ``(T,)``.
        floor: Shape ``(T,)``; at most ``steady``.
    """

    steady: Values
    rising: Values
    falling: Values
    floor: Values

    def gap(self, distance: int | Indices, values: Values) -> Values:
        """Return the gaps at one distance for many values, or at many for one."""
        bent = np.maximum(self.falling[distance] - values, self.floor[distance])
        return np.minimum(
            np.minimum(self.steady[distance], self.rising[distance] + values), bent
        )

    def total(self, values: Values) -> Values:
        """Return the sum of the gaps over all distances.

        At each distance the gap has at most four linear pieces, each of which is a run of
        the sorted candidates: O((n + T) log n), whatever the product of the two.

        Args:
            values: Shape ``(m,)``, ascending.
        """
        if values.size == 0:
            return np.zeros(0)
        edges = self._edges(values)
        slopes = np.zeros(values.size + 1, dtype=np.int64)
        slopes[0] = self.steady.size
        for edge, change in zip(edges, (-1, -1, 1), strict=True):
            np.add.at(slopes, edge, change)
        levels = np.stack([self.rising, self.steady, self.falling, self.floor])
        constants = sum_of_runs(edges, levels, values.size)
        return constants + np.cumsum(slopes[:-1]) * values

    def _edges(self, values: Values) -> Indices:
        """Return the first candidate of the second, third and fourth piece, shape (3, T)."""
        # Where the rising line meets the non-increasing rest, which is steady, then falls,
        # then rests on the floor.
        meet = np.minimum(self.steady - self.rising, (self.falling - self.rising) / 2)
        leave = np.maximum(self.floor - self.rising, meet)
        bend = np.maximum(leave, self.falling - self.steady)
        rest = np.maximum(bend, self.falling - self.floor)
        return np.searchsorted(values, np.stack([leave, bend, rest]))


def gaps_before(ordered: Values, k: int, upper: float, horizon: int) -> Gaps:
    """Return the gaps of the candidates sorted before the ``k``-th value.

    Args:
        ordered: The values, ascending, shape ``(n,)``, in ``[0, upper]``.
        k: The percentile's rank, 1 to ``n``.
        upper: The public upper end.
        horizon: How many distances, >= 1.
    """
    t = np.arange(horizon)
    ahead, behind = (
        order_statistics(ordered, upper, k + t - 1),
        order_statistics(ordered, upper, k - t),
    )
    here, next_, second = order_statistics(ordered, upper, k + np.arange(3))
    beyond = order_statistics(ordered, upper, k - t + 1)
    steady = np.minimum(upper - ahead, order_statistics(ordered, upper, k - t + 2))
    steady[0] = upper - (next_ - here)
    steady[1:2] = np.minimum(steady[1:2], upper - (second - here))
    falling = beyond + behind
    falling[0] = min(upper, next_ + here)
    floor = np.concatenate([falling[:1] - here, beyond[1:]])
    floor = np.minimum(floor, steady)
    return Gaps(steady, upper - order_statistics(ordered, upper, k + t), falling, floor)


def order_statistics(ordered: Values, upper: float, ranks: Indices) -> Values:
    """Return the values of these ranks, from 1 on; 0 before the first, ``upper`` after all."""
    inside = ordered[np.clip(ranks, 1, ordered.size) - 1]
    return np.where(ranks < 1, 0.0, np.where(ranks > ordered.size, upper, inside))


@compiled
def sum_of_runs(edges: Indices, levels: Values, size: int) -> Values:
    """Return for every position the sum of the levels of the runs that cover it.

    Level ``i`` of column ``t`` covers the positions from ``edges[i - 1, t]`` (0 for the
    first) up to ``edges[i, t]`` (``size`` for the last). Every sum is kept as a pair of the
    rounded sum and its rounding errors, so that its error does not grow with the number of
    runs. O(size + m T).

    Args:
        edges: Shape ``(m - 1, T)``, ascending in each column, 0 to ``size``.
        levels: Shape ``(m, T)``.
        size: The number of positions.

    Returns:
        Shape ``(size,)``.
    """
    # A run that starts at a and ends before b adds its level to the running sum at a and
    # subtracts it at b, so the prefix sum of these jumps is the sum of the covering runs.
    jumps = np.zeros(size + 1)
    lost = np.zeros(size + 1)
    for t in range(levels.shape[1]):
        _add(jumps, lost, 0, levels[0, t])
        for i in range(edges.shape[0]):
            _add(jumps, lost, edges[i, t], -levels[i, t])
            _add(jumps, lost, edges[i, t], levels[i + 1, t])
    for position in range(size):
        _add(jumps, lost, position + 1, jumps[position])
        lost[position + 1] += lost[position]
    return (jumps + lost)[:size]


@compiled
def _add(sums: Values, lost: Values, at: int, term: float) -> None:
    # Knuth's two-sum (TAOCP 2, section 4.2.2, Theorem B): the rounding error of a float
    # addition is itself a float and is computed exactly from the rounded sum.
    raised = sums[at] + term
    virtual = raised - sums[at]
    lost[at] += (sums[at] - (raised - virtual)) + (term - virtual)
    sums[at] = raised
