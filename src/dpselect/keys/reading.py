"""Rows of any container as keys of persons, at most so many of each person.

A person's different keys are put in the order of their values, and of these so many are counted
as ``dpselect.tables.people`` says: as often as a key occurs does not matter.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from dpselect import tables
from dpselect._optional import needed
from dpselect.errors import ColumnError
from dpselect.keys.question import Question
from dpselect.tables.key_columns import KeyColumns, literals, place_among, plain_value
from dpselect.tables.kinds import Kind, kind_of
from dpselect.tables.people import USER, PeopleCap
from dpselect.tables.spark import distinct
from dpselect.tables.values import is_listed, names_of_frame, names_of_values
from dpselect.typing import Indices

VALUE = "value"
"""The column of data that are the values themselves."""

_KEY, _GROUP = "key", "group"

ROWS_IN_ONE_PASS = 2**25
"""Rows of a file that are grouped at once."""

MOST_KEYS = 10**9
"""Keys that may leave an engine where all of them have to: those above a pre-threshold."""

MOST_WEIGHT = 2**60
"""Sums of weights are cut there."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Counted:
    """Some keys with the number of people who have each; private.

    Attributes:
        keys: As the engine has them.
        people: Shape ``(n,)``, integers >= 0.
        columns: How keys are written.
    """

    keys: Sequence[Any] | NDArray[Any]
    people: Indices
    columns: KeyColumns

    def key(self, position: int) -> Hashable:
        """Return a key as plain Python values."""
        return self.columns.decode(self.keys[position])

    def keys_at(self, positions: Indices) -> list[Hashable]:
        """Return several keys, for which ``key`` would take longer."""
        if self.columns.encoded:
            return [self.key(position) for position in positions.tolist()]
        keys: list[Hashable] = np.asarray(self.keys)[positions].tolist()
        return keys


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Rows:
    """One row for each key of a person that is counted, and how many people have each; private.

    polars counts data in memory and files.

    Attributes:
        every: A lazy frame with the columns ``key``, and ``group`` and ``user``, if there are
            any: the keys of all persons, as often as they occur.
        source: What it was made from, to name in an error.
        keys: How keys are written.
        group: How groups are written, if there are any.
        question: How many keys of a person are counted.
    """

    every: nw.LazyFrame[Any]
    source: object
    keys: KeyColumns
    group: KeyColumns | None
    question: Question

    def of_groups(self) -> Rows:
        """Return the rows with the groups for keys, of which as many are counted."""
        question = Question(self.question.by, self.question.cap)
        persons = [] if question.cap is None else [USER]
        every = self.every.select(*persons, nw.col(_GROUP).alias(_KEY))
        keys = self.group or self.keys
        return replace(self, every=every, keys=keys, group=None, question=question)

    def within(self, groups: tuple[Hashable, ...]) -> Rows:
        """Return the rows of some groups alone; only then a person's keys are limited."""
        encode = (self.group or self.keys).encode
        every = _among(self.every, _GROUP, [encode(one) for one in groups])
        return replace(self, every=every, question=replace(self.question, groups=groups))

    def numbered(self) -> Rows:
        """Return the rows with the numbers of groups for groups, whose order is public."""
        encode = (self.group or self.keys).encode
        place = place_among(self.every, _GROUP, [encode(one) for one in self.question.groups])
        every = self.every.with_columns((place - 1).alias(_GROUP))
        numbers = KeyColumns((_GROUP,), ("integer",))
        return replace(self, every=every, group=numbers)

    @property
    def table(self) -> nw.LazyFrame[Any]:
        """One row for each key of a person that is counted."""
        cap = self.question.cap
        return self.every if cap is None else _limited(self.every, self.question, cap)

    def of(
        self, candidates: Sequence[Hashable], groups: Sequence[Hashable] = ()
    ) -> list[Indices]:
        """Return the counts of public candidates, for each group; one list without groups."""
        found = self._counted(most=len(candidates) * max(1, len(groups)))
        places = {self.keys.encode(one): place for place, one in enumerate(candidates)}
        counts = np.zeros((max(1, len(groups)), len(candidates)), dtype=np.int64)
        columns = [places[plain_value(key)] for key in found["key"]]
        counts[self._group_of(found, groups), columns] = tables.counts(found["people"])
        return list(counts)

    def from_count(self, least: int) -> Counted:
        """Return all keys of at least so many people, in order of the value."""
        found = self._counted("key", least=least)
        return Counted(found["key"], tables.counts(found["people"]), self.keys)

    def in_groups(
        self, groups: Sequence[Hashable] = (), least: int = 1
    ) -> list[tuple[Hashable, Counted]]:
        """Return all keys of at least so many people, of each group.

        Groups are those that are given, or else those that have such a key, in order.
        """
        group, keys = self.group, self.keys
        assert group is not None  # noqa: S101 -- asked of rows with groups alone
        found = self._counted("group", "key", least=least)
        people, every = tables.counts(found["people"]), np.asarray(found["group"])
        firsts = np.flatnonzero(np.append(True, every[1:] != every[:-1])[: every.size])
        held = {
            plain_value(every[first]): Counted(found["key"][first:end], people[first:end], keys)
            for first, end in zip(firsts, np.append(firsts, every.size)[1:], strict=True)
        }
        if not groups:
            return [(group.decode(one), counted) for one, counted in held.items()]
        nothing = Counted((), np.zeros(0, dtype=np.int64), keys)
        return [(one, held.get(group.encode(one), nothing)) for one in groups]

    def weighed(self, weights: Indices, among: Sequence[Any] | None) -> Counted:
        """Return the keys that people have, in order, with the sums of their people's weights.

        A person's weight is that of the number of keys that are counted of this person and are
        ``among`` some, as the engine has them, if these are given.
        """
        table = self.table
        if among is not None:
            table = _among(table, _KEY, [plain_value(key) for key in among])
        together = nw.lit(1) if self.question.cap is None else nw.len().over("user")
        by_size = (
            table.with_columns(together.cast(nw.Int64).alias("together"))
            .group_by("key", "together")
            .agg(nw.len().alias("people"))
        )
        found = tables.collect(by_size, self.source, most=MOST_KEYS)
        keys, places = np.unique(np.asarray(found["key"]), return_inverse=True)
        each = weights[tables.counts(found["together"])]
        people = tables.counts(found["people"])
        sums = np.zeros(keys.size, dtype=np.int64)
        np.add.at(sums, places, each * people)
        # Floats show which sums are beyond the integers, before they are cut.
        about = np.bincount(places, each * people.astype(float), minlength=keys.size)
        sums = np.where(about < 2.0 * MOST_WEIGHT, sums.clip(max=MOST_WEIGHT), MOST_WEIGHT)
        return Counted(keys, sums, self.keys)

    def _counted(self, *order_by: str, least: int = 1, most: int = MOST_KEYS) -> dict[str, Any]:
        """Return all keys of at least so many people, in as many passes as it takes."""
        source, by = self.source, ["key"] if self.group is None else ["group", "key"]

        def collected(rows: nw.LazyFrame[Any]) -> dict[str, Any]:
            return tables.collect(rows, source, most=most, order_by=order_by)

        found = [
            collected(
                part.group_by(*by)
                .agg(nw.len().alias("people"))
                .filter(nw.col("people") >= least)
            )
            for part in self._passes()
        ]
        if len(found) == 1:
            return found[0]
        needed("polars", extra="standard")
        import polars as pl

        parts = [{name: column.tolist() for name, column in one.items()} for one in found]
        together = pl.concat([pl.DataFrame(one) for one in parts], how="vertical_relaxed")
        return collected(nw.from_native(together.lazy()))

    def _passes(self) -> list[nw.LazyFrame[Any]]:
        """Return the rows in parts of different keys, as large files are grouped.

        polars keeps what it could not group at once until the end: of 10^8 rows with 10^6
        keys 1.2 GB in one pass.
        """
        source = tables.Source.of(self.source)
        if self.question.cap is not None or source.path is None or source.is_csv:
            return [self.table]
        needed("polars", extra="standard")
        import polars as pl

        size = tables.open_table(self.source).lazy().select(nw.len().alias("rows"))
        [held] = tables.collect(size, self.source, most=1)["rows"].tolist()
        passes = -(-held // ROWS_IN_ONE_PASS)
        if passes <= 1:
            return [self.table]
        part = pl.col("key").hash() % passes
        table = nw.to_native(self.table)
        return [nw.from_native(table.filter(part == number)) for number in range(passes)]

    def _group_of(self, found: dict[str, Any], groups: Sequence[Hashable]) -> list[int]:
        """Return the position of the group of every row that was collected."""
        if self.group is None:
            return [0] * len(found["key"])
        places = {self.group.encode(one): place for place, one in enumerate(groups)}
        return [places[plain_value(one)] for one in found["group"]]


def read(data: object, question: Question) -> Rows:
    """Return the keys that are counted; of a lazy frame or a path no row is read yet.

    Rows without a user, outside of the public groups or not among the candidates are dropped
    before a person's keys are limited, and so are those without a group or a part of the key,
    unless a missing value is one.

    Raises:
        ColumnError: A column is missing, not named, or of a type that keys cannot have.
        DataError: The data cannot be read.
        ParameterError: A candidate or group is not of the column's kind.
    """
    table, kinds = _opened(data, question)
    missing = question.missing
    keys = KeyColumns.of(question.columns or (VALUE,), kinds, missing=missing)
    types = table.collect_schema()
    taken = {_KEY: keys.expression(types)}
    if question.cap is not None:
        taken[USER] = question.cap.persons(types)
    group = None
    if question.by:
        group = KeyColumns.of(question.by, kinds, missing=missing)
        taken[_GROUP] = group.expression(types)
    rows = table.select(**taken).drop_nulls()
    if question.candidates is not None:
        public = [keys.encode(one) for one in question.candidates]
        rows = _among(rows, _KEY, public)
    found = Rows(rows, data, keys, group, question)
    if question.groups:
        found = found.within(question.groups)
    return found.numbered() if question.in_turn else found


def _limited(rows: nw.LazyFrame[Any], question: Question, cap: PeopleCap) -> nw.LazyFrame[Any]:
    pair = [_GROUP, _KEY] if question.by else [_KEY]
    if question.in_turn:
        firsts = rows.group_by(USER, _KEY).agg(nw.col(_GROUP).min())
        return cap.limited(firsts, order_by=pair, in_turn=True)
    if question.candidates is not None:
        possible = len(question.candidates) * max(1, len(question.groups))
        if possible <= cap.most:
            return distinct(rows.select(USER, *pair))
    return cap.limited(rows, order_by=pair, distinct=True)


def _among(rows: nw.LazyFrame[Any], column: str, values: Sequence[Any]) -> nw.LazyFrame[Any]:
    return rows.filter(nw.col(column).is_in(literals(rows, values)))


def _opened(data: object, question: Question) -> tuple[nw.LazyFrame[Any], dict[str, Kind]]:
    if not question.columns:
        values, kind = _values(data)
        return values, {VALUE: kind}
    wanted = [*question.columns, *question.by]
    wanted += [] if question.cap is None else [question.cap.user]
    frame = tables.check_columns(data, plain=wanted).select(*dict.fromkeys(wanted))
    types = tables.schema(frame, data)
    kinds = {name: kind_of(types[name], name) for name in types}
    return frame if isinstance(frame, nw.LazyFrame) else names_of_frame(frame), kinds


def kind_in(data: object, column: str | None) -> Kind:
    """Return the kind of a column, or of data that are the values themselves; public.

    Raises:
        ColumnError, DataError: As for ``read``.
    """
    if column is None:
        # What declares no type is text; a generator can be read once.
        return "text" if is_listed(data) else _values(data)[1]
    frame = tables.check_columns(data, plain=[column])
    return kind_of(tables.schema(frame, data)[column], column)


def _values(data: object) -> tuple[nw.LazyFrame[Any], Kind]:
    """Return an array, a list or a Series of values as a frame, and what they are."""
    if tables.is_table(data):
        raise ColumnError("data is a table: name the column of the values by `column`")
    frame = names_of_values(data, VALUE)
    return frame, kind_of(frame.collect_schema()[VALUE], VALUE)
