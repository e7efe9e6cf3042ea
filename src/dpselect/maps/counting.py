"""Counts of points in cells and in rectangles, and the noise they are released with.

``Counts`` is the one counting; ``Points`` does it in memory, ``StreamedPoints`` part by part
where polars holds the rows, and ``EngineCounts`` in any other engine that does. All give the
same counts to the last bit. In this process a point is at the last
of ascending lines that is at or below it (``dpselect.maps.box``): the one that its share of
their range suggests, or one near to it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from dpselect._compiled import compiled
from dpselect.errors import DataError
from dpselect.maps.box import POSITIONS, Box, blocks_of
from dpselect.maps.partition import Partition
from dpselect.tables.engine import engine_of
from dpselect.tables.opening import unreadable
from dpselect.typing import Indices, Values

if TYPE_CHECKING:
    import narwhals as nw

MOST_RECORDS = 2**31
"""Up to here the rounding that sensitivities allow for covers every count."""


Array = TypeVar("Array", Values, Indices)
Axes: TypeAlias = tuple[Values, Values]


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
        base, box = partition.base, self.box
        if partition.shape is not None:
            lines = [box.lines(i, np.arange(1, n), n) for i, n in enumerate(partition.shape)]
            return self.between(*lines).ravel().astype(np.float64)
        x, y = (partition.lines(axis) for axis in (0, 1))
        counts = count_cells(
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
        # All points are at or above the lower edge of the box.
        (west, _), (south, _) = self.box.limits(0), self.box.limits(1)
        lines = np.concatenate([[west], x_lines]), np.concatenate([[south], y_lines])
        return count_between((self.x, self.y), lines, np.array(self.box.bounds))


@dataclass(frozen=True, eq=False, repr=False)
class StreamedPoints(Counts):
    """Points of a query of polars, of which some at once are in memory; private.

    Attributes:
        points: A lazy frame whose columns ``x`` and ``y`` are coordinates in the box.
        box: The public box.
    """

    points: nw.LazyFrame[Any]
    box: Box
    at_once = Points.at_once

    def in_cells(self, partition: Partition) -> Values:
        return self._sum(lambda part: part.in_cells(partition), np.zeros(partition.cells))

    def between(self, x_lines: Values, y_lines: Values) -> Indices:
        none = np.zeros((x_lines.size + 1, y_lines.size + 1), np.int64)
        return self._sum(lambda part: part.between(x_lines, y_lines), none)

    def _sum(self, count: Callable[[Points], Array], found: Array) -> Array:
        """Return an array to which what is counted of all parts was added."""

        def add(part: Any) -> None:  # noqa: ANN401 -- a frame of polars
            points = Points(part["x"].to_numpy(), part["y"].to_numpy(), self.box)
            np.add(found, count(points), out=found)

        engine_of(self.points).each(add, lambda: unreadable(self.points))
        return found


@compiled
def count_between(points: Axes, lines: Axes, bounds: Values) -> Indices:
    """Return how many points are in the columns and rows that begin at lines.

    Args:
        points: Coordinates along x and along y, shape ``(n,)``, within the bounds.
        lines: Ascending, from the lower bounds on, shapes ``(a,)`` and ``(b,)``.
        bounds: West, south, east and north.
    """
    x, y = points
    x_lines, y_lines = lines
    a, b = x_lines.size, y_lines.size
    west, south, east, north = bounds
    across, along = a / (east - west), b / (north - south)
    counts = np.zeros((a, b), np.int64)
    for i in range(x.size):
        column = _line(x[i], x_lines, 0, a, west, across)
        counts[column, _line(y[i], y_lines, 0, b, south, along)] += 1
    return counts


@compiled
def count_cells(
    points: Axes,
    squares: Axes,
    labels: Indices,
    regions: Indices,
    lines: Axes,
    starts: Indices,
    bounds: Values,
) -> Indices:
    """Return how many points each cell of a partition holds.

    Lines of the base grid give the square, and with it the region; lines of the region, which
    are after each other, the cell.

    Args:
        points: Coordinates along x and along y, shape ``(n,)``, within the bounds.
        squares: Lower edges of the base squares.
        labels: The region of each square.
        regions: Shape ``(R, 6)``.
        lines: Lower edges of the cells of each region.
        starts: Where those of each region start, shape ``(R, 2)``.
        bounds: West, south, east and north.
    """
    x, y = points
    base_x, base_y = squares
    x_lines, y_lines = lines
    base = base_x.size
    west, south, east, north = bounds
    across, along = base / (east - west), base / (north - south)
    counts = np.zeros((regions[:, 3] * regions[:, 4]).sum(), np.int64)
    for i in range(x.size):
        column = _line(x[i], base_x, 0, base, west, across)
        row = _line(y[i], base_y, 0, base, south, along)
        label = labels[column, row]
        # By its row at once it would be half as fast.
        span, nx, ny = regions[label, 2], regions[label, 3], regions[label, 4]
        first, second = starts[label, 0], starts[label, 1]
        a = _line(x[i], x_lines, first, nx, x_lines[first], across * nx / span)
        b = _line(y[i], y_lines, second, ny, y_lines[second], along * ny / span)
        counts[regions[label, 5] + a * ny + b] += 1
    return counts


@compiled
def _line(value: float, lines: Values, start: int, count: int, low: float, per: float) -> int:
    """Return the last of ``count`` lines from ``start`` on that is at or below a value.

    Args:
        value: At or above the first.
        lines: Ascending among these.
        start: Position of the first.
        count: How many there are.
        low: Where the first one is.
        per: Lines per unit, about.
    """
    place = min(max(int((value - low) * per), 0), count - 1)
    while place > 0 and value < lines[start + place]:
        place -= 1
    while place + 1 < count and value >= lines[start + place + 1]:
        place += 1
    return place


def noisy(counts: Values | Indices, scale: float) -> Values:
    """Return counts with discrete Laplace noise: a release, integers in float64.

    Args:
        counts: Integers, shape ``(cells,)``. Private.
        scale: Noise scale. Public.
    """
    from dpselect.draws.exact.noisy_counts import discrete_laplace

    return discrete_laplace(counts.astype(np.int64), scale).astype(np.float64)
