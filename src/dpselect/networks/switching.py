r"""A sensitivity that follows one closed form up to some distance, then another.

The larger of two sensitivities has closed sums if each has and they cross at most once:
nothing needs to be summed term by term to know which of them holds where.
"""

from __future__ import annotations

import numpy as np

from dpselect.sensitivity import Interval, Sensitivity, TabulatedSensitivity
from dpselect.sensitivity.base import checked_distances
from dpselect.typing import Indices, Values


class SwitchingSensitivity(Sensitivity):
    r"""The first of two tabulated sensitivities below a distance, the second from it on.

    Args:
        first: :math:`\delta(x, t, r)` for ``t < switch``.
        second: The same from there on; of the same bound and horizon.
        switch: One distance per candidate, shape ``(n,)``, the same for candidates of equal
            keys in both. Private.
    """

    def __init__(
        self, first: TabulatedSensitivity, second: TabulatedSensitivity, switch: Indices
    ) -> None:
        super().__init__(second.bound, second.neighbours, second.horizon)
        self._first, self._second = first, second
        self._switch = np.minimum(switch, self.horizon)
        self._sum_of_first = first.cumulative(self._switch)
        self._skipped = second.cumulative(self._switch)

    @property
    def closed_form(self) -> bool:
        return True

    @property
    def keys(self) -> Indices:
        return self._first.keys * (self._second.keys.max() + 1) + self._second.keys

    def take(self, positions: Indices) -> SwitchingSensitivity:
        return SwitchingSensitivity(
            self._first.take(positions), self._second.take(positions), self._switch[positions]
        )

    def _local(self, distance: int) -> Values:
        early = distance < self._switch
        return np.where(early, self._first.at(distance), self._second.at(distance))

    def cumulative(self, distance: int | Indices) -> Values:
        upto = checked_distances(distance)
        later = self._second.cumulative(np.maximum(upto, self._switch)) - self._skipped
        return self._first.cumulative(np.minimum(upto, self._switch)) + later

    def shortfall(self) -> Values:
        return self.horizon * self.bound - self.cumulative(self.horizon)

    def locate(self, heights: Values) -> Interval:
        early = heights < self._sum_of_first
        before = self._first.locate(np.where(early, heights, 0.0))
        beyond = np.where(early, 0.0, heights - self._sum_of_first)
        after = self._second.locate(self._skipped + beyond)
        return Interval(
            np.where(early, before.steps, after.steps),
            np.where(early, before.start, after.start - self._skipped + self._sum_of_first),
            np.where(early, before.width, after.width),
        )
