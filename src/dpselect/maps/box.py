"""The public box of a map, and the lattice of positions inside it.

A coordinate is first rounded to one of ``2^32`` positions along its axis. Cells, queries and
overlaps are computed from these integers: whether a point lies in a cell or in a query is
decided by the same arithmetic that gives the share of the cell that the query covers, so no
rounding can put a point on the wrong side of a sensitivity bound.

Convention: the box, every cell and every query are half-open, ``[low, high)`` along both axes.
A point on an inner edge belongs to the cell above it, and one on the upper edge of the box is
outside. The map is monotone, so edges of queries keep their points on the right side.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpselect import validation
from dpselect.errors import DataError, ParameterError
from dpselect.maps import geo
from dpselect.typing import Indices, Values

POSITIONS = 2**32
"""Positions of the lattice along an axis."""

Outside: TypeAlias = Literal["drop", "clip"]
Positions: TypeAlias = NDArray[np.uint32]


@dataclass(frozen=True, slots=True)
class Box:
    """The area of a map; public, and never read off the data.

    Attributes:
        west: Lower bound of ``x``; coordinate units, as all four.
        south: Lower bound of ``y``.
        east: Upper bound of ``x``, excluded.
        north: Upper bound of ``y``, excluded.
        crs: The coordinate reference system, such as ``"EPSG:4326"``; None if unknown.

    Raises:
        ParameterError: A bound is not finite, bounds are swapped or equal, or they are
            beyond what degrees can be while ``crs`` is geographic.
    """

    west: float
    south: float
    east: float
    north: float
    crs: str | None = None

    def __post_init__(self) -> None:
        for axis, low, high in (("x", self.west, self.east), ("y", self.south, self.north)):
            if not (isfinite(low) and isfinite(high)):
                raise ParameterError(f"the `bounds` of {axis} must be finite numbers")
            wide = low < high and isfinite(high - low)
            if not wide or not isfinite(POSITIONS / (high - low)):
                raise ParameterError(
                    f"the `bounds` of {axis} must go from a lower to a higher number, not from "
                    f"{low:g} to {high:g}; they are west, south, east, north"
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

    def locate(
        self, x: ArrayLike, y: ArrayLike, *, outside: Outside = "drop"
    ) -> tuple[Positions, Positions]:
        """Return the lattice positions of points, repaired record by record.

        A point with a NaN is dropped. One outside the box, or infinite, is dropped or, with
        ``"clip"``, moved to the nearest position inside. So each record maps to at most one
        point, which depends on no other record.

        Args:
            x: Shape ``(n,)``.
            y: Shape ``(n,)``.
            outside: ``"drop"`` or ``"clip"``.

        Returns:
            Two uint32 arrays of the points that are left, in their order. Private.

        Raises:
            ParameterError: ``outside`` is neither.
            DataError: The columns are not one-dimensional or not of the same length.
        """
        across, along = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
        if across.ndim != 1 or across.shape != along.shape:
            raise DataError("x and y must be two columns of the same length")
        checked_outside(outside)
        if outside == "clip":
            across = np.clip(across, self.west, np.nextafter(self.east, -np.inf))
            along = np.clip(along, self.south, np.nextafter(self.north, -np.inf))
        from dpselect.maps import point_kernels

        columns = np.ascontiguousarray(across), np.ascontiguousarray(along)
        return point_kernels.locate(*columns, np.array(self.bounds))

    def holds(self, x: Values, y: Values, *, outside: Outside) -> NDArray[np.bool]:
        """Return which points ``locate`` keeps, shape ``(n,)``. Private."""
        if outside == "clip":
            return ~(np.isnan(x) | np.isnan(y))
        return (x >= self.west) & (x < self.east) & (y >= self.south) & (y < self.north)

    def edges(self, values: Values, axis: int) -> Indices:
        """Return the lattice positions of edges inside the box, 0 to ``POSITIONS``."""
        low, high = (self.west, self.east) if axis == 0 else (self.south, self.north)
        inner = np.floor((values - low) * (POSITIONS / (high - low))).astype(np.int64)
        return np.where(values >= high, POSITIONS, np.minimum(inner, POSITIONS - 1))

    def coordinates(self, positions: Values, axis: int) -> Values:
        """Return the coordinates of positions given as shares of the box, 0 to 1."""
        low, high = (self.west, self.east) if axis == 0 else (self.south, self.north)
        return low + (high - low) * positions


def checked_outside(outside: str) -> None:
    """Raise ParameterError unless ``outside`` is ``"drop"`` or ``"clip"``."""
    validation.one_of("outside", outside, ("drop", "clip"))
