"""The global sensitivity: the same bound at every database."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from dpselect.neighbours import Neighbours
from dpselect.sensitivity.base import UNBOUNDED, Sensitivity, checked_distances
from dpselect.typing import Indices, Values


class GlobalSensitivity(Sensitivity):
    r"""The largest change of a score between any two neighbouring databases.

    Args:
        bound: :math:`\Delta`, or one :math:`\Delta_r` per candidate, shape ``(n,)``, as
            :class:`~dpselect.GeneralizedExponential` uses them; score units, finite, > 0.
            Public: it must hold for every database and not be read off the data.
        neighbours: The neighbour relation that the bound holds for.
        horizon: As for every sensitivity; it matters only where the bounds differ.

    Raises:
        SensitivityError: A bound is not finite and > 0, or has more than one dimension.

    Source: Dwork and Roth 2014, Definition 3.1; one per candidate: Raskhodnikova and Smith,
        arXiv:1504.07912.
    """

    def __init__(
        self, bound: ArrayLike, neighbours: Neighbours, *, horizon: int = UNBOUNDED
    ) -> None:
        super().__init__(bound, neighbours, horizon)

    @property
    def flat(self) -> bool:
        return self.bounds.ndim == 0

    @property
    def closed_form(self) -> bool:
        return True

    def _local(self, distance: int) -> Values:  # noqa: ARG002 -- the same at every distance
        return self.bounds

    def cumulative(self, distance: int | Indices) -> Values:
        upto = checked_distances(distance)
        inside = np.minimum(upto, self.horizon)
        return inside * self.bounds + (upto - inside) * self.bound

    def shortfall(self) -> Values:
        return self.horizon * (self.bound - self.bounds)
