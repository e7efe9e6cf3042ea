"""The public box of a map, the lines that cut it into cells, and rectangles in it.

Lines are floats that are written like the decimals that they stand for (``dpselect._numbers``).
A cell is half-open, ``[line, next line)``, so that a point on a line belongs to the cell above
it, and the last cell holds the upper edge of the box, too. Cells of cells are nested.

Edges of queries are among the ``2^32 + 1`` lines of the lattice, the last one at or below each.
From these integers the share of a cell that a query covers is computed exactly, and points are
compared with their lines: so no rounding can put a point on the wrong side of a sensitivity
bound.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import Any, Literal, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpselect import validation
from dpselect._numbers import lines
from dpselect.errors import DataError, ParameterError
from dpselect.maps import geo
from dpselect.tables.kinds import rounded
from dpselect.typing import Indices, Values

POSITIONS = 2**32
"""Positions of the lattice along an axis."""

NARROWEST = 2.0**-28
"""Least width of a box over its largest number: 2^24 floats are in it, more than its cells."""

LEAST_FLOATS = 2**13
"""Floats of 32 bits that are in a box whose lines are rounded to them; the cells of a rule are
fewer along an axis."""

DATE_LINE = "; across the antimeridian give longitudes up to 360, as 170 to 190"

Outside: TypeAlias = Literal["drop", "clip"]


SIDES = (1 / 64, 1 / 32, 1 / 16, 1 / 8, 1 / 4)
"""Sides of the rectangles, as shares of the sides of the box."""

RECTANGLES_AT_ONCE = 100
"""Rectangles of one grouping, which has at most 201 x 201 groups."""

Array = TypeVar("Array", Indices, Values)


@dataclass(frozen=True, slots=True)
class Box:
    """The area of a map; public, and never read off the data.

    Attributes:
        west: Lower bound of ``x``; coordinate units, as all four.
        south: Lower bound of ``y``.
        east: Upper bound of ``x``, included.
        north: Upper bound of ``y``, included.
        crs: The coordinate reference system, such as ``"EPSG:4326"``; None if unknown.
        types: The types of floats that x and y are held in: lines are rounded to them, so that
            0.7 is on the line 0.7 in a column of 32 bits, too.

    Raises:
        ParameterError: A bound is not finite, bounds are swapped or equal, or they are
            beyond what degrees can be while ``crs`` is geographic.
    """

    west: float
    south: float
    east: float
    north: float
    crs: str | None = None
    types: tuple[np.dtype[Any], np.dtype[Any]] = (np.dtype(np.float64), np.dtype(np.float64))

    def __post_init__(self) -> None:
        for axis, low, high in (("x", self.west, self.east), ("y", self.south, self.north)):
            if not (isfinite(low) and isfinite(high)):
                raise ParameterError(f"the `bounds` of {axis} must be finite numbers")
            wide = low < high and isfinite(high - low)
            if not wide or not isfinite(POSITIONS / (high - low)):
                raise ParameterError(
                    f"the `bounds` of {axis} must go from a lower to a higher number, not from "
                    f"{low:g} to {high:g}; they are west, south, east, north"
                    + (DATE_LINE if axis == "x" and self.crs is not None else "")
                )
            if high - low < NARROWEST * max(abs(low), abs(high)):
                raise ParameterError(
                    f"the `bounds` of {axis} must be further apart: few numbers are between "
                    f"{low!r} and {high!r}"
                )
        if self.crs is not None:
            geo.check_degrees(self.crs, self.bounds)

    @classmethod
    def of(cls, bounds: ArrayLike, crs: str | None = None) -> Box:
        """Return the box of four numbers ``(west, south, east, north)``."""
        numbers = _numbers(bounds)
        if numbers.shape != (4,):
            raise ParameterError("`bounds` must be four numbers: west, south, east, north")
        west, south, east, north = numbers.tolist()
        return cls(west, south, east, north, crs)

    @property
    def bounds(self) -> tuple[float, float, float, float]:
        """``(west, south, east, north)``."""
        return self.west, self.south, self.east, self.north

    def side(self, axis: int) -> tuple[float, float]:
        """Return the lower and the upper bound along an axis."""
        return self.bounds[axis], self.bounds[axis + 2]

    def limits(self, axis: int) -> tuple[float, float]:
        """Return the same as a column of the axis has them."""
        low, high = (rounded(end, self.types[axis]) for end in self.side(axis))
        return low, high

    def floats(self, axis: int) -> float:
        """Return how many floats of the axis's type are in the box, at least."""
        low, high = self.side(axis)
        with np.errstate(over="ignore", invalid="ignore"):
            gap = np.spacing(self.types[axis].type(max(abs(low), abs(high))))
        return (high - low) / float(gap)

    def locate(
        self, x: ArrayLike, y: ArrayLike, *, outside: Outside = "drop"
    ) -> tuple[Values, Values]:
        """Return the points inside the box, repaired record by record.

        A point with a NaN is dropped. One outside the box, or infinite, is dropped or, with
        ``"clip"``, moved to the nearest place inside. So each record maps to at most one
        point, which depends on no other record.

        Args:
            x: Shape ``(n,)``.
            y: Shape ``(n,)``.
            outside: ``"drop"`` or ``"clip"``.

        Returns:
            Two columns of the points that are left, in their order. Private.

        Raises:
            ParameterError: ``outside`` is neither.
            DataError: The columns are not one-dimensional or not of the same length.
        """
        columns = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
        if columns[0].ndim != 1 or columns[0].shape != columns[1].shape:
            raise DataError("x and y must be two columns of the same length")
        validation.one_of("outside", outside, Outside)
        held = self.holds(*columns, outside=outside)
        across, along = (column if held.all() else column[held] for column in columns)
        if outside == "clip":
            across, along = np.clip(across, *self.limits(0)), np.clip(along, *self.limits(1))
        return np.ascontiguousarray(across), np.ascontiguousarray(along)

    def holds(self, x: Values, y: Values, *, outside: Outside) -> NDArray[np.bool]:
        """Return which points ``locate`` keeps, shape ``(n,)``. Private."""
        if outside == "clip":
            return ~(np.isnan(x) | np.isnan(y))
        (west, east), (south, north) = self.limits(0), self.limits(1)
        return (x >= west) & (x <= east) & (y >= south) & (y <= north)

    def lines(self, axis: int, places: Indices, parts: int | Indices) -> Values:
        """Return the coordinates at ``places/parts`` of the way along an axis.

        Args:
            axis: 0 or 1.
            places: Shape ``(n,)``.
            parts: One number, or shape ``(n,)``; >= 1.
        """
        found = lines(*self.side(axis), places, parts)
        return found.astype(self.types[axis]).astype(np.float64)

    def thresholds(self, axis: int, places: Indices, parts: int | Indices) -> Values:
        """Return lines that points are compared with: infinite at the upper edge of the box."""
        return np.where(places >= parts, np.inf, self.lines(axis, places, parts))

    def edges(self, rectangles: Values) -> Indices:
        """Return the last line of the lattice at or below each edge, shape ``(m, 4)``."""
        found = []
        for side, values in enumerate(rectangles.T):
            low, high = self.side(axis := side % 2)
            near = np.floor((values - low) * (POSITIONS / (high - low)) + 0.5)
            line = np.clip(near, 0, POSITIONS).astype(np.int64)
            found.append(np.maximum(line - (self.lines(axis, line, POSITIONS) > values), 0))
        return np.column_stack(found)

    def cut(self, rectangles: Values) -> Values:
        """Return the parts of rectangles in the box, shape ``(m, 4)``."""
        return np.clip(rectangles, np.tile(self.bounds[:2], 2), np.tile(self.bounds[2:], 2))


