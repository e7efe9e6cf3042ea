"""The public box of a map, and the lines that cut it into cells.

Lines are floats that are written like the decimals that they stand for (``dpselect._lines``).
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
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpselect import validation
from dpselect._lines import lines
from dpselect.errors import DataError, ParameterError
from dpselect.maps import geo
from dpselect.tables.kinds import rounded
from dpselect.typing import Indices, Values

POSITIONS = 2**32
"""Positions of the lattice along an axis."""

DATE_LINE = "; across the antimeridian give longitudes up to 360, as 170 to 190"

Outside: TypeAlias = Literal["drop", "clip"]


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
        if self.crs is not None:
            geo.check_degrees(self.crs, self.bounds)

    @classmethod
    def of(cls, bounds: ArrayLike, crs: str | None = None) -> Box:
        """Return the box of four numbers ``(west, south, east, north)``."""
        try:
            numbers = np.asarray(bounds, dtype=np.float64)
        except (TypeError, ValueError, OverflowError):
            numbers = np.empty(0)
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
        validation.one_of("outside", outside, get_args(Outside))
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

    def edges(self, values: Values, axis: int) -> Indices:
        """Return the last line of the lattice at or below each edge, 0 to ``POSITIONS``."""
        low, high = self.side(axis)
        near = np.floor((values - low) * (POSITIONS / (high - low))).astype(np.int64)
        near = np.clip(near, 0, POSITIONS - 1)
        near = np.maximum(near - (self.lines(axis, near, POSITIONS) > values), 0)
        near += self.lines(axis, near + 1, POSITIONS) <= values
        return np.where(values >= high, POSITIONS, np.minimum(near, POSITIONS - 1))
