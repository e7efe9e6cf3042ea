"""Counts of points that stay in the engine that holds them: polars, DuckDB, PySpark.

The lines of ``dpselect._numbers``, as expressions that every engine of narwhals runs: a
quotient of integers below ``2^53``, which is rounded once, so that each point falls into the
cell that the kernels would give it. Only counts of cells leave the engine.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from dpselect import tables
from dpselect._numbers import decimals
from dpselect._optional import nw
from dpselect.maps.box import RECTANGLES_AT_ONCE, Box, Outside
from dpselect.maps.counting import Counts
from dpselect.maps.partition import Partition
from dpselect.tables.engine import double, engine_of
from dpselect.tables.groups import GROUP
from dpselect.typing import Indices, Values
from dpselect.validation import EXACT


class EngineCounts(Counts):
    """Counts over a lazy frame; each method is one or few aggregations in the engine.

    Args:
        points: A frame whose columns ``x`` and ``y`` are coordinates in the box, as
            ``inside`` makes them. Private.
        box: The public box.
    """

    at_once = RECTANGLES_AT_ONCE

    def __init__(self, points: nw.LazyFrame[Any], box: Box) -> None:
        self._points, self.box = points, box

    def in_cells(self, partition: Partition) -> Values:
        """Count the points of every cell by one grouping."""
        if partition.shape is None:
            return self._in_regions(partition)
        cells = in_grid(self._points, self.box, partition.shape)
        return _counted(cells, "xy", partition.shape).ravel().astype(np.float64)

    def between(self, x_lines: Values, y_lines: Values) -> Indices:
        """Count by one grouping, instead of comparing every point with every rectangle."""
        places = self._points.select("x", "y")
        cells = engine_of(places).placed({"x": x_lines, "y": y_lines})
        return _counted(cells, "xy", (x_lines.size + 1, y_lines.size + 1))

    def _in_regions(self, partition: Partition) -> Values:
        """Count by base square and cell of its region, then add up what is one cell."""
        base, (_, _, spans, many, _, offsets) = partition.base, partition.regions.T
        squares = in_grid(self._points, self.box, (base, base), "ij")
        i, j = (nw.col(one).clip(0, base - 1) for one in "ij")
        key = i * base + j
        # All regions are squares at multiples of their sides, so that their cells are some of
        # those of a uniform grid.
        sizes = base // spans * many
        size = _by_square(key, partition, sizes)
        cut = engine_of(squares.with_columns(key=key, size=size))
        cells = cut.with_sql(
            {name: _cell(self.box, axis, "size") for axis, name in enumerate("ab")}
        )
        square, a, b, count = _grouped(cells, ("key", "a", "b"), partition.most_rows)
        region = partition.labels().ravel()[square]
        many, last = many[region], sizes[region] - 1
        column, row = (np.clip(one, 0, last) % many for one in (a, b))
        # Squares of one region share its cells, so a cell can come from several groups.
        counts = np.bincount(offsets[region] + column * many + row, count, partition.cells)
        return counts.astype(np.float64)


def _grouped(cells: nw.LazyFrame[Any], names: Sequence[str], most: int) -> list[Indices]:
    """Return the groups by some columns of positions, and their numbers of rows."""
    table = tables.collect(engine_of(cells).grouped(names, "count"), cells, most=most)
    return [table[name].astype(np.int64) for name in (*names, "count")]


def _counted(cells: nw.LazyFrame[Any], names: Sequence[str], shape: tuple[int, ...]) -> Indices:
    """Return the number of rows of each tuple of positions; one grouping.

    A position below the first or above the last is that.
    """
    padded = [size + 2 for size in shape]
    place = nw.col(names[0])
    for name, size in zip(names[1:], padded[1:], strict=True):
        place = place * size + nw.col(name)
    found, count = _grouped(cells.select(place=place), ["place"], prod(padded))
    found += np.ravel_multi_index(np.ones_like(padded), padded)
    places = zip(np.unravel_index(found, padded), shape, strict=True)
    held = np.zeros(shape, np.int64)
    np.add.at(held, tuple(np.clip(one - 1, 0, size - 1) for one, size in places), count)
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
    held = _counted(in_grid(points, box, (nx, ny)), (GROUP, "x", "y"), (groups, nx, ny))
    return list(held.reshape(groups, -1).astype(np.float64))


def inside(rows: nw.LazyFrame[Any], *, box: Box, outside: Outside) -> nw.LazyFrame[Any]:
    """Return rows whose coordinates ``x`` and ``y`` are in the box, or moved into it.

    Args:
        rows: With columns ``x`` and ``y`` of numbers, null where one is missing; it may be NaN
            where points outside are dropped. Private.
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
        if (engine := engine_of(rows)).forgets and engine.f is None:
            # polars and Spark take NaN for the largest number; of DuckDB see ``numbers_alone``.
            there.append(~(columns[0] + columns[1]).exp().is_nan())
    # Rows are dropped before they have places: Spark would compute a place that can be null
    # twice, to drop the row and to count it.
    found = rows.filter(*there)
    return found if outside == "drop" else found.with_columns(x=columns[0], y=columns[1])


def in_grid(
    points: nw.LazyFrame[Any], box: Box, shape: tuple[int, int], names: str = "xy"
) -> nw.LazyFrame[Any]:
    """Return points with the columns and rows of cells of a uniform grid.

    At the upper edge of the box they are one too large, and at the lower one of short floats
    they may be -1.

    Args:
        points: With coordinates ``x`` and ``y``. Private.
        box: The public box.
        shape: Cells along both axes.
        names: Names of the two columns, in place of the coordinates or beside them.
    """
    divided, searched = {}, {}
    for axis, (coordinate, name, size) in enumerate(zip("xy", names, shape, strict=True)):
        whole = decimals(*box.side(axis))
        exact = whole is None or max(abs(whole[0]) + whole[1], whole[2]) * size <= EXACT
        if exact and size <= box.floats(axis) and not engine_of(points).is_here:
            divided[name] = _cell(box, axis, double(size))
        else:
            searched[name] = box.lines(axis, np.arange(1, size), size)
            divided[name] = coordinate
    return engine_of(engine_of(points).with_sql(divided)).placed(searched)


def _cell(box: Box, axis: int, many: str) -> str:
    """Return SQL for the cell of a coordinate.

    A point is in the cell above the line that is nearest to it, or in the one below: for this,
    floats must be as many as cells.

    Args:
        box: The public box.
        axis: The axis.
        many: SQL for how many cells there are.
    """
    place, (low, high) = "xy"[axis], box.side(axis)
    first, span, unit = map(double, decimals(low, high) or (0, 1, 1))
    part = f"({place} - {double(low)}) * {many} * {double(1 / (high - low))}"
    near = f"floor({part} + {double(0.5)})"
    line = f"({near} * {span} + {many} * {first}) / ({many} * {unit})"
    if decimals(low, high) is None:
        line = f"{line} * {double(high - low)} + {double(low)}"
    if box.types[axis] == np.float32:
        line = f"CAST(CAST({line} AS FLOAT) AS DOUBLE)"
    return f"{near} - CASE WHEN {place} < {line} THEN 1 ELSE 0 END"


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
