"""Counts of points that stay in the engine that holds them: polars, DuckDB, PySpark, Ibis.

The lattice arithmetic of ``kernels``, as expressions that every engine of narwhals runs. All
products are integers below ``2^53`` over powers of two, which floats represent exactly, so each
point falls into the cell that the kernels would give it. Only counts of cells leave the engine.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import narwhals as nw
import numpy as np

from dpselect import tables
from dpselect.keys.columns import GROUP
from dpselect.maps.box import POSITIONS, Box, Outside
from dpselect.maps.partition import Partition, uniform_grid
from dpselect.maps.queries import blocks_of
from dpselect.tables.lookup import with_positions, without_nan
from dpselect.tables.people import PeopleCap
from dpselect.typing import Indices, Values


class EngineCounts:
    """Counts over a lazy frame; each method is one or few aggregations in the engine.

    Args:
        points: A frame whose columns ``x`` and ``y`` are positions on the lattice, as
            ``located`` makes them. Private.
    """

    def __init__(self, points: nw.LazyFrame[Any]) -> None:
        self._points = points

    def in_cells(self, partition: Partition) -> Values:
        """Count the points of every cell by one grouping."""
        if partition.is_of_squares and partition.base > 1:
            # Engines take no case expression of one branch for each square; sums need none.
            held = self.in_cells(uniform_grid(partition.base))
            whole = np.bincount(partition.cells_of_squares().ravel(), held)
            return whole.astype(np.float64)
        if partition.shape is not None:
            return self._in_grid(*partition.shape).ravel().astype(np.float64)
        return self._in_regions(partition)

    def in_rectangles(self, queries: Indices) -> Values:
        """Count the points of every rectangle.

        The edges of some rectangles cut the plane into an irregular grid: one grouping by its
        cells, and sums over them, instead of comparing every point with every rectangle.
        """
        parts = [self._in_block(block) for block in blocks_of(queries)]
        return np.concatenate(parts).astype(np.float64)

    def _in_grid(self, nx: int, ny: int) -> Indices:
        """Return the counts of the cells of a uniform grid, shape ``(nx, ny)``."""
        cells = self._points.select(
            _cell(axis, size).alias(axis) for axis, size in (("x", nx), ("y", ny))
        )
        return self._grouped(cells, (nx, ny))

    def _in_regions(self, partition: Partition) -> Values:
        """Count by base square and cell of its region, then add up what is one cell."""
        x = _Axis("x", partition)
        y = _Axis("y", partition)
        placed = self._points.with_columns(x.square().alias("i"), y.square().alias("j"))
        key = nw.col("i") * partition.base + nw.col("j")
        spans = partition.regions[:, 2]
        cut = placed.with_columns(
            _by_square(key, partition, spans).alias("span"),
            _by_square(key, partition, 1 / (spans * float(POSITIONS))).alias("share"),
            _by_square(key, partition, partition.regions[:, 3]).alias("nx"),
            _by_square(key, partition, partition.regions[:, 4]).alias("ny"),
        )
        cells = cut.select(
            key.alias("key"), x.cell("i", "nx").alias("a"), y.cell("j", "ny").alias("b")
        )
        grouped = cells.group_by("key", "a", "b").agg(nw.len().alias("count"))
        table = tables.collect(grouped, self._points, most=partition.most_rows)
        key_, a, b, count = (
            table[name].astype(np.int64) for name in ("key", "a", "b", "count")
        )
        region = partition.regions[partition.labels().ravel()[key_]]
        counts = np.zeros(partition.cells)
        # Squares of one region share its cells, so a cell can come from several groups.
        np.add.at(counts, region[:, 5] + a * region[:, 4] + b, count)
        return counts

    def _in_block(self, queries: Indices) -> Indices:
        x_edges, y_edges = np.unique(queries[:, ::2]), np.unique(queries[:, 1::2])
        places = self._points.select("x", "y")
        cells = with_positions(places, {"x": x_edges, "y": y_edges})
        below = self._grouped(cells, (x_edges.size + 1, y_edges.size + 1))
        below = below.cumsum(axis=0).cumsum(axis=1)
        x0, y0, x1, y1 = (
            np.searchsorted(edges, queries[:, column])
            for column, edges in enumerate((x_edges, y_edges, x_edges, y_edges))
        )
        # A point at or above i edges lies below edge i: sums up to i count the points below it.
        return below[x1, y1] - below[x0, y1] - below[x1, y0] + below[x0, y0]

    def _grouped(self, cells: nw.LazyFrame[Any], shape: tuple[int, int]) -> Indices:
        """Return the number of rows of each pair ``x, y``; one grouping."""
        grouped = cells.group_by("x", "y").agg(nw.len().alias("count"))
        table = tables.collect(grouped, self._points, most=shape[0] * shape[1])
        x, y, count = (table[name].astype(np.int64) for name in ("x", "y", "count"))
        held = np.zeros(shape, np.int64)
        held[x, y] = count
        return held


def in_cells_of_groups(
    points: nw.LazyFrame[Any],
    shape: tuple[int, int],
    groups: int,
) -> list[Values]:
    """Count the points of each group in the cells of a uniform grid, by one grouping.

    Args:
        points: With lattice positions ``x`` and ``y``, and the position ``group``. Private.
        shape: Cells along both axes.
        groups: How many groups there are.

    Returns:
        Counts of each group, shape ``(cells,)``.
    """
    sizes = dict(zip(("x", "y"), shape, strict=True))
    cells = points.select(
        GROUP, *(_cell(axis, size).alias(axis) for axis, size in sizes.items())
    )
    grouped = cells.group_by(GROUP, "x", "y").agg(nw.len().alias("count"))
    found = tables.collect(grouped, points, most=groups * shape[0] * shape[1])
    x, y, count = (found[name].astype(np.int64) for name in ("x", "y", "count"))
    held = np.zeros((groups, *shape))
    held[tables.counts(found[GROUP]), x, y] = count
    return list(held.reshape(groups, -1))


def located(
    points: object,
    *,
    x: str,
    y: str,
    cap: PeopleCap | None = None,
    box: Box,
    outside: Outside,
) -> nw.LazyFrame[Any]:
    """Return the lattice positions of the points that are left, as ``x`` and ``y``.

    Args:
        points: A lazy frame. Private.
        x: Column of the coordinate from west to east.
        y: Column of the coordinate from south to north.
        cap: The person that a point belongs to, returned as ``user``; points without one are
            dropped.
        box: The public box.
        outside: ``"drop"`` or ``"clip"``, for points outside it.

    Raises:
        ColumnError: A column is missing or not numeric.
    """
    table = tables.check_columns(points, numeric=[x, y])
    table = tables.as_numbers(table, points, [x, y])
    columns = {"x": without_nan(x), "y": without_nan(y)}
    there = []
    if cap is not None:
        cap.check(points)
        columns["user"] = cap.persons(tables.schema(table, points))
        there.append(~nw.col("user").is_null())
    return on_lattice(table.lazy().select(**columns), box=box, outside=outside, there=there)


def on_lattice(
    rows: nw.LazyFrame[Any], *, box: Box, outside: Outside, there: Sequence[nw.Expr] = ()
) -> nw.LazyFrame[Any]:
    """Return rows whose coordinates ``x`` and ``y`` have places, which are these columns then.

    Args:
        rows: With columns ``x`` and ``y`` of numbers, null where one is missing. Private.
        box: The public box.
        outside: ``"drop"`` or ``"clip"``, for points outside it.
        there: What else a row must be to be kept.
    """
    axes = {"x": (box.west, box.east), "y": (box.south, box.north)}
    # Rows are dropped before they have places: Spark would compute a place that can be null
    # twice, to drop the row and to count it.
    kept = [_is_kept(nw.col(axis), *axes[axis], outside) for axis in axes]
    return rows.filter(*kept, *there).with_columns(
        _lattice_position(nw.col(axis), *bounds, outside).alias(axis)
        for axis, bounds in axes.items()
    )


def _cell(axis: str, size: int) -> nw.Expr:
    """Return the cell of a lattice position among so many."""
    return (nw.col(axis) * (size / POSITIONS)).floor().cast(nw.Int64)


def _is_kept(value: nw.Expr, low: float, high: float, outside: Outside) -> nw.Expr:
    """Return whether a coordinate has a place; null or false if not."""
    return ~value.is_null() if outside == "clip" else (value >= low) & (value < high)


def _lattice_position(value: nw.Expr, low: float, high: float, outside: Outside) -> nw.Expr:
    """Return the lattice position of a coordinate that has one."""
    if outside == "clip":
        value = value.clip(low, float(np.nextafter(high, -np.inf)))
    place = (value - low) * (POSITIONS / (high - low))
    return nw.min_horizontal(place, nw.lit(float(POSITIONS - 1))).floor()


class _Axis:
    """Squares and cells of a partition along one axis, as expressions."""

    def __init__(self, name: str, partition: Partition) -> None:
        self._scaled = nw.col(name) * float(partition.base)

    def square(self) -> nw.Expr:
        return (self._scaled * (1 / POSITIONS)).floor()

    def cell(self, square: str, cells: str) -> nw.Expr:
        # All regions are squares of `span` base squares at multiples of `span`.
        span = nw.col("span")
        first = nw.col(square) - nw.col(square) % span
        inside = (self._scaled - first * float(POSITIONS)) * nw.col(cells)
        # A whole number of cells, so that its product with a rounded share of one is rounded
        # to the quotient.
        whole = inside - inside % (span * float(POSITIONS))
        return (whole * nw.col("share")).round()


def _by_square(key: nw.Expr, partition: Partition, held: Indices | Values) -> nw.Expr:
    """Return what each region holds, for each base square, as a chain of cases."""
    values = held[partition.labels().ravel()]
    distinct = np.unique(values)
    chosen: nw.Expr = nw.lit(float(distinct[0]))
    for value in distinct[1:].tolist():
        squares = [float(square) for square in np.flatnonzero(values == value)]
        chosen = nw.when(key.is_in(squares)).then(nw.lit(float(value))).otherwise(chosen)
    return chosen
