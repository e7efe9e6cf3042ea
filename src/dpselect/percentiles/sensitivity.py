r"""The element local sensitivity of percentile selection, exact at every distance."""

from __future__ import annotations

from math import fsum

import numpy as np

from dpselect.neighbours import Neighbours
from dpselect.percentiles.side import lower_side, order_statistics
from dpselect.sensitivity import Sensitivity
from dpselect.typing import Values


class PercentileSensitivity(Sensitivity):
    r"""Equal to :math:`LS(x, t, r)` of :math:`u_r = -|x_{(k)} - x_r|` below the horizon.

    After one sort every candidate and distance costs O(1), and the sum over all distances
    O(log n) a candidate. From distance :math:`\min(k, n - k + 1) + 1` on it is the bound at
    every database, so a larger horizon changes nothing.

    Args:
        values: The records' values in ``[0, upper]``, shape ``(n,)``. Private.
        k: Rank of the percentile, 1 to ``n``. Public.
        upper: :math:`\Lambda = \Delta`. Public.
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
        self._below = lower_side(ordered, k, upper, distances)
        self._above = lower_side(reflected, n - k + 1, upper, distances)
        self._centre = self._gaps_of_the_percentile(ordered, k)

    def _gaps_of_the_percentile(self, ordered: Values, k: int) -> Values:
        """Return the gaps of the candidate that holds the percentile, shape ``(T,)``."""
        upper, n = self.bound, ordered.size
        if n == 1:
            return np.full(max(self.horizon, 1), upper)
        before, here, after = order_statistics(ordered, upper, k + np.arange(-1, 2))
        side = self._below
        gaps = side.gap(np.arange(side.steady.size), here)
        # It moves away from the percentile only if another record takes its place: with
        # k = 1 nobody is left below it to rise, with k = n nobody above it to fall.
        gaps[0] = min(
            upper - before,
            after,
            upper - (after - here) if k > 1 else upper,
            upper - (here - before) if k < n else upper,
        )
        gaps[1:2] = np.minimum(gaps[1:2], upper - (after - before))
        return gaps

    def _local(self, distance: int) -> Values:
        gaps = np.empty(self._before.size + 1 + self._after.size)
        gaps[self._before] = self._below.gap(distance, self._low)
        gaps[self._at] = self._centre[distance]
        gaps[self._after] = self._above.gap(distance, self._high)
        return self.bound - gaps

    def shortfall(self) -> Values:
        total = np.zeros(self._before.size + 1 + self._after.size)
        if self.horizon > 0:
            total[self._before] = self._below.total(self._low)
            total[self._at] = fsum(self._centre)
            total[self._after] = self._above.total(self._high)
        return total
