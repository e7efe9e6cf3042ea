"""Compiled loops over cells and queries (numba).

A partition is a base grid of ``base`` x ``base`` equal squares, blocks of which are regions,
each cut into equal cells. Along one axis a position ``X`` of the lattice lies, in units of the
cells of a region that starts at square ``i``, spans ``k`` squares and is cut into ``s``, at
``u = (X b - i 2^32) s / (k 2^32)``: a quotient of integers whose floor is the cell and whose
remainder is the share of the cell below ``X``. Points and edges of queries use the same
quotient.

All sums of counts are integers below ``2^53``, exact in float64.
"""

from __future__ import annotations

import numpy as np

from dpselect._compiled import compiled
from dpselect.typing import Indices, Values

BITS = 32

BLOCK = 64
"""Regions whose bounds are compared with a query first."""


@compiled
def prefix_sums(counts: Values, regions: Indices) -> tuple[Values, Indices]:
    """Return two-dimensional prefix sums of every region, and where each region's begin.

    A region of ``nx`` x ``ny`` cells has ``(nx + 1) * (ny + 1)`` sums; entry ``(a, b)`` is the
    sum over its first ``a`` columns and ``b`` rows, ``S(a + 1, b + 1) = S(a, b + 1)`` plus the
    running sum of column ``a`` up to row ``b``.
    """
    starts = np.empty(regions.shape[0] + 1, np.int64)
    starts[0] = 0
    for r in range(regions.shape[0]):
        starts[r + 1] = starts[r] + (regions[r, 3] + 1) * (regions[r, 4] + 1)
    sums = np.zeros(starts[-1])
    for r in range(regions.shape[0]):
        nx, ny, offset = regions[r, 3], regions[r, 4], regions[r, 5]
        wide = ny + 1
        for a in range(nx):
            running = 0.0
            above, here = starts[r] + a * wide, starts[r] + (a + 1) * wide
            for b in range(ny):
                running += counts[offset + a * ny + b]
                sums[here + b + 1] = sums[above + b + 1] + running
    return sums, starts


@compiled
def squares_of_four(counts: Values, regions: Indices) -> tuple[float, float, float]:
    """Return sums over squares of two by two cells of a region.

    Returns:
        Their number, and the sums of the squares of their totals and of their cells.
    """
    many, totals, squares = 0.0, 0.0, 0.0
    for r in range(regions.shape[0]):
        nx, ny, offset = regions[r, 3], regions[r, 4], regions[r, 5]
        for a in range(0, nx - 1, 2):
            for b in range(0, ny - 1, 2):
                total, first = 0.0, offset + a * ny + b
                for cell in (first, first + 1, first + ny, first + ny + 1):
                    total += counts[cell]
                    squares += counts[cell] ** 2
                many += 1
                totals += total * total
    return many, totals, squares


