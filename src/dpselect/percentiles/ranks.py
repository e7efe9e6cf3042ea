"""Ranks of public candidates among private numbers, in memory or in the engine of a table.

The numbers next to a candidate are kept with its ranks, so that ranks between two numbers can
be interpolated.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from dpselect import tables
from dpselect.passes import Pass
from dpselect.tables.people import PeopleCap
from dpselect.tables.values import names_in_memory
from dpselect.typing import Indices, Values

MISSING = -1
"""The position of a record without a number: the last one."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Ranks:
    """Counts of numbers below and up to each candidate, and the nearest ones; private.

    Attributes:
        below: Numbers below each candidate, shape ``(k,)``.
        upto: Numbers below or equal to each candidate, shape ``(k,)``.
        nearest_below: The largest number below each candidate; minus infinity if there is
            none, shape ``(k,)``.
        nearest_above: The smallest number above each; infinity if there is none.
        numbers: How many numbers there are.
        missing: How many records have none.
    """

    below: Indices
    upto: Indices
    nearest_below: Values
    nearest_above: Values
    numbers: int
    missing: int

    @property
    def records(self) -> int:
        """How many records there are, with and without a number."""
        return self.numbers + self.missing

    def at(self, places: Indices) -> Ranks:
        """Return those of some of the candidates."""
        return Ranks(
            below=self.below[places],
            upto=self.upto[places],
            nearest_below=self.nearest_below[places],
            nearest_above=self.nearest_above[places],
            numbers=self.numbers,
            missing=self.missing,
        )

    def as_group(self) -> GroupedRanks:
        """Return them as those of the only group."""
        return GroupedRanks(
            below=self.below[None],
            upto=self.upto[None],
            nearest_below=self.nearest_below[None],
            nearest_above=self.nearest_above[None],
            numbers=np.array([self.numbers]),
        )


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class GroupedRanks:
    """Ranks in several groups of numbers, a row of each array for a group; private.

    Attributes:
        below: As of ``Ranks``, shape ``(groups, k)``, and so are the next three.
        upto: Numbers below or equal to each candidate.
        nearest_below: The largest number below each candidate.
        nearest_above: The smallest number above each.
        numbers: How many numbers each group has, shape ``(groups,)``.
    """

    below: Indices
    upto: Indices
    nearest_below: Values
    nearest_above: Values
    numbers: Indices

    def of(self, group: int) -> Ranks:
        """Return those of one group."""
        return Ranks(**self._of(group), numbers=int(self.numbers[group]), missing=0)

    def some(self, groups: Indices) -> GroupedRanks:
        """Return those of some groups."""
        return GroupedRanks(**self._of(groups), numbers=self.numbers[groups])

    def at(self, places: Indices) -> GroupedRanks:
        """Return those of some of the candidates."""
        return GroupedRanks(**self._of((slice(None), places)), numbers=self.numbers)

    def between(self, start: Indices, end: Indices) -> GroupedRanks:
        """Return the ranks among some records of each group, from one to before another."""
        ends = start[:, None], end[:, None]
        return replace(
            self,
            below=self.below.clip(*ends) - ends[0],
            upto=self.upto.clip(*ends) - ends[0],
            numbers=end - start,
        )

    def among(self, points: Values, some: Values) -> GroupedRanks:
        """Return those of some of the points that these are the ranks of."""
        order = np.argsort(points, kind="stable")
        return self.at(order[np.searchsorted(points, some, sorter=order)])

    def _of(self, where: Any) -> dict[str, Any]:  # noqa: ANN401 -- an index
        names = ("below", "upto", "nearest_below", "nearest_above")
        return {name: getattr(self, name)[where] for name in names}


class SupportsRanks(Protocol):
    """Numbers whose ranks can be counted, or are known; private."""

    def ranks(self, candidates: Values, /) -> Ranks:
        """Return the ranks of finite candidates, shape ``(k,)``, in any order."""


def ranks_of(values: Values, candidates: Values) -> Ranks:
    """Return the ranks of finite candidates, in any order, among numbers in memory.

    Args:
        values: Shape ``(n,)``, float64, a missing number as NaN. Private.
        candidates: Shape ``(k,)``.
    """
    known = np.sort(values[~np.isnan(values)])
    below = np.searchsorted(known, candidates, side="left")
    upto = np.searchsorted(known, candidates, side="right")
    ends = np.concatenate([[-np.inf], known, [np.inf]])
    return Ranks(
        below=below,
        upto=upto,
        nearest_below=ends[below],
        nearest_above=ends[upto + 1],
        numbers=known.size,
        missing=values.size - known.size,
    )


