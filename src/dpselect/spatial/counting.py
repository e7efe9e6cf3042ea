r"""Counts of points in cells and in rectangles, and the noise they are released with.

:class:`Counts` is the one protocol; :class:`Points` implements it in memory,
:class:`~dpselect.spatial.engine.EngineCounts` in the engine that holds the rows. Both give
the same counts to the last bit.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, expm1, sqrt
from typing import Protocol

import numpy as np

from dpselect.errors import DataError
from dpselect.neighbours import Neighbours
from dpselect.spatial.box import Positions
from dpselect.spatial.partition import Partition
from dpselect.typing import Indices, Values

MOST_RECORDS = 2**31
"""Up to here the rounding that sensitivities allow for covers every count."""

POINTS_AT_ONCE = 2**24
"""Points that are sorted by the edges of rectangles at a time: 192 MiB."""

LEADING_BITS = 16
"""Bits of a position that index the table of edges: 65,536 entries, in the L2 cache."""


class Counts(Protocol):
    """Exact counts of private points; whoever holds the points implements it."""

    def in_cells(self, partition: Partition) -> Values:
        """Return the number of points in each cell, shape ``(cells,)``. Private."""

    def in_rectangles(self, queries: Indices) -> Values:
        """Return the number of points in each rectangle of lattice edges, shape ``(m,)``."""


@dataclass(frozen=True, eq=False, repr=False)
class Points:
    """Points in memory, as positions on the lattice; private.

    Attributes:
        x: Shape ``(n,)``.
        y: Shape ``(n,)``.

    Raises:
        DataError: There are more than ``MOST_RECORDS`` rows, which no table in memory has.
    """

    x: Positions
    y: Positions

    def __post_init__(self) -> None:
        if self.x.size > MOST_RECORDS:
            raise DataError(f"points must be at most {MOST_RECORDS:,}")

    def in_cells(self, partition: Partition) -> Values:
        from dpselect.spatial import kernels

        if partition.shape is not None:
            counts = kernels.count_uniform(self.x, self.y, *partition.shape)
        else:
            counts = kernels.count_regions(
                self.x,
                self.y,
                partition.base,
                partition.labels(),
                partition.regions,
                partition.cells,
            )
        return counts.astype(np.float64)

    def in_rectangles(self, queries: Indices) -> Values:
        from dpselect.spatial.rectangle_kernels import count_rectangles

        edges = np.unique(queries[:, ::2]), np.unique(queries[:, 1::2])
        places = [np.searchsorted(edges[i % 2], queries[:, i]) for i in range(4)]
        counts = np.zeros(len(queries), np.int64)
        for first in range(0, self.x.size, POINTS_AT_ONCE):
            some = slice(first, first + POINTS_AT_ONCE)
            counts += count_rectangles(
                self.x[some], self.y[some], np.column_stack(places), *edges, LEADING_BITS
            )
        return counts.astype(np.float64)


def largest_change(neighbours: Neighbours, points_per_user: int = 1) -> int:
    """Return the most that one neighbour step changes all counts of a partition, in sum.

    One individual who comes or goes changes the counts by at most ``points_per_user``; one
    who is replaced by another, by twice that.
    """
    return points_per_user * (2 if neighbours is Neighbours.SUBSTITUTE else 1)


def noisy(counts: Values | Indices, scale: float) -> Values:
    """Return counts with discrete Laplace noise: a release, integers in float64.

    Args:
        counts: Integers, shape ``(cells,)``. Private.
        scale: Of the noise. Public.
    """
    from dpselect.draws.noisy_counts import discrete_laplace

    return discrete_laplace(counts.astype(np.int64), scale).astype(np.float64)


def standard_deviation(scale: float) -> float:
    r"""Return :math:`\sqrt{2 e^{-1/b}} / (1 - e^{-1/b})`, that of the discrete Laplace law."""
    return sqrt(2 * exp(-1 / scale)) / -expm1(-1 / scale)
