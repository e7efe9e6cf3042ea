"""Columns of days, points in time and durations as numbers, and differences of two columns.

Days are counted from 1970-01-01, points in time and durations in microseconds, points in time
from the beginning of that day. Each value is coded by itself and exactly, in whatever holds it:
what is finer than a microsecond is cut off as the engines cut it. What is of another type in a
container that declares none is missing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from math import nan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpselect._optional import nw
from dpselect.errors import ColumnError, DataError, ParameterError
from dpselect.tables.columns import as_numbers, series_numbers
from dpselect.tables.dialect import FieldType
from dpselect.tables.engine import engine_of
from dpselect.tables.kinds import (
    DAY,
    FIRST,
    ORIGINS,
    Moment,
    declares_nothing,
    native_type,
    type_name,
)
from dpselect.tables.opening import check_columns, is_table, no_column_named, schema
from dpselect.tables.source import Source
from dpselect.tables.values import as_series, is_listed
from dpselect.typing import Values

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
            _check_declared(data, columns)
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
        is_there = ~nw.col(column).is_nan()
        return nw.to_native(
            table.with_columns(found).with_columns(nw.when(is_there).then(column))
        )

    def _held(self, column: str, dtype: Any, data: object) -> Moment:  # noqa: ANN401 -- a type
        """Return what a column of a type holds."""
        if Source.of(data).is_untyped(column) or dtype == nw.Object:
            return "local time" if self.minus is not None else self.moment
        found: Moment = "number"
        if dtype == nw.Date:
            found = "day"
        elif dtype == nw.Datetime:
            found = "local time" if getattr(dtype, "time_zone", None) is None else "time"
        elif dtype == nw.Duration:
            found = "duration"
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
        series = as_series(values)
        if isinstance(series, nw.Series):
            if not declares_nothing(series):
                self._held("value", series.dtype, None)
            return _of_series(series, self.moment)
        if is_listed(values) or (array := np.asarray(values)).dtype == object:
            return _of_objects(values, self.moment)  # type: ignore[arg-type]
        is_right = array.dtype.str.startswith(TYPES.get(self.moment, "none"))
        if array.ndim != 1 or not is_right:
            raise DataError(
                f"the values must be {NAMES[self.moment]}, one for each record; an array of "
                "days is of datetime64[D]"
            )
        return _of_array(array, self.moment)


NUMBERS = Measure()
"""A column of numbers, as it is."""


def _check_declared(data: object, columns: list[str]) -> None:
    """Refuse the difference of two columns of which no type is declared.

    Dates that are read as numbers are all missing, and nothing would say so.
    """
    for column in columns:
        if Source.of(data).is_untyped(column):
            raise ColumnError(
                f"a text file declares no types: say by `column_type` {column}=number that "
                f"{column!r} holds numbers; of dates or times the values that may be "
                "released are durations, such as 60d"
            )


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
    code = CODES[moment]
    return np.array([_coded(value, code) for value in values], dtype=np.int64)


def _coded(value: object, code: Callable[[Any], int | None]) -> int:
    try:
        if isinstance(value, np.datetime64 | np.timedelta64):
            unit = "D" if value.dtype.str.endswith("[D]") else "us"
            value = value.astype(f"{value.dtype.kind}8[{unit}]").item()
        found = code(value)
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


def _day(value: object) -> int | None:
    return (value - FIRST).days if type(value) is date else None


def _time(value: object, moment: Moment) -> int | None:
    if type(value) is date and moment == "local time":
        return (value - FIRST).days * DAY
    if not isinstance(value, datetime) or (value.tzinfo is None) != (moment == "local time"):
        return None
    return (value - ORIGINS[moment]) // timedelta(microseconds=1)


CODES: dict[Moment, Callable[[Any], int | None]] = {
    "day": _day,
    "local time": lambda value: _time(value, "local time"),
    "time": lambda value: _time(value, "time"),
    "duration": lambda value: (
        value // timedelta(microseconds=1) if isinstance(value, timedelta) else None
    ),
}
"""The number of one value, None if it is not a number."""
