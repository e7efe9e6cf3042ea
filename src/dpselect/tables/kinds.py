"""Kinds of values: what a container declares, how a value is coded, and keys of several.

A typed frame, Series or array declares what a column holds. A list, an array of objects or a
pandas column of objects declares nothing: a kind found from its values would depend on all of
them. So each value is coded by itself, as text if nothing is declared, and what does not code
is missing. Whatever a record holds, no other one is coded otherwise, and nothing is raised.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Hashable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import MAXYEAR, MINYEAR, UTC, date, datetime, timedelta
from enum import StrEnum
from numbers import Integral
from typing import Any, Literal, TypeAlias

from dpselect import validation
from dpselect._optional import np, nw
from dpselect.errors import ColumnError, ParameterError
from dpselect.passes import note

Moment: TypeAlias = Literal["number", "day", "local time", "time", "duration"]
"""What a column holds; a local time has no time zone."""

FIRST = date(1970, 1, 1)
DAY = 86_400_000_000
"""Microseconds of a day."""

ORIGINS: dict[Moment, datetime] = {
    "local time": datetime(1970, 1, 1),  # noqa: DTZ001 -- it has no zone
    "time": datetime(1970, 1, 1, tzinfo=UTC),
}

DIGITS = 15
"""Hexadecimal digits of a hash that are an integer below 2^60."""

ABSENT = "-1:"
"""Stands for a missing value in the encoded form of a key."""

WHOLE = re.compile("[+-]?[0-9]+")
"""Integers as text."""


class Kind(StrEnum):
    """What a column holds, and how its values are coded and written.

    Keys, groups and persons are integers, booleans, dates or texts. Numbers are of any type;
    what holds anything declares no type.
    """

    INTEGER = "integer"
    BOOLEAN = "boolean"
    DATE = "date"
    TEXT = "text"
    NUMBERS = "numbers"
    ANYTHING = "anything"

    @classmethod
    def of(cls, dtype: Any) -> Kind | None:  # noqa: ANN401 -- narwhals' types, polars', NumPy's
        """Return what a type declares, None if neither numbers nor names."""
        if isinstance(dtype, np.dtype):
            if dtype == np.dtype("datetime64[D]"):
                return cls.DATE
            kinds = dict.fromkeys("iu", cls.INTEGER) | dict.fromkeys("US", cls.TEXT)
            kinds |= {"b": cls.BOOLEAN, "f": cls.NUMBERS, "O": cls.ANYTHING}
            return kinds.get(dtype.kind)
        if dtype.is_integer():
            return cls.INTEGER
        if dtype.is_float() or dtype.is_decimal():
            return cls.NUMBERS
        others = dict.fromkeys(("String", "Categorical", "Enum"), cls.TEXT)
        others |= {"Boolean": cls.BOOLEAN, "Date": cls.DATE, "Object": cls.ANYTHING}
        return others.get(type(dtype).__name__)

    @classmethod
    def of_names(cls, dtype: Any, column: str) -> Kind:  # noqa: ANN401 -- as of `of`
        """Return what a column of keys, groups or persons holds; text if it declares nothing.

        Raises:
            ColumnError: It is of a type that these cannot have.
        """
        kind = cls.of(dtype)
        if kind == cls.ANYTHING:
            note(f"objects of {column!r} as text each, lists as one: explode them (`user`)")
            return cls.TEXT
        if kind is not None and kind != cls.NUMBERS:
            return kind
        # pandas holds integers with missing ones as floats, and so does Stata.
        raise ColumnError(
            f"column {column!r} is of type {type_name(dtype)}: keys and users must be text, "
            "integers, booleans or dates; cast or bin it first (pandas: .astype('Int64'); "
            f"Stata: `column_type` {column}=integer; times: .dt.hour() of polars), and explode "
            "lists to one row a value, with `user` for whose they are"
        )

    @property
    def is_number(self) -> bool:
        """Whether it is read as numbers; true is 1, as in a list."""
        return self in NUMERIC

    def code(self, value: object) -> int | bool | date | str | None:
        """Return a value as one of a kind of names, None if it is missing or does not code."""
        if is_missing(value):
            return None
        of_numpy = type(value).__module__ == "numpy"
        if of_numpy and isinstance(value, np.integer | np.bool_):
            value = value.item()
        if self == Kind.BOOLEAN:
            return value if isinstance(value, bool) else None
        if self == Kind.INTEGER:
            whole = isinstance(value, Integral) and not isinstance(value, bool)
            return int(value) if whole else None  # type: ignore[call-overload]
        if self == Kind.DATE:
            return value if type(value) is date else None
        return _text(value)

    def to_text(self, value: Hashable) -> str:
        """Return a value as text."""
        return str(value).lower() if self == Kind.BOOLEAN else str(value)

    def decode(self, text: str) -> Hashable:
        """Return the value that a text writes, as in a file of candidates.

        Raises:
            ParameterError: It writes none.
        """
        with suppress(ValueError, KeyError):
            if self == Kind.TEXT:
                return text
            if self == Kind.BOOLEAN:
                return {"true": True, "false": False}[text.lower()]
            if self == Kind.DATE:
                return date.fromisoformat(text)
            if WHOLE.fullmatch(text):  # Python reads 1_000 and other digits, too
                return int(text)
        raise ParameterError(f"the column holds {self} values, and {text!r} is not one")


NUMERIC = {Kind.INTEGER, Kind.BOOLEAN, Kind.NUMBERS}


@dataclass(frozen=True, slots=True)
class KeyColumns:
    """The columns that a key is made of, and how it is written in one column.

    One column whose missing values are dropped is grouped as it is. Several columns, or missing
    values that are a key of their own, are encoded as text: the length of every part, a colon,
    the part; or ``ABSENT``.

    Attributes:
        names: The columns.
        kinds: What each holds.
        missing: Whether a missing value is a part of a key, and no reason to drop the row.
    """

    names: tuple[str, ...]
    kinds: tuple[Kind, ...]
    missing: bool = False

    @property
    def encoded(self) -> bool:
        """Whether keys are written as encoded text."""
        return len(self.names) > 1 or self.missing

    def expression(self, types: nw.Schema) -> nw.Expr:
        """Return the key of a row in one column; null if a part is, unless that is a part."""
        columns = [named(nw.col(name), types[name]) for name in self.names]
        if not self.encoded:
            return columns[0]
        return nw.concat_str([self._encoded(one.cast(nw.String)) for one in columns])

    def _encoded(self, text: nw.Expr) -> nw.Expr:
        size = text.str.len_chars().cast(nw.String)
        whole = nw.concat_str([size, nw.lit(":"), text])
        if not self.missing:
            return whole
        return nw.when(text.is_null()).then(nw.lit(ABSENT)).otherwise(whole)

    def encode(self, candidate: Hashable) -> Hashable:
        """Return a public candidate as the engine has it.

        Raises:
            ParameterError: It is not of the column's kind, or has another number of parts.
        """
        check_parts("candidates", [candidate], self.kinds)
        parts: Any = candidate if len(self.kinds) > 1 else (candidate,)
        plain = [*map(_as_kind, parts, self.kinds)]
        if not self.encoded:
            return plain[0]
        texts = [
            None if part is None else kind.to_text(part)
            for part, kind in zip(plain, self.kinds, strict=True)
        ]
        return "".join(ABSENT if one is None else f"{len(one)}:{one}" for one in texts)

    def decode(self, key: Any) -> Hashable:  # noqa: ANN401 -- a value of an engine
        """Return a key of the engine as plain Python values: one, or a tuple of them."""
        if not self.encoded:
            return key.item() if isinstance(key, np.generic) else key
        parts: list[Hashable] = []
        rest = str(key)
        for kind in self.kinds:
            size, _, rest = rest.partition(":")
            parts.append(None if size == "-1" else kind.decode(rest[: int(size)]))
            rest = rest[max(int(size), 0) :]
        return parts[0] if len(parts) == 1 else tuple(parts)


def check_parts(field: str, values: Iterable[object], columns: Sequence[object]) -> None:
    """Check that keys of several columns are tuples of as many values, and of one are none.

    Raises:
        ParameterError: One is not.
    """
    size = len(columns) if len(columns) > 1 else None
    for one in values if columns else ():
        if (len(one) if isinstance(one, tuple) else None) != size:
            right = f"{size} values, one for each column" if size else "one value, no tuple"
            raise ParameterError(f"each of the `{field}` must be {right}")


def checked_names(column: Any, field: str = "column") -> tuple[str, ...]:  # noqa: ANN401
    """Return the names of the columns of a key.

    Args:
        column: One name or several, as a query has them; None for none.
        field: The name of the field.

    Raises:
        ParameterError: Not names, none, or the same one twice.
    """
    names = (column,) if isinstance(column, str) else validation.listed(field, column) or ()
    texts = not isinstance(column, Mapping) and all(isinstance(name, str) for name in names)
    if not texts or len(set(names)) < len(names) or (column is not None and not names):
        raise ParameterError(
            f"`{field}` must be the name of a column, or several different ones"
        )
    return names


def _as_kind(value: Hashable, kind: Kind) -> Hashable:
    # A plain integer at once: ten thousand groups are ten thousand calls.
    held = value if type(value) is int and kind is Kind.INTEGER else kind.code(value)
    if held is None and value is not None:
        raise ParameterError(
            f"a candidate is a {type(value).__name__}, and the column holds {kind} values: "
            "give candidates of that type"
        )
    if isinstance(held, int) and not -(2**63) <= held < 2**64:
        raise ParameterError("a candidate is beyond 64 bits: cast the column to text")
    return held


def type_name(dtype: object) -> str:
    """Return a type of narwhals or polars in words.

    The categories of an Enum are left out, also in a nested type: data may have made them.
    """
    if (name := type(dtype).__name__) == "Unknown":
        return "other (such as UUID, period or null)"
    return name if name in {"Enum", "List", "Array", "Struct"} else str(dtype)


def is_missing(value: object) -> bool:
    """Return whether a value is None, NaN, or what pandas has for them."""
    try:
        # NaN and NaT differ from themselves.
        return value is None or not bool(value == value)  # noqa: PLR0124
    except Exception:  # noqa: BLE001 -- of pandas NA, or whatever an object raises
        return type(value).__name__ == "NAType"


def _text(value: object) -> str | None:
    try:
        text = str.__str__(value if isinstance(value, str) else str(value))
        text.encode()
    except Exception:  # noqa: BLE001 -- a lone surrogate, an integer of 5,000 digits, any object
        return None
    return text


def texts(values: Iterable[object]) -> list[str | None]:
    """Return each value as text, None if it is missing or does not code."""
    listed: list[Any] = list(values)
    if set(map(type, listed)) <= {str, type(None)}:
        with suppress(UnicodeEncodeError):
            "".join(filter(None, listed)).encode()
            return listed
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [None if is_missing(value) else _text(value) for value in listed]


def named(column: nw.Expr, dtype: nw.dtypes.DType) -> nw.Expr:
    """Return a column of names in an engine, null where Python has no such value.

    Categories become text: their order depends on all of them.
    """
    if Kind.of(dtype) == Kind.TEXT:
        return column.cast(nw.String)
    if dtype == nw.Date:
        # By the year: PySpark writes the first date that Python has without leading zeros.
        return nw.when(column.dt.year().is_between(MINYEAR, MAXYEAR)).then(column)
    if dtype in {nw.Int128, nw.UInt128}:
        # A limit below 0 would make engines read unsigned integers as signed ones.
        least = 0 if dtype == nw.UInt128 else -(2**63)
        return nw.when(column.is_between(least, 2**63 - 1)).then(column).cast(nw.Int64)
    return column


def rounded(number: Any, kind: np.dtype[Any]) -> Any:  # noqa: ANN401 -- other values as they are
    """Return a public number as a column of a type has it: a short float is another one.

    So 0.1 is equal to what is written as 0.1 there.
    """
    is_number = isinstance(number, int | float) and not isinstance(number, bool)
    if kind.kind != "f" or kind == np.float64 or not is_number:
        return number
    with np.errstate(over="ignore"):
        return float(kind.type(number))


def float_type(dtype: nw.dtypes.DType) -> np.dtype[Any]:
    """Return the type of NumPy that has the floats of one of narwhals."""
    short = {"Float16": np.float16, "Float32": np.float32}
    return np.dtype(short.get(str(dtype), np.float64))


def moment_of(dtype: nw.dtypes.DType) -> Moment:
    """Return what columns of a type hold: numbers, if no moments."""
    zone: Moment = "local time" if getattr(dtype, "time_zone", None) is None else "time"
    held: dict[str, Moment] = {"Datetime": zone, "Date": "day", "Duration": "duration"}
    return held.get(type(dtype).__name__, "number")


def numbers_alone(value: nw.Expr) -> nw.Expr:
    """Return float64 without NaN: null in its place.

    Whether a number is NaN is asked of its exponential. The statistics of a Parquet file do
    not see NaN, and by them DuckDB decides for all rows at once which comparisons hold, and
    that none is NaN, also of products, roots and whatever else it knows bounds of.
    """
    return nw.when(~value.exp().is_nan()).then(value)


def moment_in(moment: Moment, value: object) -> int | None:
    """Return the days or microseconds of any object, at most those that 64 bits hold."""
    try:
        if isinstance(value, np.datetime64 | np.timedelta64):
            unit = "D" if value.dtype.str.endswith("[D]") else "us"
            value = value.astype(f"{value.dtype.kind}8[{unit}]").item()
        # As in text, a local time is a day where days are asked for.
        if moment == "day" and isinstance(value, datetime) and value.tzinfo is None:
            value = value.date()
        found = code_of(value, moment)
    except Exception:  # noqa: BLE001 -- whatever is raised, it is none
        return None
    # NaT of pandas is a time, less which any is a number that is none.
    return min(max(found, -(2**63)), 2**63 - 1) if isinstance(found, int) else None


def code_of(value: Any, moment: Moment) -> int | None:  # noqa: ANN401 -- of any object
    """Return the number of a date, a time or a duration; None for a value of another type."""
    if moment == "duration":
        return value // timedelta(microseconds=1) if isinstance(value, timedelta) else None
    if type(value) is date:
        days = (value - FIRST).days
        return {"day": days, "local time": days * DAY}.get(moment)
    zone: Moment = "local time" if getattr(value, "tzinfo", None) is None else "time"
    if not isinstance(value, datetime) or zone != moment:
        return None
    return (value - ORIGINS[moment]) // timedelta(microseconds=1)
