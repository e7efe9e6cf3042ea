r"""Error of uniform cells, estimated from released counts.

A query that covers a share :math:`\alpha` of a cell is answered as if the cell's :math:`c`
points were spread evenly. Let the number that lie in the query have mean :math:`\alpha c` and
variance :math:`\rho c^2 \alpha (1 - \alpha)`, as for a Dirichlet process; :math:`\rho` is 0
for points spread evenly and 1 where all lie at one place.

Four equal cells that make up a square show by how much points differ from an even spread one
scale up, where :math:`\alpha = 1/4`. With noise of variance :math:`\sigma^2` in each count,
:math:`\sum_j (c_j - C/4)^2 - 3\sigma^2` estimates :math:`\tfrac34 \rho C^2`, and
:math:`C^2 - 4\sigma^2` estimates the square of the exact :math:`C`. The quotient of their sums
over all such squares estimates one :math:`\rho` for the map. It reads released numbers only,
so it costs no epsilon.

Source: ours. ``benchmarks/spatial_errors.py`` measures how often errors are within the bounds
that follow.
"""

from __future__ import annotations

import numpy as np

from dpselect.spatial.counting import standard_deviation
from dpselect.spatial.partition import Partition
from dpselect.typing import Indices, Values


def unevenness(partition: Partition, counts: Values, scale: float) -> float:
    r"""Return :math:`\rho`, 0 to 1; 1 where the counts do not tell.

    Args:
        partition: The cells.
        counts: Noisy counts, shape ``(cells,)``, without post-processing.
        scale: Of their noise.
    """
    from dpselect.spatial import kernels

    sums = np.array(kernels.squares_of_four(counts, partition.regions))
    sums += _squares_of_single_cells(partition.regions, counts)
    many, squared_totals, squares = sums
    variance = standard_deviation(scale) ** 2
    within = squares - squared_totals / 4 - 3 * many * variance
    whole = 0.75 * (squared_totals - 4 * many * variance)
    return float(np.clip(within / whole, 0, 1)) if whole > 0 else 1.0


def _squares_of_single_cells(regions: Indices, counts: Values) -> Values:
    """Return the same sums for four regions of one cell each."""
    single = regions[(regions[:, 3:5] == 1).all(axis=1)]
    side = single[:, 2:3]
    _, square, members = np.unique(
        np.hstack([side, single[:, :2] // (2 * side)]),
        axis=0,
        return_inverse=True,
        return_counts=True,
    )
    values, whole = counts[single[:, 5]], members == 4
    totals, squares = np.bincount(square, values), np.bincount(square, values**2)
    return np.array([whole.sum(), (totals[whole] ** 2).sum(), squares[whole].sum()])


def spread_of_parts(counts: Values, rho: float, scale: float) -> Values:
    r"""Return the variance of the points in a part of each cell, over :math:`\alpha(1-\alpha)`.

    That of points placed independently is the count itself, and the least. Shape ``(cells,)``,
    squared points.

    Args:
        counts: Noisy counts, shape ``(cells,)``.
        rho: The unevenness.
        scale: Of the noise.
    """
    exact = np.maximum(counts**2 - standard_deviation(scale) ** 2, 0)
    return np.maximum(rho * exact, np.maximum(counts, 0))
