"""Ranks of the same candidates in many groups of numbers, from one grouping of all rows.

The rows are grouped by their group and their position among the candidates, and of each only
the count, the least and the largest number leave the engine. Groups are then ranked some at a
time.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dpselect import tables
from dpselect._optional import needed
from dpselect.keys.columns import GROUP
from dpselect.percentiles.ranks import GroupedRanks
from dpselect.tables.lookup import EDGES_AT_ONCE
from dpselect.typing import Indices, Values

if TYPE_CHECKING:
    import narwhals as nw
    import polars as pl

MOST_NUMBERS = 10**9
"""Different numbers of groups that may leave an engine, where a range is not listed."""

CELLS_AT_ONCE = 2**20
"""Positions, of all groups together, that are ranked at a time."""

NUMBER, POSITION = "number", "position"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Cells:
    """The positions that hold numbers, of all groups; private.

    Attributes:
        groups: How many groups there are.
        edges: The candidates, ascending and different.
        places: ``2 len(edges) + 1`` times the group's number, and the position: ``2 j`` between
            edge ``j - 1`` and edge ``j``, ``2 j + 1`` at edge ``j``. Ascending.
        counts: Of each place.
        least: The least number there, and ``most`` the largest one.
        most: See ``least``.
    """

    groups: int
    edges: Values
    places: Indices
    counts: Indices
    least: Values
    most: Values

    @property
    def positions(self) -> int:
        """How many positions a group has."""
        return 2 * self.edges.size + 1

    def parts(self, candidates: Values) -> Iterator[GroupedRanks]:
        """Yield some groups at a time, with the ranks of the candidates in any order."""
        which = np.unique(candidates, return_inverse=True)[1]
        in_order = np.array_equal(which, np.arange(candidates.size))
        size = max(1, CELLS_AT_ONCE // self.positions)
        for first in range(0, self.groups, size):
            some = slice(first, min(first + size, self.groups))
            ranks = self._ranks(some)
            yield ranks if in_order else ranks.at(which)

    def _ranks(self, some: slice) -> GroupedRanks:
        start, end = np.searchsorted(
            self.places, [some.start * self.positions, some.stop * self.positions]
        ).tolist()
        at = self.places[start:end] - some.start * self.positions
        shape = (some.stop - some.start, self.positions)
        held = np.zeros(shape, dtype=np.int64)
        least, most = np.full(shape, np.inf), np.full(shape, -np.inf)
        held.flat[at] = self.counts[start:end]
        least.flat[at], most.flat[at] = self.least[start:end], self.most[start:end]
        # Even positions lie between edges, odd ones on them.
        sums = np.cumsum(held, axis=1)
        highest = np.maximum.accumulate(most, axis=1)
        lowest = np.minimum.accumulate(least[:, ::-1], axis=1)[:, ::-1]
        return GroupedRanks(
            below=sums[:, :-1:2],
            upto=sums[:, 1::2],
            nearest_below=highest[:, :-1:2],
            nearest_above=lowest[:, 2::2],
            numbers=sums[:, -1],
        )


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Reader:
    """Rows of groups, and how what is counted of them is read; private.

    Attributes:
        rows: With the columns ``group``, its position, and ``number``.
        groups: In the order of the answers.
        data: What the rows were made from.
    """

    rows: nw.LazyFrame[Any]
    groups: Sequence[Hashable]
    data: object

    def cells(self, candidates: Values) -> Cells:
        """Return the positions of all numbers among finite candidates, in any order.

        Raises:
            DataError: The engine refuses the query.
        """
        edges = np.unique(candidates)
        found = self._in_polars(edges) if self._is_polars else self._in_engine(edges)
        return Cells(
            len(self.groups),
            edges,
            tables.counts(found[POSITION]),
            tables.counts(found["count"]),
            found["least"].astype(np.float64, copy=False),
            found["most"].astype(np.float64, copy=False),
        )

    def numbers(self) -> list[Values]:
        """Return the numbers of each group, ascending, read into memory.

        Raises:
            DataError: The engine refuses the query.
        """
        import narwhals as nw

        grouped = self.rows.group_by(GROUP, NUMBER).agg(nw.len().alias("count"))
        found = tables.collect(grouped, self.data, most=MOST_NUMBERS)
        codes, numbers = tables.counts(found[GROUP]), found[NUMBER].astype(np.float64)
        order = np.lexsort((numbers, codes))
        counts = tables.counts(found["count"])[order]
        ends = np.searchsorted(np.repeat(codes[order], counts), range(1, len(self.groups)))
        return np.split(np.repeat(numbers[order], counts), ends)

    @property
    def _is_polars(self) -> bool:
        return self.rows.implementation.is_polars()

    def _in_polars(self, edges: Values) -> dict[str, tables.Column]:
        """Group by one integer and sort by it, which polars does sooner."""
        needed("polars", extra="standard")
        import narwhals as nw
        import polars as pl

        positions = 2 * edges.size + 1

        def positions_of(numbers: pl.Series) -> pl.Series:
            values = numbers.to_numpy()
            below = np.searchsorted(edges, values)
            return pl.Series(2 * below + (edges[below.clip(max=edges.size - 1)] == values))

        table: pl.LazyFrame = nw.to_native(self.rows)
        position = pl.col(NUMBER).map_batches(
            positions_of, return_dtype=pl.Int64, is_elementwise=True
        )
        code = pl.col(GROUP).cast(pl.Int64)
        grouped = nw.from_native(
            table.select((code * positions + position).alias(POSITION), NUMBER)
        ).group_by(POSITION)
        most = positions * len(self.groups)
        sums = grouped.agg(*_sums())
        return tables.collect(sums, self.data, most=most, order_by=[POSITION])

    def _in_engine(self, edges: Values) -> dict[str, tables.Column]:
        """Group by the position among so many edges at a time, all of different numbers."""
        import narwhals as nw

        from dpselect.tables.lookup import with_positions

        number, found = nw.col(NUMBER), []
        for first in range(0, edges.size, EDGES_AT_ONCE):
            block = edges[first : first + EDGES_AT_ONCE]
            both = self.rows.select(GROUP, number.alias(POSITION), number)
            if first:
                both = both.filter(number > float(edges[first - 1]))
            if first + block.size < edges.size:
                both = both.filter(number <= float(block[-1]))
            placed = with_positions(both, {POSITION: block}, apart=True)
            grouped = placed.group_by(GROUP, POSITION).agg(*_sums())
            most = (2 * block.size + 1) * len(self.groups)
            part = tables.collect(grouped, self.data, most=most)
            before = tables.counts(part[GROUP]) * (2 * edges.size + 1) + 2 * first
            part[POSITION] = tables.counts(part[POSITION]) + before
            found.append(part)
        whole = {name: np.concatenate([part[name] for part in found]) for name in found[0]}
        order = np.argsort(whole[POSITION], kind="stable")
        return {name: column[order] for name, column in whole.items()}


def _sums() -> list[nw.Expr]:
    import narwhals as nw

    number = nw.col(NUMBER)
    return [nw.len().alias("count"), number.min().alias("least"), number.max().alias("most")]
