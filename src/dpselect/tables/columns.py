"""Named columns of a table as they are, or as numbers: also of days, times and durations.

Days are counted from 1970-01-01, points in time and durations in microseconds, points in time
from the beginning of that day. Each value is coded by itself and exactly, in whatever holds it:
what is finer than a microsecond is cut off as the engines cut it. What is of another type in a
container that declares none is missing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Sized
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from math import nan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpselect._optional import nw, pl
from dpselect.errors import ColumnError, DataError, ParameterError
from dpselect.tables.collecting import collect
from dpselect.tables.dialect import FieldType
from dpselect.tables.engine import Frame, engine_of
from dpselect.tables.kinds import (
    DAY,
    FIRST,
    ORIGINS,
    Kind,
    Moment,
    declares_nothing,
    float_type,
    moment_of,
    native_type,
    type_name,
)
from dpselect.tables.opening import (
    check_columns,
    is_table,
    no_column_named,
    open_table,
    schema,
    unreadable,
)
from dpselect.tables.source import Source
from dpselect.tables.values import (
    as_column,
    as_series,
    is_listed,
    names_of_series,
    of_array,
    of_series,
)
from dpselect.typing import Values

REFUSAL = "the values must be numbers, one for each record"

MISSING = -(2**63)
"""Stands for a missing number among integers."""

LARGEST = 2**62 - 1
"""Microseconds that are subtracted: 146,000 years."""

NAMES: dict[Moment, str] = {
    "number": "numbers",
    "day": "dates",
    "local time": "times without a zone",
    "time": "times of a zone",
    "duration": "durations",
}

FIELDS: dict[Moment, FieldType] = {"day": "date", "local time": "time"}
"""What fields of a text file are read as."""

TYPES: dict[Moment, str] = {"day": "<M8[D]", "local time": "<M8", "duration": "<m8"}
"""How the types of arrays begin."""


def count_records(
    data: object, *, numeric: Sequence[str] = (), plain: Sequence[str] = ()
) -> int:
    """Return the number of rows of a table that has these columns; no value is read.

    It is private unless the neighbour relation is substitution.

    Raises:
        ColumnError, DataError: As for ``check_columns``.
    """
    table = check_columns(data, numeric=numeric, plain=plain)
    row = collect(table.lazy().select(nw.len().alias("records")), data, most=1)
    return int(row["records"][0])


def read_columns(
    data: object, *, numeric: Sequence[str], plain: Sequence[str] = ()
) -> nw.DataFrame[Any]:
    """Return some columns of a table, row by row as they belong together.

    Args:
        data: As for ``open_table``.
        numeric: Columns that ``series_numbers`` reads as float64. Fields of a CSV file that are
            not numbers are missing. A column of words is all missing and does not raise, since
            a single number in it would decide whether it does.
        plain: Columns to return as they are.

    Returns:
        An eager frame of the columns, in the order named. Private.

    Raises:
        ColumnError: A column is missing or not numeric.
        DataError: As for ``open_table``, or the rows cannot be read.
    """
    table = check_columns(data, numeric=numeric, plain=plain)
    if isinstance(table, nw.LazyFrame):
        table = as_numbers(table, data, numeric)
    wanted = table.select(*dict.fromkeys([*numeric, *plain]))
    if isinstance(wanted, nw.DataFrame):
        return wanted
    return engine_of(wanted).fetched(lambda: unreadable(data))


def lazy_columns(
    data: object, *, numeric: Sequence[str] = (), plain: Sequence[str] = ()
) -> nw.LazyFrame[Any]:
    """Return some columns of a table in its engine; of a frame in memory in polars.

    Args:
        data: As for ``open_table``.
        numeric: Columns to return as float64.
        plain: Columns of keys, groups or persons; in memory each value is coded by itself.

    Raises:
        ColumnError: A column is missing, not numeric, or not of a type of ``plain`` ones.
        DataError: As for ``open_table``.
    """
    table = check_columns(data, numeric=numeric, plain=plain)
    if isinstance(table, nw.LazyFrame):
        return as_numbers(table, data, numeric).lazy()
    columns = {one: pl.Series(series_numbers(table.get_column(one))) for one in numeric}
    columns |= {one: names_of_series(table.get_column(one)) for one in plain}
    return nw.from_native(pl.DataFrame(columns).lazy())


def numeric_column(data: object, column: str | None = None) -> Values:
    """Return one column of numbers.

    Args:
        data: As for ``open_table``; or, without ``column``, the numbers themselves: an array, a
            list or a Series of any kind.
        column: The name of the column.

    Returns:
        Shape ``(n,)``, float64, a missing number as NaN. Private.

    Raises:
        ColumnError: The column is missing, not numeric, or not named.
        DataError: As for ``read_columns``.
    """
    if is_table(data):
        if column is None:
            raise no_column_named(data)
        return series_numbers(read_columns(data, numeric=[column])[column])
    if isinstance(data, Mapping) or (column is not None and not isinstance(data, Sized)):
        open_table(data)  # which says what a table is
    if column is not None:
        raise ParameterError(
            f"column is for tables, and data is a {type(data).__name__}: leave it out"
        )
    held = as_column(data, REFUSAL)
    if isinstance(held, nw.Series):
        kind = Kind.of(held.dtype)
        if kind is None or not kind.is_number:
            raise DataError(
                f"the values are of type {type_name(held.dtype)}, which is not numeric"
            )
        return series_numbers(held)
    if Kind.of_array(held.dtype) == Kind.TEXT:
        raise DataError(REFUSAL)
    return of_array(held).numbers()


def series_numbers(series: nw.Series[Any]) -> Values:
    """Return a Series of numbers, or of anything, as float64; other values become NaN."""
    return of_series(series).numbers()


def declared_float(data: object, column: str | None = None) -> type[np.floating[Any]]:
    """Return the type of floats that a column, or the numbers themselves, are declared of.

    It is float64 of all that is no shorter float.
    """
    if is_table(data):
        return float_type(schema(open_table(data), data)[str(column)]).type
    series = as_series(data)
    if isinstance(series, nw.Series):
        return float_type(series.dtype).type
    kind = np.float64 if is_listed(data) else np.asarray(data).dtype.type
    return kind if kind in {np.float16, np.float32} else np.float64


def as_numbers(table: Frame, data: object, columns: Sequence[str]) -> Frame:
    """Return the table with some columns as float64; other fields than numbers become null."""
    source, types = Source.of(data), table.collect_schema()
    untyped: dict[str, FieldType] = {
        one: "number" for one in columns if source.is_untyped(one) and types[one] == nw.String
    }
    table = source.typed(table, untyped)
    others = [nw.col(one).cast(nw.Float64) for one in {*columns} - {*untyped}]
    return table.with_columns(*others) if others else table


@dataclass(frozen=True, slots=True)
class Measure:
    """How the numbers of a column are read; public.

    Attributes:
        moment: What is measured: what the column holds, or the difference.
        minus: The column that is subtracted, of the same type.
    """

    moment: Moment = "number"
    minus: str | None = None

    def __post_init__(self) -> None:
        if self.minus is not None and self.moment not in {"number", "duration"}:
            raise ParameterError("the difference by `minus` is a number or a duration")

    def of(self, data: object, column: str | None) -> object:
        """Return data whose numbers can be read: of a table, with the column as float64.

        Raises:
            ColumnError: A column is missing, or not of the type.
            DataError: The data cannot be read, or are of another type.
            ParameterError: A column is named, and the data are no table.
        """
        if self == NUMBERS:
            return data
        if not is_table(data):
            if column is not None or self.minus is not None:
                raise ParameterError("`column` and `minus` are for tables: leave them out")
            return _floats(self._of_values(data))
        if column is None:
            raise no_column_named(data)
        columns = [column] if self.minus is None else [column, self.minus]
        kind: Moment = "number"
        if self.moment == "number":
            table = check_columns(data, numeric=columns)
            # Dates that are read as numbers are all missing, and nothing would say so.
            if untyped := [one for one in columns if Source.of(data).is_untyped(one)]:
                raise ColumnError(
                    f"a text file declares no types: say by `column_type` {untyped[0]}=number "
                    f"that {untyped[0]!r} holds numbers; of dates or times the values that may "
                    "be released are durations, such as 60d"
                )
        else:
            table = check_columns(data, plain=columns)
            kind, *others = {self._held(one, schema(table, data)[one], data) for one in columns}
            if others:
                raise ColumnError(f"columns {column!r} and {self.minus!r} must be of one type")
        # Days between two days are whole, so the factor is exact.
        unit = DAY if self.moment == "duration" and kind == "day" else 1
        if isinstance(table, nw.LazyFrame):
            return nw.to_native(_in_engine(table, data, columns, kind, unit))
        held = _difference(*(_of_series(table.get_column(one), kind) for one in columns))
        # Arrow would refuse integers that are rounded, so NumPy makes the floats.
        found = nw.new_series(column, held * unit, nw.Float64, backend=table.implementation)
        return nw.to_native(table.with_columns(found))

    def _held(self, column: str, dtype: Any, data: object) -> Moment:  # noqa: ANN401 -- a type
        """Return what a column of a type holds."""
        if Source.of(data).is_untyped(column) or dtype == nw.Object:
            return "local time" if self.minus is not None else self.moment
        found = moment_of(dtype)
        allowed = {self.moment} if self.minus is None else {"day", "local time", "time"}
        if found not in allowed:
            raise ColumnError(
                f"column {column!r} is of type {type_name(dtype)}, and the values that may be "
                f"released are {NAMES[self.moment]}: give both alike, a day among times as "
                "2024-01-31T00:00"
            )
        return found

    def _of_values(self, values: object) -> NDArray[Any]:
        """Return the numbers of an array, a list or a Series."""
        refusal = (
            f"the values must be {NAMES[self.moment]}, one for each record (days of an array "
            "are datetime64[D])"
        )
        held = as_column(values, refusal)
        if isinstance(held, nw.Series):
            self._held("value", held.dtype, None)
            return _of_series(held, self.moment)
        if held.dtype == object:
            return _of_objects(held, self.moment)
        if not held.dtype.str.startswith(TYPES.get(self.moment, "none")):
            raise DataError(refusal)
        return _of_array(held, self.moment)


NUMBERS = Measure()
"""A column of numbers, as it is."""


def _in_engine(
    table: nw.LazyFrame[Any], data: object, columns: list[str], kind: Moment, unit: int
) -> nw.LazyFrame[Any]:
    """Return a lazy frame with the first column, less the second, as float64."""
    source, numbers = Source.of(data), [nw.col(one) for one in columns]
    if kind == "number":
        table = as_numbers(table, data, columns).lazy()
    else:
        for one in columns:
            if source.is_untyped(one) and kind not in FIELDS:
                raise ColumnError(f"column {one!r}: a text file has days and local times alone")
            if source.is_untyped(one):
                table = source.typed(table, {one: FIELDS[kind]})
            table = engine_of(table).counted(one, kind)
        if len(columns) > 1:
            # Integers of which two have a difference of 64 bits.
            numbers = [nw.when(one.is_between(-LARGEST, LARGEST)).then(one) for one in numbers]
    number = numbers[0] if len(numbers) == 1 else numbers[0] - numbers[1]
    return table.with_columns((number.cast(nw.Float64) * float(unit)).alias(columns[0]))


def _of_series(series: nw.Series[Any], moment: Moment) -> NDArray[Any]:
    """Return the numbers of a column in memory: float64, or integers of moments."""
    if moment == "number":
        return series_numbers(series)
    if declares_nothing(series):
        return _of_objects(series.to_list(), moment)
    if series.implementation.is_pyarrow() or "[pyarrow]" in native_type(series):
        return _of_array(series.to_arrow().to_numpy(zero_copy_only=False), moment)
    return _of_array(series.to_numpy(), moment)


def _of_array(array: Any, moment: Moment) -> NDArray[np.int64]:  # noqa: ANN401 -- of dates
    """Return days or microseconds; ``MISSING`` for what is missing or 64 bits do not hold."""
    unit, coarse = ("D", "D") if moment == "day" else ("us", "s")
    # NumPy rounds down, and engines to 0.
    size = np.abs(array) if moment == "duration" else array
    held = size.astype(f"{array.dtype.kind}8[{unit}]")
    back = f"{array.dtype.kind}8[{coarse}]"
    counted = held.astype(np.int64)
    if moment == "duration":
        counted = np.where(array < np.timedelta64(0, "us"), -counted, counted)
    return np.where(held.astype(back) == size.astype(back), counted, MISSING)


def _of_objects(values: Iterable[object], moment: Moment) -> NDArray[np.int64]:
    """Return days or microseconds of any objects, at most those that 64 bits hold."""
    return np.array([_coded(value, moment) for value in values], dtype=np.int64)


def _coded(value: object, moment: Moment) -> int:
    try:
        if isinstance(value, np.datetime64 | np.timedelta64):
            unit = "D" if value.dtype.str.endswith("[D]") else "us"
            value = value.astype(f"{value.dtype.kind}8[{unit}]").item()
        found = code_of(value, moment)
    except Exception:  # noqa: BLE001 -- whatever is raised, it is none
        return MISSING
    return MISSING if found is None else min(max(found, MISSING + 1), -MISSING - 1)


def _difference(number: NDArray[Any], *minus: NDArray[Any]) -> Values:
    """Return numbers, less others if there are others, as float64, NaN for a missing one."""
    if not minus:
        return _floats(number)
    if number.dtype.kind == "f":
        return number - minus[0]
    is_held = (number >= -LARGEST) & (number <= LARGEST)
    is_held &= (minus[0] >= -LARGEST) & (minus[0] <= LARGEST)
    return np.where(is_held, number - minus[0], nan)


def _floats(counted: NDArray[Any]) -> Values:
    return np.where(counted == MISSING, nan, counted)


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
