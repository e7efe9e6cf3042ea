"""Records of a percentile: how their numbers are read and counted, in memory or in an engine.

Every number counts at the candidate where it is placed (``candidates``), and only counts leave
an engine: one grouping by the position among so many candidates at a time, for all groups.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dpselect import tables, validation
from dpselect._optional import nw, pl
from dpselect.errors import ColumnError, DataError, ParameterError, missing_value
from dpselect.neighbours import Neighbours
from dpselect.percentiles.candidates import OPEN, Float, Range, starts_of, unclear
from dpselect.tables.columns import NUMBERS, Measure
from dpselect.tables.groups import GROUP, changed_rows
from dpselect.tables.people import PeopleCap, people_cap
from dpselect.tables.values import names_of_series
from dpselect.typing import Indices, OnInvalid, Values

NUMBER, MISSING = "number", -1
"""The column of numbers, and the position of a record that has none."""

MOST_NUMBERS = 10**9
"""Different numbers of groups that may leave an engine, where a range is not listed."""

NUMBERS_AT_ONCE = 2**17
"""Numbers in memory that are sorted together."""

CELLS_AT_ONCE = 2**20
"""Positions, of all groups together, that are ranked at a time."""


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

    def some(self, groups: Indices) -> Ranks:
        """Return those of some groups."""
        return Ranks(self.below[groups], self.upto[groups], self.numbers[groups])

    def each(self) -> Iterator[Ranks]:
        """Yield those of one group after the other."""
        return (self.some(np.array([group])) for group in range(self.numbers.size))

    def at(self, places: Indices) -> Ranks:
        """Return those of some of the candidates."""
        return replace(self, below=self.below[:, places], upto=self.upto[:, places])

    def upto_cuts(self, cuts: Sequence[int]) -> Indices:
        """Return the numbers of one group up to cuts (``intervals``), and all of them."""
        counts = np.stack([self.below[0], self.upto[0]], axis=1).ravel()
        return np.append(counts[cuts], self.numbers)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Places:
    """The positions in a range that the numbers of one group count at; private.

    Attributes:
        held: Ascending.
        missing: How many records have no number.
    """

    held: Indices
    missing: int = 0

    @property
    def numbers(self) -> Indices:
        """How many numbers there are, shape ``(1,)``."""
        return np.array([self.held.size])

    def ranks(self, edges: Indices) -> Ranks:
        """Return the ranks of cells between ascending edges, from one to before the next."""
        before = self.held.searchsorted(edges)[None]
        return Ranks(before[:, :-1], before[:, 1:], self.numbers)

    def upto_cuts(self, cuts: Sequence[int]) -> Indices:
        """Return the numbers up to cuts (``intervals``), and all of them."""
        # A cut is beyond every candidate before the half of it.
        before = self.held.searchsorted((np.array(cuts, dtype=np.int64) + 1) // 2)
        return np.append(before, self.held.size)


@dataclass(frozen=True, slots=True)
class Records:
    """How the records of a percentile are read; public.

    A missing number is dropped. How many there are is private under either relation; under
    substitution of a record the number of all records is public, and no record is an error.

    Attributes:
        neighbours: Add/remove or substitution.
        column: The numeric column, of a table.
        users: The persons of the records, if one can have several.
        on_invalid: What happens to a record without a number.
        measure: How its number is read.
    """

    neighbours: Neighbours
    column: str | None = None
    users: PeopleCap | None = None
    on_invalid: OnInvalid = "repair"
    measure: Measure = NUMBERS

    def __post_init__(self) -> None:
        validation.on_invalid(self.on_invalid)

    @property
    def per_user(self) -> int:
        """How many records a person has at most."""
        return 1 if self.users is None else self.users.most

    @property
    def changed(self) -> int:
        """How many records come or go in one neighbour step."""
        return changed_rows(self.per_user, self.neighbours)

    @property
    def are_public(self) -> bool:
        """Whether the number of all records is public; that of numbers never is."""
        return self.neighbours is Neighbours.SUBSTITUTE and self.users is None

    def rank_bound(self, p: float) -> float:
        """Return what one step changes of the distance of a rank from a percentile's."""
        return self.per_user * rank_bound(p / 100, self.neighbours)

    def check(self, data: object, points: Values | Range) -> None:
        """Make the checks of a release that read no private value.

        Raises:
            ColumnError, DataError: As for the release.
        """
        data = self.measure.of(data, self.column) if tables.is_table(data) else data
        if (column := checked_column(data, self.column)) is not None:
            tables.check_columns(data, numeric=[column])
            if self.users is not None:
                self.users.check(data)
            elif self.are_public and tables.count_records(data, numeric=[column]) == 0:
                raise no_records()
            checked_type(data, column, points)

    def counted(self, data: object, points: Values | Range) -> Ranks | Places:
        """Count the numbers of some data; of a lazy frame no row is read, but for a range.

        Raises:
            ColumnError, DataError: As for the release.
        """
        found = self._counted(self.measure.of(data, self.column), points)
        if self.are_public and found.numbers[0] + found.missing == 0:
            raise no_records()
        if self.on_invalid == "raise" and found.missing > 0:
            raise missing_value()
        return found

    def _counted(self, data: object, points: Values | Range) -> Ranks | Places:
        if not isinstance(points, Range):
            ranks = ranks_in(data, points, self.column, self.users)
            checked_type(data, self.column, points)
            return ranks
        values = numbers_in_memory(data, self.column, self.users)
        known = values[~np.isnan(values)]
        places = points.places(known, checked_type(data, self.column, points))
        return Places(np.sort(places), values.size - known.size)


