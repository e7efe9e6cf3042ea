"""Post-processing of released counts: non-negativity, and consistency with the coarse grid.

It reads released numbers only, so it costs no epsilon.
"""

from __future__ import annotations

import numpy as np

from dpselect.spatial.counting import standard_deviation
from dpselect.spatial.partition import Partition
from dpselect.spatial.rules import COARSE, CoarseGrid
from dpselect.typing import Indices, Values


def nonnegative(counts: Values) -> Values:
    r"""Return :math:`\max(c - \tau, 0)` with :math:`\tau` such that the total is kept.

    That is the Euclidean projection onto the counts >= 0 of that total; all zeros if the
    total is not positive. O(n log n).

    Source: Held, Wolfe and Crowder 1974.
    """
    total = counts.sum()
    if total <= 0:
        return np.zeros_like(counts)
    ordered = np.sort(counts)[::-1]
    thresholds = (np.cumsum(ordered) - total) / np.arange(1, counts.size + 1)
    last = np.flatnonzero(ordered > thresholds)[-1]
    return np.maximum(counts - thresholds[last], 0.0)


def consistent(
    partition: Partition, counts: Values, *, scale: float, coarse: CoarseGrid
) -> Values:
    r"""Return counts whose sums over blocks agree with both measurements.

    A block is the smallest area that is a union of cells and of coarse cells: a coarse cell or
    a region where the grids are aligned, else the whole box. With variances :math:`v, v'` of
    the two sums the least squares solution moves the cells' sum to
    :math:`(v' \sum c + v \sum c') / (v + v')`, by the same amount for each cell.

    Args:
        partition: The cells.
        counts: Noisy counts of the cells, shape ``(cells,)``, without other post-processing.
        scale: Of their noise.
        coarse: The other measurement.
    """
    block, coarse_block = blocks(partition)
    cells, sums = np.bincount(block), np.bincount(block, counts)
    variance = cells * standard_deviation(scale) ** 2
    others = np.bincount(coarse_block) * standard_deviation(coarse.scale) ** 2
    difference = np.bincount(coarse_block, coarse.counts) - sums
    shift = difference * variance / (variance + others) / cells
    return counts + shift[block]


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
