"""The element local sensitivity: one number per candidate and distance."""

from __future__ import annotations

from collections.abc import Callable

from numpy.typing import ArrayLike

from dpselect.neighbours import Neighbours
from dpselect.sensitivity.base import Sensitivity


class ElementSensitivity(Sensitivity):
    r"""A sensitivity function that differs between candidates.

    Args:
        at: ``at(t)`` is :math:`\delta(x, t, r)` for all candidates, shape ``(n,)``, for a
            whole number ``t >= 0``; score units, >= 0, non-decreasing in ``t``. Private:
            it may read the data. Check it with :func:`dpselect.audit.check_admissible`.
        bound: Global sensitivity :math:`\Delta`, or one per candidate, shape ``(n,)``;
            finite, > 0. Public.
        horizon: Public distance :math:`T^*` from which on the bound is used. Any is
            admissible; it is required because the shifted mechanism depends on it.
        neighbours: The neighbour relation.

    Source: Farias et al., VLDB J. 2023, Definitions 5 and 6.
    """

    def __init__(
        self,
        at: Callable[[int], ArrayLike],
        bound: ArrayLike,
        horizon: int,
        neighbours: Neighbours,
    ) -> None:
        super().__init__(bound, neighbours, horizon)
        self._at = at

    def _local(self, distance: int) -> ArrayLike:
        return self._at(distance)