def rank_bound(fraction: float, neighbours: Neighbours) -> float:
    """Return what one step changes of the distance of a rank from ``1/2 + fraction * (n - 1)``.

    Of a person with up to ``m`` records it changes ``m`` times as much. Under substitution how
    many there are may change too, also where a record loses its number: if ``i`` of them become
    ``j`` and ``l`` more are below the candidate, the distance changes by at most
    ``|l - a(j - i)| ≤ m``, since ``-i ≤ l ≤ j``.
    """
    return 1.0 if neighbours is Neighbours.SUBSTITUTE else max(fraction, 1 - fraction)


def records_cap(column: str | None, user: str | None, max_per_user: object) -> PeopleCap | None:
    """Return the limit of public arguments, None if every record is a person of its own.

    Raises:
        ParameterError: One of two arguments that go together is missing, or out of range.
    """
    cap = people_cap(user, max_per_user)
    if cap is None:
        return None
    if column is None:
        raise validation.needs("user", "column", of="numbers")
    if cap.user == column:
        raise ParameterError(f"column {user!r} cannot be the user and the number")
    return cap


def checked_column(data: object, column: str | None) -> str | None:
    """Return the column of the numbers, None where the data are the numbers themselves.

    Raises:
        ColumnError: The data are a table, and no column is named.
    """
    if column is None and tables.is_table(data):
        tables.numeric_column(data)
    return column


def checked_type(data: object, column: str | None, points: Values | Range) -> Float:
    """Return the type of floats that numbers are of, which tells all candidates apart.

    Without an end that is known no shorter type would, so all are read as float64.

    Args:
        data: A table that has the column, or numbers.
        column: The column.
        points: The candidates.

    Raises:
        ColumnError, DataError: Neighbouring candidates are the same number of that type.
    """
    if isinstance(points, Range) and len(points) >= OPEN:
        return np.float64
    kind = tables.declared_float(data, column)
    if kind is np.float64 or (one := unclear(points, kind)) is None:
        return kind
    said = (
        f"of {kind.__name__}, where candidates next to {one!r} are the same number: give a "
        "larger `step`, or cast to float64"
    )
    if column is None:
        raise DataError(f"the values are {said}")
    raise ColumnError(f"column {column!r} is {said}")


def no_records() -> DataError:
    """Return the error for a table without rows, where their number is public."""
    return DataError("there must be at least one record")


