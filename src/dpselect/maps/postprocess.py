"""Post-processing of released counts: non-negative, consistent, and how uniform they are.

It reads released numbers only, so it costs no epsilon.
"""

import numpy as np

from dpselect.maps.partition import COARSE, CoarseGrid, Partition, standard_deviation
from dpselect.typing import Indices, Values

LEAST = 1e-60
"""Standard deviation that stands for one of 0."""


def nonnegative(partition: Partition, counts: Values) -> Values:
    """Return counts >= 0 with the same total, fitted from the whole box down.

    The count of a square is passed on to its four quarters: these are moved, by least squares
    weighted by their numbers of cells, to counts >= 0 that sum to it. So what noise takes
    away from a few dense cells is not spread over all the empty ones, and sums over large
    areas hardly move. All zeros if the total is not positive. O(n log n).

    A cell belongs to the quarter that its centre lies in. The fit of one square is
    ``max(c_i - τ n_i, 0)`` for the τ that keeps the sum (Held, Wolfe and Crowder 1974), where
    negative ones are left out until none is left (Michelot 1986).

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
    """Return counts whose sums over blocks agree with both measurements.

    A block is a union of cells and of coarse cells: a coarse cell or a region where the grids
    are aligned, else the whole box. With variances ``v, v'`` of the
    two sums the least squares solution moves the cells' sum to
    ``(v' ∑ c + v ∑ c') / (v + v')``, by the same amount for each cell. The same mean of the two
    totals is then kept, by moving the blocks in proportion to the variances ``v v'/(v + v')``
    that are left: a block whose coarse count came out too large is cut into more cells, so that
    the means of the blocks alone add up to too much.

    Args:
        partition: The cells.
        counts: Noisy counts of the cells, shape ``(cells,)``, without other post-processing.
        scale: Their noise scale.
        coarse: The other measurement.
    """
    block, coarse_block = blocks(partition)
    cells, sums = np.bincount(block), np.bincount(block, counts)
    others = np.bincount(coarse_block, coarse.counts)
    deviations = standard_deviation(scale), coarse.standard_deviation
    # At a large epsilon both are 0, and their quotients are no numbers.
    own, other = (max(one, LEAST) ** 2 for one in deviations)
    variance, of_others = cells * own, np.bincount(coarse_block) * other
    shift = (others - sums) * variance / (variance + of_others)
    of_total = (others - sums).sum() * variance.sum() / (variance + of_others).sum()
    left = variance * of_others / (variance + of_others)
    shift += (of_total - shift.sum()) * left / left.sum()
    return counts + (shift / cells)[block]


def blocks(partition: Partition) -> tuple[Indices, Indices]:
    """Return the block of every cell and of every coarse cell.

    A coarse cell is a block unless a cell of the region there crosses its edge; then the region
    is one.
    """
    cells = np.arange(partition.cells)
    corners, region = partition.corners(cells), partition.regions_of(cells)
    first_x, first_y = (places * COARSE // parts for places, parts in corners[:2])
    last_x, last_y = (-(-places * COARSE // parts) - 1 for places, parts in corners[2:])
    many = len(partition.regions)
    wide = np.bincount(region, (first_x != last_x) | (first_y != last_y), many) > 0
    of_cell = np.where(wide[region], region, many + first_x * COARSE + first_y)
    x, y = (one * partition.base // COARSE for one in np.divmod(np.arange(COARSE**2), COARSE))
    label = partition.labels()[x, y]
    of_coarse = np.where(wide[label], label, many + np.arange(COARSE**2))
    number = np.cumsum(np.bincount(np.concatenate([of_cell, of_coarse])) > 0) - 1
    return number[of_cell], number[of_coarse]


def non_uniformity(partition: Partition, counts: Values, scale: float) -> float:
    """Return how unevenly points lie in cells, ρ, 0 to 1; 1 where it is unknown.

    A query that covers a share α of a cell is answered as if the cell's ``c`` points were
    spread evenly. Let the number that lie in the query have mean ``α c`` and variance
    ``ρ c^2 α (1 - α)``, as for a Dirichlet process; ρ is 0 for points spread evenly and 1 where
    all lie at one place.

    Four equal cells that make up a square show by how much points differ from an even spread
    one scale up, where ``α = 1/4``. With noise of variance ``σ^2`` in each count,
    ``∑_j (c_j - C/4)^2 - 3σ^2`` estimates ``(3/4) ρ C^2``, and ``C^2 - 4σ^2`` estimates the
    square of the exact ``C``. The quotient of their sums over all such squares estimates one ρ
    for the map.

    Source: ours. ``benchmarks/maps_errors.py`` measures how often errors are within the bounds
    that follow.

    Args:
        partition: The cells.
        counts: Noisy counts, shape ``(cells,)``, without post-processing.
        scale: Their noise scale.
    """
    sums = _of_single_cells(partition.regions, counts)
    for table in partition.tables(counts):
        x, y = np.array(table.shape) // 2
        paired = table[: 2 * x, : 2 * y]
        sums += _of_fours(paired.reshape(x, 2, y, 2).sum(axis=(1, 3)), paired)
    many, squared_totals, squares = sums
    variance = standard_deviation(scale) ** 2
    within = squares - squared_totals / 4 - 3 * many * variance
    whole = 0.75 * (squared_totals - 4 * many * variance)
    return float(np.clip(within / whole, 0, 1)) if whole > 0 else 1.0


def _of_fours(totals: Values, cells: Values) -> Values:
    """Return the number of squares, and the sums of squares of their totals and cells."""
    return np.array([totals.size, (totals**2).sum(), (cells**2).sum()])


def _of_single_cells(regions: Indices, counts: Values) -> Values:
    """Return the same of four regions of one cell each."""
    single = regions[(regions[:, 3:5] == 1).all(axis=1)]
    side = single[:, 2:3]
    _, square, members = np.unique(
        np.hstack([side, single[:, :2] // (2 * side)]),
        axis=0,
        return_inverse=True,
        return_counts=True,
    )
    values, whole = counts[single[:, 5]], members == 4
    return _of_fours(np.bincount(square, values)[whole], values[whole[square]])


def spread_of_parts(counts: Values, rho: float, scale: float) -> Values:
    """Return the variance of the points in a part of each cell, over ``α(1-α)``.

    That of points placed independently is the count itself, and the least. The square of the
    exact count is by the variance of the noise larger than that of the count, on average over
    what it can be. Shape ``(cells,)``, squared points. What cells have in common is in
    ``estimates``.

    Args:
        counts: Noisy counts, shape ``(cells,)``.
        rho: The non-uniformity.
        scale: Noise scale.
    """
    squares = counts**2 + standard_deviation(scale) ** 2
    return np.maximum(rho * squares, counts)
