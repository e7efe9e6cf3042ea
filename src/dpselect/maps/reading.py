r"""Points of any container, read as counts: repaired record by record, limited per user.

Where an individual may have at most ``m`` points, those of the ``m`` least keys are counted.
The key of a point at the lattice position :math:`(x, y)` of an individual whose largest
positions are :math:`(x^*, y^*)` is

.. math:: A (x + x^*) + B (y + y^*) \bmod 2^{32}.

Rows of a lazy frame have no order, and each query may see them in another one. The key depends
on the points of the individual alone, so every engine counts the same points in every query,
and no other individual has an influence. The multipliers wrap around the box a hundred
thousand times, so that no part of it is preferred. The largest positions give a place that
many individuals visited a different key for each of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from dpselect import tables
from dpselect._optional import needed
from dpselect.errors import DataError, ParameterError
from dpselect.maps import engine
from dpselect.maps.box import POSITIONS, Box, Positions
from dpselect.maps.counting import Counts, Points
from dpselect.maps.engine import EngineCounts
from dpselect.tables import values
from dpselect.typing import Indices, Values

if TYPE_CHECKING:
    from dpselect.maps.points import PointRows

# Odd, and below 2**19: products with sums of two positions are below 2**52, exact as floats.
ACROSS, ALONG = 324_027, 395_787

POINT = 0
"""The type of points in shapely."""

_NO_POINTS = "points must be a table, geometries, or an array of shape (n, 2)"


def counts_of(points: object, rows: PointRows) -> Counts:
    """Return the counts of points, each repaired on its own, then limited for each person.

    Args:
        points: A table with the columns ``x`` and ``y``, a path of one, or a lazy frame,
            which stays in its engine; without columns, an array of shape ``(n, 2)`` or
            geometries that are points. Points without a user are dropped. Private.
        rows: How they are read.

    Raises:
        ColumnError: A column is missing, not named or not numeric.
        DataError: ``points`` holds no points, or cannot be read.
        ParameterError: The reference systems differ.
    """
    x, y, user, box, outside = rows.x, rows.y, rows.user, rows.box, rows.outside
    if x is None or y is None:
        rows.check(points)
        return Points(*box.locate(*_without_columns(points, box), outside=outside))
    if tables.is_lazy(points):
        located = engine.located(points, x=x, y=y, user=user, box=box, outside=outside)
        return EngineCounts(
            located if user is None else limited_rows(located, "user", rows.max_per_user)
        )
    table = tables.read_columns(points, numeric=[x, y], plain=[] if user is None else [user])
    columns = [tables.series_numbers(table[name]) for name in (x, y)]
    if user is None:
        return Points(*box.locate(*columns, outside=outside))
    users = values.identities(values.of_series(table[user]))
    held = box.holds(*columns, outside=outside) & (users != values.NOBODY)
    positions = box.locate(*(column[held] for column in columns), outside=outside)
    persons = np.unique(users[held], return_inverse=True)[1]
    counted = limited(*positions, persons, rows.max_per_user)
    return Points(*(axis[counted] for axis in positions))


def limited(x: Positions, y: Positions, users: NDArray[np.int64], most: int) -> Indices:
    """Return the indices of the points that are counted, at most ``most`` of each user.

    Args:
        x: Shape ``(n,)``.
        y: Shape ``(n,)``.
        users: Shape ``(n,)``: integers from 0, one for each individual.
        most: How many points of one individual are counted.
    """
    keys = np.zeros(x.size, np.int64)
    for factor, axis in ((ACROSS, x), (ALONG, y)):
        largest = np.zeros(users.max(initial=-1) + 1, np.int64)
        np.maximum.at(largest, users, axis)
        keys += factor * (axis + largest[users])
    # Two sorts of pairs packed into one integer each take half the time of four sorts.
    places = x.astype(np.uint64) * np.uint64(POSITIONS) + y
    order = np.lexsort((places, users * POSITIONS + keys % POSITIONS))
    sizes = np.bincount(users)
    rank = np.arange(x.size) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return order[rank < most]


def limited_rows(points: nw.LazyFrame[Any], user: str, most: int) -> nw.LazyFrame[Any]:
    """Return the rows that are counted, of a frame of positions ``x`` and ``y`` with users."""
    factors = (("x", ACROSS), ("y", ALONG))
    parts = [
        _wrapped((nw.col(axis) + nw.col(axis).max().over(user)) * float(factor))
        for axis, factor in factors
    ]
    keyed = points.with_columns(_wrapped(parts[0] + parts[1]).alias("key"))
    # Points of one key and one place are interchangeable.
    rank = nw.col("x").cum_count().over(user, order_by=["key", "x", "y"])
    return keyed.with_columns(rank.alias("rank")).filter(nw.col("rank") <= most)


def _wrapped(number: nw.Expr) -> nw.Expr:
    turns = (number * (1 / POSITIONS)).floor()
    return number - turns * float(POSITIONS)


def _without_columns(points: object, box: Box) -> tuple[Values, Values]:
    geometry = getattr(points, "geometry", None)
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
    if box.crs is not None and geometry.crs is not None and geometry.crs != box.crs:
        raise ParameterError(
            f"the points are in {geometry.crs.to_string()} and the `bounds` in {box.crs}: "
            "transform the points with to_crs first"
        )
    # The coordinates of what is not a point are NaN, and the record is dropped. An empty
    # point has none to ask for.
    shapes = np.asarray(geometry.array)
    shapely = needed("shapely", extra="geo")
    x, y = np.full((2, shapes.size), np.nan)
    point = (shapely.get_type_id(shapes) == POINT) & ~shapely.is_empty(shapes)
    x[point], y[point] = shapely.get_x(shapes[point]), shapely.get_y(shapes[point])
    return x, y
