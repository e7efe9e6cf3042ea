"""Ranks of public candidates among private numbers, in memory or in the engine of a table.

Every number counts at the candidate where it is placed (``placing``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from dpselect import tables
from dpselect.percentiles.placing import Float, places_of, starts_of
from dpselect.tables.people import PeopleCap
from dpselect.tables.values import names_of_series
from dpselect.typing import Indices, Values

if TYPE_CHECKING:
    from dpselect.percentiles.ranges import Range

MISSING = -1
"""The position of a record without a number: the last one."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Ranks:
    """Counts of numbers below and up to each candidate, in groups of numbers; private.

    Numbers that are in no group are those of one group.

    Attributes:
        below: Numbers at smaller candidates, shape ``(groups, k)``.
        upto: Numbers at the candidate or smaller ones, of this shape.
        numbers: How many numbers each group has, shape ``(groups,)``.
        missing: How many records have none, of all groups together.
    """

    below: Indices
    upto: Indices
    numbers: Indices
    missing: int = 0

    @property
    def records(self) -> int:
        """How many records there are, with and without a number."""
        return int(self.numbers.sum()) + self.missing

    def some(self, groups: Indices) -> Ranks:
        """Return those of some groups."""
        return Ranks(self.below[groups], self.upto[groups], self.numbers[groups])

    def each(self) -> Iterator[Ranks]:
        """Yield those of one group after the other."""
        return (self.some(np.array([group])) for group in range(self.numbers.size))

    def at(self, places: Indices) -> Ranks:
        """Return those of some of the candidates."""
        return replace(self, below=self.below[:, places], upto=self.upto[:, places])

    def between(self, start: Indices, end: Indices) -> Ranks:
        """Return the ranks among some records of each group, from one to before another."""
        ends = start[:, None], end[:, None]
        return replace(
            self,
            below=self.below.clip(*ends) - ends[0],
            upto=self.upto.clip(*ends) - ends[0],
            numbers=end - start,
        )

    def among(self, points: Values, some: Values) -> Ranks:
        """Return those of some of the points that these are the ranks of."""
        order = np.argsort(points, kind="stable")
        return self.at(order[np.searchsorted(points, some, sorter=order)])


def ranks_of(
    values: Values,
    points: Values,
    some: Values | None = None,
    kind: Float = np.float64,
) -> Ranks:
    """Return the ranks of candidates among numbers in memory.

    Args:
        values: Shape ``(n,)``, float64, a missing number as NaN. Private.
        points: All candidates, in any order.
        some: Those whose ranks are wanted, if not all.
        kind: The type of floats that the numbers are of.
    """
    known = np.sort(values[~np.isnan(values)])
    ascending = np.unique(points)
    # Few candidates are looked for among many numbers, and not the other way round.
    before = known.searchsorted(starts_of(ascending, kind))
    counts = np.concatenate([[0], before, [known.size]])
    at = ascending.searchsorted(points if some is None else some)
    missing = values.size - known.size
    return Ranks(counts[at][None], counts[at + 1][None], counts[-1:], missing)


def ranks_among(
    places: Indices, points: Values | Range, some: Values, missing: int = 0
) -> Ranks:
    """Return the ranks of some candidates by the places of all numbers, ascending."""
    at = places_of(points, some)
    below, upto = (places.searchsorted(at, side=side) for side in ("left", "right"))
    return Ranks(below[None], upto[None], np.array([places.size]), missing)


def ranks_in_engine(
    data: object,
    column: str,
    points: Values,
    users: PeopleCap | None = None,
    some: Values | None = None,
) -> Ranks:
    """Return the ranks of candidates in a table whose rows stay in their engine.

    They are one grouping by the position among 512 numbers between candidates at a time; at
    most 514 rows are collected of each, one for every position and one for the missing
    numbers.

    Args:
        data: A path or any frame.
        column: A numeric column.
        points: All candidates, shape ``(k,)``, finite, in any order.
        users: The persons of the records, if one can have several.
        some: The candidates whose ranks are wanted, if not all.

    Raises:
        ColumnError: The column is missing or not numeric.
        DataError: The data cannot be read.
    """
    tables.check_columns(data, numeric=[column])
    table = tables.as_numbers(tables.open_table(data), data, [column])
    numbers = _numbers(table.lazy(), column, users)
    cuts, at = _cuts(points, some)
    starts = starts_of(np.unique(points), tables.declared_float(data, column))
    # polars looks up any number of edges at once.
    once = [starts[cuts - 1]]
    blocks = once if table.implementation.is_polars() else _blocks(once[0])
    parts = [_before(numbers, edges, data) for edges in blocks]
    _, known, missing = parts[0]
    counts = np.concatenate([[0], *(before for before, _, _ in parts), [known]])
    # The candidates that these many are before: the first, those of the cuts, and none.
    firsts = np.concatenate([[0], cuts, [starts.size + 1]])
    below, upto = (counts[firsts.searchsorted(one)] for one in (at, at + 1))
    return Ranks(below[None], upto[None], np.array([known]), missing)


