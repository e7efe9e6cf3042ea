r"""Rows of any container as keys of persons, at most so many of each person.

Where a person may have at most :math:`m` keys and has :math:`c > m` different ones, these are
put in the order of their values and numbered from 0. Counted are those from number :math:`s`
on, around the circle, where

.. math:: s = \Big(w(\text{user}) + \sum_{\text{keys}} w(\text{key})\Big) \bmod c,

:math:`w` of a text is its length and :math:`w` of an integer the integer modulo 1009. The rule
depends on that person's different keys alone: not on the order or the number of the rows, and
on no other person. Every engine thus counts the same keys. The start spreads persons over
their keys, so that those which come first in the order are not preferred.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import narwhals as nw

from dpselect import tables
from dpselect.errors import ColumnError
from dpselect.keys.columns import MISSING, KeyColumns
from dpselect.keys.question import Question
from dpselect.tables.kinds import Kind, kind_of, named
from dpselect.tables.values import names_of_frame, names_of_values

MODULUS = 1009
"""A prime; integers are reduced by it before they are added up."""

VALUE = "value"
"""The column of data that are the values themselves."""

_KEY, _USER, _GROUP = "key", "user", "group"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Rows:
    """One row for each key of a person that is counted; private.

    Attributes:
        every: A lazy frame with the columns ``key``, and ``group`` and ``user``, if there are
            any: the keys of all persons, as often as they occur.
        source: What it was made from, to name in an error.
        keys: How keys are written.
        group: How groups are written, if there are any.
        user: How persons are written, if they are given.
        question: How many keys of a person are counted.
    """

    every: nw.LazyFrame[Any]
    source: object
    keys: KeyColumns
    group: KeyColumns | None
    user: Kind | None
    question: Question

    def of_groups(self) -> Rows:
        """Return the rows with the groups for keys, of which as many are counted."""
        named = {_KEY: nw.col(_GROUP)} | ({} if self.user is None else {_USER: nw.col(_USER)})
        asked = self.question
        question = Question((str(asked.by),), asked.user, asked.max_per_user)
        every, keys = self.every.select(**named), self.group or self.keys
        return replace(self, every=every, keys=keys, group=None, question=question)

    def within(self, groups: tuple[Hashable, ...]) -> Rows:
        """Return the rows of some groups alone; only then a person's keys are limited."""
        encode = (self.group or self.keys).encode
        every = self.every.filter(nw.col(_GROUP).is_in([encode(one) for one in groups]))
        return replace(self, every=every, question=replace(self.question, groups=groups))

    @property
    def table(self) -> nw.LazyFrame[Any]:
        """One row for each key of a person that is counted."""
        return self.without(())

    def without(self, keys: Sequence[Any]) -> nw.LazyFrame[Any]:
        """Return the table of the data without some public keys, as the engine has them."""
        rows = self.every
        if keys:
            rows = rows.filter(~nw.col(_KEY).is_in(keys))
        return rows if self.user is None else _limited(rows, self)


def read(data: object, question: Question) -> Rows:
    """Return the keys that are counted; of a lazy frame or a path no row is read yet.

    Rows without a user, outside of the public groups or not among the candidates are dropped
    before a person's keys are limited.

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
    taken = {_KEY: _key(names, keys, types)}
    if question.user is not None:
        taken[_USER] = named(nw.col(question.user), types[question.user])
    group = None
    if question.by is not None:
        group = KeyColumns((question.by,), (kinds[question.by],), encoded=False)
        taken[_GROUP] = named(nw.col(question.by), types[question.by])
    rows = table.select(**taken).drop_nulls()
    if question.candidates is not None:
        public = [keys.encode(one) for one in question.candidates]
        rows = rows.filter(nw.col(_KEY).is_in(public))
    user = None if question.user is None else kinds[question.user]
    found = Rows(rows, data, keys, group, user, question)
    return found.within(question.groups) if question.groups else found


def _limited(rows: nw.LazyFrame[Any], of: Rows) -> nw.LazyFrame[Any]:
    question = of.question
    pair = [_KEY] if question.by is None else [_GROUP, _KEY]
    distinct = rows.unique(subset=[_USER, *pair])
    if question.candidates is not None:
        possible = len(question.candidates) * max(1, len(question.groups))
        if possible <= question.max_per_user:
            return distinct
    weight = _weight(_KEY, "text" if of.keys.encoded else of.keys.kinds[0])
    if of.group is not None:
        weight = weight + _weight(_GROUP, of.group.kinds[0])
    sized = distinct.with_columns(
        nw.len().over(_USER).cast(nw.Int64).alias("size"),
        weight.sum().over(_USER).cast(nw.Int64).alias("weight"),
        nw.col(_KEY).cum_count().over(_USER, order_by=pair).cast(nw.Int64).alias("place"),
        _weight(_USER, of.user or "text").alias("own"),
    )
    size = nw.col("size")
    start = (nw.col("weight") + nw.col("own")) % size
    turned = (nw.col("place") - 1 - start + size) % size
    return sized.filter(turned < question.max_per_user).select(_USER, *pair)


def _weight(column: str, kind: Kind) -> nw.Expr:
    value = nw.col(column)
    if kind == "text":
        return value.str.len_chars().cast(nw.Int64)
    if kind == "integer":
        # Engines differ in the remainder of a negative integer by one modulus.
        return ((value % MODULUS).cast(nw.Int64) + MODULUS) % MODULUS
    return value.is_null().cast(nw.Int64)


def _key(names: Sequence[str], keys: KeyColumns, types: nw.Schema) -> nw.Expr:
    columns = [named(nw.col(name), types[name]) for name in names]
    if not keys.encoded:
        return columns[0]
    return nw.concat_str([_encoded(column.cast(nw.String)) for column in columns])


def _encoded(text: nw.Expr) -> nw.Expr:
    size = text.str.len_chars().cast(nw.String)
    whole = nw.concat_str([size, nw.lit(":"), text])
    return nw.when(text.is_null()).then(nw.lit(MISSING)).otherwise(whole)


def _opened(data: object, question: Question) -> tuple[nw.LazyFrame[Any], dict[str, Kind]]:
    if not question.columns:
        values, kind = _values(data)
        return values, {VALUE: kind}
    wanted = [*question.columns]
    wanted += [name for name in (question.user, question.by) if name is not None]
    frame = tables.check_columns(data, plain=wanted).select(*dict.fromkeys(wanted))
    types = tables.schema(frame, data)
    kinds = {name: kind_of(types[name], name) for name in types}
    return frame if isinstance(frame, nw.LazyFrame) else names_of_frame(frame), kinds


def _values(data: object) -> tuple[nw.LazyFrame[Any], Kind]:
    """Return an array, a list or a Series of values as a frame, and what they are."""
    if tables.is_table(data):
        raise ColumnError("data is a table: name the column of the values, column=")
    frame = names_of_values(data, VALUE)
    return frame, kind_of(frame.collect_schema()[VALUE], VALUE)
