"""Ranks of the same candidates in many groups of numbers, from one grouping of all rows.

The rows are grouped by their group and the candidate that they count at (``placing``), and only
the counts leave the engine. Groups are then ranked some at a time.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dpselect import tables
from dpselect.percentiles.placing import Float, starts_of
from dpselect.percentiles.ranks import Ranks
from dpselect.tables.collecting import EDGES_AT_ONCE
from dpselect.tables.groups import GROUP
from dpselect.typing import Indices, Values

if TYPE_CHECKING:
    import narwhals as nw

MOST_NUMBERS = 10**9
"""Different numbers of groups that may leave an engine, where a range is not listed."""

CELLS_AT_ONCE = 2**20
"""Positions, of all groups together, that are ranked at a time."""

NUMBER, POSITION = "number", "position"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Cells:
    """The candidates that hold numbers, of all groups; private.

    Attributes:
        groups: How many groups there are.
        candidates: How many different candidates.
        places: The group's number times the number of candidates, and the position of the
            candidate, ascending.
        counts: Count of each place.
    """

    groups: int
    candidates: int
    places: Indices
    counts: Indices

    def parts(self, candidates: Values) -> Iterator[Ranks]:
        """Yield some groups at a time, with the ranks of the candidates in any order."""
        which = np.unique(candidates, return_inverse=True)[1]
        in_order = np.array_equal(which, np.arange(candidates.size))
        size = max(1, CELLS_AT_ONCE // self.candidates)
        for first in range(0, self.groups, size):
            some = slice(first, min(first + size, self.groups))
            ranks = self._ranks(some)
            yield ranks if in_order else ranks.at(which)

    def _ranks(self, some: slice) -> Ranks:
        first = some.start * self.candidates
        start, end = self.places.searchsorted([first, some.stop * self.candidates]).tolist()
        held = np.zeros((some.stop - some.start, self.candidates), dtype=np.int64)
        held.flat[self.places[start:end] - first] = self.counts[start:end]
        upto = np.cumsum(held, axis=1)
        return Ranks(below=upto - held, upto=upto, numbers=upto[:, -1])


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Reader:
    """Rows of groups, and how what is counted of them is read; private.

    Attributes:
        rows: With the columns ``group``, its position, and ``number``.
        groups: In the order of the answers.
        data: What the rows were made from.
        kind: The type of floats that the numbers are of.
    """

    rows: nw.LazyFrame[Any]
    groups: Sequence[Hashable]
    data: object
    kind: Float = np.float64

    def cells(self, candidates: Values) -> Cells:
        """Return the candidates, finite and in any order, that all numbers count at.

        Raises:
            DataError: The engine refuses the query.
        """
        points = np.unique(candidates)
        starts = starts_of(points, self.kind)
        found = self._counted(starts)
        counts = tables.counts(found["count"])
        return Cells(len(self.groups), points.size, tables.counts(found[POSITION]), counts)

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

    def _counted(self, starts: Values) -> dict[str, tables.Column]:
        """Group by the position among so many candidates at a time, each number once.

        polars looks up any number of candidates at once.
        """
        import narwhals as nw

        from dpselect.tables.collecting import with_positions

        number, found = nw.col(NUMBER), []
        is_polars = self.rows.implementation.is_polars()
        at_once = starts.size + 1 if is_polars else EDGES_AT_ONCE
        for first in range(0, max(starts.size, 1), at_once):
            block = starts[first : first + at_once]
            some = self.rows.select(GROUP, NUMBER)
            if first:
                some = some.filter(number >= float(starts[first - 1]))
            if first + block.size < starts.size:
                some = some.filter(number < float(block[-1]))
            placed = with_positions(some, {NUMBER: block})
            grouped = placed.group_by(GROUP, NUMBER).agg(nw.len().alias("count"))
            most = (block.size + 1) * len(self.groups)
            part = tables.collect(grouped, self.data, most=most)
            before = tables.counts(part[GROUP]) * (starts.size + 1) + first
            place = tables.counts(part[NUMBER]) + before
            found.append({POSITION: place, "count": part["count"]})
        whole = {name: np.concatenate([part[name] for part in found]) for name in found[0]}
        order = np.argsort(whole[POSITION], kind="stable")
        return {name: column[order] for name, column in whole.items()}
