"""Compiled loops over points (numba): between which lines they are.

A point is at the last of ascending lines that is at or below it (``dpselect.maps.box``): the
one that its share of their range suggests, or one near to it.
"""

from __future__ import annotations

import numpy as np

from dpselect._compiled import compiled
from dpselect.typing import Indices, Values

Axes = tuple[Values, Values]


@compiled
def count_between(points: Axes, lines: Axes, per: tuple[float, float]) -> Indices:
    """Return how many points are between lines, by how many lines are at or below a point.

    Args:
        points: Coordinates along x and along y, shape ``(n,)``.
        lines: Ascending, shapes ``(a,)`` and ``(b,)``.
        per: Lines per unit, about.
    """
    x, y = points
    x_lines, y_lines = lines
    across, along = per
    counts = np.zeros((x_lines.size + 1, y_lines.size + 1), np.int64)
    for i in range(x.size):
        column = _reached(x[i], x_lines, across)
        counts[column, _reached(y[i], y_lines, along)] += 1
    return counts


@compiled
def _reached(value: float, lines: Values, per: float) -> int:
    """Return how many lines are at or below a value."""
    if lines.size == 0 or value < lines[0]:
        return 0
    return _line(value, lines, 0, lines.size, lines[0], per) + 1


@compiled
def count_cells(
    points: Axes,
    squares: Axes,
    labels: Indices,
    regions: Indices,
    lines: Axes,
    starts: Indices,
    bounds: Values,
) -> Indices:
    """Return how many points each cell of a partition holds.

    Lines of the base grid give the square, and with it the region; lines of the region, which
    are after each other, the cell.

    Args:
        points: Coordinates along x and along y, shape ``(n,)``, within the bounds.
        squares: Lower edges of the base squares.
        labels: The region of each square.
        regions: Shape ``(R, 6)``.
        lines: Lower edges of the cells of each region.
        starts: Where those of each region start, shape ``(R, 2)``.
        bounds: West, south, east and north.
    """
    x, y = points
    base_x, base_y = squares
    x_lines, y_lines = lines
    base = base_x.size
    west, south, east, north = bounds
    across, along = base / (east - west), base / (north - south)
    counts = np.zeros((regions[:, 3] * regions[:, 4]).sum(), np.int64)
    for i in range(x.size):
        column = _line(x[i], base_x, 0, base, west, across)
        row = _line(y[i], base_y, 0, base, south, along)
        label = labels[column, row]
        _, _, span, nx, ny, offset = regions[label]
        first, second = starts[label]
        a = _line(x[i], x_lines, first, nx, x_lines[first], across * nx / span)
        b = _line(y[i], y_lines, second, ny, y_lines[second], along * ny / span)
        counts[offset + a * ny + b] += 1
    return counts


@compiled
def _line(value: float, lines: Values, start: int, count: int, low: float, per: float) -> int:
    """Return the last of ``count`` lines from ``start`` on that is at or below a value.

    Args:
        value: At or above the first.
        lines: Ascending among these.
        start: Position of the first.
        count: How many there are.
        low: Where the first one is.
        per: Lines per unit, about.
    """
    place = min(max(int((value - low) * per), 0), count - 1)
    while place > 0 and value < lines[start + place]:
        place -= 1
    while place + 1 < count and value >= lines[start + place + 1]:
        place += 1
    return place
