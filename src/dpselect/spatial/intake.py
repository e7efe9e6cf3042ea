"""Points from whatever holds them: a table, a lazy frame, geometries or an array."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np

from dpselect import tables
from dpselect.errors import ColumnError, DataError, ParameterError
from dpselect.spatial import capping, counting
from dpselect.spatial.box import Box, Outside, checked_outside
from dpselect.spatial.export import needed
from dpselect.typing import Values

_NO_POINTS = "points must be a table, geometries, or an array of shape (n, 2)"


def read(
    points: object, x: str | None, y: str | None, *, box: Box, outside: Outside
) -> counting.Counts:
    """Return what counts the points, each repaired on its own.

    Args:
        points: A table with the columns ``x`` and ``y``, a path of one, or a lazy frame,
            which stays in its engine; without columns, an array of shape ``(n, 2)`` or
            geometries that are points.
        x: Column of the coordinate from west to east.
        y: Column of the coordinate from south to north.
        box: The public box.
        outside: What to do with points outside.

    Raises:
        ColumnError: A column is missing, not named or not numeric.
        DataError: ``points`` holds no points, or cannot be read.
        ParameterError: The reference systems differ.
    """
    checked_outside(outside)
    if x is None or y is None:
        return counting.Points(*box.locate(*_unnamed(points, box, x, y), outside=outside))
    if _is_lazy(points):
        from dpselect.spatial.engine import EngineCounts, located

        return EngineCounts(located(points, x, y, box=box, outside=outside))
    table = tables.read_columns(points, numeric=[x, y])
    columns = (tables.series_numbers(table[name]) for name in (x, y))
    return counting.Points(*box.locate(*columns, outside=outside))


def read_capped(
    points: object,
    x: str | None,
    y: str | None,
    *,
    box: Box,
    outside: Outside,
    user: str,
    most: int,
) -> counting.Counts:
    """Return what counts the points, of each user at most ``most``.

    Points are repaired before they are counted to a user. One without a user is dropped.
    Which points of a user count, :mod:`~dpselect.spatial.capping` says.

    Raises:
        ColumnError: As for :func:`read`, or ``user`` is no column.
        DataError: As for :func:`read`.
    """
    checked_outside(outside)
    if x is None or y is None:
        raise ColumnError("with user=, name the columns of the coordinates too: x= and y=")
    if _is_lazy(points):
        from dpselect.spatial.engine import EngineCounts, located

        rows = located(points, x, y, box=box, outside=outside, user=user)
        return EngineCounts(capping.kept_rows(rows, "user", most))
    table = tables.read_columns(points, numeric=[x, y], plain=[user])
    table = table.filter(~nw.col(user).is_null())
    columns = [tables.series_numbers(table[name]) for name in (x, y)]
    held = box.holds(*columns, outside=outside)
    _, users = np.unique(table[user].to_numpy()[held], return_inverse=True)
    positions = box.locate(*(column[held] for column in columns), outside=outside)
    counted = capping.kept(*positions, users, most)
    return counting.Points(*(axis[counted] for axis in positions))


def _unnamed(points: object, box: Box, x: str | None, y: str | None) -> tuple[Values, Values]:
    if x is not None or y is not None:
        raise ColumnError("name both columns of the coordinates: x= and y=")
    geometry = getattr(points, "geometry", None)
    if geometry is not None:
        return _from_geometry(geometry, box)
    if isinstance(points, str | Path) or hasattr(points, "columns"):
        raise ColumnError("points is a table: name the columns of the coordinates, x= and y=")
    try:
        table = np.asarray(points, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError(_NO_POINTS) from None
    if table.shape == (0,):
        table = table.reshape(0, 2)
    if table.ndim != 2 or table.shape[1] != 2:
        raise DataError(_NO_POINTS)
    return table[:, 0], table[:, 1]


def _from_geometry(geometry: Any, box: Box) -> tuple[Values, Values]:  # noqa: ANN401 -- geopandas
    if box.crs is not None and geometry.crs is not None and geometry.crs != box.crs:
        raise ParameterError(
            f"the points are in {geometry.crs.to_string()} and the bounds in {box.crs}: "
            "transform the points with to_crs first"
        )
    # Of a geometry that is no point this is NaN, and the record is dropped.
    shapes = np.asarray(geometry.array)
    shapely = needed("shapely")
    return shapely.get_x(shapes), shapely.get_y(shapes)


def _is_lazy(points: object) -> bool:
    if isinstance(points, str | Path):
        return False
    return isinstance(nw.from_native(points, pass_through=True), nw.LazyFrame)