def ranks_of(values: Values, points: Values, kind: Float = np.float64) -> Ranks:
    """Return the ranks of candidates among numbers in memory.

    Args:
        values: Shape ``(n,)``, float64, a missing number as NaN. Private.
        points: The candidates, in any order.
        kind: The type of floats that the numbers are of.
    """
    ascending, at = np.unique(points, return_inverse=True)
    starts = starts_of(ascending, kind)
    missing = int(np.isnan(values).sum())
    before = np.zeros(starts.size, dtype=np.int64)
    # Few candidates are looked for among many numbers, and not the other way round: among as
    # many as a cache holds while they are sorted, NaN last.
    for first in range(0, values.size, NUMBERS_AT_ONCE):
        before += np.sort(values[first : first + NUMBERS_AT_ONCE]).searchsorted(starts)
    counts = np.concatenate([[0], before, [values.size - missing]])
    return Ranks(counts[at][None], counts[at + 1][None], counts[-1:], missing)


def ranks_in(
    data: object,
    points: Values,
    column: str | None = None,
    users: PeopleCap | None = None,
) -> Ranks:
    """Return the ranks of candidates in a table's column, or in an array, list or Series.

    Args:
        data: A frame, the path of a Parquet or CSV file, or the numbers themselves. Of a
            lazy frame no row is read.
        points: The candidates, shape ``(k,)``, finite, in any order.
        column: The numeric column, if ``data`` is a table.
        users: The persons of the records, if one can have several.

    Raises:
        ColumnError: The column is missing, not numeric, or not named.
        DataError: The data cannot be read, or are not numeric.
        ParameterError: ``column`` is given and ``data`` is no table.
    """
    if users is not None:
        users.check(data)
    if (
        column is None
        or not tables.is_table(data)
        or isinstance(opened := tables.check_columns(data, numeric=[column]), nw.DataFrame)
    ):
        values = numbers_in_memory(data, column, users)
        return ranks_of(values, points, tables.declared_float(data, column))
    kind, table = tables.declared_float(data, column), tables.as_numbers(opened, data, [column])
    cells = counted_at(_numbers(table.lazy(), column, users), points, data, kind=kind)
    [ranks] = cells.parts()
    return replace(ranks.at(np.unique(points, return_inverse=True)[1]), missing=cells.missing)


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


def numbers_of_groups(
    rows: nw.LazyFrame[Any], groups: Sequence[Hashable], data: object
) -> list[Values]:
    """Return the numbers of each group, ascending, read into memory.

    Args:
        rows: With the columns ``group``, its position, and ``number``. Private.
        groups: In the order of the answers.
        data: What the rows were made from.

    Raises:
        DataError: The engine refuses the query.
    """
    grouped = rows.group_by(GROUP, NUMBER).agg(nw.len().alias("count"))
    found = tables.collect(grouped, data, most=MOST_NUMBERS)
    codes, numbers = tables.counts(found[GROUP]), found[NUMBER].astype(np.float64)
    order = np.lexsort((numbers, codes))
    counts = tables.counts(found["count"])[order]
    ends = np.searchsorted(np.repeat(codes[order], counts), range(1, len(groups)))
    return np.split(np.repeat(numbers[order], counts), ends)


