"""Division of a table into records to fit candidates on and records to score them on.

Each record's part depends on that record and a random key alone, so one neighbour step changes
one part by one record and leaves the other as it is. Under add/remove equal records are
numbered, and the number is hashed with the record: a step adds or removes the last of them.
Under substitution the number and the order of the records are public, and the position is
hashed.

Records are equal if all values and labels are the same, digit by digit. So the candidates are
given what was hashed and nothing else: a value that a container declares no type of is read by
itself as a plain number, text or date, and is missing if it is none.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence, Sized
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from functools import cached_property
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dpselect import Neighbours
from dpselect.errors import DataError
from dpselect.extend import ColumnValues, values

if TYPE_CHECKING:
    import narwhals as nw

DIGEST = 8
"""Bytes of a hash: shares are multiples of 2^-64."""

Plain: TypeAlias = bool | int | float | str | bytes | Decimal | date | None
"""A value whose type is known, and with it all that can be read of it."""


def validation_part(
    records: Sequence[bytes], neighbours: Neighbours, share: float, key: bytes
) -> NDArray[np.bool_]:
    """Return which records are for validation, shape ``(n,)``.

    Args:
        records: The bytes of each record; equal ones have the same. Private.
        neighbours: Add/remove or substitution.
        share: The probability of each record over the key, in (0, 1). Public.
        key: At most 64 random bytes; may be public.
    """
    limit = int(share * 2 ** (8 * DIGEST))
    by_position = neighbours is Neighbours.SUBSTITUTE
    places = enumerate(b"" for _ in records) if by_position else _numbered(records)
    digests = (
        blake2b(number.to_bytes(DIGEST) + record, digest_size=DIGEST, key=key)
        for number, record in places
    )
    return np.array([int.from_bytes(d.digest()) < limit for d in digests], dtype=np.bool_)


def _numbered(records: Iterable[bytes]) -> Iterator[tuple[int, bytes]]:
    """Yield every record after the number of equal ones before it."""
    seen: Counter[bytes] = Counter()
    for record in records:
        yield seen[record], record
        seen[record] += 1


@dataclass(frozen=True, eq=False, repr=False)
class Records:
    """A table and its labels, as candidates are to read them; private.

    Attributes:
        x: A frame in memory or an array of two dimensions.
        y: A Series, an array or a list of plain values.
        columns: Names of the columns, ``x0``, ... for an array. Public.
        labels: The labels as plain values, None for what is missing.
    """

    x: Any
    y: Any
    columns: tuple[str, ...]
    labels: list[Any]

    @classmethod
    def read(cls, x: Any, y: Any, fields: int = 0) -> Records:  # noqa: ANN401 -- any table
        """Return a table in memory and its labels.

        Args:
            x: A frame, an array of two dimensions or a list of rows. Private.
            y: One label for each record. Private.
            fields: How many fields the rows of a list have, if that is known. Public; else
                the first row says it.

        Raises:
            DataError: ``x`` is no table in memory or a list without fields, or ``y`` not one
                label for each record.
            ColumnError: A column is of a type that holds neither numbers nor text.
        """
        table = plain_table(x, fields)
        given, column = _labels(y)
        values.check_rows(table, column)
        return cls(table, given, column_names(table), column.plain())

    @cached_property
    def identities(self) -> list[bytes]:
        """The bytes of each record, the same for equal ones and for no others; private."""
        columns = (*_columns(self.x), _labels(self.y)[1])
        return [b"".join(one) for one in zip(*map(_bytes, columns), strict=True)]


def plain_table(x: Any, fields: int = 0) -> Any:  # noqa: ANN401
    """Return a frame in memory or an array; rows, and columns of objects, as plain values.

    Raises:
        DataError: As for ``Records.read``.
    """
    import narwhals as nw

    frame = nw.from_native(x, pass_through=True)
    if isinstance(frame, nw.LazyFrame):
        raise DataError("X must be a table in memory: collect the lazy frame")
    values.refuse_sparse(x, "X")
    if isinstance(frame, nw.DataFrame):
        found = ((name, values.of_series(frame.get_column(name))) for name in frame.columns)
        of_any_type = {name: column for name, column in found if column.kind == "anything"}
        # Arrow declares a type for each column, and has none of objects.
        if not of_any_type or frame.implementation.is_pyarrow():
            return x
        plain = [_of_objects(frame.get_column(name), one) for name, one in of_any_type.items()]
        return nw.to_native(frame.with_columns(plain))
    if values.is_listed(x):
        rows: list[Any] = list(x)
        if fields == 0 and rows and isinstance(rows[0], Sized):
            fields = len(rows[0])
        if fields == 0:
            raise DataError("X is a list of rows, of which the first one has no fields")
        return _table(values.of_rows(rows, fields), (len(rows), fields))
    array = values.matrix(x, "X")
    if array.dtype != object:
        return array
    return _table([values.of_objects(list(column)) for column in array.T], array.shape)


def column_names(x: Any) -> tuple[str, ...]:  # noqa: ANN401
    """Return the names of the columns of a frame, or ``x0``, ... of an array; public."""
    import narwhals as nw

    frame = nw.from_native(x, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        return tuple(map(str, frame.columns))
    return tuple(f"x{place}" for place in range(x.shape[1]))


def _columns(x: Any) -> list[ColumnValues]:  # noqa: ANN401
    import narwhals as nw

    frame = nw.from_native(x, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        return [_of_series(frame.get_column(name)) for name in frame.columns]
    return [values.of_array(column) for column in x.T]


def _of_series(series: nw.Series[Any]) -> ColumnValues:
    column = values.of_series(series)
    if not column.is_typed or column.missing is not None:
        return column
    # A candidate may tell a null from NaN.
    return replace(column, missing=np.asarray(series.is_null().to_numpy(), dtype=np.bool_))


def _labels(y: Any) -> tuple[Any, ColumnValues]:  # noqa: ANN401
    """Return labels as candidates are to read them, and their values."""
    y, column = values.labels(y)
    if column.kind != "anything":
        return y, column
    column = _plain(column)
    return column.values.tolist(), column


def _plain(column: ColumnValues) -> ColumnValues:
    return values.of_objects([plain(value) for value in column.values.tolist()])


def _table(columns: Sequence[ColumnValues], shape: tuple[int, ...]) -> NDArray[Any]:
    table = np.empty(shape, dtype=object)
    for place, column in enumerate(columns):
        table[:, place] = _plain(column).values
    return table


def _of_objects(series: nw.Series[Any], column: ColumnValues) -> nw.Series[Any]:
    import narwhals as nw

    listed, backend = _plain(column).values.tolist(), series.implementation
    return nw.new_series(series.name, listed, nw.Object(), backend=backend)


def plain(value: object) -> Plain:
    """Return a value as a plain number, text or date; None if it is missing or none."""
    if isinstance(value, np.number | np.bool_):
        value = value.item()
    try:
        for kind in (bool, int, float, str, bytes):
            if isinstance(value, kind):
                found: Plain = value if type(value) is kind else kind(value)  # type: ignore[arg-type]
                return found if _is_there(found) else None
        known = type(value) in {Decimal, date}
        return value if known and _is_there(value) else None  # type: ignore[return-value]
    except Exception:  # noqa: BLE001 -- whatever an object raises, it is none
        return None


def _is_there(value: object) -> bool:
    return value is not None and bool(value == value)  # noqa: PLR0124 -- NaN


def _bytes(column: ColumnValues) -> list[bytes]:
    """Return the bytes of each value: no two different ones have the same, nor begin so."""
    if not column.is_typed:
        # The items of an array of text are as long as its longest one.
        return [_of_value(value) for value in column.values.tolist()]
    held = np.ascontiguousarray(column.values)
    numbers = held.view(np.uint8).reshape(len(column), held.dtype.itemsize)
    absent = np.zeros(len(column), np.bool_) if column.missing is None else column.missing
    return [bytes(row) for row in np.column_stack([absent.view(np.uint8), numbers])]


def _of_value(value: object) -> bytes:
    value = plain(value)
    if isinstance(value, bytes):
        written = value
    elif isinstance(value, str):
        written = value.encode(errors="surrogatepass")
    elif isinstance(value, float):
        written = value.hex().encode()
    elif type(value) is int:
        written = value.to_bytes(value.bit_length() // 8 + 1, signed=True)
    else:
        written = str(value).encode()
    return b"%b %d %b" % (type(value).__name__.encode(), len(written), written)