@compiled
def _bounds_of_blocks(regions: Indices) -> Indices:
    """Return bounds in squares, ``(x0, y0, x1, y1)``, of ``BLOCK`` regions after each other.

    Regions come in the order in which squares were cut, so that blocks are compact.
    """
    bounds = np.empty(((regions.shape[0] + BLOCK - 1) // BLOCK, 4), np.int64)
    for block in range(bounds.shape[0]):
        some = regions[block * BLOCK : (block + 1) * BLOCK]
        for axis in range(2):
            bounds[block, axis] = some[:, axis].min()
            bounds[block, 2 + axis] = (some[:, axis] + some[:, 2]).max()
    return bounds


@compiled
def _write_near(
    query: Indices, base: int, blocks: Indices, regions: Indices, near: Indices
) -> int:
    """Write the regions that a query overlaps, in their order; return how many they are.

    A region that the query covers is written as ``-1 - r``.
    """
    x0, y0, x1, y1 = query * base
    count = 0
    for block in range(blocks.shape[0]):
        west, south, east, north = blocks[block]
        if _meets(x0, y0, x1, y1, west, south, east, north):
            for r in range(block * BLOCK, min((block + 1) * BLOCK, regions.shape[0])):
                low_x, low_y, span = regions[r, 0], regions[r, 1], regions[r, 2]
                high_x, high_y = low_x + span, low_y + span
                if _meets(x0, y0, x1, y1, low_x, low_y, high_x, high_y):
                    covers = (
                        x0 <= low_x << BITS
                        and y0 <= low_y << BITS
                        and x1 >= high_x << BITS
                        and y1 >= high_y << BITS
                    )
                    near[count] = -1 - r if covers else r
                    count += 1
    return count


@compiled
def _meets(
    x0: int, y0: int, x1: int, y1: int, low_x: int, low_y: int, high_x: int, high_y: int
) -> bool:
    """Return whether a query, in lattice units, overlaps a rectangle of squares."""
    return (
        x0 < high_x << BITS
        and y0 < high_y << BITS
        and x1 > low_x << BITS
        and y1 > low_y << BITS
    )


@compiled
def _axis(
    low: int, high: int, base: int, first: int, span: int, cells: int
) -> tuple[int, int, float, float]:
    """Return the cells that ``[low, high)`` overlaps, and its shares of first and last.

    The cells are ``[start, stop)``; none if ``stop <= start``. With a single cell both shares
    are the share of that cell.
    """
    width = span << BITS
    begin = max((low * base - (first << BITS)) * cells, 0)
    end = min((high * base - (first << BITS)) * cells, width * cells)
    if end <= begin:
        return 0, 0, 0.0, 0.0
    start, stop = begin // width, (end + width - 1) // width
    if stop - start == 1:
        share = (end - begin) / width
        return start, stop, share, share
    head = ((start + 1) * width - begin) / width
    tail = (end - (stop - 1) * width) / width
    return start, stop, head, tail


@compiled
def _line(
    sums: Values,
    at: int,
    wide: int,
    axis: int,
    cell: int,
    columns: tuple[int, int, float, float],
    rows: tuple[int, int, float, float],
) -> float:
    """Return the sum over one column of cells (axis 0) or one row, weighted along it."""
    whole = (cell, cell + 1, 1.0, 1.0)
    if axis == 0:
        return _block(sums, at, wide, whole, rows)
    return _block(sums, at, wide, columns, whole)


@compiled
def _cuts(edge: int, base: int, first: int, span: int, cells: int) -> bool:
    """Return whether an edge is inside a cell of a region, and not on its border."""
    width = span << BITS
    place = (edge * base - (first << BITS)) * cells
    return 0 < place < width * cells and place % width > 0


@compiled
def _share(cell: int, start: int, stop: int, head: float, tail: float) -> float:
    if cell == start:
        return head
    return tail if cell == stop - 1 else 1.0


@compiled
def _strip(
    sums: Values, at: int, wide: int, a0: int, a1: int, rows: tuple[int, int, float, float]
) -> float:
    """Return the overlap-weighted sum over whole columns ``[a0, a1)``.

    The sums over the first row, the inner rows and the last row are differences of four prefix
    sums each, exact for integer counts; head and tail weigh the two cut rows. Only the two
    products and the additions round, and with counts >= 0 all terms are >= 0, so the error is
    relative to the result.
    """
    start, stop, head, tail = rows
    upper, lower = at + a1 * wide, at + a0 * wide
    first = (sums[upper + start + 1] - sums[lower + start + 1]) - (
        sums[upper + start] - sums[lower + start]
    )
    if stop - start == 1:
        return head * first
    last = (sums[upper + stop] - sums[lower + stop]) - (
        sums[upper + stop - 1] - sums[lower + stop - 1]
    )
    inner = (sums[upper + stop - 1] - sums[lower + stop - 1]) - (
        sums[upper + start + 1] - sums[lower + start + 1]
    )
    return head * first + inner + tail * last


@compiled
def answers(
    queries: Indices, base: int, regions: Indices, sums: Values, starts: Indices, power: int
) -> Values:
    """Return ``∑_i α_i^k c_i`` of every query, shape ``(m,)``.

    The share of a cell is the product of its shares along both axes, which are 1 but for the
    first and the last cell that the query overlaps. So a region adds its first column times
    ``head``, the inner columns, and its last column times ``tail``, each a strip.

    Args:
        queries: Lattice edges ``(x0, y0, x1, y1)``, shape ``(m, 4)``.
        base: Squares of the base grid along an axis.
        regions: Shape ``(R, 6)``.
        sums: From ``prefix_sums``.
        starts: From ``prefix_sums``.
        power: ``k``, 1 or 2.
    """
    out = np.zeros(queries.shape[0])
    blocks, near = _bounds_of_blocks(regions), np.empty(regions.shape[0], np.int64)
    for t in range(queries.shape[0]):
        x0, y0, x1, y1 = queries[t]
        for found in near[: _write_near(queries[t], base, blocks, regions, near)]:
            r = max(found, -1 - found)
            first_x, first_y, span, nx, ny, _ = regions[r]
            if found < 0 and nx * ny == 1:
                out[t] += sums[starts[r] + 3]
                continue
            start, stop, head, tail = _axis(x0, x1, base, first_x, span, nx)
            rows = _axis(y0, y1, base, first_y, span, ny)
            if stop <= start or rows[1] <= rows[0]:
                continue
            if power == 2:
                head, tail = head * head, tail * tail
                rows = (rows[0], rows[1], rows[2] * rows[2], rows[3] * rows[3])
            columns = (start, stop, head, tail)
            out[t] += _block(sums, starts[r], ny + 1, columns, rows)
    return out


@compiled
def _block(
    sums: Values,
    at: int,
    wide: int,
    columns: tuple[int, int, float, float],
    rows: tuple[int, int, float, float],
) -> float:
    """Return the overlap-weighted sum over the cells of a region."""
    start, stop, head, tail = columns
    total = head * _strip(sums, at, wide, start, start + 1, rows)
    if stop - start > 1:
        total += _strip(sums, at, wide, start + 1, stop - 1, rows)
        total += tail * _strip(sums, at, wide, stop - 1, stop, rows)
    return total


@compiled
def strip_differences(
    queries: Indices, base: int, regions: Indices, sums: Values, starts: Indices
) -> Values:
    """Return by how much strips beside the sides of a query differ from those it cuts.

    Along a side a query covers a share ``s`` of a strip of cells. The difference is the count
    of the strip before it, or after it, less its own count, times ``√(s (1 - s))``. A strip on
    the border of a region has the same one on both sides.

    Args:
        queries: Lattice edges, shape ``(m, 4)``.
        base: Squares of the base grid along an axis.
        regions: Shape ``(R, 6)``.
        sums: From ``prefix_sums``.
        starts: From ``prefix_sums``.

    Returns:
        Shape ``(m, 8)``: the west side with the strip before and after it, then the east,
        south and north side, each summed over all regions.
    """
    out = np.zeros((queries.shape[0], 8))
    blocks, near = _bounds_of_blocks(regions), np.empty(regions.shape[0], np.int64)
    for t in range(queries.shape[0]):
        x0, y0, x1, y1 = queries[t]
        for r in near[: _write_near(queries[t], base, blocks, regions, near)]:
            if r < 0:
                continue
            first_x, first_y, span, nx, ny, _ = regions[r]
            columns = _axis(x0, x1, base, first_x, span, nx)
            rows = _axis(y0, y1, base, first_y, span, ny)
            if columns[1] <= columns[0] or rows[1] <= rows[0]:
                continue
            for axis in range(2):
                low, high = queries[t, axis], queries[t, axis + 2]
                first, cells = regions[r, axis], regions[r, axis + 3]
                start, stop, head, tail = columns if axis == 0 else rows
                before = cells > 1 and _cuts(low, base, first, span, cells)
                # A cell that both sides are in is cut once.
                after = cells > 1 and _cuts(high, base, first, span, cells)
                after = after and not (before and stop - start == 1)
                for side, cut, cell, share in (
                    (0, before, start, head),
                    (1, after, stop - 1, tail),
                ):
                    if cut:
                        weight = np.sqrt(share * (1.0 - share))
                        here = _line(sums, starts[r], ny + 1, axis, cell, columns, rows)
                        for i in range(2):
                            beside = cell + 2 * i - 1
                            if not 0 <= beside < cells:
                                beside = 2 * cell - beside
                            there = _line(sums, starts[r], ny + 1, axis, beside, columns, rows)
                            out[t, 4 * axis + 2 * side + i] += weight * (there - here)
    return out


@compiled
def partial_range(queries: Indices, base: int, regions: Indices) -> tuple[Values, Values]:
    """Return the least and largest α of the cells that a query cuts.

    Along an axis only the first cell, any inner one (share 1) and the last can differ, so nine
    cells of a region have all shares that occur in it.

    Returns:
        Two arrays of shape ``(m,)``; 1 and 0 for a query that cuts no cell.
    """
    least, most = np.ones(queries.shape[0]), np.zeros(queries.shape[0])
    blocks, near = _bounds_of_blocks(regions), np.empty(regions.shape[0], np.int64)
    for t in range(queries.shape[0]):
        x0, y0, x1, y1 = queries[t]
        for r in near[: _write_near(queries[t], base, blocks, regions, near)]:
            if r < 0:
                continue
            first_x, first_y, span, nx, ny, _ = regions[r]
            start, stop, head, tail = _axis(x0, x1, base, first_x, span, nx)
            y_start, y_stop, y_head, y_tail = _axis(y0, y1, base, first_y, span, ny)
            if stop <= start or y_stop <= y_start:
                continue
            for a in (start, min(start + 1, stop - 1), stop - 1):
                for b in (y_start, min(y_start + 1, y_stop - 1), y_stop - 1):
                    share = _share(a, start, stop, head, tail) * _share(
                        b, y_start, y_stop, y_head, y_tail
                    )
                    if share < 1.0:
                        least[t], most[t] = min(least[t], share), max(most[t], share)
    return least, most


@compiled
def largest_loads(
    queries: Indices, weights: Values, base: int, regions: Indices, cells: int
) -> tuple[float, float, float]:
    """Return the two largest loads of cells, and the largest weight that cuts one cell.

    The load of cell ``i`` is ``∑_t w_t max(α_ti, 1 - α_ti)``, the weight ``∑_t w_t``, both over
    the queries that cut it, so that a query costs its boundary and not its area. The second
    load is 0 if there is one cell only.
    """
    # Side by side: a query's upper and lower edge visit one cell of each column of cells.
    sums = np.zeros((cells, 2))
    blocks, near = _bounds_of_blocks(regions), np.empty(regions.shape[0], np.int64)
    for t in range(queries.shape[0]):
        x0, y0, x1, y1 = queries[t]
        for r in near[: _write_near(queries[t], base, blocks, regions, near)]:
            if r < 0:
                continue
            first_x, first_y, span, nx, ny, offset = regions[r]
            start, stop, head, tail = _axis(x0, x1, base, first_x, span, nx)
            y_start, y_stop, y_head, y_tail = _axis(y0, y1, base, first_y, span, ny)
            if stop <= start or y_stop <= y_start:
                continue
            for a in range(start, stop):
                across = _share(a, start, stop, head, tail)
                whole = across == 1.0 and y_stop - y_start > 2
                # Inside the query only its first and last row can be cut.
                step = y_stop - 1 - y_start if whole else 1
                for b in range(y_start, y_stop, step):
                    share = across * _share(b, y_start, y_stop, y_head, y_tail)
                    if share < 1.0:
                        cell = offset + a * ny + b
                        sums[cell, 0] += weights[t] * max(share, 1.0 - share)
                        sums[cell, 1] += weights[t]
    load = sums[:, 0].copy()
    first = load.argmax()
    largest, load[first] = load[first], 0.0
    return largest, load.max(), sums[:, 1].max()
