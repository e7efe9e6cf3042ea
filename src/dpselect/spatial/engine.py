r"""Points that stay in the engine that holds them: only counts of cells come out.

The lattice arithmetic of :mod:`~dpselect.spatial.kernels`, as expressions that every engine of
narwhals runs. All products are whole numbers below :math:`2^{53}` over powers of two, so that
floats carry them exactly and each point falls into the cell that the kernels would give it.
"""

from __future__ import annotations

from typing import Any

import narwhals as nw
import numpy as np

from dpselect import tables
from dpselect.spatial.box import POSITIONS, Box, Outside
from dpselect.spatial.partition import Partition, uniform
from dpselect.typing import Indices, Values


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
        if partition.shape is not None:
            return tables.count_cells(self._points, *partition.shape).ravel().astype(np.float64)
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
        grouped = cells.group_by("key", "a", "b").agg(nw.len().alias("count"))
        # Along an axis, squares and cells of a region cut each other into no more groups.
        _, _, span, along_x, along_y, _ = partition.regions.T
        most = int(((span + along_x) * (span + along_y)).sum())
        table = tables.collect(grouped, self._points, most=most)
        key_, a, b, count = (
            table[name].astype(np.int64) for name in ("key", "a", "b", "count")
        )
        region = partition.regions[partition.labels().ravel()[key_]]
        counts = np.zeros(partition.cells)
        # Squares of one region share its cells, so a cell can come from several groups.
        np.add.at(counts, region[:, 5] + a * region[:, 4] + b, count)
        return counts

    def in_rectangles(self, queries: Indices) -> Values:
        """Count the points of every rectangle by groupings, a hundred at a time."""
        return tables.count_rectangles(self._points, queries).astype(np.float64)


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
    table = tables.check_columns(points, numeric=[x, y], plain=plain)
    clip = outside == "clip"
    columns = [
        tables.lattice_position(x, box.west, box.east, clip=clip).alias("x"),
        tables.lattice_position(y, box.south, box.north, clip=clip).alias("y"),
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


def _by_square(key: nw.Expr, partition: Partition, column: int) -> nw.Expr:
    """Return a property of the region of each base square, as a chain of cases."""
    values = partition.regions[partition.labels().ravel(), column]
    distinct = np.unique(values)
    chosen: nw.Expr = nw.lit(float(distinct[0]))
    for value in distinct[1:].tolist():
        squares = [float(square) for square in np.flatnonzero(values == value)]
        chosen = nw.when(key.is_in(squares)).then(nw.lit(float(value))).otherwise(chosen)
    return chosen
