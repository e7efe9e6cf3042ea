"""Counts of points in cells and in rectangles, and the noise they are released with.

``Counts`` is the one protocol; ``Points`` implements it in memory, ``EngineCounts`` in the
engine that holds the rows. Both give the same counts to the last bit.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import exp, expm1, sqrt
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from dpselect.errors import DataError
from dpselect.maps.box import POSITIONS, Box
from dpselect.maps.partition import Partition
from dpselect.typing import Indices, Values

MOST_RECORDS = 2**31
"""Up to here the rounding that sensitivities allow for covers every count."""

POINTS_AT_ONCE = 2**24
"""Points that are sorted by the edges of rectangles at a time: 192 MiB."""


class Counts(Protocol):
    """Exact counts of private points, in memory or in an engine."""

    def in_cells(self, partition: Partition) -> Values:
        """Return the number of points in each cell, shape ``(cells,)``. Private."""

    def in_rectangles(self, queries: Indices) -> Values:
        """Return the number of points in each rectangle of lattice edges, shape ``(m,)``."""


@dataclass(frozen=True, eq=False, repr=False)
class Points:
    """Points in memory; private.

    Attributes:
        x: Shape ``(n,)``.
        y: Shape ``(n,)``.
        box: The public box that all are in.

    Raises:
        DataError: There are more than ``MOST_RECORDS`` rows, which no table in memory has.
    """

    x: Values
    y: Values
    box: Box

    def __post_init__(self) -> None:
        if self.x.size > MOST_RECORDS:
            raise DataError(f"points must be at most {MOST_RECORDS:,}")

    @classmethod
    def of(cls, x: ArrayLike, y: ArrayLike, *, bounds: ArrayLike) -> Points:
        """Return the points inside ``(west, south, east, north)``.

        Args:
            x: Shape ``(n,)``. Points outside the bounds and points with a NaN are dropped.
            y: Shape ``(n,)``.
            bounds: Four numbers. Public.

        Raises:
            ParameterError: The bounds are not four ascending numbers.
            DataError: ``x`` and ``y`` are not columns of one length.
        """
        box = Box.of(bounds)
        return cls(*box.locate(x, y), box)

    def in_cells(self, partition: Partition) -> Values:
        from dpselect.maps import point_kernels

        columns, bounds = (self.x, self.y), np.array(self.box.bounds)
        if partition.shape is not None:
            lines = _pair(
                self.box.lines(axis, np.arange(size), size)
                for axis, size in enumerate(partition.shape)
            )
            return point_kernels.count_uniform(columns, lines, bounds).astype(np.float64)
        squares = np.arange(partition.base)
        cuts = [partition.lines(axis) for axis in (0, 1)]
        counts = point_kernels.count_regions(
            columns,
            _pair(self.box.lines(axis, squares, partition.base) for axis in (0, 1)),
            partition.labels(),
            partition.regions,
            _pair(self.box.lines(axis, *cut[:2]) for axis, cut in enumerate(cuts)),
            np.column_stack([starts for _, _, starts in cuts]),
            bounds,
        )
        return counts.astype(np.float64)

    def in_rectangles(self, queries: Indices) -> Values:
        from dpselect.maps import point_kernels

        edges = np.unique(queries[:, ::2]), np.unique(queries[:, 1::2])
        places = [np.searchsorted(edges[i % 2], queries[:, i]) for i in range(4)]
        lines = [self.box.thresholds(axis, one, POSITIONS) for axis, one in enumerate(edges)]
        counts = np.zeros(len(queries), np.int64)
        for first in range(0, self.x.size, POINTS_AT_ONCE):
            some = slice(first, first + POINTS_AT_ONCE)
            counts += point_kernels.count_rectangles(
                self.x[some], self.y[some], np.column_stack(places), *lines
            )
        return counts.astype(np.float64)


def _pair(axes: Iterable[Values]) -> tuple[Values, Values]:
    x, y = axes
    return x, y


def noisy(counts: Values | Indices, scale: float) -> Values:
    """Return counts with discrete Laplace noise: a release, integers in float64.

    Args:
        counts: Integers, shape ``(cells,)``. Private.
        scale: Noise scale. Public.
    """
    from dpselect.draws.exact.noisy_counts import discrete_laplace

    return discrete_laplace(counts.astype(np.int64), scale).astype(np.float64)


def standard_deviation(scale: float) -> float:
    """Return that of discrete Laplace noise, ``√(2 e^(-1/b)) / (1 - e^(-1/b))``.

    At least 1e-60, so that quotients of variances are numbers at every epsilon.
    """
    return max(sqrt(2 * exp(-1 / scale)) / -expm1(-1 / scale), 1e-60)
