r"""What one edge can change of an egocentric density, given how even the common neighbours are.

Let :math:`c_w = |N(w) \cap N(v)|`, :math:`S = \max_{w \ne v} c_w - \min_{w \ne v} c_w` and
:math:`k = d - t`. For :math:`k \ge 3`

.. math:: \delta(t) = \min\Big(\frac{2}{k}, \max\Big(\frac{2(S + t)}{k(k - 2)},
   \frac{2(S + t + 1)}{k(k + 1)}, \frac{2}{k(k - 1)}\Big)\Big),

and :math:`\delta(t) = 1` for :math:`k \le 2`, but 0 at :math:`d = t = 0`.

Proof. With :math:`\bar c` the mean of :math:`c` over :math:`N(v)`, leaving out a neighbour
:math:`w` changes the density by :math:`2|c_w - \bar c|/((d - 1)(d - 2))`, and
:math:`|c_w - \bar c| \le (1 - 1/d) S`. Taking in :math:`w` changes it by
:math:`2|c_w - \bar c d/(d - 1)|/(d(d + 1))`, where :math:`\bar c d/(d - 1) \le \bar c + 1`. An
edge between two neighbours changes it by :math:`2/(d(d - 1))`. One edge moves :math:`d` by at
most 1, and all :math:`c_w` in one direction by at most 1, so also :math:`S`.

Source: ours.
"""

from __future__ import annotations

import numpy as np

from dpselect.neighbours import Neighbours
from dpselect.sensitivity import Interval, Sensitivity
from dpselect.sensitivity.base import checked_distances
from dpselect.typing import Indices, Values


class SpreadSensitivity(Sensitivity):
    r"""The sensitivity of egocentric density.

    Its sums stop at distance :math:`d - 2`, where every node has reached the bound: all nodes
    together take as many steps as there are edges, at any distance.

    Args:
        degrees: :math:`d`, shape ``(n,)``; at most ``horizon``. Private.
        spreads: :math:`S`, shape ``(n,)``. Private.
        horizon: Public distance from which on the bound 1 is used.
    """

    def __init__(self, degrees: Indices, spreads: Indices, horizon: int) -> None:
        super().__init__(1.0, Neighbours.EDGE, horizon)
        self._degrees, self._spreads = degrees, spreads

    @property
    def closed_form(self) -> bool:
        return True

    @property
    def keys(self) -> Indices:
        return self._degrees * (self._spreads.max() + 1) + self._spreads

    def take(self, positions: Indices) -> SpreadSensitivity:
        return SpreadSensitivity(
            self._degrees[positions], self._spreads[positions], self.horizon
        )

    def _local(self, distance: int) -> Values:
        from dpselect.networks import climbing

        return climbing.changes(
            self._degrees, self._spreads, np.full_like(self._degrees, distance)
        )

    def cumulative(self, distance: int | Indices) -> Values:
        # Beyond the horizon as before it: no degree is above the horizon, so all are at 1.
        return self._climb(np.inf, checked_distances(distance))[1]

    def shortfall(self) -> Values:
        return self.horizon * self.bound - self.cumulative(self.horizon)

    def locate(self, heights: Values) -> Interval:
        from dpselect.networks import climbing

        steps, start = self._climb(heights, np.asarray(self.horizon))
        width = climbing.changes(self._degrees, self._spreads, steps)
        return Interval(steps.astype(np.float64), start, width)

    def _climb(self, heights: Values | float, most: Indices) -> tuple[Indices, Values]:
        from dpselect.networks import climbing

        shape = self._degrees.shape
        return climbing.climb(
            self._degrees,
            self._spreads,
            np.ascontiguousarray(np.broadcast_to(heights, shape), dtype=np.float64),
            np.ascontiguousarray(np.broadcast_to(most, shape)),
        )
