r"""The sensitivity of information gain, exact at every distance.

With :math:`f(x) = (x + 1) \log_2 (x + 1) - x \log_2 x`, one more record of class :math:`c` in
a value with :math:`a` records, :math:`b` of them of that class, changes the score by
:math:`f(a) - f(b)`. The worst class of a value is its rarest: with :math:`b` records of it, the
largest change within :math:`t` records is :math:`f(a + t)` if :math:`b = 0`, else

.. math:: f(a + t + 1 - 2s) - f(b - s), \qquad s = \min(b, t + 1),

because :math:`f` is concave: remove what there is of the rarest class and add another.

Source: Farias et al., Local Dampening, VLDB J. 2023, Lemmas 14 and 15. Algorithm 5 as printed
skips empty values, so that it is not admissible, and enumerates what is O(1) here.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np

from dpselect.errors import ParameterError
from dpselect.neighbours import Neighbours
from dpselect.sensitivity import Interval, Sensitivity
from dpselect.sensitivity.base import checked_distances
from dpselect.trees import _gain_kernels as kernels
from dpselect.typing import Indices, Values

TABLE = 2**16
"""Values of f kept ready: half a megabyte, and beyond it a formula."""


@cache
def _table() -> Values:
    return kernels.rise_table(TABLE)


class InformationGainSensitivity(Sensitivity):
    r"""The element local sensitivity of the count-weighted conditional entropy.

    Under add/remove it equals :math:`LS(x, t, r)` among databases of any size, cut at the
    global bound :math:`f(N - 1)` of databases with at most :math:`N` records. A substitution
    is two such steps of opposite signs: :math:`LS(x, 2t, r)`.

    Args:
        counts: Records by value and class of each attribute, shape ``(values, classes)``
            each; at least two classes. Private. All *public* values and classes are there,
            also those that no record has.
        max_records: :math:`N \ge 2`. Public.
        neighbours: ``ADD_REMOVE`` or ``SUBSTITUTE``.
        horizon: The distance from which on the bound is used; ``max_records`` if not given.
            Public.

    Guarantee:
        Admissible under ``neighbours``.

    Raises:
        ParameterError: Fewer than two classes, or another neighbour relation.
    """

    def __init__(
        self,
        counts: Sequence[Indices],
        max_records: int,
        neighbours: Neighbours,
        horizon: int | None = None,
    ) -> None:
        self._most = max_records - 1
        bound = float(kernels.rise(self._most, _table()))
        super().__init__(bound, neighbours, max_records if horizon is None else horizon)
        self._stride = records_per_step(neighbours)
        if counts[0].shape[1] < 2:
            raise ParameterError("classes must be at least two")
        table = np.concatenate(counts).astype(np.int64)
        self._totals, self._least = table.sum(axis=1), table.min(axis=1)
        self._ends = np.cumsum([len(table) for table in counts])

    @property
    def closed_form(self) -> bool:
        return self._stride == 1

    def _local(self, distance: int) -> Values:
        return kernels.at(
            self._totals, self._least, self._ends, self._stride * distance, _table()
        )

    def cumulative(self, distance: int | Indices) -> Values:
        asked = np.broadcast_to(checked_distances(distance), self._ends.shape)
        inside = np.minimum(asked, self.horizon)
        summed = kernels.sums(
            self._totals, self._least, self._ends, inside, self._stride, self._most, _table()
        )
        return summed + (asked - inside) * self.bound

    def shortfall(self) -> Values:
        return self.horizon * self.bound - self.cumulative(self.horizon)

    def locate(self, heights: Values) -> Interval:
        return Interval(
            *kernels.locate(
                self._totals,
                self._least,
                self._ends,
                heights,
                self._stride,
                self.horizon,
                self._most,
                _table(),
            )
        )


def records_per_step(neighbours: Neighbours) -> int:
    """Return how many records one neighbour step adds or removes.

    Raises:
        ParameterError: It is not a relation of tables.
    """
    if neighbours is Neighbours.ADD_REMOVE:
        return 1
    if neighbours is Neighbours.SUBSTITUTE:
        return 2
    raise ParameterError(
        "neighbours of tables are Neighbours.ADD_REMOVE or Neighbours.SUBSTITUTE, not "
        f"{neighbours}"
    )
