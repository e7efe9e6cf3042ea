"""The local sensitivity at a distance, one number for all candidates."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dpselect.neighbours import Neighbours
from dpselect.sensitivity.base import UNBOUNDED, Interval, Sensitivity
from dpselect.sensitivity.summation import RunningSum
from dpselect.typing import Values


class LocalSensitivity(Sensitivity):
    r"""A sensitivity function that does not depend on the candidate.

    Args:
        at: ``at(t)`` is :math:`\delta(x, t) \ge \max_r LS(x, t, r)` for a whole number
            ``t >= 0``; score units, >= 0, non-decreasing. Private: it may read the data.
        bound: Global sensitivity :math:`\Delta`; finite, > 0. Public.
        neighbours: The neighbour relation.
        horizon: Public distance from which on the bound is used.

    Source: Farias et al., VLDB J. 2023, Definition 5.
    """

    def __init__(
        self,
        at: Callable[[int], float],
        bound: float,
        neighbours: Neighbours,
        *,
        horizon: int = UNBOUNDED,
    ) -> None:
        super().__init__(bound, neighbours, horizon)
        self._at = at

    @property
    def flat(self) -> bool:
        return True

    def _local(self, distance: int) -> Values:
        return np.asarray(float(self._at(distance)))

    def locate(self, heights: Values) -> Interval:
        # One row of sums serves all candidates: walk it once, then search.
        sums, running = [0.0], RunningSum()
        while len(sums) <= self.horizon and sums[-1] <= heights.max():
            running.add(self.at(len(sums) - 1))
            sums.append(float(running.total))
        steps = np.searchsorted(sums[: self.horizon + 1], heights, side="right") - 1
        start = np.array([*sums, sums[-1] + self.bound])
        return Interval(steps.astype(np.float64), start[steps], start[steps + 1] - start[steps])
