"""Points in cells and in rectangles: what is counted, and how a grid answers a query."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpselect.errors import DataError, ParameterError
from dpselect.spatial.box import Box, Positions
from dpselect.spatial.partition import Partition
from dpselect.typing import Indices, Values

MOST_RECORDS = 2**31
"""Up to here the rounding that sensitivities allow for covers every count."""

EDGES_AT_ONCE = 2048
"""Edges along an axis of one table of exact counts: 32 MiB."""


class Counts(Protocol):
    """Whatever holds the points, and counts them."""

    def in_cells(self, partition: Partition) -> Values:
        """Return how many points each cell holds, shape ``(cells,)``."""

    def in_rectangles(self, queries: Indices) -> Values:
        """Return how many points each rectangle of lattice edges holds, shape ``(m,)``."""


@dataclass(frozen=True, eq=False, repr=False)
class Points:
    """Points in memory, as positions on the lattice; private.

    Attributes:
        x: Shape ``(n,)``.
        y: Shape ``(n,)``.

    Raises:
        DataError: There are more than ``MOST_RECORDS`` rows, a number that is public only
            in that no table in memory has so many.
    """

    x: Positions
    y: Positions

    def __post_init__(self) -> None:
        if self.x.size > MOST_RECORDS:
            raise DataError(f"points must be at most {MOST_RECORDS:,}")

    def in_cells(self, partition: Partition) -> Values:
        from dpselect.spatial import kernels

        if partition.shape is not None:
            counts = kernels.count_uniform(self.x, self.y, *partition.shape)
        else:
            counts = kernels.count_regions(
                self.x,
                self.y,
                partition.base,
                partition.labels(),
                partition.regions,
                partition.cells,
            )
        return counts.astype(np.float64)

    def in_rectangles(self, queries: Indices) -> Values:
        # The table of all edges grows with the square of the queries, so they go in blocks.
        block = EDGES_AT_ONCE // 2
        parts = [
            self._in_block(queries[first : first + block])
            for first in range(0, len(queries), block)
        ]
        return np.concatenate(parts)

    def _in_block(self, queries: Indices) -> Values:
        from dpselect.spatial import kernels

        x_edges, y_edges = np.unique(queries[:, ::2]), np.unique(queries[:, 1::2])
        below = kernels.count_irregular(self.x, self.y, x_edges, y_edges, 16)
        x0, y0, x1, y1 = (
            np.searchsorted(edges, queries[:, column])
            for column, edges in enumerate((x_edges, y_edges, x_edges, y_edges))
        )
        return below[x1, y1] - below[x0, y1] - below[x1, y0] + below[x0, y0]


class Answers:
    r"""How a partition with counts answers rectangles: :math:`\sum_i \alpha_i c_i`.

    :math:`\alpha_i` is the share of cell :math:`i` that the query covers. Prefix sums are
    made once; a query then costs a few look-ups for each region, whatever its size.

    Args:
        partition: The cells.
        counts: Shape ``(cells,)``; exact or noisy.
    """

    def __init__(self, partition: Partition, counts: Values) -> None:
        self.partition = partition
        self._counts = counts

    @cached_property
    def _prefix(self) -> tuple[Values, Indices]:
        from dpselect.spatial import kernels

        return kernels.prefix_sums(self._counts, self.partition.regions)

    def of(self, queries: Indices) -> Values:
        """Return the answers, shape ``(m,)``; as private as the counts."""
        from dpselect.spatial import kernels

        return kernels.answers(
            queries, self.partition.base, self.partition.regions, *self._prefix
        )


def rectangles(box: Box, values: ArrayLike) -> Indices:
    """Return rectangles as lattice edges, shape ``(m, 4)``.

    Args:
        box: The box that they must lie in.
        values: Shape ``(m, 4)`` or ``(4,)``: ``(west, south, east, north)`` of each,
            coordinate units, half-open like cells.

    Raises:
        ParameterError: There is none, or one is not finite, swapped, thinner than the
            lattice, or leaves the box.
    """
    try:
        table = np.atleast_2d(np.asarray(values, dtype=np.float64))
    except (TypeError, ValueError):
        table = np.empty(0)
    if table.ndim != 2 or table.shape[1] != 4 or len(table) == 0:
        raise ParameterError(
            "queries must be at least one rectangle, each (west, south, east, north)"
        )
    west, south, east, north = table.T
    _refuse(np.any(~np.isfinite(table), axis=1), "must be finite numbers")
    _refuse((west >= east) | (south >= north), "must go from a lower to a higher number")
    outside = (west < box.west) | (south < box.south) | (east > box.east) | (north > box.north)
    _refuse(outside, f"must lie inside the bounds {box.bounds}; cut them to these")
    edges = np.column_stack(
        [box.edges(column, axis % 2) for axis, column in enumerate((west, south, east, north))]
    )
    thin = (edges[:, 0] >= edges[:, 2]) | (edges[:, 1] >= edges[:, 3])
    _refuse(thin, "must be wider than 2**-32 of the box")
    return edges


def _refuse(wrong: NDArray[np.bool], what: str) -> None:
    if wrong.any():
        raise ParameterError(
            f"queries {what}; the first that is not is number {wrong.argmax()}"
        )
