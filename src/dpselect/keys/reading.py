"""Rows of any container as keys of persons, at most so many of each person.

A person's different keys are put in the order of their values, and of these so many are counted
as ``dpselect.tables.people`` says: as often as a key occurs does not matter.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

import narwhals as nw
import numpy as np

from dpselect import tables
from dpselect.errors import ColumnError
from dpselect.keys.columns import MISSING, KeyColumns
from dpselect.keys.question import Question
from dpselect.tables.kinds import Kind, kind_of, named
from dpselect.tables.people import USER, PeopleCap
from dpselect.tables.spark import distinct, functions, on_spark
from dpselect.tables.values import is_listed, names_of_frame, names_of_values

VALUE = "value"
"""The column of data that are the values themselves."""

_KEY, _GROUP = "key", "group"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Rows:
    """One row for each key of a person that is counted; private.

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
        question = Question((str(self.question.by),), self.question.cap)
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
        numbers = KeyColumns((_GROUP,), ("integer",), encoded=False)
        return replace(self, every=every, group=numbers)

    @property
    def table(self) -> nw.LazyFrame[Any]:
        """One row for each key of a person that is counted."""
        cap = self.question.cap
        return self.every if cap is None else _limited(self.every, self.question, cap)

    def among(self, keys: Sequence[Any]) -> nw.LazyFrame[Any]:
        """Return the rows of the table with some public keys, as the engine has them."""
        return _among(self.table, _KEY, keys)


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
    names = question.columns or (VALUE,)
    keys = KeyColumns(
        question.columns,
        tuple(kinds[name] for name in names),
        encoded=len(names) > 1 or question.missing,
    )
    types = table.collect_schema()
    taken = {_KEY: _key(names, keys, types, missing=question.missing)}
    if question.cap is not None:
        taken[USER] = question.cap.persons(types)
    group = None
    if question.by is not None:
        group = KeyColumns((question.by,), (kinds[question.by],), encoded=question.missing)
        taken[_GROUP] = _key((question.by,), group, types, missing=question.missing)
    rows = table.select(**taken).drop_nulls()
    if question.candidates is not None:
        public = [keys.encode(one) for one in question.candidates]
        rows = _among(rows, _KEY, public)
    found = Rows(rows, data, keys, group, question)
    if question.groups:
        found = found.within(question.groups)
    return found.numbered() if question.in_turn else found


def _limited(rows: nw.LazyFrame[Any], question: Question, cap: PeopleCap) -> nw.LazyFrame[Any]:
    pair = [_KEY] if question.by is None else [_GROUP, _KEY]
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


def place_among(rows: nw.LazyFrame[Any], column: str, values: Sequence[Any]) -> nw.Expr:
    """Return the place of a value among some, from 1 on, by its digits; 0 for any other."""
    place: Any = nw.lit(0)
    for digit in range(len(values).bit_length()):
        ones = [one for at, one in enumerate(values, start=1) if at >> digit & 1]
        is_one = nw.col(column).is_in(literals(rows, ones))
        place += nw.when(is_one).then(nw.lit(2**digit)).otherwise(nw.lit(0))
    return place.cast(nw.Int64)


def literals(rows: nw.LazyFrame[Any], values: Sequence[Any]) -> Sequence[Any]:
    """Return values as an engine takes them.

    Ibis finds no type for all of some unsigned integers, and PySpark writes years without
    leading zeros, which its own Java process does not read.
    """
    engine = rows.implementation
    if engine.is_ibis() and any(isinstance(one, int) and one >= 2**63 for one in values):
        return [np.uint64(one) for one in values if one >= 0]
    if on_spark(rows):  # which has no other integers
        beyond = [isinstance(one, int) and not -(2**63) <= one < 2**63 for one in values]
        values = [one for one, out in zip(values, beyond, strict=True) if not out]
    if engine.is_pyspark() and any(isinstance(one, date) for one in values):
        return [functions(rows).lit(one.isoformat()).cast("date") for one in values]
    return values


def _key(names: Sequence[str], keys: KeyColumns, types: nw.Schema, *, missing: bool) -> nw.Expr:
    """Return a key in one column; null if a part is, unless a missing part is a part."""
    columns = [named(nw.col(name), types[name]) for name in names]
    if not keys.encoded:
        return columns[0]
    texts = (_encoded(column.cast(nw.String), missing=missing) for column in columns)
    return nw.concat_str(list(texts))


def _encoded(text: nw.Expr, *, missing: bool) -> nw.Expr:
    size = text.str.len_chars().cast(nw.String)
    whole = nw.concat_str([size, nw.lit(":"), text])
    if not missing:
        return whole
    return nw.when(text.is_null()).then(nw.lit(MISSING)).otherwise(whole)


def _opened(data: object, question: Question) -> tuple[nw.LazyFrame[Any], dict[str, Kind]]:
    if not question.columns:
        values, kind = _values(data)
        return values, {VALUE: kind}
    wanted = [*question.columns]
    wanted += [] if question.cap is None else [question.cap.user]
    wanted += [] if question.by is None else [question.by]
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
