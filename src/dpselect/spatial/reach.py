r"""How far one point can move the answers of a grid.

A point in cell :math:`i` adds :math:`\alpha_{ti}` to the grid's answer to query :math:`t`,
and 1 to the exact one if it lies in the query. So it moves their difference :math:`g_t` by

.. math:: c_t = \alpha_{ti} - [\text{in the query}],

which is 0 unless the query cuts the cell. Everything here is a function of queries and cells,
hence public.

Source: ours. Lemma 7.4 of Fanaeepour and Rubinstein has :math:`|1 - \alpha_i|` alone, which a
point outside the query, but in its cell, exceeds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpselect.spatial.partition import Partition
from dpselect.typing import Indices, Values


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Reach:
    r"""What one point can change for each of ``m`` queries, on one partition.

    Attributes:
        partition: The cells.
        queries: Lattice edges, shape ``(m, 4)``.
        largest: :math:`\kappa_t = \max |c_t|`, shape ``(m,)``, 0 to 1; 0 for a query that cuts
            no cell.
        spread: :math:`S_t = \max c_t - \min c_t`, shape ``(m,)``, 0 to 2: what a point that
            moves can change.
        l1: :math:`\|\alpha_t\|_1`, shape ``(m,)``.
        l2: :math:`\|\alpha_t\|_2`, shape ``(m,)``.
    """

    partition: Partition
    queries: Indices
    largest: Values
    spread: Values
    l1: Values
    l2: Values

    @classmethod
    def of(cls, partition: Partition, queries: Indices) -> Reach:
        """Return the reach of a point on a partition; O(m) for a uniform grid."""
        from dpselect.spatial import kernels

        least, most = kernels.partial_range(queries, partition.base, partition.regions)
        cut = most > 0
        l1, squares = kernels.norms(queries, partition.base, partition.regions)
        return cls(
            partition,
            queries,
            largest=np.where(cut, np.maximum(most, 1 - least), 0.0),
            spread=np.where(cut, most + 1 - least, 0.0),
            l1=l1,
            l2=np.sqrt(squares),
        )

    def load(self, weights: Values) -> float:
        r"""Return a bound on :math:`\sum_t w_t |c_t|` for one point.

        The largest, over the cells, of the sum over the queries that cut the cell of
        :math:`w_t \max(\alpha_{ti}, 1 - \alpha_{ti})`: exact where every cell is cut by at
        most one query, and far below :math:`\sum_t w_t` when queries are many and local.
        """
        from dpselect.spatial import kernels

        part = self.partition
        return float(
            kernels.largest_load(self.queries, weights, part.base, part.regions, part.cells)
        )