def lattice_rectangles(queries: ArrayLike, *, bounds: ArrayLike) -> Indices:
    """Return rectangles as lattice edges ``(x0, y0, x1, y1)``, shape ``(m, 4)``.

    Args:
        queries: Shape ``(m, 4)`` or ``(4,)``: ``(west, south, east, north)`` of each,
            coordinate units, half-open like cells.
        bounds: The box that they must lie in: ``(west, south, east, north)``.

    Raises:
        ParameterError: There is none, or one is not finite, has its edges swapped, is thinner
            than the lattice, or leaves the box.
    """
    box = Box.of(bounds)
    rectangles = checked_rectangles(queries)
    leaves = np.any(box.cut(rectangles) != rectangles, axis=1)
    _refuse(leaves, f"must lie inside the `bounds` {box.bounds}; cut them to these")
    edges = box.edges(rectangles)
    thin = (edges[:, 0] >= edges[:, 2]) | (edges[:, 1] >= edges[:, 3])
    _refuse(thin, "must be wider than 2**-32 of the box")
    return edges


def checked_rectangles(queries: ArrayLike) -> Values:
    """Return rectangles as numbers: west, south, east and north, shape ``(m, 4)``.

    Raises:
        ParameterError: There is none, or one is not finite or has its edges swapped.
    """
    table = np.atleast_2d(_numbers(queries))
    if table.ndim != 2 or table.shape[1] != 4 or len(table) == 0:
        raise ParameterError(
            "`queries` must be at least one rectangle, each west, south, east, north"
        )
    west, south, east, north = table.T
    _refuse(np.any(~np.isfinite(table), axis=1), "must be finite numbers")
    _refuse((west >= east) | (south >= north), "must go from a lower to a higher number")
    return table


