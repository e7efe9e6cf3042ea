"""Records of a percentile: how their numbers are read and counted, in memory or in an engine.

Every number counts at the candidate where it is placed (``candidates``), and only counts leave
an engine: one grouping by the position among so many candidates at a time, for all groups.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import gcd
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dpselect import tables
from dpselect._optional import nw, pl
from dpselect.draws.exact.leading_zeros import spans
from dpselect.errors import ColumnError, DataError, missing_value
from dpselect.neighbours import Neighbours
from dpselect.percentiles.candidates import OPEN, Float, Range, starts_of, unclear
from dpselect.tables.columns import EDGES_AT_ONCE, NUMBERS, Measure
from dpselect.tables.engine import FLOAT, NOT_NAN, double, engine_of
from dpselect.tables.groups import GROUP
from dpselect.tables.opening import are_in_header, unreadable
from dpselect.tables.people import PeopleCap, changed_rows
from dpselect.typing import Indices, OnInvalid, Values

Numbers: TypeAlias = NDArray[Any]
"""Floats or integers, of up to 64 bits."""

NUMBER, MISSING = "number", -1
"""The column of numbers, and the position of a record that has none."""

MOST_NUMBERS = 10**9
"""Different numbers of groups that may leave an engine, where a range is not listed."""

AT_ONCE, MANY = 2**17, 8
"""Numbers that are sorted together, at least, and to each start among them."""

ROWS_AT_ONCE = 2**24
"""Rows of groups that are sorted together, or as many as there are different positions."""

FINEST, MOST_PARTS = 2**10, 2**22
"""The smallest parts of 1 that are looked for, and parts from 0 to the furthest start."""


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
        return np.bincount(self.group, self.held, self.groups).astype(self.held.dtype)

    def some(self, groups: Indices) -> Counts:
        """Return those of some groups, in this order."""
        first, end = (self.group.searchsorted(groups, side) for side in ("left", "right"))
        group, at = spans(first, end - first)
        return Counts(groups.size, self.candidates, group, self.place[at], self.held[at])

    def parts(self, size: int = 1) -> Iterator[Counts]:
        """Yield those of so many groups at a time, by default of one group after the other."""
        for first in range(0, self.groups, size):
            last = min(first + size, self.groups)
            at = slice(*self.group.searchsorted([first, last]))
            found = self.group[at] - first, self.place[at], self.held[at]
            yield Counts(last - first, self.candidates, *found)

    def before(self, ends: Indices) -> Indices:
        """Return how many numbers of each group count before ascending positions."""
        at = self.group * (ends.size + 1) + ends.searchsorted(self.place, side="right")
        counts = np.bincount(at, self.held, self.groups * (ends.size + 1))
        return counts.reshape(self.groups, -1)[:, :-1].cumsum(axis=1).astype(np.int64)

    def between(self, first: Indices, end: Indices) -> Counts:
        """Return those at or after a position of each group and before another; private."""
        at = (self.place >= first[self.group]) & (self.place < end[self.group])
        return replace(self, group=self.group[at], place=self.place[at], held=self.held[at])

    def visited(self, *, upwards: bool) -> Counts:
        """Return those of the candidates from the largest on, unless they are as they are."""
        if upwards:
            return self
        ends = self.group.searchsorted(np.arange(self.groups + 1))
        back = (ends[:-1] + ends[1:] - 1)[self.group] - np.arange(self.group.size)
        return replace(self, place=self.candidates - 1 - self.place[back], held=self.held[back])

    def in_cells(self, edges: Indices, start: Indices | None = None) -> Counts:
        """Return the counts of cells between ascending edges, in place of candidates.

        Args:
            edges: Positions of candidates, from a position of each group on.
            start: These positions; 0 if not given.
        """
        place = self.place if start is None else self.place - start[self.group]
        cell = edges.searchsorted(place, side="right") - 1
        return replace(self.moved(cell), candidates=edges.size - 1)

    def moved(self, place: Indices) -> Counts:
        """Return the counts at other positions, ascending in each group; equal ones are one."""
        first = np.flatnonzero(np.diff(self.group, prepend=-1) | np.diff(place, prepend=0))
        held = np.add.reduceat(self.held, first) if first.size else self.held
        return replace(self, group=self.group[first], place=place[first], held=held)


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
        """Return what one step changes of the distance of a rank from ``1/2 + p/100 (n - 1)``.

        Of a person with up to ``m`` records it changes ``m`` times as much. Under substitution
        how many there are may change too, also where a record loses its number: if ``i`` of
        them become ``j`` and ``l`` more are below the candidate, the distance changes by at
        most ``|l - a(j - i)| ≤ m``, for ``a = p/100``, since ``-i ≤ l ≤ j``.
        """
        is_replaced = self.neighbours is Neighbours.SUBSTITUTE
        return self.per_user * (1.0 if is_replaced else max(p / 100, 1 - p / 100))

    def check(self, data: object, points: Values | Range) -> None:
        """Make the checks of a release that read no private value.

        Raises:
            ColumnError, DataError: As for the release.
        """
        data = self.measured(data) if tables.is_table(data) else data
        persons = [] if self.users is None else [self.users.user]
        numeric = [] if self.column is None or self.are_public else [self.column]
        if numeric and are_in_header(data, numeric=numeric, plain=persons):
            return  # as float64
        if (column := checked_column(data, self.column)) is not None:
            tables.check_columns(data, numeric=[column])
            if self.users is not None:
                self.users.check(data)
            elif self.are_public and tables.count_records(data, numeric=[column]) == 0:
                raise no_records()
            checked_type(tables.declared_float(data, column), column, points)

    def counted(self, data: object, points: Values | Range) -> Counts:
        """Count the numbers of some data; of a lazy frame no row is read, but for a range.

        Args:
            data: A frame, the path of a Parquet or CSV file, or the numbers themselves.
            points: The candidates, increasing.

        Raises:
            ColumnError, DataError: As for the release.
            PublicClaimError: A number is missing where none may be.
        """
        found = self._counted(self.measured(data), points)
        if self.are_public and found.numbers[0] + found.missing == 0:
            raise no_records()
        if self.on_invalid == "raise" and found.missing > 0:
            raise missing_value()
        return found

    def measured(self, data: object) -> object:
        """Return data with numbers of the column: of dates, or of a difference."""
        return self.measure.of(data, self.column)

    def _counted(self, data: object, points: Values | Range) -> Counts:
        if self.column is None or not tables.is_table(data):
            listed = tables.numeric_column(data, self.column)
            kind = checked_type(tables.declared_float(data), self.column, points)
            return counts_of(listed, points, kind)
        rows = self._numbers(data, self.column)
        kind = checked_type(tables.declared_float(data, self.column), self.column, points)
        engine = engine_of(rows)
        if isinstance(points, Range):
            numbers = engine.fetched(lambda: unreadable(data)).get_column(NUMBER)
            return counts_of(tables.series_numbers(numbers), points, kind)
        starts = starts_of(points, kind)
        if not engine.is_here:
            return _counts_there(rows, starts, data)

        def parts(use: Callable[[Numbers], None]) -> None:
            engine.each(lambda part: use(part[NUMBER].to_numpy()), lambda: unreadable(data))

        return counts_of_parts(parts, starts)

    def _numbers(self, data: object, column: str) -> nw.LazyFrame[Any]:
        """Return the numbers that are counted, and a null for each record without one.

        In polars it may be NaN, and integers that NumPy has stay what they are.
        """
        table = tables.check_columns(data, numeric=[column])
        kind = table.collect_schema()[column]
        is_plain = kind.is_float() or (kind.is_integer() and "128" not in str(kind))
        if self.users is None and is_plain:
            rows = table.select(nw.col(column).alias(NUMBER))
            read = (FLOAT if kind.is_integer() else NOT_NAN).format(NUMBER)
            return rows if engine_of(rows).is_here else engine_of(rows).with_sql({NUMBER: read})
        persons = [] if self.users is None else [self.users.user]
        table = tables.lazy_columns(data, numeric=[column], plain=persons)
        number = engine_of(table).without_nan(column).alias(NUMBER)
        if self.users is None:
            return table.select(number)
        rows = table.select(number, self.users.persons(table.collect_schema()))
        missing = rows.filter(nw.col(NUMBER).is_null(), ~nw.col("user").is_null())
        counted = self.users.limited(rows, order_by=[NUMBER])
        return nw.concat([counted.select(NUMBER), missing.select(NUMBER)])


def checked_column(data: object, column: str | None) -> str | None:
    """Return the column of the numbers, None where the data are the numbers themselves.

    Raises:
        ColumnError: The data are a table, and no column is named.
    """
    if column is None and tables.is_table(data):
        tables.numeric_column(data)
    return column


def checked_type(kind: Float, column: str | None, points: Values | Range) -> Float:
    """Return the type that numbers are read as, which tells all candidates apart.

    Without an end that is known no shorter type would, so all are read as float64.

    Args:
        kind: The type of floats that is declared.
        column: The column, of a table.
        points: The candidates.

    Raises:
        ColumnError, DataError: Neighbouring candidates are the same number of that type.
    """
    if isinstance(points, Range) and len(points) >= OPEN:
        return np.float64
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


def counts_of(values: Numbers, points: Values | Range, kind: Float = np.float64) -> Counts:
    """Return what numbers in memory count at.

    Args:
        values: Shape ``(n,)``, a missing number as NaN. Private.
        points: The candidates, increasing.
        kind: The type of floats that the numbers are of.
    """
    if not isinstance(points, Range):
        return counts_of_parts(lambda use: use(values), starts_of(points, kind))
    known = values[~np.isnan(values)]
    place = np.sort(points.places(known.astype(np.float64), kind))
    group, held = np.zeros_like(place), np.ones_like(place)
    return Counts(1, len(points), group, place, held, values.size - known.size)


def counts_at(held: NDArray[Any], missing: int = 0) -> Counts:
    """Return the counts of one group, from how many numbers count at each candidate."""
    place = np.flatnonzero(held)
    return Counts(1, held.size, np.zeros_like(place), place, held[place], missing)


def counts_of_parts(
    parts: Callable[[Callable[[Numbers], None]], None], starts: Values
) -> Counts:
    """Return what the numbers in some arrays count at.

    Numbers are sorted, which takes less time than to search each among the starts, and starts
    are searched among them; behind all there is what is missing.

    Args:
        parts: Calls a function with each of them, numbers of any type as for ``counts_of``.
        starts: The least number that counts at each candidate, but the first.
    """
    ends, upto = np.append(starts, np.nan), np.zeros(starts.size + 2, dtype=np.int64)
    size = max(AT_ONCE, MANY * ends.size)

    def add(part: Numbers) -> None:
        for at in range(0, part.size, size):
            some = np.sort(part[at : at + size])
            upto[:-1] += some.searchsorted(ends)
            upto[-1] += some.size

    parts(add)
    counts = np.diff(upto, prepend=0)
    return counts_at(counts[:-1], int(counts[-1]))


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
        starts = starts_of(points, kind)
        of = _counts_here if engine_of(rows).is_here else _counts_there
        return of(rows, starts, data, groups)
    grouped = rows.group_by(GROUP, NUMBER).agg(nw.len().alias("count"))
    found = tables.collect(grouped, data, most=MOST_NUMBERS)
    group, held = tables.counts(found[GROUP]), tables.counts(found["count"])
    place = points.places(found[NUMBER].astype(np.float64), kind)
    order = np.lexsort((place, group))
    return Counts(groups, len(points), group[order], place[order], held[order])


def _counts_here(rows: nw.LazyFrame[Any], starts: Values, data: object, groups: int) -> Counts:
    """Return what the numbers of groups count at, from parts of rows of polars."""
    place = nw.col(GROUP).cast(nw.Int64) * (starts.size + 1) + nw.col(NUMBER)
    placed = engine_of(rows).placed({NUMBER: starts}).select(place.alias("place"))
    parts, runs = [pl.Series(dtype=pl.Int64)], pl.DataFrame()

    def add(part: pl.DataFrame) -> None:
        nonlocal runs, parts
        parts.append(part["place"])
        if sum(map(len, parts)) > max(ROWS_AT_ONCE, len(runs)):
            runs, parts = _with_more(runs, parts), parts[:1]

    engine_of(placed).each(add, lambda: unreadable(data))
    found = _with_more(runs, parts).to_numpy().T
    return counts_at_places([*found], starts.size + 1, groups)


def _with_more(runs: pl.DataFrame, parts: list[pl.Series]) -> pl.DataFrame:
    """Return different integers, and how many there are of each, with some more.

    They are sorted in less time than they are grouped.
    """
    more = pl.concat(parts).sort().rle().struct.unnest()
    more = more.select("value", pl.col("len").cast(pl.Int64))
    if runs.is_empty():
        return more
    return pl.concat([runs, more]).group_by("value").agg(pl.col("len").sum())


def _counts_there(
    rows: nw.LazyFrame[Any], starts: Values, data: object, groups: int | None = None
) -> Counts:
    """Return what numbers count at in another engine, from one query or a few.

    Args:
        rows: With the column ``number``; with groups also their positions, ``group``.
        starts: The least number that counts at each candidate, but the first.
        data: What the rows were made from.
        groups: How many there are; None for numbers that are in none, and may be missing.

    Raises:
        DataError: The engine refuses the query.
    """
    number, found = nw.col(NUMBER), []
    queries, edges = _queries(rows, starts)
    size = int(edges[-1])
    for placed in queries:
        place = number.cast(nw.Int64)
        if groups is not None:
            place += nw.col(GROUP).cast(nw.Int64) * size
        some = placed.select(place.fill_null(MISSING).alias("place"))
        counted = engine_of(some).grouped(["place"], "count")
        part = tables.collect(counted, data, most=(size + 1) * (groups or 1))
        found.append([tables.counts(part[name]) for name in ("place", "count")])
    # To copy a large one takes longer than to sort it.
    every = [np.hstack(one) if one[1:] else one[0] for one in zip(*found, strict=True)]
    counts = counts_at_places(every, size, groups or 1)
    # Where each is a cell there is nothing to do.
    return counts if edges.size == size + 1 else counts.in_cells(edges)


def _queries(
    rows: nw.LazyFrame[Any], starts: Values
) -> tuple[list[nw.LazyFrame[Any]], Indices]:
    """Return queries that replace numbers by cells, and the first cell of each candidate.

    If all starts are steps of the size of ``_parts``, cells are as many of these as they have
    in common, since one expression has them and engines plan it in no time. The product is
    exact, and halves of steps are far from where cells end, so no number leaves its cell.
    Else cells are looked up, in blocks of as many as an engine plans well.
    """
    number = nw.col(NUMBER)
    if parts := _parts(starts):
        first = starts[0] * parts
        cells = (starts * parts - first).astype(np.int64)
        width = max(int(np.gcd.reduce(cells)), 1)
        low, high = double((first - 1) / parts), double(starts[-1])
        step = f"floor(least(greatest({NUMBER}, {low}), {high}) * {double(parts)})"
        cell = f"floor(({step} - {double(first - 0.5)}) * {double(1 / width)}) + 1"
        known = f"CASE WHEN {NUMBER} IS NOT NULL THEN {cell} END"
        placed = engine_of(rows).with_sql({NUMBER: known})
        return [placed], np.concatenate([[0], cells // width + 1, [cells[-1] // width + 2]])
    queries = []
    for first in range(0, max(starts.size, 1), EDGES_AT_ONCE):
        some, block = rows, starts[first : first + EDGES_AT_ONCE]
        if first:
            some = some.filter(number >= float(starts[first - 1]))
        if first + block.size < starts.size:
            below = number < float(block[-1])
            some = some.filter(below if first else below | number.is_null())
        queries.append(engine_of(some).placed({NUMBER: block}).with_columns(number + first))
    return queries, np.arange(starts.size + 2)


def _parts(starts: Values) -> int:
    """Return of how small parts of 1 all starts are multiples, a power of 2; 0 if of none."""
    whole = (starts.clip(-MOST_PARTS, MOST_PARTS) * FINEST).astype(np.int64)
    parts = FINEST // gcd(FINEST, int(np.bitwise_or.reduce(whole)))
    are_whole = starts.size > 0 and bool((whole / FINEST == starts).all())
    return parts if are_whole and parts * np.abs(starts).max() < MOST_PARTS else 0


def counts_at_places(found: Sequence[Indices], size: int, groups: int) -> Counts:
    """Return counts, of so many places in each group, from places and counts, shape ``(n,)``.

    Place -1 is that of missing numbers.
    """
    places, counts = found
    bits = int(counts.max(initial=1)).bit_length()
    if places.max(initial=0) < 2 ** (63 - bits):
        # Both as one integer are sorted in a fifth of the time.
        together = places << bits
        together |= counts
        together.sort()
        counts = together & (2**bits - 1)
        places = np.right_shift(together, bits, out=together)
    else:
        order = np.argsort(places)
        places, counts = places[order], counts[order]
    known = int(places.searchsorted(0))
    missing, places = int(counts[:known].sum()), places[known:]
    group = places // size
    places -= group * size
    return Counts(groups, size, group, places, counts[known:], missing)


def passes(points: Values | Range) -> int:
    """Return the queries that the counts of candidates take in an engine other than polars."""
    if isinstance(points, Range) or _parts(points[1:] / 2 + points[:-1] / 2):
        return 1
    return -(-max(points.size - 1, 1) // EDGES_AT_ONCE)
