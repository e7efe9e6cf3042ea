r"""Points in the cells of a grid.

A coordinate becomes one of :math:`2^{32}` positions of a public lattice first. All products
with numbers of cells are whole numbers below :math:`2^{53}` over powers of two, so that floats
carry them exactly and each point falls into the cell that whole numbers would give it.
"""

from __future__ import annotations

import narwhals as nw
import numpy as np

from dpselect.tables.cases import known
from dpselect.tables.collecting import collect, counts
from dpselect.tables.opening import open_table
from dpselect.typing import Indices

POSITIONS = 2**32
"""Positions of the lattice along an axis."""


def lattice_position(column: str, low: float, high: float, *, clip: bool) -> nw.Expr:
    """Return the lattice position of a coordinate, null where the record is dropped.

    Args:
        column: The coordinate.
        low: Where the box begins, included.
        high: Where it ends, excluded.
        clip: Whether points outside are moved to the nearest position, not dropped.
    """
    value = known(column)
    if clip:
        value = value.clip(low, float(np.nextafter(high, -np.inf)))
    inside = (value >= low) & (value < high)
    share = (value - low) / (high - low) * float(POSITIONS)
    return nw.when(inside).then(share.floor().clip(0.0, float(POSITIONS - 1)))


def count_cells(points: object, along_x: int, along_y: int) -> Indices:
    """Count the points in each of equal cells by one grouping.

    Args:
        points: A frame with columns ``x`` and ``y``, lattice positions as floats. Private.
        along_x: How many cells there are along x, at most :math:`2^{21}`. Public.
        along_y: Along y.

    Returns:
        Shape ``(along_x, along_y)``. Private.

    Raises:
        DataError: The engine refuses the query.
    """
    axes = {"x": along_x, "y": along_y}
    cells = (
        open_table(points)
        .lazy()
        .select(
            (nw.col(axis) * float(size) / float(POSITIONS)).floor().cast(nw.Int64).alias(axis)
            for axis, size in axes.items()
        )
    )
    grouped = cells.group_by("x", "y").agg(nw.len().alias("count"))
    table = collect(grouped, points, most=along_x * along_y)
    held = np.zeros((along_x, along_y), dtype=np.int64)
    held[counts(table["x"]), counts(table["y"])] = counts(table["count"])
    return held
