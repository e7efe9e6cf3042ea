"""Compiled counts of the points in many rectangles, by one pass over the points (numba)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dpselect._compiled import compiled
from dpselect.spatial.kernels import BITS, Positions
from dpselect.typing import Indices

Places = NDArray[np.uint32]

BLOCK = 256
"""Edges whose points are also counted together."""


@compiled
def count_rectangles(
    x: Positions, y: Positions, queries: Indices, x_edges: Indices, y_edges: Indices, bits: int
) -> Indices:
    """Return how many points each query holds, shape ``(m,)``.

    Points are sorted by the edges along x, and added edge by edge to counts by the edges along
    y, of single ones and of ``BLOCK`` together. At each of its two edges along x a query adds
    up what lies between its edges along y. In memory of twelve bytes a point.

    Args:
        x: Positions, shape ``(n,)``.
        y: Shape ``(n,)``.
        queries: Positions of edges among ``x_edges`` and ``y_edges``, shape ``(m, 4)``.
        x_edges: Lattice edges, ascending.
        y_edges: Lattice edges, ascending.
        bits: As for :func:`_places`.
    """
    columns, ends = _sorted(_places(x, x_edges, bits), _places(y, y_edges, bits), x_edges.size)
    first, after = _lists(queries, x_edges.size)
    found = np.zeros(queries.shape[0], np.int64)
    single = np.zeros(y_edges.size + 1, np.int64)
    blocks = np.zeros(y_edges.size // BLOCK + 1, np.int64)
    at = 0
    for edge in range(x_edges.size):
        # Those at place `edge` lie below that edge, and not below the one before.
        for point in range(at, ends[edge]):
            single[columns[point]] += 1
            blocks[columns[point] // BLOCK] += 1
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
        if low % BLOCK == 0 and low + BLOCK <= high:
            total += blocks[low // BLOCK]
            low += BLOCK
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
def _places(positions: Positions, edges: Indices, bits: int) -> Places:
    """Return how many edges are at or below each position.

    A table of the top ``bits`` of a position gives the first edge that can be above it.
    """
    shift = BITS - bits
    table = _table(edges, bits)
    places = np.empty(positions.size, np.uint32)
    for i in range(positions.size):
        here = np.int64(positions[i])
        place = table[here >> shift]
        while place < edges.size and edges[place] <= here:
            place += 1
        places[i] = place
    return places


@compiled
def _table(edges: Indices, bits: int) -> Indices:
    """Return for each leading block of positions how many edges are at or below its start."""
    table = np.empty(1 << bits, np.int64)
    edge = 0
    for block in range(table.size):
        while edge < edges.size and edges[edge] <= block << (BITS - bits):
            edge += 1
        table[block] = edge
    return table
