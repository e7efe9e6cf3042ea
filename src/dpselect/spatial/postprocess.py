"""What may be done to released counts for free: no negative ones, one total for all."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dpselect.errors import ParameterError
from dpselect.spatial.coarse import SIZE
from dpselect.spatial.noise import standard_deviation
from dpselect.spatial.partition import Partition
from dpselect.typing import Indices, Values

if TYPE_CHECKING:
    from dpselect.spatial.histogram import SpatialHistogram


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


def consistent(histogram: SpatialHistogram) -> Values:
    r"""Return counts whose sums over blocks agree with both measurements.

    A block is what cells and coarse cells both fill: a coarse cell or a region where the
    grids are aligned, else the whole box. With variances :math:`v, v'` of the two sums the
    least squares solution moves the cells' sum to
    :math:`(v' \sum c + v \sum c') / (v + v')`, by the same amount for each cell.
    """
    if histogram.coarse is None:
        raise ParameterError(
            "nothing was chosen, so there is no second measurement to agree with"
        )
    if histogram.processing:
        raise ParameterError("make counts consistent first, before any other processing")
    block, coarse_block = blocks(histogram.partition)
    coarse = histogram.coarse
    cells, sums = np.bincount(block), np.bincount(block, histogram.counts)
    variance = cells * standard_deviation(histogram.scale) ** 2
    others = np.bincount(coarse_block) * standard_deviation(coarse.scale) ** 2
    difference = np.bincount(coarse_block, coarse.counts) - sums
    shift = difference * variance / (variance + others) / cells
    return histogram.counts + shift[block]


def blocks(partition: Partition) -> tuple[Indices, Indices]:
    """Return the block of every cell and of every coarse cell."""
    if partition.shape is None:
        return _nested_blocks(partition)
    nx, ny = partition.shape
    if nx % SIZE or ny % SIZE:
        return np.zeros(partition.cells, np.int64), np.zeros(SIZE**2, np.int64)
    x, y = np.arange(nx) * SIZE // nx, np.arange(ny) * SIZE // ny
    return (x[:, None] * SIZE + y).ravel(), np.arange(SIZE**2)


def _nested_blocks(partition: Partition) -> tuple[Indices, Indices]:
    """Return the blocks where regions and coarse cells fill each other, one way or other."""
    first_x, first_y, span, nx, ny, _ = partition.regions.T
    many, base = len(partition.regions), partition.base
    wide = span * SIZE >= base
    within = first_x * SIZE // base * SIZE + first_y * SIZE // base
    of_region = np.where(wide, np.arange(many), many + within)
    x, y = np.divmod(np.arange(SIZE**2), SIZE)
    label = partition.labels()[x * base // SIZE, y * base // SIZE]
    of_coarse = np.where(wide[label], label, many + np.arange(SIZE**2))
    _, block = np.unique(
        np.concatenate([np.repeat(of_region, nx * ny), of_coarse]), return_inverse=True
    )
    return block[: partition.cells], block[partition.cells :]
