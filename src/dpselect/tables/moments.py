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
from dpselect.tables.embedded import Frame
from dpselect.tables.engine import engine_of
from dpselect.tables.fields import typed
from dpselect.tables.kinds import (
    DAY,
    FIRST,
    ORIGINS,
    Moment,
    declares_nothing,
    native_type,
    type_name,
)
from dpselect.tables.opening import (
    check_columns,
    is_table,
    no_column_named,
    open_table,
    schema,
)
from dpselect.tables.source import Source
from dpselect.tables.values import as_series, is_listed
from dpselect.typing import Values

MISSING = -(2**63)

LARGEST = 2**62 - 1
"""Microseconds that are subtracted: 146,000 years."""

NAMES: dict[Moment, str] = {
    "number": "numbers",
    "day": "dates",
    "local time": "times without a zone",
    "time": "times of a zone",
    "duration": "durations",
}


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
            return self._of_values(data)
        if column is None:
            raise no_column_named(data)
        columns = [column, *([] if self.minus is None else [self.minus])]
        if self.moment == "number":
            check_columns(data, numeric=columns)
            self._check_declared(data, columns)
            table = _numbers(open_table(data), data, columns)
            for one in columns:
                table = _as_floats(table, one, nw.col(one))
            number = nw.col(column) - nw.col(columns[-1])
            return nw.to_native(table.with_columns(number.alias(column)))
        table = check_columns(data, plain=columns)
        held = {self._held(table, one, data) for one in columns}
        if len(held) > 1:
            raise ColumnError(f"columns {column!r} and {self.minus!r} must be of one type")
        for one in columns:
            table = _counted(table, one, held.copy().pop(), Source.of(data))
        # Days between two days are whole, so the factor is exact.
        unit = DAY if self.moment == "duration" and held == {"day"} else 1
        number = nw.col(column)
        if self.minus is not None:
            number, earlier = (_halved(nw.col(one)) for one in columns)
            number = number - earlier
        return nw.to_native(_as_floats(table, column, number, unit))

    def _check_declared(self, data: object, columns: list[str]) -> None:
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

    def _held(self, table: Frame, column: str, data: object) -> Moment:
        """Return what a column holds."""
        dtype = schema(table, data)[column]
        if Source.of(data).is_untyped(column) or dtype == nw.Object:
            return "local time" if self.minus is not None else self.moment
        zone = getattr(dtype, "time_zone", None)
        found: Moment = "number"
        if dtype == nw.Date:
            found = "day"
        elif dtype == nw.Datetime:
            found = "local time" if zone is None else "time"
        elif dtype == nw.Duration:
            found = "duration"
        allowed = {self.moment} if self.minus is None else {"day", "local time", "time"}
        if found not in allowed:
            raise ColumnError(
                f"column {column!r} is of type {type_name(dtype)}, and the values that may be "
                f"released are {NAMES[self.moment]}: give both alike"
            )
        return found

    def _of_values(self, values: object) -> Values:
        """Return an array, a list or a Series as float64."""
        series = as_series(values)
        if isinstance(series, nw.Series) and not declares_nothing(series):
            frame = series.alias("value").to_frame()
            held: Any = nw.from_native(self.of(nw.to_native(frame), "value"))
            found = held["value"].to_numpy().astype(np.float64)
            return np.where(held["value"].is_null().to_numpy(), nan, found)
        if is_listed(values) or (array := np.asarray(values)).dtype == object:
            return _of_objects(values, self.moment)  # type: ignore[arg-type]
        kind = {"day": "<M8[D]", "local time": "<M8", "duration": "<m8"}.get(
            self.moment, "none"
        )
        if array.ndim != 1 or not array.dtype.str.startswith(kind):
            raise DataError(
                f"the values must be {NAMES[self.moment]}, one for each record; an array of "
                "days is of datetime64[D]"
            )
        counted = _of_array(array, self.moment)
        return np.where(counted == MISSING, nan, counted)