def _numbers(given: ArrayLike) -> Values:
    """Return what is given as floats; none if it is not numbers."""
    try:
        return np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        return np.empty(0)


def blocks_of(rows: Array, most: int = RECTANGLES_AT_ONCE) -> list[Array]:
    """Return rectangles, or what belongs to each, in parts of at most so many."""
    return np.split(rows, range(most, len(rows), most))


def even_queries(
    bounds: ArrayLike, *, sides: tuple[float, ...] = SIDES, each: int = 120
) -> Values:
    r"""Return rectangles of a few sizes, spread evenly over the box; deterministic.

    Their corners follow the plastic number's additive recurrence, so that edges do not
    coincide with the lines of any grid. Public: they depend on the bounds alone.

    Args:
        bounds: ``(west, south, east, north)``.
        sides: Sides of the rectangles over sides of the box, each between 0 and 1.
        each: Number of rectangles of each size.

    Returns:
        Shape ``(len(sides) * each, 4)``: ``(west, south, east, north)``.

    Raises:
        ParameterError: A side is not between 0 and 1, or ``each`` is not at least 1.

    Source: Roberts 2018, "The unreasonable effectiveness of quasirandom sequences".
    """
    box, each = Box.of(bounds), validation.at_least("each", each, 1)
    shares = np.asarray(sides, dtype=np.float64)
    if shares.ndim != 1 or shares.size == 0 or not ((shares > 0) & (shares < 1)).all():
        raise ParameterError("`sides` must be between 0 and 1, both excluded, and at least one")
    widths = np.repeat(shares, each)[:, None]
    plastic = 1.32471795724474602596
    steps = np.arange(1, widths.size + 1)[:, None] * [1 / plastic, 1 / plastic**2]
    low = steps % 1 * (1 - widths)
    corner = np.tile(box.bounds[:2], 2)
    size = np.tile(box.bounds[2:], 2) - corner
    return box.cut(corner + size * np.hstack([low, low + widths]))


def _refuse(wrong: NDArray[np.bool], requirement: str) -> None:
    if wrong.any():
        raise ParameterError(
            f"`queries` {requirement}; the first that is not is number {wrong.argmax()}"
        )
