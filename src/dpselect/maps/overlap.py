"""Overlap of cells with queries: answers, and what one point can change of them.

``α_ti`` is the share of cell ``i`` that query ``t`` covers. A partition with counts ``c``
answers ``∑_i α_ti c_i``. A point in cell ``i`` adds ``α_ti`` to this answer, and 1 to the exact
one if it lies in the query. So it moves their difference ``g_t`` by

    a_t = α_ti - [in the query],

which is 0 unless the query cuts the cell.

Along an axis of a region a query covers a share of the first cell that it meets, whole cells,
and a share of the last one. So the cells that it meets are nine blocks of one share each, and
sums over cells are sums over blocks, whatever the size of a query.

Source: ours. Lemma 7.4 of Fanaeepour and Rubinstein has ``|1 - α_i|`` alone, which a point
outside the query, but in its cell, exceeds.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from dpselect.maps.box import POSITIONS, blocks_of
from dpselect.maps.partition import Partition, tables_of
from dpselect.typing import Indices, Values


class Strips(NamedTuple):
    """The strips of cells of each region along an axis that queries cover, or a part of."""

    ends: Indices
    """Columns or rows of cells at which strips begin and end, shape ``(m, 4, R)``."""

    shares: Values
    """The share that a query covers of the cells of a strip, shape ``(m, 3, R)``."""

    lower: NDArray[np.bool]
    """Whether the lower edge of a query cuts the first strip, shape ``(m, R)``."""


def along_axis(partition: Partition, axis: int, low: Indices, high: Indices) -> Strips:
    """Return the strips of cells of each region along an axis, and the shares of their cells.

    In units of the cells of a region that starts at square ``i``, spans ``k`` of ``b`` squares
    and is cut into ``s``, a position ``X`` lies at ``(X b - i 2^32) s / (k 2^32)``: a quotient
    of integers, so that nothing but a share is rounded.

    Args:
        partition: The cells.
        axis: 0 or 1.
        low: Lower edges, shape ``(m,)``; positions of the lattice.
        high: Upper edges.
    """
    first, span, many = partition.regions[:, [axis, 2, 3 + axis]].T
    width = span * POSITIONS
    start, end = (
        np.clip((edge[:, None] * partition.base - first * POSITIONS) * many, 0, width * many)
        for edge in (low, high)
    )
    met = start // width
    beyond = np.maximum(-(-end // width), met)
    inner = np.minimum(met + 1, beyond)
    last = np.maximum(inner, beyond - 1)
    of_first = (np.minimum(end, (met + 1) * width) - start) / width
    of_last = (end - (beyond - 1) * width) / width
    shares = np.stack([of_first, np.ones(met.shape), of_last], axis=1)
    return Strips(np.stack([met, inner, last, beyond], axis=1), shares, start > met * width)


class Blocks:
    """The blocks of cells that queries cover, or a part of, in each of ``P`` pairs that meet.

    Args:
        partition: The cells.
        queries: Lattice edges, shape ``(m, 4)``.

    Attributes:
        query: The query of each pair, shape ``(P,)``, ascending.
        region: The region of each, likewise.
        ends: Columns and rows of cells at which blocks begin and end, each ``(P, 4)``.
        along: The shares along x and y that a query covers of the cells, each ``(P, 3)``.
        lower: Whether a lower edge of the query cuts the first cells along x and y, ``(P,)``.
        shares: The share that a query covers of each cell of a block, ``(P, 3, 3)``.
        cells: The number of cells of each block, ``(P, 3, 3)``.
        cut: Whether a query covers a part of each cell of a block, ``(P, 3, 3)``.
    """

    def __init__(self, partition: Partition, queries: Indices) -> None:
        axes = [
            along_axis(partition, axis, queries[:, axis], queries[:, axis + 2])
            for axis in (0, 1)
        ]
        met = [one.ends[:, 3] > one.ends[:, 0] for one in axes]
        self.query, self.region = pair = np.nonzero(met[0] & met[1])
        self._shape = met[0].shape
        self.ends = [one.ends[self.query, :, self.region] for one in axes]
        self.along = [one.shares[self.query, :, self.region] for one in axes]
        self.lower = [one.lower[pair] for one in axes]
        self.shares = products(self.along)
        self.cells = products([np.diff(one, axis=1) for one in self.ends])
        self.cut = (self.cells > 0) & (self.shares < 1)

    def sums(self, values: Values) -> Values:
        """Return the sums of numbers of blocks, shape ``(P, 3, 3)``, for each query.

        Numpy adds what is side by side by pairs, so few roundings follow each other.
        """
        table = np.zeros(self._shape)
        table[self.query, self.region] = values.sum(axis=(1, 2))
        return np.asarray(table.sum(axis=1))

    def largest(self, values: Values) -> Values:
        """Return the largest numbers of blocks for each query, at least 0."""
        most = np.zeros(self._shape[0])
        np.maximum.at(most, self.query, values.max(axis=(1, 2)))
        return most


def products(along: Sequence[Any]) -> Any:  # noqa: ANN401 -- integers or floats
    """Return the products of what blocks have along x and along y, shape ``(P, 3, 3)``."""
    return along[0][:, :, None] * along[1][:, None]


class Corners:
    """Numbers at the corners of cells, those of each region after each other.

    Args:
        partition: The cells.
    """

    def __init__(self, partition: Partition) -> None:
        self.shapes = partition.regions[:, 3:5] + 1
        many = self.shapes.prod(axis=1)
        self.ends = np.cumsum(many)
        self.starts = self.ends - many

    def at(self, x: Indices, y: Indices, region: Indices) -> Indices:
        """Return the places of corners by their columns, rows and regions."""
        return self.starts[region] + x * self.shapes[region, 1] + y

    def tables(self, numbers: Values) -> list[Values]:
        """Return the numbers of each region by column and row, as views."""
        return tables_of(numbers, self.shapes)

    def summed(self, numbers: Values) -> Values:
        """Return for each corner the sum of its region up to its column and row, in place."""
        for table in self.tables(numbers):
            table.cumsum(axis=0, out=table).cumsum(axis=1, out=table)
        return numbers


class CountedCells:
    """A partition with a count in each cell, and its answers ``∑_i α_i c_i``.

    Args:
        partition: The cells.
        counts: Shape ``(cells,)``; exact or noisy.
    """

    def __init__(self, partition: Partition, counts: Values) -> None:
        self.partition = partition
        self.counts = counts
        self._corners = Corners(partition)

    @cached_property
    def _sums(self) -> Values:
        """The points in the columns and rows before each corner."""
        sums = np.zeros(self._corners.ends[-1])
        tables = self._corners.tables(sums), self.partition.tables(self.counts)
        for corners, cells in zip(*tables, strict=True):
            corners[1:, 1:] = cells
        return self._corners.summed(sums)

    def answers(self, queries: Indices) -> Values:
        """Return the answers to lattice rectangles, ``(m,)``; as private as the counts.

        Of counts that are integers the sums of blocks are exact. With counts >= 0 fewer than
        64 roundings follow, each relative to the answer, as numpy adds blocks by pairs.
        """
        return np.concatenate([self._answers(some) for some in blocks_of(queries)])

    def _answers(self, queries: Indices) -> Values:
        blocks = Blocks(self.partition, queries)
        return blocks.sums(blocks.shares * self.held(blocks))

    def held(self, blocks: Blocks) -> Values:
        """Return the counts of all cells of each block, shape ``(P, 3, 3)``."""
        x, y = blocks.ends
        sums = self._sums[
            self._corners.at(x[:, :, None], y[:, None], blocks.region[:, None, None])
        ]
        return np.diff(np.diff(sums, axis=1), axis=2)

    def raster(self, x: Indices, y: Indices) -> Values:
        """Return the answers to all rectangles between edges of the lattice.

        Args:
            x: Ascending, shape ``(a + 1,)``.
            y: Ascending, shape ``(b + 1,)``.

        Returns:
            Shape ``(a, b)``.
        """
        found = np.zeros((x.size - 1, y.size - 1))
        (x, across, _), (y, along, _) = (
            along_axis(self.partition, axis, edges[:-1], edges[1:])
            for axis, edges in enumerate((x, y))
        )
        for r, table in enumerate(self._corners.tables(self._sums)):
            a, b = (np.flatnonzero(one[:, 3, r] > one[:, 0, r]) for one in (x, y))
            held = table[x[a, :, r][:, :, None, None], y[b, :, r]]
            sums = np.diff(np.diff(held, axis=1), axis=3)
            found[np.ix_(a, b)] += np.einsum(
                "ai,bj,aibj->ab", across[a, :, r], along[b, :, r], sums
            )
        return found


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Overlap:
    """Norms of the overlaps of ``m`` queries, and bounds on the change by one point; public.

    Attributes:
        partition: The cells.
        queries: Lattice edges, shape ``(m, 4)``.
        largest: ``κ_t = max |a_t|``, shape ``(m,)``, 0 to 1; 0 for a query that cuts no cell.
        spread: ``S_t = max a_t - min a_t``, shape ``(m,)``, 0 to 2: the largest change by a
            point that moves.
        l2: ``‖α_t‖_2``, shape ``(m,)``.
        l1: ``‖α_t‖_1``, shape ``(m,)``.
    """

    partition: Partition
    queries: Indices
    largest: Values
    spread: Values
    l2: Values
    l1: Values

    @classmethod
    def of(cls, partition: Partition, queries: Indices) -> Self:
        """Compute it, in ``O(m R)`` of ``R`` regions."""
        norms = [_norms(Blocks(partition, some)) for some in blocks_of(queries)]
        return cls(partition, queries, *np.concatenate(norms, axis=1))

    def added(self, weights: Values) -> float:
        """Return a bound on ``∑_t w_t |a_t|`` for one point more or less.

        The largest load of a cell, which is the sum over the queries that cut it of
        ``w_t max(α_ti, 1 - α_ti)``: exact where every cell is cut by at most one query, and far
        below ``∑_t w_t`` when queries are many and local.
        """
        return self._loads(weights)[0]

    def moved(self, weights: Values) -> float:
        """Return a bound on ``∑_t w_t |a_t - a'_t|`` for one point that moves.

        Inside a cell each ``a_t`` of a query that cuts it moves by at most 1; from one cell to
        another the sum moves by at most both loads. Neither is more than ``∑_t w_t S_t``, nor
        than twice ``added``. Exact where every query cuts one cell and every cell is cut by at
        most one query.
        """
        first, second, inside = self._loads(weights)
        return min(max(first + second, inside), float(weights @ self.spread))

    def _loads(self, weights: Values) -> tuple[float, float, float]:
        """Return the two largest loads of cells, and the largest weight that cuts one cell.

        A block adds to the sums from its first corner on, and takes it away beyond its last
        ones. The second load is 0 if there is one cell only.
        """
        corners = Corners(self.partition)
        loads, cut = np.zeros((2, corners.ends[-1]))
        for some, weight in zip(blocks_of(self.queries), blocks_of(weights), strict=True):
            blocks = Blocks(self.partition, some)
            pair, i, j = np.nonzero(blocks.cut)
            share, (x, y) = blocks.shares[pair, i, j], blocks.ends
            of_query = weight[blocks.query[pair]]
            for a, b in product((0, 1), repeat=2):
                place = corners.at(x[pair, i + a], y[pair, j + b], blocks.region[pair])
                more = of_query if a == b else -of_query
                np.add.at(cut, place, more)
                np.add.at(loads, place, more * np.maximum(share, 1 - share))
        second, first = np.partition(corners.summed(loads), -2)[-2:]
        return float(first), max(float(second), 0.0), float(corners.summed(cut).max())


def _norms(blocks: Blocks) -> Values:
    """Return the four norms of an ``Overlap``, shape ``(4, m)``."""
    shares, cells, cut = blocks.shares, blocks.cells, blocks.cut
    most = blocks.largest(np.where(cut, shares, 0))
    others = blocks.largest(np.where(cut, 1 - shares, 0))
    return np.stack(
        [
            np.maximum(most, others),
            most + others,
            np.sqrt(blocks.sums(cells * shares**2)),
            blocks.sums(cells * shares),
        ]
    )
