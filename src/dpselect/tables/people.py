"""The rows of a person that count: at most so many, by one rule in memory and every engine.

The rows of a person are put in order of their values and numbered from 0: these are *places*.
Each place ``r`` has a pseudo-random number

    h_r = C(C(r + s) + t), C(x) = x^3 mod p, p = 2^30 - 35,

with the words ``s = C(n + k_1)`` and ``t = C(s + k_2 + n mod (2^30 - 41))`` of the person, who
is an integer ``n``, and two words ``k < 2^29`` of a public key, which is one for all releases:
nobody can choose it by the data. The ``most`` places with the least numbers count. ``C`` is a
permutation, as 3 does not divide ``p - 1``, so that no two of up to ``p`` places have one
number; all products are below ``2^63``. A person who is a text is the integer of the first 15
hexadecimal digits of its MD5 hash, one who is a date is ``512 y + 32 m + d``.

**It depends on one person's rows alone.** Which places count is a function of the person, of
the number of her rows and of public facts; which rows have these places is one of her rows:
equal ones are interchangeable, and the order of the table does not matter. So with or without
her, and with other rows of hers, the same rows of all others count.

**Sensitivity.** If a person is added or removed, at most ``most`` rows that count are added or
removed. If a person is replaced by another, at most ``most`` of them are removed and as many
added. If one *row* of a person is added, removed or replaced, her places and their numbers may
be others: the bound is that of a person who is replaced.

**It is unbiased.** Were the numbers of places independent and uniform, the ``m`` least of ``c``
would be a uniformly random ``m`` of the ``c`` places, whatever the values are: the rows that
count would be a simple random sample of the person's, each with the chance ``m/c``. Then every
value that is independent of persons has the same expected share of the rows that count as of
all rows. The numbers are a fixed function; that they look independent and uniform over persons,
structured ones among them, is what ``tests/tables/test_people.py`` tries.

**A person** knows the key, and can choose which of her own rows count, by her name or
by adding rows: at most ``most`` of them, which the guarantee covers. She changes no other
person's.

**In turn.** Rows can count in turn instead: those of the least first column, such as the
earliest, before all others, and by the numbers where it is equal. Which rows with values of it
up to ``v`` count then depends on such rows of hers alone, as rows with larger ones have later
places; and the sample is random within one value of the column, not over all of them.

**A person as one.** With ``most`` = 1 every person counts as one, and each of her rows with the
same chance: a count of the rows that count estimates without bias the sum over persons of the
share of their rows. Of ``n`` persons its standard deviation is at most ``√n/2``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial, reduce
from typing import Any, NamedTuple, TypeVar

from dpselect import validation
from dpselect._optional import np, nw, pl
from dpselect.errors import ParameterError
from dpselect.neighbours import Neighbours
from dpselect.passes import query, replaced
from dpselect.tables.engine import distinct as distinct_rows, engine_of
from dpselect.tables.kinds import Kind, named
from dpselect.tables.opening import kinds_of, unreadable
from dpselect.typing import Array, Bools, Indices

PRIME, SECOND = 2**30 - 35, 2**30 - 41
"""Primes; 3 does not divide the first one less 1."""

KEY = "rows of a person"
"""Its hash holds the words."""

MOST = 2**20
"""Rows of one person, at most."""

USER = "user"
"""The column of persons in the rows that are limited."""

_FIRST, _SECOND, _PLACE = (f"a row's number {place}" for place in range(3))


Number = TypeVar("Number", "nw.Expr", Indices)
Rows = TypeVar("Rows", "nw.DataFrame[Any]", "nw.LazyFrame[Any]")


class Coded(NamedTuple):
    """A column in memory without nulls, as integers; private.

    Attributes:
        codes: Shape ``(n,)``, from 0 on.
        values: What each code stands for; anything for those that no row has.
    """

    codes: Indices
    values: pl.Series

    @classmethod
    def of(cls, column: pl.Series) -> Coded:
        """Return a column in codes that are in order as values are, but for persons.

        The largest code is below 2^31 and four times the number of rows.
        """
        kind = column.dtype
        if kind.is_signed_integer() and column.len():
            ends: Any = column.min(), column.max()
            if ends[1] - ends[0] < min(4 * column.len(), 2**31) and abs(ends[0]) < 2**62:
                every = ends[0] + np.arange(ends[1] - ends[0] + 1)
                codes = np.subtract(column.to_numpy(), ends[0], dtype=np.int64)
                return cls(codes, pl.Series(column.name, every, dtype=kind))
        if kind == pl.Categorical:
            codes = cls.of(column.to_physical().cast(pl.Int64)).codes
        else:
            # Hashes are sorted in a fraction of the time, and tell texts apart but by chance.
            codes = _ranks(column.hash() if kind == pl.String else column)
        each = column[_row_of_each(codes)]
        if kind == pl.String and not (each[codes] == column).all():
            codes = _ranks(column)
            return cls(codes, column[_row_of_each(codes)])
        if column.name == USER or kind not in {pl.String, pl.Categorical}:
            return cls(codes, each)
        # One thread takes a third of the time.
        texts = each.cast(pl.String).to_frame("text").with_row_index()
        order = texts.sort("text", multithreaded=False)["index"].to_numpy()
        return cls(order.argsort()[codes], each[order])


@dataclass(frozen=True, slots=True)
class PeopleCap:
    """Limit on the rows counted per person; public.

    Attributes:
        user: The column of persons: text, integers, booleans or dates. A row without a person
            is dropped.
        most: Largest number of rows counted per person.
    """

    user: str
    most: int

    def check(self, data: object) -> None:
        """Check the type of the column, which is public.

        Raises:
            ColumnError: The column is missing, or persons cannot be of its type.
        """
        kinds_of(data, [self.user])

    def persons(self, types: nw.Schema) -> nw.Expr:
        """Return the persons of a table as the column ``user``; null where one is missing.

        Raises:
            ColumnError: The type is one that persons cannot have.
        """
        Kind.of_names(types[self.user], self.user)
        person, dtype = nw.col(self.user), types[self.user]
        # Categories have codes.
        return (person if dtype == nw.Categorical else named(person, dtype)).alias(USER)

    def limited(
        self,
        rows: nw.LazyFrame[Any],
        *,
        order_by: Sequence[str],
        distinct: bool = False,
        in_turn: bool = False,
    ) -> nw.LazyFrame[Any]:
        """Return the rows that count, in the engine that holds them.

        Args:
            rows: With persons as ``persons`` returns them. Private.
            order_by: The columns by which a person's rows are ordered and distinguished:
                numbers without NaN, days, truth values or text. A row with a null there is
                dropped.
            distinct: Whether equal rows of a person are one.
            in_turn: Whether rows count in order of the first of these columns.

        Returns:
            The columns ``user`` and ``order_by``.

        Raises:
            DataError: Persons are text, and the engine has no hash of it.
        """
        rows = rows.select(USER, *order_by).drop_nulls()
        if engine_of(rows).is_here:
            chosen = partial(self._chosen, distinct=distinct, in_turn=in_turn)
            return nw.from_native(nw.to_native(rows).map_batches(chosen, slice_pushdown=False))
        types = rows.collect_schema()
        floats = [nw.col(name) for name in order_by if types[name].is_float()]
        # To some engines -0.0 is less than 0.0.
        zeros = [nw.when(one != 0).then(one).otherwise(0.0) for one in floats]
        rows = rows.with_columns(zeros) if zeros else rows
        if distinct:
            rows = distinct_rows(rows, USER, *order_by)
        place = (_rank(order_by).cast(nw.Int64) - 1).alias(_PLACE)
        numbered = _with_residues(rows).with_columns(place)
        first, second = WORDS
        i, j, r = map(nw.col, (_FIRST, _SECOND, _PLACE))
        for steps in (
            # One expression of all steps would write each of them three times.
            {_FIRST: _cube(i + first)},
            {_SECOND: _cube(i + j + second), _PLACE: _cube(r + i)},
            {_PLACE: _cube(r + j)},
        ):
            numbered = numbered.with_columns(**steps)
        number = [order_by[0], _PLACE] if in_turn else [_PLACE]
        return numbered.filter(_rank(number) <= self.most).select(USER, *order_by)

    def coded(
        self, rows: nw.LazyFrame[Any], source: object, *, order_by: Sequence[str], **how: bool
    ) -> tuple[nw.LazyFrame[Any], dict[str, pl.Series]]:
        """Return the rows that count as codes, which are computed here, once.

        Args:
            rows: As for ``limited``, of polars.
            source: What rows were made from, to name in an error.
            order_by: As for ``limited``.
            **how: ``distinct`` and ``in_turn``, likewise.

        Returns:
            The rows, in which those of a person are together; and what the codes of each
            column stand for.

        Raises:
            DataError: Rows cannot be read.
        """
        coded = coded_columns(rows.select(USER, *order_by), source)
        kept = self._kept([*coded.values()], **how)
        found = nw.from_native(pl.LazyFrame(dict(zip(coded, kept, strict=True))))
        return found, {name: one.values for name, one in coded.items()}

    def _chosen(self, rows: pl.DataFrame, **how: bool) -> pl.DataFrame:
        """Return the rows that count of rows in memory."""
        coded = [*map(Coded.of, rows)]
        kept = self._kept(coded, **how)
        return pl.DataFrame([one.values[codes] for one, codes in zip(coded, kept, strict=True)])

    def _kept(self, rows: Sequence[Coded], *, distinct: bool, in_turn: bool) -> list[Indices]:
        """Return the codes of the rows that count of persons and what their rows are by.

        The rows of each person are together.
        """
        user, *columns = rows
        values = reduce(_joined, [one.codes for one in columns])
        size = values.max(initial=-1) + 1
        # What each of the joined values is in every column.
        parts = [one.codes[_row_of_each(values)] for one in columns]
        every = user.codes * size
        every += values
        every.sort()
        if distinct:
            every = every[changes(every)]
        person = every // size
        firsts = np.flatnonzero(changes(person))
        sizes = np.diff(firsts, append=every.size)
        of_each = user.values[person[firsts]].alias(USER).to_frame()
        residues = _with_residues(nw.from_native(of_each))
        i, j = (residues.get_column(name).to_numpy() for name in (_FIRST, _SECOND))
        s = _cube(i + WORDS[0])
        t = _cube(s + j + WORDS[1])
        number = np.arange(every.size) - np.repeat(firsts, sizes)
        number = _cube(_cube(number + np.repeat(s, sizes)) + np.repeat(t, sizes))
        # It is below 2^30, so that the rows of each person stay together.
        turn = _joined(person, parts[0][every % size]) if in_turn else person
        number += turn << 30
        least = np.sort(number)
        last = least[firsts + np.minimum(sizes, self.most) - 1]
        chosen = every[number <= np.repeat(last, sizes)]
        persons, values = np.divmod(chosen, size)
        return [persons, *(part[values] for part in parts)]

    def of_arrays(self, users: pl.Series, columns: Sequence[Array]) -> list[Array]:
        """Return the columns of rows in memory with those rows alone that count.

        Args:
            users: Shape ``(n,)``, none missing; each object is coded by itself. Private.
            columns: Arrays of shape ``(n,)``, by which the rows are ordered: numbers without
                NaN. Private.
        """
        named_by = {str(place): column for place, column in enumerate(columns)}
        held = nw.from_native(pl.LazyFrame({USER: users, **named_by}))
        rows = engine_of(held).read([USER], Kind.TEXT)
        rows = rows.with_columns(named(nw.col(USER), rows.collect_schema()[USER]))
        kept = self.limited(rows, order_by=list(named_by)).collect()
        return [kept.get_column(name).to_numpy() for name in named_by]


def changed_rows(per_user: int, neighbours: Neighbours) -> int:
    """Return how many rows come or go in one neighbour step: twice as many where replaced."""
    return per_user * (2 if neighbours is Neighbours.SUBSTITUTE else 1)


def people_cap(user: str | None, max_per_user: object) -> PeopleCap | None:
    """Return the cap of public arguments, None if every row is a person of its own.

    Raises:
        ParameterError: One of two arguments that go together is missing, or out of range.
    """
    if (user is None) != (max_per_user is None):
        raise ParameterError("`user` and `max_per_user` go together: give both")
    if user is None:
        return None
    validation.instance("user", user, str)
    return PeopleCap(user, validation.at_least("max_per_user", max_per_user, 1, MOST))


def coded_columns(rows: nw.LazyFrame[Any], source: object) -> dict[str, Coded]:
    """Return the columns of rows of polars that miss no value, as codes.

    Raises:
        DataError: Rows cannot be read.
    """
    native = nw.to_native(rows.drop_nulls())
    held = replaced(lambda: native.collect().rechunk(), lambda: unreadable(source))
    return {column.name: Coded.of(column) for column in held}


def codes_in(rows: nw.LazyFrame[Any], *columns: str) -> list[Indices]:
    """Return columns of codes, which polars has here, each in one array."""
    with query():
        held = nw.to_native(rows.select(*columns)).collect()
    return [held[column].to_numpy() for column in columns]


WORDS = 238_387_059, 383_675_375
"""The words of the key: 32 bits of its MD5 hash and the next 32, modulo ``2**29``. They are
written out since ``hashlib`` loads OpenSSL."""


def _rank(order: Sequence[str]) -> nw.Expr:
    """Return the rank of a row among those of a person, from 1 on."""
    if len(order) == 1:  # an engine does it faster
        return nw.col(order[0]).rank("ordinal").over(USER)
    return nw.col(order[0]).cum_count().over(USER, order_by=order)


def _cube(number: Number) -> Number:
    return number * number % PRIME * number % PRIME


def changes(values: Array) -> Bools:
    """Return which of some values are not equal to the one before; of the first it is true."""
    return np.append(True, values[1:] != values[:-1])[: values.size]


def _row_of_each(codes: Indices) -> Indices:
    """Return a row for each integer that is in some row, the first one for others."""
    found = np.zeros(codes.max(initial=-1) + 1, dtype=np.int64)
    found[codes] = np.arange(codes.size)
    return found


def _joined(first: Indices, second: Indices) -> Indices:
    """Return codes of pairs of codes, in their order."""
    return Coded.of(pl.Series(first * (second.max(initial=0) + 1) + second)).codes


def _ranks(column: pl.Series) -> Indices:
    return column.rank("dense").to_numpy().astype(np.int64)


def _with_residues(rows: Rows) -> Rows:
    """Return rows with the remainders of the integers that persons are."""
    person, dtype = nw.col(USER), rows.collect_schema()[USER]
    if Kind.of(dtype) == Kind.TEXT:
        texts = rows.with_columns(nw.col(USER).cast(nw.String).alias(_FIRST))
        rows, person = engine_of(texts).hashed(_FIRST), nw.col(_FIRST)
    elif dtype == nw.Date:
        of = person.dt
        person = of.year().cast(nw.Int64) * 512 + of.month().cast(nw.Int64) * 32 + of.day()
    elif dtype != nw.UInt64:
        person = person.cast(nw.Int64)

    # Engines differ in the remainder of a negative integer by one modulus.
    first, second = ((person % prime).cast(nw.Int64) + prime for prime in (PRIME, SECOND))
    return rows.with_columns((second % SECOND).alias(_SECOND), first.alias(_FIRST))
