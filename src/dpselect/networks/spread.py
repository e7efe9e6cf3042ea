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
from dpselect.sensitivity import Sensitivity
from dpselect.sensitivity.base import checked_distances
from dpselect.typing import Indices, Values


class SpreadSensitivity(Sensitivity):
    r"""The sensitivity of egocentric density, in closed form.

    Each term overtakes the one before it once, so the distances fall into four stretches:
    :math:`2(S + t + 1)/(k(k + 1))`, then :math:`2(S + t)/(k(k - 2))`, :math:`2/k` and 1. Each
    is summed by partial fractions and a table of harmonic numbers.

    Args:
        degrees: :math:`d`, shape ``(n,)``; at most ``horizon``. Private.
        spreads: :math:`S`, shape ``(n,)``. Private.
        horizon: Public distance from which on the bound 1 is used.
    """

    def __init__(self, degrees: Indices, spreads: Indices, horizon: int) -> None:
        super().__init__(1.0, Neighbours.EDGE, horizon)
        self._degrees, self._spreads = degrees, spreads
        self._harmonic = _Harmonic(max(horizon, 0) + 1)

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
        left = self._degrees - distance
        k = np.maximum(left, 3)
        spread = self._spreads + distance
        change = np.maximum(2 * spread / (k * (k - 2)), 2 * (spread + 1) / (k * (k + 1)))
        change = np.minimum(2 / k, np.maximum(change, 2 / (k * (k - 1))))
        isolated = (self._degrees == 0) & (distance == 0)
        return np.where(isolated, 0.0, np.where(left >= 3, change, 1.0))

    def cumulative(self, distance: int | Indices) -> Values:
        upto = checked_distances(distance)
        d, s = self._degrees, self._spreads
        # 2(S + t)/(k(k - 2)) overtakes from 3(S + t) >= k - 2 on, 2/k from S + t > k - 2.
        last = np.maximum(d - 2, 0)
        second = np.clip((d - s) // 2, 0, last)
        first = np.clip(-(-(d - 2 - 3 * s) // 4), 0, second)
        ends = [d - np.minimum(upto, end) for end in (first, second, last)]
        total = self._while_taken_in(d, ends[0]) + self._while_left_out(ends[0], ends[1])
        total += 2 * self._harmonic.between(ends[1], ends[2]) + np.maximum(upto - last, 0)
        # At t = 0: an isolated node has no pair to lose; without spread 2/(d(d - 1)) is more.
        even = np.where((d >= 3) & (s == 0), 4 / np.maximum(d * (d * d - 1), 1), 0.0)
        return total + np.where(upto > 0, np.where(d == 0, -1.0, even), 0.0)

    def shortfall(self) -> Values:
        return self.horizon * self.bound - self.cumulative(self.horizon)

    def _while_taken_in(self, high: Indices, low: Indices) -> Values:
        """Return the sum of ``2(S + t + 1)/(k(k + 1))`` over ``low < k <= high``."""
        weight = 2 * (self._spreads + self._degrees + 1)
        fractions = weight * (high - low) / ((low + 1) * (high + 1))
        return fractions - 2 * self._harmonic.between(high + 1, low + 1)

    def _while_left_out(self, high: Indices, low: Indices) -> Values:
        """Return the sum of ``2(S + t)/(k(k - 2))`` over ``low < k <= high``."""
        # A stretch that is empty may lie anywhere; it must only not divide by 0.
        a, b = np.maximum(low, 2), np.maximum(high, 2)
        fractions = (b - a) / ((a - 1) * (b - 1)) + (b - a) / (a * b)
        weight = self._spreads + self._degrees
        return weight * fractions - 2 * self._harmonic.between(b - 2, a - 2)


class _Harmonic:
    """Differences of harmonic numbers, exact to a rounding of the difference.

    A unit score divides such a difference by a sensitivity as small as ``2/d^2``, so what is
    lost where each term is added is kept beside the sum.
    """

    def __init__(self, largest: int) -> None:
        terms = 1 / np.arange(1, largest + 1)
        self._sums = np.concatenate([[0.0], np.cumsum(terms)])
        before, after = self._sums[:-1], self._sums[1:]
        larger, smaller = np.maximum(before, terms), np.minimum(before, terms)
        self._lost = np.concatenate([[0.0], np.cumsum((larger - after) + smaller)])

    def between(self, high: Indices, low: Indices) -> Values:
        """Return ``1/(low + 1) + ... + 1/high``."""
        return (self._sums[high] - self._sums[low]) + (self._lost[high] - self._lost[low])
