"""Counts of points in cells and in rectangles, and the noise they are released with.

``Counts`` is the one counting; ``Points`` does it in memory, ``EngineCounts`` in the engine
that holds the rows. Both give the same counts to the last bit.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from math import exp, expm1, sqrt
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from dpselect.errors import DataError
from dpselect.maps.box import POSITIONS, Box, blocks_of
from dpselect.maps.partition import Partition
from dpselect.typing import Indices, Values

MOST_RECORDS = 2**31
"""Up to here the rounding that sensitivities allow for covers every count."""


class Counts(ABC):
    """Exact counts of private points, in memory or in an engine.

    Attributes:
        box: The public box that all are in.
        at_once: How many rectangles are counted in one pass.
    """

    box: Box
    at_once: ClassVar[int]

    @abstractmethod
    def in_cells(self, partition: Partition) -> Values:
        """Return the number of points in each cell, shape ``(cells,)``. Private."""

    @abstractmethod
    def between(self, x_lines: Values, y_lines: Values) -> Indices:
        """Return the number of points between lines.

        Args:
            x_lines: Ascending, shape ``(a,)``.
            y_lines: Ascending, shape ``(b,)``.

        Returns:
            By how many lines are at or below a point, shape ``(a + 1, b + 1)``. Private.
        """

    def in_rectangles(self, queries: Indices) -> Values:
        """Return the number of points in each rectangle of lattice edges, shape ``(m,)``.

        The edges of some rectangles cut the plane into an irregular grid; sums over its cells
        are the counts of all of them.
        """
        found = []
        for some in blocks_of(queries, self.at_once):
            edges = np.unique(some[:, ::2]), np.unique(some[:, 1::2])
            lines = [
                self.box.thresholds(axis, one, POSITIONS) for axis, one in enumerate(edges)
            ]
            below = self.between(*lines).cumsum(axis=0).cumsum(axis=1)
            # A point at or above i edges lies below edge i: sums up to i count those below it.
            x0, y0, x1, y1 = (np.searchsorted(edges[i % 2], some[:, i]) for i in range(4))
            found.append(below[x1, y1] - below[x0, y1] - below[x1, y0] + below[x0, y0])
        return np.concatenate(found).astype(np.float64)


@dataclass(frozen=True, eq=False, repr=False)
class Points(Counts):
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
    at_once = 1000

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
        from dpselect.maps import kernels

        base, box = partition.base, self.box
        if partition.shape is not None:
            lines = [box.lines(i, np.arange(1, n), n) for i, n in enumerate(partition.shape)]
            return self.between(*lines).ravel().astype(np.float64)
        x, y = (partition.lines(axis) for axis in (0, 1))
        counts = kernels.count_cells(
            (self.x, self.y),
            (box.lines(0, np.arange(base), base), box.lines(1, np.arange(base), base)),
            partition.labels(),
            partition.regions,
            (box.lines(0, *x[:2]), box.lines(1, *y[:2])),
            np.column_stack([x[2], y[2]]),
            np.array(box.bounds),
        )
        return counts.astype(np.float64)

    def between(self, x_lines: Values, y_lines: Values) -> Indices:
        from dpselect.maps import kernels

        x_per, y_per = map(_per_unit, (x_lines, y_lines))
        return kernels.count_between((self.x, self.y), (x_lines, y_lines), (x_per, y_per))


def _per_unit(lines: Values) -> float:
    """Return how many lines there are per unit; edges at that of the box are infinite."""
    finite = lines[np.isfinite(lines)]
    return lines.size / max(finite[-1] - finite[0], 1e-300) if finite.size > 1 else 0.0


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
