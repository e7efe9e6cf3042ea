"""The points that a map is made of: their columns, the box, and how many a person has."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Self, get_args

import numpy as np

from dpselect import validation
from dpselect.errors import ColumnError, ParameterError
from dpselect.maps import geo
from dpselect.maps.box import Box, Outside
from dpselect.maps.geo_files import crs_of, geo_file, name_of
from dpselect.tables.people import PeopleCap, people_cap

SHORT = (np.float16, np.float32)
LEAST_FLOATS = 2**10
"""Gaps between floats of a type along a box from which its lines are rounded to them."""

if TYPE_CHECKING:
    from dpselect.maps.counting import Counts
    from dpselect.maps.heavy_cells import HeavyCells
    from dpselect.maps.map import Map


@dataclass(frozen=True)
class PointRows:
    """How rows are read as points; public.

    Attributes:
        box: The public box.
        x: Column of the coordinate from west to east, of a table.
        y: Column of the coordinate from south to north.
        cap: Column of the person that a point belongs to, and how many points of a person are
            counted; each point is a person of its own if not given.
        outside: What happens to points outside the box.
    """

    box: Box
    x: str | None = None
    y: str | None = None
    cap: PeopleCap | None = None
    outside: Outside = "drop"

    @property
    def max_per_user(self) -> int:
        """How many points of a person are counted at most."""
        return 1 if self.cap is None else self.cap.most

    @classmethod
    def of(cls, query: HeavyCells | Map) -> Self:
        """Return the checked fields of a query about points.

        Raises:
            ParameterError: One is out of its range, or does not go with another.
        """
        box = Box.of(query.bounds, query.crs)
        for name, column in (("x", query.x), ("y", query.y), ("user", query.user)):
            validation.instance(name, "" if column is None else column, str)
        if (query.x is None) != (query.y is None):
            raise ParameterError("`x` and `y` go together: name both columns")
        geo.warn_if_swapped(box.crs, box.bounds, x=query.x, y=query.y)
        validation.one_of("outside", query.outside, get_args(Outside))
        cap = people_cap(query.user, query.max_per_user)
        if cap is not None and query.x is None:
            raise ParameterError(
                "`user` needs `x` and `y`, the names of the columns of coordinates; geometries "
                "get them by frame.assign(x=frame.geometry.x, y=frame.geometry.y)"
            )
        return cls(box, query.x, query.y, cap, query.outside)

    def check(self, data: object) -> None:
        """Check the columns of a table; no row is read.

        Raises:
            ColumnError: A column is missing, not named or not numeric.
        """
        if self.x is not None and self.y is not None:
            # narwhals takes as long to import as all of this room.
            from dpselect import tables

            tables.check_columns(data, numeric=[self.x, self.y])
            if self.cap is not None:
                self.cap.check(data)
        elif hasattr(data, "geometry") or geo_file(data) is not None:
            self.box_of(data)
        elif isinstance(data, str | Path) or hasattr(data, "columns"):
            raise ColumnError("points of a table need the columns of coordinates: `x`, `y`")

    def box_of(self, data: object) -> Box:
        """Return the box in the reference system that geometries state; no row is read.

        Raises:
            ParameterError: It is another one than that of the bounds, or these cannot be in it.
        """
        if self.x is not None:
            return self.box
        path = geo_file(data)
        of_frame = getattr(getattr(data, "geometry", None), "crs", None)
        stated = name_of(of_frame) if path is None else crs_of(path)
        if stated is None:
            return self.box
        if self.box.crs is None:
            return Box(*self.box.bounds, stated)
        geo.check_same(stated, self.box.crs)
        return self.box

    def held_by(self, data: object) -> Self:
        """Return the rows with the types of floats that the columns of data declare.

        Of a box that few short floats are in, most of its lines would be one.

        Raises:
            ColumnError: A column is missing or not numeric.
        """
        from dpselect import tables

        if self.x is None or self.y is None:
            kind = getattr(getattr(data, "dtype", None), "type", np.float64)
            kinds = [kind if kind in SHORT else np.float64] * 2
        else:
            tables.check_columns(data, numeric=[self.x, self.y])
            kinds = [tables.declared_float(data, one) for one in (self.x, self.y)]
        types = []
        for axis, kind in enumerate(kinds):
            low, high = self.box.side(axis)
            with np.errstate(over="ignore", invalid="ignore"):
                gap = float(np.spacing(kind(max(abs(low), abs(high)))))
            types.append(np.dtype(kind if (high - low) / gap >= LEAST_FLOATS else np.float64))
        return replace(self, box=replace(self.box, types=(types[0], types[1])))

    def read(self, data: object) -> Counts:
        """Return the counts of the points, private."""
        from dpselect.maps import reading

        return reading.counts_of(data, self.held_by(data))
