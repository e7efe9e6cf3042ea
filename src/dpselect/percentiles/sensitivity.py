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

import numpy as np

from dpselect.neighbours import Neighbours
from dpselect.sensitivity import Sensitivity
from dpselect.typing import Values


class PercentileSensitivity(Sensitivity):
    """Equal to ``LS(x, t, r)`` of ``u_r = -|x_(k) - x_r|`` below the horizon.

    After one sort every candidate and distance costs O(1). From distance ``min(k, n - k + 1) +
    1`` on it is the bound at every database, so a larger horizon changes nothing.

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
        super().__init__(
            upper, Neighbours.SUBSTITUTE, horizon=min(horizon, min(k, n - k + 1) + 1)
        )
        self._order, self._k = np.argsort(values, kind="stable"), k
        self._ordered = values[self._order]

    def _local(self, distance: int) -> Values:
        upper, n, k = self.bound, self._order.size, self._k
        ordered, reflected = self._ordered, upper - self._ordered[::-1]
        changes = np.empty(n)
        changes[self._order] = np.concatenate(
            [
                before_it(ordered, k, upper, distance, ordered[: k - 1]),
                [self._of_the_percentile(distance)],
                before_it(reflected, n - k + 1, upper, distance, reflected[: n - k])[::-1],
            ]
        )
        return changes

    def _of_the_percentile(self, distance: int) -> float:
        """Return that of the candidate that holds the percentile."""
        ordered, upper, n, k = self._ordered, self.bound, self._order.size, self._k
        if n == 1:
            return 0.0
        before, here, after = (_statistic(ordered, upper, k + i) for i in (-1, 0, 1))
        if distance > 0:
            [found] = before_it(ordered, k, upper, distance, np.array([here]))
            return max(found, after - before) if distance == 1 else found
        # It moves away from the percentile only if another record takes its place: with
        # k = 1 nobody is left below it to rise, with k = n nobody above it to fall.
        rise, fall = (after - here if k > 1 else 0.0), (here - before if k < n else 0.0)
        return max(before, upper - after, rise, fall)


def before_it(ordered: Values, k: int, upper: float, t: int, values: Values) -> Values:
    """Return the sensitivity at distance ``t`` of candidates sorted before the percentile.

    Args:
        ordered: The values of all records, ascending, in ``[0, upper]``.
        k: The percentile's rank.
        upper: The public upper end.
        t: The distance.
        values: Those of the candidates, shape ``(m,)``.
    """

    def x(rank: int) -> float:
        return _statistic(ordered, upper, rank)

    if t == 0:
        moved = np.maximum(x(k) - values, np.maximum(values, upper - x(k + 1) - x(k) + values))
        return np.maximum(moved, x(k + 1) - x(k))
    least = max(x(k + t - 1), upper - x(k - t + 2), x(k + 2) - x(k) if t == 1 else 0.0)
    fallen = upper - x(k - t + 1) - np.maximum(x(k - t) - values, 0)
    return np.maximum(np.maximum(x(k + t) - values, fallen), least)


def _statistic(ordered: Values, upper: float, rank: int) -> float:
    """Return the value of a rank, from 1 on; 0 before the first, ``upper`` after all."""
    if 1 <= rank <= ordered.size:
        return float(ordered[rank - 1])
    return 0.0 if rank < 1 else upper
