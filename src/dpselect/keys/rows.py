"""What is read of rows: keys of persons, at most so many of each person.

A person's different keys are put in the order of their values, and of these so many are counted
as ``dpselect.tables.people`` says: as often as a key occurs does not matter. Few keys leave the
engine. It orders by the count and then by the value, by which ties are broken: never by the
order of the rows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence, Set as AbstractSet
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import chain
from typing import Any, Literal, NamedTuple, TypeAlias, get_args
from weakref import finalize

from dpselect import tables, validation
from dpselect._optional import np, nw, pl
from dpselect.errors import ColumnError, ParameterError
from dpselect.query import ANYTHING, Columns, Released
from dpselect.tables.engine import distinct, engine_of
from dpselect.tables.groups import listed_groups
from dpselect.tables.kinds import KeyColumns, Kind, check_parts, checked_names, is_missing
from dpselect.tables.opening import kinds_of, unreadable
from dpselect.tables.people import USER, PeopleCap, changes, coded_columns, codes_in, people_cap
from dpselect.tables.source import Source
from dpselect.tables.values import VALUE, as_table, is_listed
from dpselect.typing import Array, Indices

Missing: TypeAlias = Literal["drop", "key"]
"""Whether a row without a key is dropped, or a missing value is a key of its own."""

LEAST_DELTA = 1e-290
"""Parts of it can still be told from 0."""

_KEY, _GROUP = "key", "group"

ROWS_IN_ONE_PASS = 2**25
"""Rows of a file that are grouped at once."""

MOST_KEYS = 10**9
"""Keys that may leave an engine where all of them have to: those above a pre-threshold."""

MOST_WEIGHT = 2**60
"""Sums of weights are cut there."""


@dataclass(frozen=True, slots=True)
class KeyRows:
    """What is read of the rows; public.

    Attributes:
        columns: The columns of the key; empty where the data are the values themselves.
        cap: The column of the person that a row belongs to, and how many different keys of a
            person are counted; each row is a person of its own if not given.
        by: The columns of groups, if there are any; a person's keys are then pairs of a group
            and a key.
        groups: The public groups; empty where they are to be released.
        candidates: The public keys; any if not given.
        missing: Whether a missing value is a key, a part of one or a group of its own.
        in_turn: Whether groups are numbered in the order of ``groups``, and a person's key
            counts in the first of them alone; of too many keys those of the first groups count.
    """

    columns: tuple[str, ...]
    cap: PeopleCap | None = None
    by: tuple[str, ...] = ()
    groups: tuple[Hashable, ...] = ()
    candidates: tuple[Hashable, ...] | None = None
    missing: bool = False
    in_turn: bool = False

    @classmethod
    def of(cls, asked: Any, **instead: Any) -> KeyRows:  # noqa: ANN401 -- a query
        """Return what is read for a query, from its fields.

        Args:
            asked: With ``column``, ``user`` and ``max_per_user``, and ``missing_keys``,
                ``candidates``, ``by`` and ``groups`` where it has them.
            **instead: Values of these that the query has under another name.

        Raises:
            ParameterError: One is out of range, or does not go with another.
        """

        def field(name: str, default: object = None) -> Any:  # noqa: ANN401
            return instead[name] if name in instead else getattr(asked, name, default)

        columns, by = checked_names(field("column")), checked_names(field("by"), "by")
        missing = validation.one_of(
            "missing_keys", field("missing_keys", "drop"), get_args(Missing)
        )
        cap = people_cap(field("user"), field("max_per_user"))
        candidates = validation.listed("candidates", field("candidates"))
        groups = None if field("groups") is None else listed_groups(by, field("groups"))
        if not columns and (cap is not None or by):
            raise validation.needs("by" if cap is None else "user", "column", of="keys")
        names = [*columns, *by, *([] if cap is None else [cap.user])]
        for name, times in Counter(names).items():
            if times > 1:
                raise ParameterError(f"column {name!r} cannot be a part of the key as well")
        if candidates is not None:
            validation.different("candidates", candidates)
        _check_listed(missing, candidates=candidates, groups=groups)
        check_parts("candidates", candidates or (), columns)
        return cls(columns, cap, by, groups or (), candidates, missing == "key")

    @property
    def max_per_user(self) -> int:
        """How many keys of a person are counted at most."""
        return 1 if self.cap is None else self.cap.most

    def check(self, data: object) -> None:
        """Check that data can be read, by their schema alone.

        Raises:
            ColumnError, DataError, ParameterError: As for ``read``.
        """
        if not self.columns:
            self.read(data)
            return
        for names, listed in ((self.columns, self.candidates or ()), (self.by, self.groups)):
            keys = KeyColumns(names, kinds_of(data, names), self.missing)
            for one in listed:
                keys.encode(one)
        if self.cap is not None:
            self.cap.check(data)

    def read(self, data: object) -> PersonKeys:
        """Return the keys that are counted; of a lazy frame or a path no row is read yet.

        Rows without a user, outside of the public groups or not among the candidates are
        dropped before a person's keys are limited, and so are those without a group or a part
        of the key, unless a missing value is one.

        Raises:
            ColumnError: A column is missing, not named, or of a type that keys cannot have.
            DataError: The data cannot be read.
            ParameterError: A candidate or group is not of the column's kind.
        """
        table, kinds = _opened(data, self)
        names = self.columns or (VALUE,)
        keys = KeyColumns(names, tuple(map(kinds.__getitem__, names)), self.missing)
        types = table.collect_schema()
        # Categories have codes.
        as_it_is = not keys.encoded and types[keys.names[0]] == nw.Categorical
        taken = {_KEY: nw.col(keys.names[0]) if as_it_is else keys.expression(types)}
        if self.cap is not None:
            taken[USER] = self.cap.persons(types)
        group = None
        if self.by:
            group = KeyColumns(self.by, tuple(map(kinds.__getitem__, self.by)), self.missing)
            taken[_GROUP] = group.expression(types)
        rows = table.select(**taken).drop_nulls()
        if self.candidates is not None:
            rows = engine_of(rows).among(_KEY, [keys.encode(one) for one in self.candidates])
        found = PersonKeys(rows, data, keys, group, self, table)
        if self.groups:
            found = found.within(self.groups)
        return found.numbered() if self.in_turn else found


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Counted:
    """Some keys with the number of people who have each; private.

    Attributes:
        keys: As the engine has them, or codes.
        people: Shape ``(n,)``, integers >= 0.
        columns: How keys are written.
        values: What the codes stand for.
    """

    keys: Sequence[Any] | Array
    people: Indices
    columns: KeyColumns
    values: pl.Series | None = None

    def keys_at(self, positions: Indices) -> list[Hashable]:
        """Return keys as plain Python values."""
        keys = _decoded(np.asarray(self.keys)[positions], self.values)
        return [*map(self.columns.decode, keys)] if self.columns.encoded else keys


@dataclass(frozen=True, eq=False, repr=False)
class PersonKeys:
    """One row for each key of a person that is counted, and how many people have each; private.

    polars counts data in memory and files.

    Attributes:
        every: A lazy frame with the columns ``key``, and ``group`` and ``user``, if there are
            any: the keys of all persons, as often as they occur.
        source: What it was made from, to name in an error.
        keys: How keys are written.
        group: How groups are written, if there are any.
        asked: What is read.
        table: The rows that there are.
        values: What the integers of a column stand for, where they are codes, in order.
    """

    every: nw.LazyFrame[Any]
    source: object
    keys: KeyColumns
    group: KeyColumns | None
    asked: KeyRows
    table: nw.LazyFrame[Any]
    values: Mapping[str, pl.Series] = field(default_factory=dict)

    def of_groups(self) -> PersonKeys:
        """Return the rows with the groups for keys, of which as many are counted."""
        asked = KeyRows(self.asked.by, self.asked.cap)
        persons = [] if asked.cap is None else [USER]
        every = self.every.select(*persons, nw.col(_GROUP).alias(_KEY))
        keys = self.group or self.keys
        return replace(self, every=every, keys=keys, group=None, asked=asked)

    def within(self, groups: tuple[Hashable, ...]) -> PersonKeys:
        """Return the rows of some groups alone; only then a person's keys are limited."""
        encode = (self.group or self.keys).encode
        every = engine_of(self.every).among(_GROUP, [encode(one) for one in groups])
        return replace(self, every=every, asked=replace(self.asked, groups=groups))

    def numbered(self) -> PersonKeys:
        """Return the rows with the numbers of groups for groups, whose order is public."""
        encode = (self.group or self.keys).encode
        groups = [encode(one) for one in self.asked.groups]
        every = engine_of(self.every).coded({_GROUP: groups})
        numbers = KeyColumns((_GROUP,), (Kind.INTEGER,))
        return replace(self, every=every, group=numbers)

    @cached_property
    def counted(self) -> PersonKeys:
        """The same with one row for each key of a person that is counted.

        Rows that are computed here are computed once, and have codes.
        """
        asked, cap, rows, source = self.asked, self.asked.cap, self.every, self.source
        if cap is None:
            if self.group is not None or tables.is_lazy(source) or Source.of(source).path:
                return self
            [key] = coded_columns(rows.select(_KEY), source).values()
            every = nw.from_native(pl.LazyFrame({_KEY: key.codes}))
            return replace(self, every=every, values={_KEY: key.values})
        pair = [_GROUP, _KEY] if asked.by else [_KEY]
        if asked.in_turn:
            rows = rows.group_by(USER, _KEY).agg(nw.col(_GROUP).min())
        elif asked.candidates is not None:
            possible = len(asked.candidates) * max(1, len(asked.groups))
            if possible <= cap.most:
                return replace(self, every=distinct(rows, USER, *pair))
        how: Any = {"distinct": not asked.in_turn, "in_turn": asked.in_turn, "order_by": pair}
        if not engine_of(rows).is_here:
            return replace(self, every=cap.limited(rows, **how))
        counted, values = cap.coded(rows, source, **how)
        return replace(self, every=counted, values=values)

    @cached_property
    def _kept(self) -> PersonKeys:
        """The counted rows, for several queries: in memory, or where the engine keeps them.

        A draw may be repeated, or refused, so that it keeps them as long as this lives.
        """
        taken = [USER, _KEY, *[_GROUP] * bool(self.asked.by)]
        engine = engine_of(
            self.every if self.asked.cap is None else distinct(self.every, *taken)
        )
        rows = self
        if engine.forgets:
            held = engine.fetched(lambda: unreadable(self.source)).lazy(backend="polars")
            rows = replace(self, every=held)
        # With their numbers: else those of each person would be brought together once more.
        sized, stack = engine_of(self._sized(rows.counted.every)), ExitStack()
        kept = replace(rows.counted, every=stack.enter_context(sized.cached()))
        finalize(kept, stack.close)
        return kept

    def of(
        self, candidates: Sequence[Hashable], groups: Sequence[Hashable] = ()
    ) -> list[Indices]:
        """Return the counts of public candidates, for each group; one list without groups."""
        found = self._counted(most=len(candidates) * max(1, len(groups)))
        places = {self.keys.encode(one): place for place, one in enumerate(candidates)}
        counts = np.zeros((max(1, len(groups)), len(candidates)), dtype=np.int64)
        rows: list[int] | int = 0
        if self.group is not None:
            at = {self.group.encode(one): place for place, one in enumerate(groups)}
            rows = [at[one] for one in _decoded(found["group"], self._values(_GROUP))]
        columns = [places[key] for key in _decoded(found["key"], self._values(_KEY))]
        counts[rows, columns] = found["people"]
        return list(counts)

    def parts(self, least: int = 1) -> list[tuple[Hashable, Counted]]:
        """Return all keys of at least so many people, in order of the value, of each group.

        Groups are the public ones, or else those that have such a key, in order. Without groups
        there is one, None.
        """
        group, of = self.group, [] if self.group is None else [_GROUP]
        found = self._counted(*of, _KEY, least=least)
        people, values = tables.counts(found["people"]), self._values(_KEY)
        if group is None:
            return [(None, Counted(found["key"], people, self.keys, values))]
        firsts = np.flatnonzero(changes(found["group"]))
        groups = _decoded(found["group"][firsts], self._values(_GROUP))
        held = {
            one: Counted(found["key"][first:end], people[first:end], self.keys, values)
            for one, first, end in zip(groups, firsts, [*firsts, people.size][1:], strict=True)
        }
        if not self.asked.groups:
            return sorted(
                ((group.decode(one), counted) for one, counted in held.items()),
                key=lambda part: in_order(part[0]),
            )
        nothing = Counted(found["key"][:0], people[:0], self.keys, values)
        return [(one, held.get(group.encode(one), nothing)) for one in self.asked.groups]

    def weighed(self, weights: Indices, among: Array | None) -> Counted:
        """Return the keys that people have, in order, with the sums of their people's weights.

        A person's weight is that of the number of keys that are counted of this person and are
        ``among`` some, as the engine has them or by their codes, if these are given.
        """
        rows, has_persons = self._kept, self.asked.cap is not None
        values = rows.values.get(_KEY)
        if has_persons and values is not None:
            every, persons = codes_in(rows.every, _KEY, USER)
            if among is not None:
                of = np.isin(every, among)
                every, persons = every[of], persons[of]
            sizes = np.diff(np.flatnonzero(changes(persons)), append=persons.size)
            people, each = np.ones(1, np.int64), np.repeat(weights[sizes], sizes)
            is_there = np.bincount(every) > 0
            keys, places = np.flatnonzero(is_there), np.cumsum(is_there)[every] - 1
        else:
            table = rows.every
            if among is not None:
                table = self._sized(engine_of(table).among(_KEY, among.tolist()))
            by_size = engine_of(table).grouped([_KEY, "together"], "people")
            found = tables.collect(by_size, self.source, most=MOST_KEYS, order_by=[_KEY])
            people = tables.counts(found["people"])
            each = weights[tables.counts(found["together"])]
            firsts = np.flatnonzero(changes(found[_KEY]))
            keys = found[_KEY][firsts]
            places = np.repeat(np.arange(keys.size), np.diff(firsts, append=people.size))
        sums = np.zeros(keys.size, dtype=np.int64)
        np.add.at(sums, places, each * people)
        # Floats show which sums are beyond the integers, before they are cut.
        about = np.bincount(places, each * people.astype(float), minlength=keys.size)
        sums = np.where(about < 2.0 * MOST_WEIGHT, sums.clip(max=MOST_WEIGHT), MOST_WEIGHT)
        return Counted(keys, sums, self.keys, values)

    def _sized(self, rows: nw.LazyFrame[Any]) -> nw.LazyFrame[Any]:
        """Return rows with how many there are of the same person."""
        size = nw.lit(1) if self.asked.cap is None else nw.len().over(USER)
        return rows.with_columns(size.cast(nw.Int64).alias("together"))

    def _values(self, column: str) -> pl.Series | None:
        return self.counted.values.get(column)

    def _counted(self, *order_by: str, least: int = 1, most: int = MOST_KEYS) -> dict[str, Any]:
        """Return all keys of at least so many people, in as many passes as it takes."""
        source, by = self.source, [_KEY] if self.group is None else [_GROUP, _KEY]
        if self.group is None and _KEY in self.counted.values:
            people = np.bincount(*codes_in(self.counted.every, _KEY))
            keys = np.flatnonzero(people >= least)
            return {_KEY: keys, "people": people[keys]}

        collected = partial(tables.collect, data=source, most=most, order_by=order_by)
        grouped = [engine_of(part).grouped(by, "people") for part in self._passes()]
        found = [collected(one.filter(nw.col("people") >= least)) for one in grouped]
        if len(found) == 1:
            return found[0]
        parts = [{name: column.tolist() for name, column in one.items()} for one in found]
        together = pl.concat([pl.DataFrame(one) for one in parts], how="vertical_relaxed")
        return collected(nw.from_native(together.lazy()))

    def _passes(self) -> list[nw.LazyFrame[Any]]:
        """Return the rows in parts of different keys, as large files are grouped.

        polars keeps what it could not group at once until the end: of 10^8 rows with 10^6
        keys 1.2 GB in one pass.
        """
        source = Source.of(self.source)
        if self.asked.cap is not None or source.path is None or source.is_csv:
            return [self.counted.every]
        size = self.table.select(nw.len().alias("rows"))
        [held] = tables.collect(size, self.source, most=1)["rows"].tolist()
        passes = -(-held // ROWS_IN_ONE_PASS)
        if passes <= 1:
            return [self.counted.every]
        part = pl.col("key").hash() % passes
        table = nw.to_native(self.counted.every)
        return [nw.from_native(table.filter(part == number)) for number in range(passes)]


def _decoded(keys: Array, values: pl.Series | None) -> list[Any]:
    """Return keys of an engine, or of codes, as one column has them."""
    return keys.tolist() if values is None else values.gather(keys).to_list()


class Part(NamedTuple):
    """What was drawn of one group; a release, but for ``left``.

    Attributes:
        group: The group, None without groups or for the rest of all others.
        keys: The released keys in their order; None where the rest alone is counted.
        counts: Their noisy counts, if there are any.
        scale: Scale of the noise of the counts; None if there are none.
        left: How much is counted of the group and not released; private.
        interval: Those of the counts, if they were asked for.
        certain: Which keys are certainly among the best, likewise.
    """

    group: Hashable
    keys: Sequence[Hashable] | None
    counts: Sequence[int] = ()
    scale: float | None = None
    left: int = 0
    interval: Sequence[tuple[float, float]] | None = None
    certain: Sequence[bool] | None = None


def _check_listed(missing: Missing, **values: tuple[Hashable, ...] | None) -> None:
    for name, listed in values.items():
        parts = (one if isinstance(one, tuple) else (one,) for one in listed or ())
        if missing == "drop" and any(map(is_missing, chain.from_iterable(parts))):
            raise ParameterError(
                f"`{name}` has a missing value: give `missing_keys`='key' as well"
            )


def reads(columns: str | Sequence[str], candidates: Any) -> Columns:  # noqa: ANN401
    """Return what a query of keys reads, and what it may release of each column."""
    if isinstance(columns, str):
        columns, candidates = [columns], candidates and [(one,) for one in candidates]
    if candidates is None:
        return tuple((name, ANYTHING) for name in columns)
    parts = zip(columns, zip(*candidates, strict=True), strict=True)
    return tuple((name, Released(listed=part)) for name, part in parts)


def in_order(key: Hashable) -> tuple[tuple[bool, Any], ...]:
    """Return what keys of one type are sorted by: a missing part is after all others."""
    return tuple((one is None, one) for one in (key if isinstance(key, tuple) else (key,)))


def check_people(delta: float, assumed_people: int | None) -> None:
    """Refuse a delta that releases all rows of some person among so many.

    Raises:
        ParameterError: It is at least one over their number.
    """
    if assumed_people is None:
        return
    most = 1 / validation.at_least("assumed_people", assumed_people, 1)
    if validation.finite("delta", delta) >= most:
        raise ParameterError(
            f"`delta` must be below one over the assumed people, {most:g}: a "
            "larger one would allow publishing everything about one person"
        )


def checked_delta(delta: float) -> float:
    """Return a delta that a release of keys which are not public can have.

    Raises:
        ParameterError: It is not above 0 and below 1, or too small for any key.
    """
    if validation.finite("delta", delta) <= 0:
        raise ParameterError(
            "which values or groups may appear? list them (`candidates`, `groups`), or give a "
            "`delta` far below one over the number of people"
        )
    validation.probability("delta", delta)
    if delta < LEAST_DELTA:
        raise ParameterError(
            f"`delta` is too small: nothing would be released; give one from {LEAST_DELTA:g} on"
        )
    return float(delta)


def _opened(data: object, asked: KeyRows) -> tuple[nw.LazyFrame[Any], dict[str, Kind]]:
    """Return the columns that are read, and what they hold."""
    if not asked.columns:
        rows, kind = _values(data)
        return rows, {VALUE: kind}
    users = [] if asked.cap is None else [asked.cap.user]
    wanted = [*asked.columns, *asked.by, *users]
    table = tables.check_columns(data, plain=wanted)
    frame = engine_of(table).read(wanted, Kind.TEXT)
    types = tables.schema(frame, data)
    return frame, {name: Kind.of_names(types[name], name) for name in wanted}


def kind_in(data: object, column: str | None) -> Kind:
    """Return the kind of a column, or of data that are the values themselves; public.

    Raises:
        ColumnError, DataError: As for ``KeyRows.read``.
    """
    if column is None:
        # What declares no type is text; a generator can be read once.
        return Kind.TEXT if is_listed(data) else _values(data)[1]
    return kinds_of(data, [column])[0]


def _values(data: object) -> tuple[nw.LazyFrame[Any], Kind]:
    """Return an array, a list or a Series of values as a frame, and what they are."""
    if tables.is_table(data):
        raise ColumnError("data is a table: name the column of the values by `column`")
    refusal = "data must be a table, or an array, list or Series of values"
    values = as_table([*data] if isinstance(data, AbstractSet) else data, refusal)
    frame = engine_of(values).read([VALUE], Kind.TEXT)
    return frame, Kind.of_names(frame.collect_schema()[VALUE], VALUE)
