"""Counts of points that stay in the engine that holds them: polars, DuckDB, PySpark.

The lines of ``dpselect._numbers``, as expressions that every engine of narwhals runs: a
quotient of integers below ``2^53``, which is rounded once, so that each point falls into the
cell that the kernels would give it. Only counts of cells leave the engine.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

import numpy as np

from dpselect import tables
from dpselect._numbers import EXACT, decimals
from dpselect._optional import nw
from dpselect.maps.box import RECTANGLES_AT_ONCE, Box, Outside
from dpselect.maps.counting import Counts
from dpselect.maps.partition import Partition
from dpselect.tables.collecting import with_positions
from dpselect.tables.engine import engine_of
from dpselect.tables.groups import GROUP
from dpselect.typing import Indices, Values


class EngineCounts(Counts):
    """Counts over a lazy frame; each method is one or few aggregations in the engine.

    Args:
        points: A frame whose columns ``x`` and ``y`` are coordinates in the box, as
            ``located`` makes them. Private.
        box: The public box.
    """

    at_once = RECTANGLES_AT_ONCE

    def __init__(self, points: nw.LazyFrame[Any], box: Box) -> None:
        self._points, self.box = points, box

    def in_cells(self, partition: Partition) -> Values:
        """Count the points of every cell by one grouping."""
        if partition.shape is not None:
            cells = in_grid(self._points, self.box, partition.shape)
            counts = _counted(cells, "xy", self._points, partition.shape)
            return counts.ravel().astype(np.float64)
        return self._in_regions(partition)

    def between(self, x_lines: Values, y_lines: Values) -> Indices:
        """Count by one grouping, instead of comparing every point with every rectangle."""
        places = self._points.select("x", "y")
        cells = with_positions(places, {"x": x_lines, "y": y_lines})
        return _counted(cells, "xy", self._points, (x_lines.size + 1, y_lines.size + 1))

    def _in_regions(self, partition: Partition) -> Values:
        """Count by base square and cell of its region, then add up what is one cell."""
        squares = in_grid(self._points, self.box, (partition.base, partition.base), "ij")
        key = nw.col("i") * partition.base + nw.col("j")
        _, _, spans, many, _, _ = partition.regions.T
        # All regions are squares at multiples of their sides, so that their cells are some of
        # those of a uniform grid.
        size = _by_square(key, partition, partition.base // spans * many)
        cut = squares.with_columns(key.alias("key"), size.alias("size"))
        sizes = {"x": nw.col("size"), "y": nw.col("size")}
        cells = _with_cells(cut, self.box, sizes, ("a", "b")).select("key", "a", "b")
        square, a, b, count = _grouped(
            cells, ("key", "a", "b"), self._points, partition.most_rows
        )
        region = partition.labels().ravel()[square]
        first, many = partition.regions[region, 5], many[region]
        # Squares of one region share its cells, so a cell can come from several groups.
        counts = np.bincount(first + a % many * many + b % many, count, partition.cells)
        return counts.astype(np.float64)


def _grouped(
    cells: nw.LazyFrame[Any], names: Sequence[str], source: object, most: int
) -> list[Indices]:
    """Return the groups by some columns of positions, and their numbers of rows."""
    grouped = cells.group_by(*names).agg(nw.len().alias("count"))
    table = tables.collect(grouped, source, most=most)
    return [table[name].astype(np.int64) for name in (*names, "count")]


def _counted(
    cells: nw.LazyFrame[Any], names: Sequence[str], source: object, shape: tuple[int, ...]
) -> Indices:
    """Return the number of rows of each tuple of positions; one grouping."""
    *places, count = _grouped(cells, names, source, prod(shape))
    held = np.zeros(shape, np.int64)
    held[tuple(places)] = count
    return held


def in_cells_of_groups(
    points: nw.LazyFrame[Any], box: Box, grid: Partition, groups: int
) -> list[Values]:
    """Count the points of each group in the cells of a uniform grid, by one grouping.

    Args:
        points: With coordinates ``x`` and ``y``, and the position ``group``. Private.
        box: The public box that they are in.
        grid: The grid.
        groups: How many groups there are.

    Returns:
        Counts of each group, shape ``(cells,)``.
    """
    nx, ny = grid.shape or (1, 1)
    held = _counted(in_grid(points, box, (nx, ny)), (GROUP, "x", "y"), points, (groups, nx, ny))
    return list(held.reshape(groups, -1).astype(np.float64))


def inside(rows: nw.LazyFrame[Any], *, box: Box, outside: Outside) -> nw.LazyFrame[Any]:
    """Return rows whose coordinates ``x`` and ``y`` are in the box, or moved into it.

    Args:
        rows: With columns ``x`` and ``y`` of numbers, null where one is missing. Private.
        box: The public box.
        outside: ``"drop"`` or ``"clip"``, for points outside it.
    """
    columns = [nw.col("x"), nw.col("y")]
    sides = [box.limits(axis) for axis in (0, 1)]
    if outside == "clip":
        there = [~column.is_null() for column in columns]
        columns = [column.clip(*side) for column, side in zip(columns, sides, strict=True)]
    else:
        pairs = zip(columns, sides, strict=True)
        there = [(one >= low) & (one <= high) for one, (low, high) in pairs]
    # Rows are dropped before they have places: Spark would compute a place that can be null
    # twice, to drop the row and to count it.
    return rows.filter(*there).with_columns(x=columns[0], y=columns[1])


def in_grid(
    points: nw.LazyFrame[Any], box: Box, shape: tuple[int, int], names: str = "xy"
) -> nw.LazyFrame[Any]:
    """Return points with the columns and rows of cells of a uniform grid.

    Args:
        points: With coordinates ``x`` and ``y``. Private.
        box: The public box.
        shape: Cells along both axes.
        names: Names of the two columns, in place of the coordinates or beside them.
    """
    placed, searched = {}, {}
    for axis, (coordinate, name, size) in enumerate(zip("xy", names, shape, strict=True)):
        whole = decimals(*box.side(axis))
        exact = whole is None or max(abs(whole[0]) + whole[1], whole[2]) * size <= EXACT
        if exact and size <= box.floats(axis):
            placed[coordinate] = name, nw.lit(float(size), nw.Float64)
        else:
            searched[name] = box.lines(axis, np.arange(1, size), size)
            points = points.with_columns(nw.col(coordinate).alias(name))
    names_ = [name for name, _ in placed.values()]
    sizes = {coordinate: size for coordinate, (_, size) in placed.items()}
    return with_positions(_with_cells(points, box, sizes, names_), searched)


def _with_cells(
    points: nw.LazyFrame[Any], box: Box, sizes: Mapping[str, nw.Expr], names: Sequence[str]
) -> nw.LazyFrame[Any]:
    """Return points with their cells along axes that are cut into so many, as integers.

    A point is in the cell above the line that is nearest to it, or in the one below: for this,
    floats must be as many as cells.
    """
    found = points
    for axis, number in sizes.items():
        low, high = box.side("xy".index(axis))
        first, span, unit = map(float, decimals(low, high) or (0, 1, 1))
        # A column of floats: polars would multiply by the rounded inverse of a single number,
        # and DuckDB compute with decimals.
        size = nw.col(axis) * 0.0 + number
        near = ((nw.col(axis) - low) * size * (1 / (high - low)) + 0.5).floor()
        found = found.with_columns(
            near.alias(f"{axis} near"),
            (near * span + size * first).alias(f"{axis} line"),
            (size * unit).alias(f"{axis} unit"),
            (size - 1).alias(f"{axis} last"),
        )
    found = _quotients(found, {f"{axis} line": f"{axis} unit" for axis in sizes})
    cells = []
    for axis, name in zip(sizes, names, strict=True):
        low, high = box.side("xy".index(axis))
        line = nw.col(f"{axis} line")
        if decimals(low, high) is None:
            line = line * (high - low) + low
        if box.types["xy".index(axis)] == np.float32:
            line = line.cast(nw.Float32).cast(nw.Float64)
        below = nw.when(nw.col(axis) < line).then(1.0).otherwise(0.0)
        # The last cell holds the upper edge.
        cell = nw.min_horizontal(nw.col(f"{axis} near") - below, f"{axis} last")
        cells.append(nw.max_horizontal(cell, nw.lit(0.0)).cast(nw.Int64).alias(name))
    return found.with_columns(*cells)


def _quotients(rows: nw.LazyFrame[Any], parts: Mapping[str, str]) -> nw.LazyFrame[Any]:
    """Return rows with columns divided by others, rounded once."""
    if (f := engine_of(rows).f) is not None:
        # narwhals divides by a function that not every Spark has for floats.
        divided = {name: f.col(name) / f.col(bottom) for name, bottom in parts.items()}
        return nw.from_native(nw.to_native(rows).withColumns(divided))
    return rows.with_columns(nw.col(name) / nw.col(bottom) for name, bottom in parts.items())


def _by_square(key: nw.Expr, partition: Partition, held: Indices | Values) -> nw.Expr:
    """Return what each region holds, for each base square, as a chain of cases."""
    values = held[partition.labels().ravel()]
    key = key.cast(nw.Float64)
    distinct = np.unique(values)
    chosen: nw.Expr = nw.lit(float(distinct[0]))
    for value in distinct[1:].tolist():
        squares = [float(square) for square in np.flatnonzero(values == value)]
        chosen = nw.when(key.is_in(squares)).then(nw.lit(float(value))).otherwise(chosen)
    return chosen