def ranks_in_engine(
    data: object, column: str, candidates: Values, users: PeopleCap | None = None
) -> Ranks:
    """Return the ranks of candidates in a table whose rows stay in their engine.

    They are one grouping by the position among 512 candidates at a time; at most 1026 rows
    are collected of each, one for every position and one for the missing numbers, with the
    count, the least and the largest number of the position.

    Args:
        data: A path or any frame.
        column: A numeric column.
        candidates: Shape ``(k,)``, finite, in any order.
        users: The persons of the records, if one can have several.

    Raises:
        ColumnError: The column is missing or not numeric.
        DataError: The data cannot be read.
    """
    tables.check_columns(data, numeric=[column])
    table = tables.as_numbers(tables.open_table(data), data, [column])
    numbers = _numbers(table.lazy(), column, users)
    which = np.unique(candidates, return_inverse=True)[1]
    parts = [_of_edges(numbers, edges, data) for edges in _blocks(candidates)]
    return Ranks(
        below=np.concatenate([part.below for part in parts])[which],
        upto=np.concatenate([part.upto for part in parts])[which],
        nearest_below=np.concatenate([part.nearest_below for part in parts])[which],
        nearest_above=np.concatenate([part.nearest_above for part in parts])[which],
        numbers=parts[0].numbers,
        missing=parts[0].missing,
    )


def _numbers(table: tables.Frame, column: str, users: PeopleCap | None) -> tables.Frame:
    """Return the numbers that are counted, and a null for each record without one."""
    import narwhals as nw

    from dpselect.tables.lookup import without_nan

    number = without_nan(column).alias("number")
    if users is None:
        return table.select(number)
    rows = table.lazy().select(number, users.persons(table.collect_schema()))
    missing = rows.filter(nw.col("number").is_null(), ~nw.col("user").is_null())
    counted = users.limited(rows, order_by=["number"])
    return nw.concat([counted.select("number"), missing.select("number")])


def _of_edges(numbers: tables.Frame, edges: Values, data: object) -> Ranks:
    import narwhals as nw

    from dpselect.tables.lookup import with_positions

    positions = 2 * edges.size + 1
    number = nw.col("number")
    both = numbers.lazy().select(number.alias("position"), number)
    placed = with_positions(both, {"position": edges}, apart=True)
    grouped = (
        placed.with_columns(nw.col("position").fill_null(MISSING))
        .group_by("position")
        .agg(
            nw.len().alias("count"),
            number.min().alias("least"),
            number.max().alias("most"),
        )
    )
    table = tables.collect(grouped, data, most=_most_rows(edges))
    at = tables.counts(table["position"])
    held = np.zeros(positions + 1, dtype=np.int64)
    held[at] = tables.counts(table["count"])
    least, most = np.full(positions + 1, np.inf), np.full(positions + 1, -np.inf)
    # Records without a number are a group of their own, whose ends are null.
    least[at[at >= 0]] = table["least"][at >= 0].astype(np.float64)
    most[at[at >= 0]] = table["most"][at >= 0].astype(np.float64)
    # Even positions lie between edges, odd ones on them.
    sums = np.cumsum(held[:-1])
    return Ranks(
        below=sums[:-1:2],
        upto=sums[1::2],
        nearest_below=np.maximum.accumulate(most[:-1])[:-1:2],
        nearest_above=np.minimum.accumulate(least[:-1][::-1])[::-1][2::2],
        numbers=int(sums[-1]),
        missing=int(held[MISSING]),
    )


def passes(ranked: Iterable[Values | None]) -> tuple[Pass, ...]:
    """Return what ranks take in an engine.

    Args:
        ranked: Candidates whose ranks are counted together; None for all numbers. Public.
    """
    different = {None if one is None else one.tobytes(): one for one in ranked}
    return tuple(
        Pass(rows)
        for one in different.values()
        for rows in (["one for each record"] if one is None else map(_most_rows, _blocks(one)))
    )


def _blocks(candidates: Values) -> list[Values]:
    """Return ascending candidates, in parts that are counted at once."""
    from dpselect.tables.lookup import EDGES_AT_ONCE

    edges = np.unique(candidates)
    return np.split(edges, range(EDGES_AT_ONCE, edges.size, EDGES_AT_ONCE))


def _most_rows(edges: Values) -> int:
    """Return the most rows of a grouping: on and between the edges, and without a number."""
    return 2 * edges.size + 2


def ranks_in(
    data: object, candidates: Values, column: str | None = None, users: PeopleCap | None = None
) -> Ranks:
    """Return the ranks of candidates in a table's column, or in an array, list or Series.

    Args:
        data: A frame, the path of a Parquet or CSV file, or the numbers themselves. Of a
            lazy frame no row is read.
        candidates: Shape ``(k,)``, finite, in any order.
        column: The numeric column, if ``data`` is a table.
        users: The persons of the records, if one can have several.

    Raises:
        ColumnError: The column is missing, not numeric, or not named.
        DataError: The data cannot be read, or are not numeric.
        ParameterError: ``column`` is given and ``data`` is no table.
    """
    if users is not None:
        users.check(data)
    if column is not None and tables.is_lazy(data):
        return ranks_in_engine(data, column, candidates, users)
    return ranks_of(numbers_in_memory(data, column, users), candidates)


def numbers_in_memory(
    data: object, column: str | None = None, users: PeopleCap | None = None
) -> Values:
    """Return the numbers that are counted, NaN for a record without one; shape ``(n,)``."""
    if users is None or column is None:
        return tables.numeric_column(data, column)
    table = tables.read_columns(data, numeric=[column], plain=[users.user])
    persons, there = names_in_memory(table[users.user])
    numbers, persons = tables.series_numbers(table[column])[there], persons[there]
    missing = np.isnan(numbers)
    known = numbers[~missing]
    return np.concatenate([known[users.kept(persons[~missing], [known])], numbers[missing]])
