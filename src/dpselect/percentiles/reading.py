"""Records of a percentile: how their numbers are read and counted, in memory or in an engine.

Every number counts at the candidate where it is placed (``candidates``), and only counts leave
an engine: one grouping by the position among so many candidates at a time, for all groups.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpselect import tables, validation
from dpselect._optional import nw, pl
from dpselect.draws.exact.leading_zeros import spans
from dpselect.errors import ColumnError, DataError, ParameterError, missing_value
from dpselect.neighbours import Neighbours
from dpselect.percentiles.candidates import OPEN, Float, Range, starts_of, unclear
from dpselect.tables.columns import NUMBERS, Measure
from dpselect.tables.groups import GROUP, changed_rows
from dpselect.tables.opening import has_numbers
from dpselect.tables.people import PeopleCap, people_cap
from dpselect.tables.values import names_of_series
from dpselect.typing import Indices, OnInvalid, Values

NUMBER, MISSING = "number", -1
"""The column of numbers, and the position of a record that has none."""

MOST_NUMBERS = 10**9
"""Different numbers of groups that may leave an engine, where a range is not listed."""

NUMBERS_AT_ONCE = 2**17
"""Numbers in memory that are sorted together."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Counts:
    """The candidates that numbers count at, in groups of numbers; private.

    Numbers that are in no group are those of one group. Only candidates that hold numbers are
    there, so that a group takes time by its numbers and not by all candidates.

    Attributes:
        groups: How many groups there are.
        candidates: How many candidates, or cells of them.
        group: Position of a group, ascending.
        place: Position of a candidate that numbers of this group count at, ascending in it; -1
            for those before all candidates, and ``candidates`` for those after all.
        held: How many do.
        missing: How many records have no number, of all groups together.
    """

    groups: int
    candidates: int
    group: Indices
    place: Indices
    held: Indices
    missing: int = 0

    @property
    def numbers(self) -> Indices:
        """How many numbers each group has, shape ``(groups,)``."""
        sums = np.append(0, self.held.cumsum())
        return np.diff(sums[self.group.searchsorted(np.arange(self.groups + 1))])

    def some(self, groups: Indices) -> Counts:
        """Return those of some groups, in this order."""
        first, end = (self.group.searchsorted(groups, side) for side in ("left", "right"))
        group, at = spans(first, end - first)
        return Counts(groups.size, self.candidates, group, self.place[at], self.held[at])

    def parts(self, size: int = 1) -> Iterator[Counts]:
        """Yield those of so many groups at a time, by default of one group after the other."""
        if 0 < self.groups <= size:
            yield self
            return
        for first in range(0, self.groups, size):
            yield self.some(np.arange(first, min(first + size, self.groups)))

    def before(self, ends: Indices) -> Indices:
        """Return how many numbers of each group count before ascending positions."""
        at = self.group * (ends.size + 1) + ends.searchsorted(self.place, side="right")
        counts = np.bincount(at, self.held, self.groups * (ends.size + 1))
        return counts.reshape(self.groups, -1)[:, :-1].cumsum(axis=1).astype(np.int64)

    @property
    def below(self) -> Indices:
        """Numbers before each candidate, shape ``(groups, candidates)``."""
        return self.before(np.arange(self.candidates))

    @property
    def upto(self) -> Indices:
        """Numbers at each candidate or before, of this shape."""
        return self.before(np.arange(1, self.candidates + 1))

    def in_cells(self, edges: Indices) -> Counts:
        """Return the counts of cells between ascending edges, in place of candidates."""
        cell = edges.searchsorted(self.place, side="right") - 1
        is_first = np.ones(cell.size, dtype=np.bool_)
        is_first[1:] = (cell[1:] != cell[:-1]) | (self.group[1:] != self.group[:-1])
        first = np.flatnonzero(is_first)
        held = np.add.reduceat(self.held, first) if first.size else self.held
        return Counts(self.groups, edges.size - 1, self.group[first], cell[first], held)

    def upto_cuts(self, cuts: Sequence[int]) -> Indices:
        """Return the numbers of one group up to cuts (``intervals``), and all of them."""
        # A cut is beyond every candidate before the half of it.
        before = self.before((np.array(cuts, dtype=np.int64) + 1) // 2)
        return np.append(before, self.numbers)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Ranks:
    """Counts of numbers below and up to each of ascending candidates, in groups; private.

    Attributes:
        below: Numbers at smaller candidates, shape ``(groups, k)``.
        upto: Numbers at the candidate or smaller ones, of this shape.
        numbers: How many numbers each group has, shape ``(groups,)``.
    """

    below: Indices
    upto: Indices
    numbers: Indices

    def some(self, groups: Indices) -> Ranks:
        """Return those of some groups."""
        return Ranks(self.below[groups], self.upto[groups], self.numbers[groups])

    @property
    def counts(self) -> Counts:
        """Where the numbers count."""
        after = self.numbers[:, None] - self.upto[:, -1:]
        held = np.hstack([self.below[:, :1], self.upto - self.below, after])
        group, place = held.nonzero()
        return Counts(len(held), held.shape[1] - 2, group, place - 1, held[group, place])


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
        alone = self.users is None and not self.are_public
        if alone and self.column is not None and has_numbers(data, self.column):
            return  # as float64
        if (column := checked_column(data, self.column)) is not None:
            tables.check_columns(data, numeric=[column])
            if self.users is not None:
                self.users.check(data)
            elif self.are_public and tables.count_records(data, numeric=[column]) == 0:
                raise no_records()
            checked_type(data, column, points)

    def counted(self, data: object, points: Values | Range) -> Counts:
        """Count the numbers of some data; of a lazy frame no row is read, but for a range.

        Raises:
            ColumnError, DataError: As for the release.
        """
        data = self.measure.of(data, self.column)
        found = counts_in(data, points, self.column, self.users)
        if self.are_public and found.numbers[0] + found.missing == 0:
            raise no_records()
        if self.on_invalid == "raise" and found.missing > 0:
            raise missing_value()
        return found


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
    if user is None and max_per_user is None:
        return None
    cap = people_cap(user, max_per_user)
    if column is None:
        raise validation.needs("user", "column", of="numbers")
    if user == column:
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


def counts_of(values: Values, points: Values | Range, kind: Float = np.float64) -> Counts:
    """Return what numbers in memory count at.

    Args:
        values: Shape ``(n,)``, float64, a missing number as NaN. Private.
        points: The candidates, increasing.
        kind: The type of floats that the numbers are of.
    """
    missing = int(np.isnan(values).sum())
    if isinstance(points, Range):
        place = np.sort(points.places(values[~np.isnan(values)], kind))
        held = np.ones_like(place)
    else:
        starts = starts_of(points, kind)
        before = np.zeros(points.size + 1, dtype=np.int64)
        before[-1] = values.size - missing
        # Few candidates are looked for among many numbers, and not the other way round: among
        # as many as a cache holds while they are sorted, NaN last.
        for first in range(0, values.size, NUMBERS_AT_ONCE):
            block = np.sort(values[first : first + NUMBERS_AT_ONCE])
            before[1:-1] += block.searchsorted(starts)
        held = np.diff(before)
        place = np.flatnonzero(held)
        held = held[place]
    return Counts(1, len(points), np.zeros_like(place), place, held, missing)


def counts_in(
    data: object,
    points: Values | Range,
    column: str | None = None,
    users: PeopleCap | None = None,
) -> Counts:
    """Return what the numbers of a table's column, or of an array, list or Series, count at.

    Args:
        data: A frame, the path of a Parquet or CSV file, or the numbers themselves. Of a
            lazy frame no row is read, but for a range.
        points: The candidates, increasing.
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
        isinstance(points, Range)
        or column is None
        or not tables.is_table(data)
        or isinstance(opened := tables.check_columns(data, numeric=[column]), nw.DataFrame)
    ):
        values = numbers_in_memory(data, column, users)
        return counts_of(values, points, checked_type(data, column, points))
    kind, table = checked_type(data, column, points), tables.as_numbers(opened, data, [column])
    return counted_at(_numbers(table.lazy(), column, users), points, data, kind=kind)


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


def counts_of_groups(
    rows: nw.LazyFrame[Any], points: Values | Range, data: object, groups: int, kind: Float
) -> Counts:
    """Return what the numbers of groups count at; of a range they are read into memory.

    Args:
        rows: With the columns ``group``, its position, and ``number``. Private.
        points: The candidates, increasing.
        data: What the rows were made from.
        groups: How many there are.
        kind: The type of floats that the numbers are of.

    Raises:
        DataError: The engine refuses the query.
    """
    if not isinstance(points, Range):
        return counted_at(rows, points, data, groups=groups, kind=kind)
    grouped = rows.group_by(GROUP, NUMBER).agg(nw.len().alias("count"))
    found = tables.collect(grouped, data, most=MOST_NUMBERS)
    group, held = tables.counts(found[GROUP]), tables.counts(found["count"])
    place = points.places(found[NUMBER].astype(np.float64), kind)
    order = np.lexsort((place, group))
    return Counts(groups, len(points), group[order], place[order], held[order])


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


def counted_at(
    rows: tables.Frame,
    points: Values,
    data: object,
    *,
    groups: int | None = None,
    kind: Float = np.float64,
) -> Counts:
    """Count the numbers at each candidate: each once, in blocks of as many as are looked up.

    Args:
        rows: With the column ``number``; with groups also their positions, ``group``.
        points: The candidates, increasing.
        data: What the rows were made from.
        groups: How many there are; None for numbers that are in none, and may be missing.
        kind: The type of floats that the numbers are of.

    Raises:
        DataError: The engine refuses the query.
    """
    from dpselect.tables.collecting import with_positions
    from dpselect.tables.engine import engine_of

    starts, number, found = starts_of(points, kind), nw.col(NUMBER), []
    keys = [NUMBER] if groups is None else [GROUP, NUMBER]
    size = starts.size + 1
    is_here = engine_of(rows).is_here
    # Rows in memory are sorted in less time than they are grouped by so many positions.
    at_once = groups is not None and is_here and _are_in_memory(data)
    for first, block in _blocks(starts, at_once=is_here):
        some, count = rows.lazy().select(*keys), nw.len()
        if first:
            some = some.filter(number >= float(starts[first - 1]))
        if first + block.size < starts.size:
            below = number < float(block[-1])
            some = some.filter(below if first else below | number.is_null())
        if groups is None and is_here:
            placed, count = _tallied(some, NUMBER, block), nw.col("count").sum()
        else:
            if groups is None and not np.any(points % 1):
                # Numbers among whole candidates are few: each different one is looked up once.
                some = some.group_by(NUMBER).agg(nw.len().alias("count"))
                count = nw.col("count").sum()
            placed = with_positions(some, {NUMBER: block})
        place = number.cast(nw.Int64) + first
        if groups is not None:
            place += nw.col(GROUP).cast(nw.Int64) * size
        placed = placed.with_columns(place.fill_null(MISSING).alias("place"))
        if at_once:
            # Polars would take the first of the rows, and not of the tally, but for the sort.
            grouped = _tallied(placed.select("place"), "place").sort("place")
        else:
            grouped = placed.group_by("place").agg(count.alias("count"))
        most = (block.size + 2) * (groups or 1)
        in_order = groups is not None and not at_once
        part = tables.collect(grouped, data, most=most, order_by=["place"] * in_order)
        found.append((tables.counts(part["place"]), tables.counts(part["count"])))
    places, counts = map(np.concatenate, zip(*found, strict=True))
    if (places[1:] < places[:-1]).any():
        order = np.argsort(places, kind="stable")
        places, counts = places[order], counts[order]
    known = int(np.searchsorted(places, 0))
    group = places[known:] // size
    candidate, missing = places[known:] - group * size, int(counts[:known].sum())
    return Counts(groups or 1, size, group, candidate, counts[known:], missing)


def _are_in_memory(data: object) -> bool:
    """Return whether a table is no lazy frame, and no path."""
    return isinstance(tables.check_columns(data), nw.DataFrame)


def _tallied(
    rows: nw.LazyFrame[Any], column: str, starts: Values | None = None
) -> nw.LazyFrame[Any]:
    """Return the different integers of a column of polars, ascending, with ``count`` of each.

    Of numbers it returns their positions, null for NaN: of each part of the rows that is in
    memory at a time the different ones are looked up.

    Args:
        rows: With the column. Private.
        column: Its name.
        starts: Where positions begin; None for a column of integers.
    """

    def tally(some: pl.DataFrame) -> pl.DataFrame:
        values = np.sort(some[column].to_numpy())
        firsts = np.flatnonzero(np.append(True, values[1:] != values[:-1])[: values.size])
        found, counts = pl.Series(values[firsts]), np.diff(firsts, append=values.size)
        if starts is not None:
            places = pl.Series(starts.searchsorted(values[firsts], side="right"))
            found = places.set(found.is_nan(), None)
        return pl.DataFrame({column: found, "count": counts})

    schema, in_parts = {column: pl.Int64, "count": pl.Int64}, starts is not None
    native = nw.to_native(rows).map_batches(tally, schema=schema, streamable=in_parts)
    return nw.from_native(native)


def _blocks(starts: Values, *, at_once: bool) -> Iterator[tuple[int, Values]]:
    """Yield the first positions of candidates that are looked up together, and these."""
    from dpselect.tables.collecting import EDGES_AT_ONCE

    size = max(starts.size, 1) if at_once else EDGES_AT_ONCE
    for first in range(0, max(starts.size, 1), size):
        yield first, starts[first : first + size]


def passes(points: Values | Range) -> int:
    """Return the queries that the counts of candidates take in an engine other than polars."""
    return 1 if isinstance(points, Range) else len([*_blocks(points[1:], at_once=False)])