def _cuts(points: Values, some: Values | None) -> tuple[Indices, Indices]:
    """Return the candidates before which numbers are counted, and those that are wanted."""
    ascending = np.unique(points)
    at = ascending.searchsorted(points if some is None else some)
    if some is None or some is points:
        return np.arange(1, ascending.size), at
    ends = np.unique([at, at + 1])
    return ends[(ends > 0) & (ends < ascending.size)], at


def _numbers(table: tables.Frame, column: str, users: PeopleCap | None) -> tables.Frame:
    """Return the numbers that are counted, and a null for each record without one."""
    import narwhals as nw

    from dpselect.tables.collecting import without_nan

    number = without_nan(column).alias("number")
    if users is None:
        return table.select(number)
    rows = table.lazy().select(number, users.persons(table.collect_schema()))
    missing = rows.filter(nw.col("number").is_null(), ~nw.col("user").is_null())
    counted = users.limited(rows, order_by=["number"])
    return nw.concat([counted.select("number"), missing.select("number")])


def _before(numbers: tables.Frame, edges: Values, data: object) -> tuple[Indices, int, int]:
    """Return how many numbers are below each edge, how many there are, and how many missing."""
    import narwhals as nw

    from dpselect.tables.collecting import with_positions

    placed = with_positions(numbers.lazy(), {"number": edges})
    grouped = (
        placed.with_columns(nw.col("number").fill_null(MISSING))
        .group_by("number")
        .agg(nw.len().alias("count"))
    )
    table = tables.collect(grouped, data, most=edges.size + 2)
    held = np.zeros(edges.size + 2, dtype=np.int64)
    held[tables.counts(table["number"])] = tables.counts(table["count"])
    sums = np.cumsum(held[:-1])
    return sums[:-1], int(sums[-1]), int(held[MISSING])


def passes(points: Values | Range, ranked: Iterable[Values | None]) -> int:
    """Return the queries that ranks take in an engine.

    Args:
        points: All candidates.
        ranked: Those whose ranks are counted together; None for all numbers. Public.
    """
    different = {None if one is None else one.tobytes(): one for one in ranked}
    if not isinstance(points, np.ndarray):
        return len(different)
    return sum(
        1 if one is None else len(_blocks(_cuts(points, one)[0])) for one in different.values()
    )


def _blocks(edges: Values | Indices) -> list[Any]:
    """Return ascending edges, in parts that are counted at once."""
    from dpselect.tables.collecting import EDGES_AT_ONCE

    return np.split(edges, range(EDGES_AT_ONCE, edges.size, EDGES_AT_ONCE))


def ranks_in(
    data: object,
    points: Values,
    column: str | None = None,
    users: PeopleCap | None = None,
    some: Values | None = None,
) -> Ranks:
    """Return the ranks of candidates in a table's column, or in an array, list or Series.

    Args:
        data: A frame, the path of a Parquet or CSV file, or the numbers themselves. Of a
            lazy frame no row is read.
        points: All candidates, shape ``(k,)``, finite, in any order.
        column: The numeric column, if ``data`` is a table.
        users: The persons of the records, if one can have several.
        some: The candidates whose ranks are wanted, if not all.

    Raises:
        ColumnError: The column is missing, not numeric, or not named.
        DataError: The data cannot be read, or are not numeric.
        ParameterError: ``column`` is given and ``data`` is no table.
    """
    if users is not None:
        users.check(data)
    if column is not None and tables.is_lazy(data):
        return ranks_in_engine(data, column, points, users, some)
    values = numbers_in_memory(data, column, users)
    return ranks_of(values, points, some, tables.declared_float(data, column))


def numbers_in_memory(
    data: object, column: str | None = None, users: PeopleCap | None = None
) -> Values:
    """Return the numbers that are counted, NaN for a record without one; shape ``(n,)``."""
    if users is None or column is None:
        return tables.numeric_column(data, column)
    table = tables.read_columns(data, numeric=[column], plain=[users.user])
    persons, numbers = names_of_series(table[users.user]), tables.series_numbers(table[column])
    missing = np.isnan(numbers)
    [known] = users.of_arrays(persons.filter(~missing), [numbers[~missing]])
    return np.concatenate([known, numbers[missing & persons.is_not_null().to_numpy()]])
