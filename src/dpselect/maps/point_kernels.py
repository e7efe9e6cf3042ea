"""Compiled loops over points (numba): their positions, cells and rectangles.

A point's cell is found by the integers of ``kernels``.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dpselect._compiled import compiled
from dpselect.maps.kernels import BITS
from dpselect.typing import Indices, Values

LAST = 2**BITS - 1

Positions = NDArray[np.uint32]

EDGES = 256
"""Edges of rectangles whose points are also counted together."""

LEADING_BITS = 16
"""Bits of a position that index the table of edges: 65,536 entries, in the L2 cache."""


@compiled
def locate(x: Values, y: Values, bounds: Values) -> tuple[Positions, Positions]:
    """Return lattice positions of the points inside the bounds, in their order.

    The position of ``x`` is ``⌊(x - west) · 2^32/(east - west)⌋``, the quotient rounded first,
    as engines are given it; cut at the last position where the product rounds up to ``2^32``.
    """
    west, south, east, north = bounds
    across, along = (LAST + 1.0) / (east - west), (LAST + 1.0) / (north - south)
    out_x, out_y = np.empty(x.size, np.uint32), np.empty(x.size, np.uint32)
    inside = 0
    for i in range(x.size):
        here, there = x[i], y[i]
        # False for NaN too.
        if not (west <= here < east and south <= there < north):
            continue
        out_x[inside] = min(np.int64((here - west) * across), LAST)
        out_y[inside] = min(np.int64((there - south) * along), LAST)
        inside += 1
    return out_x[:inside].copy(), out_y[:inside].copy()


@compiled
def count_uniform(x: Positions, y: Positions, nx: int, ny: int) -> Indices:
    """Return how many points each cell of a uniform grid holds, x-major, shape (nx * ny,).

    The cell of a position ``X`` is ``⌊X n_x / 2^32⌋``; the product is below ``2^32 · 2^22`` and
    fits 64 bits.
    """
    counts = np.zeros(nx * ny, np.int64)
    across, along, shift = np.uint64(nx), np.uint64(ny), np.uint64(BITS)
    for i in range(x.size):
        column = (np.uint64(x[i]) * across) >> shift
        counts[column * along + ((np.uint64(y[i]) * along) >> shift)] += 1
    return counts


@compiled
def count_regions(
    x: Positions, y: Positions, base: int, labels: Indices, regions: Indices, cells: int
) -> Indices:
    """Return how many points each cell of a partition holds, shape ``(cells,)``.

    A product with ``base`` has the base square in its upper bits; inside the region of that
    square the quotient of the module docstring gives the cell along each axis.
    """
    counts = np.zeros(cells, np.int64)
    for i in range(x.size):
        column, row = np.int64(x[i]) * base, np.int64(y[i]) * base
        label = labels[column >> BITS, row >> BITS]
        first_x, first_y, span, nx, ny, offset = regions[label]
        width = span << BITS
        a = (column - (first_x << BITS)) * nx // width
        b = (row - (first_y << BITS)) * ny // width
        counts[offset + a * ny + b] += 1
    return counts


@compiled
def count_rectangles(
    x: Positions, y: Positions, queries: Indices, x_edges: Indices, y_edges: Indices
) -> Indices:
    """Return how many points each query holds, shape ``(m,)``.

    Points are sorted by the edges along x, and added edge by edge to counts by the edges along
    y, of single ones and of ``EDGES`` together. At each of its two edges along x a query adds
    up what lies between its edges along y. In memory of twelve bytes a point.

    Args:
        x: Positions, shape ``(n,)``.
        y: Shape ``(n,)``.
        queries: Positions of edges among ``x_edges`` and ``y_edges``, shape ``(m, 4)``.
        x_edges: Lattice edges, ascending.
        y_edges: Lattice edges, ascending.
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
def _sorted(places: Positions, values: Positions, size: int) -> tuple[Positions, Indices]:
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
def _places(positions: Positions, edges: Indices) -> Positions:
    """Return how many edges are at or below each position.

    A table of the leading bits of a position gives the first edge that can be above it.
    """
    shift, edge = BITS - LEADING_BITS, 0
    table = np.empty(1 << LEADING_BITS, np.int64)
    for block in range(table.size):
        while edge < edges.size and edges[edge] <= block << shift:
            edge += 1
        table[block] = edge
    places = np.empty(positions.size, np.uint32)
    for i in range(positions.size):
        here = np.int64(positions[i])
        place = table[here >> shift]
        while place < edges.size and edges[place] <= here:
            place += 1
        places[i] = place
    return places
