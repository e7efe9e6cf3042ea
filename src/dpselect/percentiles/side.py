r"""How far the sensitivity of a percentile's candidates stays below its bound, on one side.

Let :math:`X_1 \le \dots \le X_n` be the sorted values in :math:`[0, \Lambda]`, with
:math:`X_j = 0` for :math:`j < 1` and :math:`\Lambda` for :math:`j > n`, and let
:math:`s \le X_k` be the value of a candidate that is sorted before the percentile
:math:`X_k`. Its element local sensitivity is, for :math:`t \ge 2`,

.. math:: \max\{X_{k+t-1},\; \Lambda - X_{k-t+2},\; X_{k+t} - s,\;
          \Lambda - X_{k-t+1} - (X_{k-t} - s)^+\},

for :math:`t = 1` the same with :math:`X_{k+2} - X_k` among the terms, and for :math:`t = 0`
:math:`\max\{X_{k+1} - X_k, X_k - s, s, \Lambda - X_{k+1} - X_k + s\}`. A candidate sorted
after the percentile is one before it in the reflected database :math:`\Lambda - x`.

Source: ours; equal to the O(1) form in ``docs/percentiles.md`` and to Definition 5 of Farias
et al., VLDB J. 2023, in every cell that the tests enumerate. The forms printed there
(Lemma 10, Algorithm 2) are not: one is too large, the other not admissible.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpselect.typing import Indices, Values


@dataclass(frozen=True, slots=True)
class Side:
    r"""The gaps :math:`\Lambda - \delta(x, t, s)` of one side, as functions of ``s``.

    Each is :math:`\min\{\text{steady}_t, \text{rising}_t + s,
    \max(\text{falling}_t - s, \text{floor}_t)\}`. Gaps are kept instead of sensitivities
    because they are what is summed over thousands of distances, and near 0 they keep the
    digits that a difference from the bound would lose.

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
        from dpselect.percentiles import kernels

        if values.size == 0:
            return np.zeros(0)
        edges = self._edges(values)
        slopes = np.zeros(values.size + 1, dtype=np.int64)
        slopes[0] = self.steady.size
        for edge, change in zip(edges, (-1, -1, 1), strict=True):
            np.add.at(slopes, edge, change)
        levels = np.stack([self.rising, self.steady, self.falling, self.floor])
        constants = kernels.sum_of_runs(edges, levels, values.size)
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


def lower_side(ordered: Values, k: int, upper: float, horizon: int) -> Side:
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
    return Side(steady, upper - order_statistics(ordered, upper, k + t), falling, floor)


def order_statistics(ordered: Values, upper: float, ranks: Indices) -> Values:
    """Return the values of these ranks, from 1 on; 0 before the first, ``upper`` after all."""
    inside = ordered[np.clip(ranks, 1, ordered.size) - 1]
    return np.where(ranks < 1, 0.0, np.where(ranks > ordered.size, upper, inside))