FIELDS: dict[Moment, FieldType] = {"day": "date", "local time": "time"}
"""What fields of a text file are read as."""

NUMBERS = Measure()
"""A column of numbers, as it is."""


def _numbers(table: Frame, data: object, columns: list[str]) -> Frame:
    """Return the table with columns as float64; in memory each value is read by itself."""
    if not isinstance(table, nw.DataFrame):
        return as_numbers(table, data, columns)
    for one in dict.fromkeys(columns):
        table = _with(table, one, series_numbers(table.get_column(one)))
    return table


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


def _of_objects(values: Iterable[object], moment: Moment) -> Values:
    code = CODES[moment]
    return np.array([_coded(value, code) for value in values], dtype=np.float64)


def _coded(value: object, code: Callable[[Any], float | None]) -> float:
    try:
        if isinstance(value, np.datetime64 | np.timedelta64):
            unit = "D" if value.dtype.str.endswith("[D]") else "us"
            value = value.astype(f"{value.dtype.kind}8[{unit}]").item()
        found = code(value)
    except Exception:  # noqa: BLE001 -- whatever is raised, it is none
        return nan
    return nan if found is None else float(found)


def _day(value: object) -> int | None:
    return (value - FIRST).days if type(value) is date else None


def _time(value: object, moment: Moment) -> int | None:
    if type(value) is date and moment == "local time":
        return (value - FIRST).days * DAY
    if not isinstance(value, datetime) or (value.tzinfo is None) != (moment == "local time"):
        return None
    return (value - ORIGINS[moment]) // timedelta(microseconds=1)


CODES: dict[Moment, Callable[[Any], float | None]] = {
    "day": _day,
    "local time": lambda value: _time(value, "local time"),
    "time": lambda value: _time(value, "time"),
    "duration": lambda value: (
        value // timedelta(microseconds=1) if isinstance(value, timedelta) else None
    ),
}
"""The number of one value, None if it is not a number."""


def _counted(table: Frame, column: str, moment: Moment, source: Source) -> Any:  # noqa: ANN401
    """Return the table with a column as integers, or as float64 where nothing is declared."""
    if source.is_untyped(column):
        if moment not in FIELDS:
            raise ColumnError(f"column {column!r}: a text file has days and local times alone")
        table = typed(table, {column: FIELDS[moment]}, source)
    if not isinstance(table, nw.DataFrame):
        return engine_of(table).counted(column, moment)
    series = table.get_column(column)
    if declares_nothing(series):
        return _with(table, column, _of_objects(series.to_list(), moment))
    if table.implementation.is_polars():
        return engine_of(table).counted(column, moment)
    if series.implementation.is_pyarrow() or "[pyarrow]" in native_type(series):
        array = series.to_arrow().to_numpy(zero_copy_only=False)
    else:
        array = series.to_numpy()
    counted = _of_array(array, moment)
    held = nw.new_series(column, counted, nw.Int64, backend=table.implementation)
    there = nw.when(nw.col(column) != MISSING).then(nw.col(column))
    return table.with_columns(held).with_columns(there)


def _halved(number: nw.Expr) -> nw.Expr:
    """Return integers of which two have a difference of 64 bits: null for others."""
    return nw.when(number.is_between(-LARGEST, LARGEST)).then(number)


def _as_floats(table: Frame, column: str, number: nw.Expr, unit: int = 1) -> Frame:
    """Return the table with numbers as floats; Arrow would refuse those that are rounded."""
    if not isinstance(table, nw.DataFrame):
        return table.with_columns((number.cast(nw.Float64) * float(unit)).alias(column))
    held = table.select(number.alias(column)).get_column(column)
    return _with(table, column, series_numbers(held) * unit)


def _with(table: nw.DataFrame[Any], column: str, values: Values) -> nw.DataFrame[Any]:
    """Return the table with a column of float64, null for NaN."""
    held = nw.new_series(column, values, nw.Float64, backend=table.implementation)
    return table.with_columns(held).with_columns(nw.when(~nw.col(column).is_nan()).then(column))
