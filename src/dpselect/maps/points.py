"""The points that a map is made of: their columns, the box, and how many a person has.

A person's points are put in the order of their coordinates, and of these so many are
counted as ``dpselect.tables.people`` says.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from dpselect import tables, validation
from dpselect._optional import needed, nw
from dpselect.errors import ColumnError, DataError, ParameterError
from dpselect.maps import geo
from dpselect.maps.box import LEAST_FLOATS, Box, Outside
from dpselect.maps.counting import Counts, Points, StreamedPoints
from dpselect.maps.engine import EngineCounts, inside
from dpselect.maps.geo import crs_of, geo_file, geometries, name_of
from dpselect.query import Columns, Released
from dpselect.tables import kinds, values
from dpselect.tables.engine import engine_of
from dpselect.tables.opening import are_in_header, unreadable
from dpselect.tables.people import PeopleCap, people_cap
from dpselect.typing import Values

POINT, MULTIPOINT = 0, 4
"""Types of shapely."""

_NO_POINTS = "points must be a table, geometries, or an array of shape (n, 2)"


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
    def of(cls, query: Any) -> Self:  # noqa: ANN401 -- a query of points
        """Return the checked fields of a query about points.

        Raises:
            ParameterError: One is out of its range, or does not go with another.
        """
        box = Box.of(query.bounds, query.crs)
        validation.different_columns(x=query.x, user=query.user)
        validation.different_columns(y=query.y, user=query.user)
        if (query.x is None) != (query.y is None):
            raise ParameterError("`x` and `y` go together: name both columns")
        geo.warn_if_swapped(box.crs, box.bounds, x=query.x, y=query.y)
        validation.one_of("outside", query.outside, Outside)
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
            if not are_in_header(data, numeric=[self.x, self.y]):
                tables.check_columns(data, numeric=[self.x, self.y])
            if self.cap is not None:
                self.cap.check(data)
        elif hasattr(data, "geometry") or geo_file(data) is not None:
            self.box_of(data)
        elif isinstance(data, str | Path) or hasattr(data, "columns"):
            tables.check_columns(data)
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
        if self.x is None or self.y is None:
            types = [getattr(data, "dtype", None)] * 2
        else:
            declared = tables.schema(tables.check_columns(data, numeric=[self.x, self.y]), data)
            types = [kinds.float_type(declared[one]) for one in (self.x, self.y)]
        short, double = np.dtype(np.float32), np.dtype(np.float64)
        in_short = replace(self.box, types=(short, short))
        x, y = (
            short if kind == short and in_short.floats(axis) >= LEAST_FLOATS else double
            for axis, kind in enumerate(types)
        )
        return replace(self, box=replace(self.box, types=(x, y)))

    def read(self, data: object) -> Counts:
        """Return the counts of the points, each repaired on its own; private.

        Args:
            data: A table with the columns, a path of one, or a lazy frame, which stays in its
                engine; without columns, an array of shape ``(n, 2)``, geometries that are
                points, or a file of them. Points without a person are dropped.

        Raises:
            ColumnError: A column is missing, not named or not numeric.
            DataError: They are no points, or cannot be read.
            ParameterError: The reference systems differ.
        """
        box = self.held_by(data).box
        if self.x is None or self.y is None:
            self.check(data)
            return Points(*box.locate(*_without_columns(data), outside=self.outside), box)
        located = self._located(data, box)
        engine = engine_of(located)
        if tables.is_lazy(data):
            return (StreamedPoints if engine.is_here else EngineCounts)(located, box)
        held = engine.fetched(lambda: unreadable(data))
        return Points(held["x"].to_numpy(), held["y"].to_numpy(), box)

    def _located(self, data: object, box: Box) -> nw.LazyFrame[Any]:
        """Return the coordinates of the points that count, as ``x`` and ``y``; none is read."""
        numeric = [str(self.x), str(self.y)]
        plain = [] if self.cap is None else [self.cap.user]
        rows = tables.lazy_columns(data, numeric=numeric, plain=plain)
        # Of NaN, what is outside is dropped without being asked for.
        read = nw.col if self.outside == "drop" else engine_of(rows).without_nan
        columns = dict(zip("xy", map(read, numeric), strict=True))
        if self.cap is None:
            return inside(rows.select(**columns), box=box, outside=self.outside)
        self.cap.check(data)
        columns["user"] = self.cap.persons(rows.collect_schema())
        found = inside(rows.select(**columns), box=box, outside=self.outside)
        return self.cap.limited(found, order_by=["x", "y"])


def columns_of_points(
    asked: Any,  # noqa: ANN401 -- a query of points
    bounds: Sequence[float],
) -> Columns:
    """Return the columns of points, of which whatever is in the box may be released."""
    x, y = asked.column_named("x"), asked.column_named("y")
    west, south, east, north = bounds
    return ((x, Released(low=west, high=east)), (y, Released(low=south, high=north)))


def _without_columns(points: object) -> tuple[Values, Values]:
    file = geo_file(points)
    geometry = getattr(points, "geometry", None) if file is None else geometries(file).geometry
    if geometry is not None:
        return _from_geometry(geometry)
    if isinstance(points, np.ndarray) or values.declares_type(points):
        across, along = _of_array(values.as_array(points))
    elif values.is_listed(points):
        across, along = values.of_rows((_pair(row) for row in points), 2)
    else:
        raise DataError(_NO_POINTS)
    return across.numbers(), along.numbers()


def _of_array(table: NDArray[Any]) -> list[values.ColumnValues]:
    if table.shape == (0,):
        table = table.reshape(0, 2)
    if table.ndim != 2 or table.shape[1] != 2 or table.dtype.kind not in "iufO":
        raise DataError(_NO_POINTS)
    return [values.of_array(column) for column in table.T]


def _pair(row: Any) -> object:  # noqa: ANN401 -- whatever a list holds
    """Return what a row of a list holds; nothing if it is not a pair."""
    if getattr(row, "geom_type", None) == "Point":
        return tuple(row.coords[0][:2]) if row.coords else ()
    return values.pair(row)


def _from_geometry(geometry: Any) -> tuple[Values, Values]:  # noqa: ANN401 -- geopandas
    # The coordinates of what is not a point are NaN, and the record is dropped. An empty
    # point has none to ask for.
    shapes = np.array(geometry.array)
    shapely = needed("shapely", extra="geo")
    x, y = np.full((2, shapes.size), np.nan)
    # Programs that know one type for a layer write points as collections of one.
    alone = shapely.get_num_geometries(shapes) == 1
    alone &= shapely.get_type_id(shapes) == MULTIPOINT
    shapes[alone] = shapely.get_geometry(shapes[alone], 0)
    point = (shapely.get_type_id(shapes) == POINT) & ~shapely.is_empty(shapes)
    x[point], y[point] = shapely.get_x(shapes[point]), shapely.get_y(shapes[point])
    return x, y