def _numbers(table: tables.Frame, column: str, users: PeopleCap | None) -> tables.Frame:
    """Return the numbers that are counted, and a null for each record without one.

    ``_tallied`` counts NaN as missing: in polars it may stay.
    """
    from dpselect.tables.collecting import without_nan
    from dpselect.tables.engine import engine_of

    if users is None and engine_of(table).is_here:
        return table.select(nw.col(column).cast(nw.Float64).alias(NUMBER))
    number = without_nan(column).alias(NUMBER)
    if users is None:
        return table.select(number)
    rows = table.lazy().select(number, users.persons(table.collect_schema()))
    missing = rows.filter(nw.col(NUMBER).is_null(), ~nw.col("user").is_null())
    counted = users.limited(rows, order_by=[NUMBER])
    return nw.concat([counted.select(NUMBER), missing.select(NUMBER)])


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Cells:
    """The candidates that hold numbers, of all groups; private.

    Attributes:
        groups: How many groups there are.
        candidates: How many different candidates.
        places: The group's number times the number of candidates, and the position of the
            candidate, ascending.
        counts: Count of each place.
        missing: How many records have no number.
    """

    groups: int
    candidates: int
    places: Indices
    counts: Indices
    missing: int = 0

    def parts(self) -> Iterator[Ranks]:
        """Yield the ranks of ascending candidates, of some groups at a time."""
        size = max(1, CELLS_AT_ONCE // self.candidates)
        for first in range(0, self.groups, size):
            last = min(first + size, self.groups)
            here = np.array([first, last]) * self.candidates
            start, end = self.places.searchsorted(here).tolist()
            held = np.zeros((last - first, self.candidates), dtype=np.int64)
            held.flat[self.places[start:end] - here[0]] = self.counts[start:end]
            upto = np.cumsum(held, axis=1)
            yield Ranks(below=upto - held, upto=upto, numbers=upto[:, -1])


def counted_at(
    rows: tables.Frame,
    points: Values,
    data: object,
    *,
    groups: int | None = None,
    kind: Float = np.float64,
) -> Cells:
    """Count the numbers at each candidate: each once, in blocks of as many as are looked up.

    Args:
        rows: With the column ``number``; with groups also their positions, ``group``.
        points: The candidates, finite, in any order.
        data: What the rows were made from.
        groups: How many there are; None for numbers that are in none, and may be missing.
        kind: The type of floats that the numbers are of.

    Raises:
        DataError: The engine refuses the query.
    """
    from dpselect.tables.collecting import with_positions
    from dpselect.tables.engine import engine_of

    starts, number, found = starts_of(np.unique(points), kind), nw.col(NUMBER), []
    keys = [NUMBER] if groups is None else [GROUP, NUMBER]
    size = starts.size + 1
    is_here = engine_of(rows).is_here
    for first, block in _blocks(starts, at_once=is_here):
        some = rows.lazy().select(*keys)
        if first:
            some = some.filter(number >= float(starts[first - 1]))
        if first + block.size < starts.size:
            below = number < float(block[-1])
            some = some.filter(below if first else below | number.is_null())
        if groups is None and is_here:
            placed, count = _tallied(some, block), nw.col("count").sum()
        else:
            placed, count = with_positions(some, {NUMBER: block}), nw.len()
        place = number.cast(nw.Int64) + first
        if groups is not None:
            place += nw.col(GROUP).cast(nw.Int64) * size
        grouped = placed.with_columns(place.fill_null(MISSING).alias("place"))
        grouped = grouped.group_by("place").agg(count.alias("count"))
        part = tables.collect(grouped, data, most=(block.size + 2) * (groups or 1))
        found.append(np.stack([tables.counts(part["place"]), tables.counts(part["count"])]))
    places, counts = np.concatenate(found, axis=1)
    order = np.argsort(places, kind="stable")
    places, counts = places[order], counts[order]
    known = int(np.searchsorted(places, 0))
    return Cells(
        groups or 1, starts.size + 1, places[known:], counts[known:], int(counts[:known].sum())
    )


def _tallied(rows: nw.LazyFrame[Any], starts: Values) -> nw.LazyFrame[Any]:
    """Return the positions of the numbers of polars, null for none, with ``count`` of each.

    Of each part of the rows that is in memory at a time its different numbers are looked up.
    """

    def tally(some: pl.DataFrame) -> pl.DataFrame:
        numbers = np.sort(some[NUMBER].to_numpy())
        firsts = np.flatnonzero(np.append(True, numbers[1:] != numbers[:-1])[: numbers.size])
        held = pl.Series(starts.searchsorted(numbers[firsts], side="right"))
        held = held.set(pl.Series(np.isnan(numbers[firsts])), None)
        return pl.DataFrame({NUMBER: held, "count": np.diff(firsts, append=numbers.size)})

    schema = {NUMBER: pl.Int64, "count": pl.Int64}
    return nw.from_native(nw.to_native(rows).map_batches(tally, schema=schema, streamable=True))


def _blocks(starts: Values, *, at_once: bool) -> Iterator[tuple[int, Values]]:
    """Yield the first positions of candidates that are looked up together, and these."""
    from dpselect.tables.collecting import EDGES_AT_ONCE

    size = max(starts.size, 1) if at_once else EDGES_AT_ONCE
    for first in range(0, max(starts.size, 1), size):
        yield first, starts[first : first + size]


def passes(points: Values | Range) -> int:
    """Return the queries that the counts of candidates take in an engine other than polars."""
    return 1 if isinstance(points, Range) else len([*_blocks(points[1:], at_once=False)])
