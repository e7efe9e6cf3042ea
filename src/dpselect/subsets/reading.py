"""Members of a subset: positions, or rows of a table with the statuses of all people."""

import re
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dpselect import tables
from dpselect.errors import DataError, ParameterError, PublicClaimError
from dpselect.passes import replaced
from dpselect.tables.kinds import rounded
from dpselect.tables.values import listed, number
from dpselect.tables.where import NUMBER, OPERATORS
from dpselect.typing import Values

Bound: TypeAlias = Callable[[Values, np.dtype[Any]], NDArray[np.bool_]]

_BOUND = re.compile(rf"\s*(?P<operator>[<>]=?)\s*(?P<number>{NUMBER.pattern})\s*", re.ASCII)


def bound(positive: object) -> Bound | None:
    """Return which numbers are within a bound such as ``< 38``; None for any other status.

    They are compared as a type of floats has them; a missing number is not.
    """
    found = _BOUND.fullmatch(positive) if isinstance(positive, str) else None
    if found is None:
        return None
    compare, limit = OPERATORS[found["operator"]], float(found["number"])
    return lambda numbers, kind: compare(numbers, rounded(limit, kind))


@dataclass(frozen=True)
class Members:
    """Rule by which the members among some people are read.

    Attributes:
        n: Number of people.
        column: The column of the statuses; None if data are the positions of the members.
        positive: The statuses of members, as ``word`` returns them.
        label: The column that names the people.
        bound: Which numbers are statuses of members, in place of words.
    """

    n: int
    column: str | None = None
    positive: frozenset[str] = frozenset()
    label: str | None = None
    bound: Bound | None = None

    def check(self, data: object) -> None:
        """Check a table by its columns, its number of rows and its labels: all are public.

        Raises:
            ColumnError, DataError, ParameterError, PublicClaimError: As for ``read``.
        """
        if self.column is None:
            return
        if any(one.column == self.column for one in tables.Source.of(data).comparisons):
            raise ParameterError(
                "`where` can keep people by what is public of them, not by their status: give "
                "a table of all of these"
            )
        table = tables.check_columns(data, **self._columns)
        are_numbers = table.collect_schema()[self.column].is_numeric()
        if self.bound is None and are_numbers and not any(map(NUMBER.fullmatch, self.positive)):
            raise ParameterError(
                f"column {self.column!r} holds numbers, and `positive` is none, such as 1"
            )
        if tables.count_records(data, **self._columns) != self.n:
            raise PublicClaimError("the table has another number of rows than people, `n`")
        if self.label is not None:
            self._labels(data)
        elif not tables.is_ordered(data):
            raise ParameterError(
                "rows of Spark have no order, so they have no row numbers: give `label`"
            )

    def read(self, data: Any) -> tuple[list[int], Sequence[Hashable]]:  # noqa: ANN401
        """Return the positions of the members in ascending order, and everybody's name.

        Raises:
            ColumnError: A column is missing.
            DataError: Positions do not exist.
            ParameterError: The rows have no order, or not all are asked for.
            PublicClaimError: There is another number of rows than ``n``, or a label is missing
                or occurs twice.
        """
        if self.column is None:
            return checked_members(data, self.n), range(self.n)
        self.check(data)
        table = tables.read_columns(data, **self._columns)
        statuses: Any = table[self.column]
        held = np.dtype(tables.declared_float(data, self.column))
        if self.bound is None:
            # A short float is as it is written, 0.1, and not what 64 bits make of it.
            short = held != np.float64
            words = [str(held.type(one)) if short else one for one in listed(statuses)]
            positive = [word(one) in self.positive for one in words]
        else:
            positive = self.bound(tables.series_numbers(statuses), held).tolist()
        members = [i for i, one in enumerate(positive) if one]
        return members, range(self.n) if self.label is None else listed(table[self.label])

    @property
    def _columns(self) -> dict[str, list[str]]:
        """The columns that are read, as numbers or as they are."""
        names = [str(self.column)], [] if self.label is None else [self.label]
        if self.bound is None:
            return {"numeric": [], "plain": [*names[0], *names[1]]}
        return {"numeric": names[0], "plain": names[1]}

    def _labels(self, data: object) -> None:
        table = tables.read_columns(data, numeric=(), plain=[str(self.label)])
        column = table[str(self.label)]
        labels = listed(column)
        if not all(isinstance(one, Hashable) for one in labels):
            raise PublicClaimError("`label` must hold names: texts, numbers or dates")
        if column.null_count() or "" in labels:
            raise PublicClaimError("`label` must name every person, and a label is missing")
        if len(set(labels)) < len(labels):
            raise PublicClaimError("`label` must name each person once, and one occurs twice")


LARGEST = 2**64
"""Bound on numbers that can be a status."""

TRUTHS = {"true": "1", "false": "0"}


def word(status: object) -> str | None:
    """Return a status as a word that does not depend on how it is stored; None for no status.

    Small letters without spaces around them; a truth value as 1 or 0, as most containers
    compare it; a whole number as an integer, since a column of integers becomes one of floats
    where a value is missing, also in a text file.
    """
    plain = status.item() if isinstance(status, np.generic) else status
    if isinstance(plain, str):
        text = re.sub(r"^([+-]?[0-9]+)[.]0+$", r"\1", plain.strip().lower())
        return TRUTHS.get(text, text)
    if isinstance(plain, Decimal):
        plain = number(plain)
    # Larger numbers than these have no text, or none that Python would make of them.
    if isinstance(plain, int | float) and abs(plain) < LARGEST:
        return f"{int(plain)}" if plain == int(plain) else repr(plain)
    return None


def checked_members(members: Any, n: int) -> list[int]:  # noqa: ANN401 -- checked here
    """Return the members in ascending order, without naming one in an error."""
    wrong = DataError(
        f"members must hold positions of people, each an integer from 0 to {n - 1}"
    )
    # NumPy's own message would say how many there are.
    given = replaced(lambda: np.asarray(list(members)), lambda: wrong)
    if given.size == 0:
        return []
    if given.ndim != 1 or given.dtype.kind not in "iu":
        raise wrong
    distinct = np.unique(given)
    if distinct.size != given.size:
        raise DataError("members names a person twice")
    if distinct[0] < 0 or distinct[-1] >= n:
        raise DataError(f"members holds a position that does not exist, beyond 0 to {n - 1}")
    return [int(person) for person in distinct]
