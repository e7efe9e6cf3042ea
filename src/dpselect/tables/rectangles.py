"""Exact counts of points in rectangles."""

from __future__ import annotations

import narwhals as nw
import numpy as np

from dpselect.tables.cases import position
from dpselect.tables.collecting import collect, counts
from dpselect.tables.opening import open_table
from dpselect.typing import Indices

RECTANGLES_AT_ONCE = 100
"""At most 201 x 201 groups come out for them."""


def count_rectangles(points: object, rectangles: Indices) -> Indices:
    """Count the points in each rectangle.

    The edges of some hundred rectangles cut the plane into an irregular grid: one grouping
    by its cells, and sums over them, instead of a comparison of every point with every
    rectangle.

    Args:
        points: A frame with columns ``x`` and ``y``, whole numbers as floats. Private.
        rectangles: Shape ``(m, 4)``: ``x0, y0, x1, y1``, half-open. Public.

    Returns:
        Shape ``(m,)``. Private.

    Raises:
        DataError: The engine refuses the query.
    """
    parts = [
        _in_block(points, rectangles[first : first + RECTANGLES_AT_ONCE])
        for first in range(0, len(rectangles), RECTANGLES_AT_ONCE)
    ]
    return np.concatenate(parts)


def _in_block(points: object, rectangles: Indices) -> Indices:
    across, along = np.unique(rectangles[:, ::2]), np.unique(rectangles[:, 1::2])
    cells = (
        open_table(points)
        .lazy()
        .select(
            position(nw.col("x"), across).alias("x"), position(nw.col("y"), along).alias("y")
        )
    )
    shape = across.size + 1, along.size + 1
    grouped = cells.group_by("x", "y").agg(nw.len().alias("count"))
    table = collect(grouped, points, most=shape[0] * shape[1])
    below = np.zeros(shape, dtype=np.int64)
    below[counts(table["x"]), counts(table["y"])] = counts(table["count"])
    below = below.cumsum(axis=0).cumsum(axis=1)
    x0, y0, x1, y1 = (
        np.searchsorted(edges, rectangles[:, side])
        for side, edges in enumerate((across, along, across, along))
    )
    # A point that has reached i edges lies below edge i: sums up to i hold those below it.
    return below[x1, y1] - below[x0, y1] - below[x1, y0] + below[x0, y0]
