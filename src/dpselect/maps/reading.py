"""Points of any container, read as counts: repaired record by record, limited per person.

A person's points are put in the order of their coordinates, and of these so many are
counted as ``dpselect.tables.people`` says.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dpselect import tables
from dpselect._optional import needed
from dpselect.errors import DataError
from dpselect.maps import engine, geo
from dpselect.maps.box import Box
from dpselect.maps.counting import Counts, Points
from dpselect.maps.engine import EngineCounts
from dpselect.maps.geo_files import geo_file, geometries
from dpselect.tables import values
from dpselect.typing import Values

if TYPE_CHECKING:
    from dpselect.maps.points import PointRows

POINT, MULTIPOINT = 0, 4
"""Types of shapely."""

_NO_POINTS = "points must be a table, geometries, or an array of shape (n, 2)"


def counts_of(points: object, rows: PointRows) -> Counts:
    """Return the counts of points, each repaired on its own, then limited for each person.

    Args:
        points: A table with the columns ``x`` and ``y``, a path of one, or a lazy frame,
            which stays in its engine; without columns, an array of shape ``(n, 2)``,
            geometries that are points, or a file of them. Points without a user are dropped.
            Private.
        rows: How they are read.

    Raises:
        ColumnError: A column is missing, not named or not numeric.
        DataError: ``points`` holds no points, or cannot be read.
        ParameterError: The reference systems differ.
    """
    x, y, cap, box, outside = rows.x, rows.y, rows.cap, rows.box, rows.outside
    if x is None or y is None:
        rows.check(points)
        return Points(*box.locate(*_without_columns(points, box), outside=outside), box)
    if tables.is_lazy(points):
        located = engine.located(points, x=x, y=y, cap=cap, box=box, outside=outside)
        if cap is not None:
            located = cap.limited(located, order_by=["x", "y"])
        return EngineCounts(located, box)
    plain = [] if cap is None else [cap.user]
    table = tables.read_columns(points, numeric=[x, y], plain=plain)
    columns = [tables.series_numbers(table[name]) for name in (x, y)]
    if cap is None:
        return Points(*box.locate(*columns, outside=outside), box)
    persons, there = values.names_in_memory(table[cap.user])
    held = box.holds(*columns, outside=outside) & there
    inside = box.locate(*(column[held] for column in columns), outside=outside)
    kept = cap.kept(persons[held], inside)
    return Points(inside[0][kept], inside[1][kept], box)


def _without_columns(points: object, box: Box) -> tuple[Values, Values]:
    file = geo_file(points)
    geometry = getattr(points, "geometry", None) if file is None else geometries(file)
    if geometry is not None:
        return _from_geometry(geometry, box)
    if isinstance(points, np.ndarray) or values.declares_type(points):
        across, along = _of_array(np.asarray(points))
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


def _from_geometry(geometry: Any, box: Box) -> tuple[Values, Values]:  # noqa: ANN401 -- geopandas
    if box.crs is not None and geometry.crs is not None:
        geo.check_same(geometry.crs, box.crs)
    # The coordinates of what is not a point are NaN, and the record is dropped. An empty
    # point has none to ask for.
    shapes = np.array(geometry.array)
    shapely = needed("shapely", extra="geo")
    x, y = np.full((2, shapes.size), np.nan)
    # Programs that know one type for a layer write points as collections of one.
    alone = (shapely.get_type_id(shapes) == MULTIPOINT) & (
        shapely.get_num_geometries(shapes) == 1
    )
    shapes[alone] = shapely.get_geometry(shapes[alone], 0)
    point = (shapely.get_type_id(shapes) == POINT) & ~shapely.is_empty(shapes)
    x[point], y[point] = shapely.get_x(shapes[point]), shapely.get_y(shapes[point])
    return x, y
