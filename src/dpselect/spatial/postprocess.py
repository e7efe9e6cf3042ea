"""Post-processing of released counts: non-negativity, and consistency with the coarse grid.

It reads released numbers only, so it costs no epsilon.
"""

from __future__ import annotations

import numpy as np

from dpselect.spatial.counting import standard_deviation
from dpselect.spatial.partition import Partition
from dpselect.spatial.rules import COARSE, CoarseGrid
from dpselect.typing import Indices, Values


def nonnegative(partition: Partition, counts: Values) -> Values:
    r"""Return counts >= 0 with the same total, fitted from the whole box down.

    The count of a square is passed on to its four quarters: these are moved, by least squares
    weighted by their numbers of cells, to counts >= 0 that sum to it. So what noise takes
    away from a few dense cells is not spread over all the empty ones, and sums over large
    areas hardly move. All zeros if the total is not positive. O(n log n).

    A cell belongs to the quarter that its centre lies in. The fit of one square is
    :math:`\max(c_i - \tau n_i, 0)` for the :math:`\tau` that keeps the sum (Held, Wolfe and
    Crowder 1974), where negative ones are left out until none is left (Michelot 1986).

    Args:
        partition: The cells.
        counts: Shape ``(cells,)``.
    """
    code, depth = _quarters(partition)
    order = np.argsort(code, kind="stable")
    code, ordered = code[order], counts[order]
    sums = np.maximum(ordered.sum(keepdims=True), 0.0)
    for level in range(1, depth + 1):
        quarter = code >> 2 * (depth - level)
        first = np.flatnonzero(np.diff(quarter, prepend=-1))
        parent = np.cumsum(np.diff(quarter[first] >> 2, prepend=-1) > 0) - 1
        cells = np.diff(first, append=code.size)
        sums = _fitted(np.add.reduceat(ordered, first), cells, parent, sums)
    fitted = np.empty_like(counts)
    fitted[order] = sums
    return fitted


def _quarters(partition: Partition) -> tuple[Indices, int]:
    """Return for each cell the quarters that its centre lies in, two bits a level."""
    x0, y0, x1, y1 = partition.rectangles().T
    depth = int(np.ceil(-np.log2(min((x1 - x0).min(), (y1 - y0).min()))))
    code = np.zeros(partition.cells, np.int64)
    for axis, centre in enumerate(((x0 + x1) / 2, (y0 + y1) / 2)):
        position = (centre * 2**depth).astype(np.int64)
        for level in range(depth):
            code |= (position >> level & 1) << (2 * level + axis)
    return code, depth


def _fitted(counts: Values, cells: Indices, parent: Indices, totals: Values) -> Values:
    """Return counts >= 0 nearest to those given, with the given total of each parent."""
    kept = np.ones(counts.size, dtype=bool)
    while True:
        sums, weights = (
            np.bincount(parent[kept], values[kept], totals.size) for values in (counts, cells)
        )
        excess = np.divide(sums - totals, weights, out=np.zeros_like(totals), where=weights > 0)
        fitted = np.where(kept, counts - excess[parent] * cells, 0.0)
        if (fitted >= 0).all():
            return fitted
        kept &= fitted > 0


def consistent(
    partition: Partition, counts: Values, *, scale: float, coarse: CoarseGrid
) -> Values:
    r"""Return counts whose sums over blocks agree with both measurements.

    A block is the smallest area that is a union of cells and of coarse cells: a coarse cell or
    a region where the grids are aligned, else the whole box. With variances :math:`v, v'` of
    the two sums the least squares solution moves the cells' sum to
    :math:`(v' \sum c + v \sum c') / (v + v')`, by the same amount for each cell. The same mean
    of the two totals is then kept, by moving the blocks in proportion to the variances
    :math:`v v'/(v + v')` that are left: a block whose coarse count came out too large is cut
    into more cells, so that the means of the blocks alone add up to too much.

    Args:
        partition: The cells.
        counts: Noisy counts of the cells, shape ``(cells,)``, without other post-processing.
        scale: Of their noise.
        coarse: The other measurement.
    """
    block, coarse_block = blocks(partition)
    cells, sums = np.bincount(block), np.bincount(block, counts)
    others = np.bincount(coarse_block, coarse.counts)
    variance = cells * standard_deviation(scale) ** 2
    of_others = np.bincount(coarse_block) * standard_deviation(coarse.scale) ** 2
    shift = (others - sums) * variance / (variance + of_others)
    of_total = (others - sums).sum() * variance.sum() / (variance + of_others).sum()
    left = variance * of_others / (variance + of_others)
    shift += (of_total - shift.sum()) * left / left.sum()
    return counts + (shift / cells)[block]


def blocks(partition: Partition) -> tuple[Indices, Indices]:
    """Return the block of every cell and of every coarse cell."""
    if partition.shape is None:
        return _nested_blocks(partition)
    nx, ny = partition.shape
    if nx % COARSE or ny % COARSE:
        return np.zeros(partition.cells, np.int64), np.zeros(COARSE**2, np.int64)
    x, y = np.arange(nx) * COARSE // nx, np.arange(ny) * COARSE // ny
    return (x[:, None] * COARSE + y).ravel(), np.arange(COARSE**2)


def _nested_blocks(partition: Partition) -> tuple[Indices, Indices]:
    """Return the blocks where each region is in a coarse cell or made of coarse cells."""
    first_x, first_y, span, nx, ny, _ = partition.regions.T
    many, base = len(partition.regions), partition.base
    wide = span * COARSE >= base
    within = first_x * COARSE // base * COARSE + first_y * COARSE // base
    of_region = np.where(wide, np.arange(many), many + within)
    x, y = np.divmod(np.arange(COARSE**2), COARSE)
    label = partition.labels()[x * base // COARSE, y * base // COARSE]
    of_coarse = np.where(wide[label], label, many + np.arange(COARSE**2))
    _, block = np.unique(
        np.concatenate([np.repeat(of_region, nx * ny), of_coarse]), return_inverse=True
    )
    return block[: partition.cells], block[partition.cells :]
