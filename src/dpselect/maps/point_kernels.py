"""Compiled loops over points (numba): their cells and rectangles.

A point is at the last of ascending lines that is at or below it (``dpselect.maps.box``): the
one that its share of the box suggests, or one beside it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dpselect._compiled import compiled
from dpselect.typing import Indices, Values

Places = NDArray[np.uint32]
Axes = tuple[Values, Values]

EDGES = 256
"""Edges of rectangles whose points are also counted together."""

BUCKETS = 2**16
"""Equal parts of the edges' range, with the first edge in each: a table in the L2 cache."""


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


@compiled
def count_uniform(points: Axes, lines: Axes, bounds: Values) -> Indices:
    """Return how many points each cell of a uniform grid holds, x-major, shape (nx * ny,).

    Args:
        points: Coordinates along x and along y, shape ``(n,)``, within the bounds.
        lines: Lower edges of the cells, shapes ``(nx,)`` and ``(ny,)``.
        bounds: West, south, east and north.
    """
    x, y = points
    x_lines, y_lines = lines
    nx, ny = x_lines.size, y_lines.size
    west, south, east, north = bounds
    across, along = nx / (east - west), ny / (north - south)
    counts = np.zeros(nx * ny, np.int64)
    for i in range(x.size):
        a = _line(x[i], x_lines, 0, nx, west, across)
        counts[a * ny + _line(y[i], y_lines, 0, ny, south, along)] += 1
    return counts


@compiled
def count_regions(
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
def count_rectangles(
    x: Values, y: Values, queries: Indices, x_edges: Values, y_edges: Values
) -> Indices:
    """Return how many points each query holds, shape ``(m,)``.

    Points are sorted by the edges along x, and added edge by edge to counts by the edges along
    y, of single ones and of ``EDGES`` together. At each of its two edges along x a query adds
    up what lies between its edges along y. In memory of twelve bytes a point.

    Args:
        x: Shape ``(n,)``.
        y: Shape ``(n,)``.
        queries: Places of edges among ``x_edges`` and ``y_edges``, shape ``(m, 4)``.
        x_edges: Ascending.
        y_edges: Ascending.
    """
    columns, ends = _sorted(_places(x, x_edges), _places(y, y_edges), x_edges.size)
    first, after = _lists(queries, x_edges.size)
    found = np.zeros(queries.shape[0], np.int64)
    single = np.zeros(y_edges.size + 1, np.int64)
    blocks = np.zeros(y_edges.size // EDGES + 1, np.int64)
    at = 0
    for edge in range(x_edges.size):
        # Those at place `edge` lie below that edge, and not below the one before.
        for point in range(at, ends[edge]):
            single[columns[point]] += 1
            blocks[columns[point] // EDGES] += 1
        at = ends[edge]
        visit = first[edge]
        while visit >= 0:
            query, side = visit // 2, visit % 2
            between = _between(single, blocks, queries[query, 1] + 1, queries[query, 3] + 1)
            found[query] += between if side else -between
            visit = after[visit]
    return found


@compiled
def _between(single: Indices, blocks: Indices, low: int, high: int) -> int:
    """Return the sum of ``single[low:high]``, whole blocks at a time."""
    total = 0
    while low < high:
        if low % EDGES == 0 and low + EDGES <= high:
            total += blocks[low // EDGES]
            low += EDGES
        else:
            total += single[low]
            low += 1
    return total


@compiled
def _lists(queries: Indices, size: int) -> tuple[Indices, Indices]:
    """Return linked lists of the visits to edges along x: ``2 t`` first, then ``2 t + 1``."""
    first, after = np.full(size, -1), np.empty(2 * queries.shape[0], np.int64)
    for visit in range(after.size):
        edge = queries[visit // 2, 2 * (visit % 2)]
        after[visit] = first[edge]
        first[edge] = visit
    return first, after


@compiled
def _sorted(places: Places, values: Places, size: int) -> tuple[Places, Indices]:
    """Return values in the order of their places, and where those of each place end."""
    ends = np.zeros(size + 2, np.int64)
    for place in places:
        ends[place + 1] += 1
    for place in range(size + 1):
        ends[place + 1] += ends[place]
    ordered = np.empty_like(values)
    for i in range(places.size):
        ordered[ends[places[i]]] = values[i]
        ends[places[i]] += 1
    return ordered, ends


@compiled
def _places(values: Values, edges: Values) -> Places:
    """Return how many edges are at or below each value.

    A table gives the edges that are in lower buckets than a value, which are all below it.
    """
    low, high = edges[0], edges[0]
    for edge in edges:
        high = edge if edge < np.inf else high
    per = BUCKETS / (high - low) if high > low else 0.0
    table, place = np.empty(BUCKETS, np.int64), 0
    for bucket in range(BUCKETS):
        while place < edges.size and _bucket(edges[place], low, per) < bucket:
            place += 1
        table[bucket] = place
    places = np.empty(values.size, np.uint32)
    for i in range(values.size):
        place = table[_bucket(values[i], low, per)]
        while place < edges.size and edges[place] <= values[i]:
            place += 1
        places[i] = place
    return places


@compiled
def _bucket(value: float, low: float, per: float) -> int:
    """Return the part of the range of edges that a number is in; ascending."""
    share = (value - low) * per if value < np.inf else float(BUCKETS)
    return int(min(max(share, 0.0), BUCKETS - 1.0))
