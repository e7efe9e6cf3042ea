r"""A small noisy grid, the first thing that is paid for: all later choices may look at it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpselect.spatial.counting import Answers
from dpselect.spatial.noise import standard_deviation
from dpselect.spatial.partition import Partition, uniform
from dpselect.typing import Indices, Values

SIZE = 16


def cells() -> Partition:
    """Return the partition of the coarse grid."""
    return uniform(SIZE)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Coarse:
    """Noisy counts of ``SIZE`` x ``SIZE`` equal cells; public, because released.

    Attributes:
        counts: Shape ``(SIZE * SIZE,)``, whole numbers.
        scale: Of their noise.
    """

    counts: Values
    scale: float

    @property
    def table(self) -> Values:
        """The counts, by position along x and along y."""
        return self.counts.reshape(SIZE, SIZE)

    @property
    def total(self) -> float:
        """The noisy number of points, at least 1."""
        return max(float(self.counts.sum()), 1.0)

    def weights(self, queries: Indices, sanity: float) -> Values:
        r"""Return :math:`w_t = 1/\max(\tilde T_t, \rho)`, the weights of a relative error.

        :math:`\tilde T_t` is the coarse grid's answer. The floor :math:`\rho` is ``sanity``
        of the noisy total, and at least what noise alone can make of one coarse cell.

        Args:
            queries: Lattice edges, shape ``(m, 4)``.
            sanity: Share of all points below which an error counts as absolute.
        """
        floor = max(sanity * self.total, standard_deviation(self.scale), 1.0)
        return 1 / np.maximum(Answers(cells(), self.counts).of(queries), floor)
