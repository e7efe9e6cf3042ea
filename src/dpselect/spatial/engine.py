r"""Points that stay in the engine that holds them: only counts of cells come out.

The lattice arithmetic of :mod:`~dpselect.spatial.kernels`, as expressions that every engine of
narwhals runs. All products are whole numbers below :math:`2^{53}` over powers of two, so that
floats carry them exactly and each point falls into the cell that the kernels would give it.
"""

from __future__ import annotations

from typing import Any

import narwhals as nw
import numpy as np

from dpselect import frames
from dpselect.errors import DataError
from dpselect.spatial.box import POSITIONS, Box, Outside
from dpselect.spatial.partition import Partition, uniform
from dpselect.typing import Indices, Values

RECTANGLES_AT_ONCE = 200


class EngineCounts:
    """Counts over a lazy frame; each is one aggregation in the engine.

    Args:
        points: A frame whose columns ``x`` and ``y`` are positions on the lattice, as
            :func:`located` makes them. Private.
    """

    def __init__(self, points: nw.LazyFrame[Any]) -> None:
        self._points = points

    def in_cells(self, partition: Partition) -> Values:
        """Count the points of every cell by one grouping."""
        if partition.is_of_squares and partition.base > 1:
            # One case for each square is more than an engine takes; sums need none.
            held = self.in_cells(uniform(partition.base))
            whole = np.bincount(partition.cells_of_squares().ravel(), held)
            return whole.astype(np.float64)
        x = _Axis("x", partition)
        y = _Axis("y", partition)
        placed = self._points.with_columns(x.square().alias("i"), y.square().alias("j"))
        key = nw.col("i") * partition.base + nw.col("j")
        cut = placed.with_columns(
            _by_square(key, partition, 2).alias("span"),
            _by_square(key, partition, 3).alias("nx"),
            _by_square(key, partition, 4).alias("ny"),
        )
        cells = cut.select(
            key.alias("key"), x.cell("i", "nx").alias("a"), y.cell("j", "ny").alias("b")
        )
        table = _collect(cells.group_by("key", "a", "b").agg(nw.len().alias("count")))
        key_, a, b, count = (
            frames.series_numbers(table[name]).astype(np.int64)
            for name in ("key", "a", "b", "count")
        )
        region = partition.regions[partition.labels().ravel()[key_]]
        counts = np.zeros(partition.cells)
        # Squares of one region share its cells, so a cell can come from several groups.
        np.add.at(counts, region[:, 5] + a * region[:, 4] + b, count)
        return counts

    def in_rectangles(self, queries: Indices) -> Values:
        """Count the points of every rectangle by wide sums, some hundred at a time."""
        parts = [
            self._in_block(queries[first : first + RECTANGLES_AT_ONCE])
            for first in range(0, len(queries), RECTANGLES_AT_ONCE)
        ]
        return np.concatenate(parts)

    def _in_block(self, queries: Indices) -> Values:
        x, y = nw.col("x"), nw.col("y")
        sums = [
            ((x >= x0) & (x < x1) & (y >= y0) & (y < y1)).cast(nw.Int64).sum().alias(f"q{t}")
            for t, (x0, y0, x1, y1) in enumerate(queries.astype(np.float64).tolist())
        ]
        row = _collect(self._points.select(*sums))
        # The sum over no rows is null in SQL.
        return np.array([float(row[name].item() or 0) for name in row.columns])


def located(
    points: object, x: str, y: str, *, box: Box, outside: Outside, user: str | None = None
) -> nw.LazyFrame[Any]:
    """Return the lattice positions of the points that are left, as ``x`` and ``y``.

    Args:
        points: A lazy frame. Private.
        x: Column of the coordinate from west to east.
        y: Column of the coordinate from south to north.
        box: The public box.
        outside: What to do with points outside it.
        user: Column of who a point belongs to, kept as ``user``; points of nobody are
            dropped.

    Raises:
        ColumnError: A column is missing or not numeric.
    """
    plain = [] if user is None else [user]
    table = frames.check_columns(points, numeric=[x, y], plain=plain)
    columns = [
        _position(x, box.west, box.east, outside).alias("x"),
        _position(y, box.south, box.north, outside).alias("y"),
        *(nw.col(column).alias("user") for column in plain),
    ]
    positions = table.lazy().select(*columns)
    return positions.drop_nulls()


class _Axis:
    """Squares and cells of a partition along one axis, as expressions."""

    def __init__(self, name: str, partition: Partition) -> None:
        self._scaled = nw.col(name) * float(partition.base)

    def square(self) -> nw.Expr:
        return (self._scaled / float(POSITIONS)).floor()

    def cell(self, square: str, cells: str) -> nw.Expr:
        # All regions are squares of `span` base squares at multiples of `span`.
        first = (nw.col(square) / nw.col("span")).floor() * nw.col("span")
        inside = (self._scaled - first * float(POSITIONS)) * nw.col(cells)
        return (inside / (nw.col("span") * float(POSITIONS))).floor()


def _position(column: str, low: float, high: float, outside: Outside) -> nw.Expr:
    """Return the lattice position of a coordinate, null where the record is dropped."""
    value = nw.col(column).cast(nw.Float64)
    # NaN compares differently in every engine; only here is it told apart.
    value = nw.when(~value.is_nan()).then(value)
    if outside == "clip":
        value = value.clip(low, float(np.nextafter(high, -np.inf)))
    inside = (value >= low) & (value < high)
    position = ((value - low) / (high - low) * float(POSITIONS)).floor()
    return nw.when(inside).then(position.clip(0.0, float(POSITIONS - 1)))


def _by_square(key: nw.Expr, partition: Partition, column: int) -> nw.Expr:
    """Return a property of the region of each base square, as a chain of cases."""
    values = partition.regions[partition.labels().ravel(), column]
    distinct = np.unique(values)
    chosen: nw.Expr = nw.lit(float(distinct[0]))
    for value in distinct[1:].tolist():
        squares = [float(square) for square in np.flatnonzero(values == value)]
        chosen = nw.when(key.is_in(squares)).then(nw.lit(float(value))).otherwise(chosen)
    return chosen


def _collect(table: Any) -> nw.DataFrame[Any]:  # noqa: ANN401 -- eager or lazy, of any engine
    try:
        return table.collect()
    except Exception:  # noqa: BLE001 -- every engine has its own, and each may quote values
        raise DataError("the lazy frame cannot be read: its engine refused the query") from None
