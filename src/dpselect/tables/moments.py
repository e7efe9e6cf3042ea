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

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from dpselect.errors import ColumnError, DataError, ParameterError
from dpselect.tables.columns import as_numbers, series_numbers
from dpselect.tables.dialect import FieldType
from dpselect.tables.engine import Frame, engine_of
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
        array = np.asarray(values) if not is_listed(values) else None
        kinds = {"day": "M", "local time": "M", "duration": "m"}
        if array is not None and array.dtype.kind in "mM":
            if array.dtype.kind == kinds.get(self.moment) and array.ndim == 1:
                return _of_array(array, self.moment)
        elif array is None or array.dtype == object:
            return _of_objects(values, self.moment)  # type: ignore[arg-type]
        raise DataError(f"the values must be {NAMES[self.moment]}, one for each record")


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


def _of_array(array: Any, moment: Moment) -> Values:  # noqa: ANN401 -- of NumPy's dates
    if moment == "day":
        if array.dtype != np.dtype("datetime64[D]"):
            raise DataError("an array of days must be of datetime64[D]")
        held = array
    elif moment == "duration":
        # NumPy rounds down, and engines to 0.
        past = array < np.timedelta64(0, "us")
        held = np.where(past, -(-array).astype("m8[us]"), array.astype("m8[us]"))
    else:
        held = array.astype("M8[us]")
    return np.where(np.isnat(held), nan, held.astype(np.int64).astype(np.float64))


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
    if isinstance(table, nw.DataFrame) and declares_nothing(table.get_column(column)):
        return _with(table, column, _of_objects(table.get_column(column).to_list(), moment))
    held = _in_memory(table, column, moment)
    if held is not None:
        return held
    return engine_of(table).counted(column, moment)


def _halved(number: nw.Expr) -> nw.Expr:
    """Return integers of which two have a difference of 64 bits: null for others."""
    return nw.when(number.is_between(-LARGEST, LARGEST)).then(number)


def _in_memory(table: Frame, column: str, moment: Moment) -> Frame | None:
    """Return the table of Arrow or pandas so, None if narwhals counts right there."""
    if not isinstance(table, nw.DataFrame):
        return None
    if moment == "duration":
        if not table.implementation.is_pandas_like():
            return None
        # pandas counts microseconds in floats of seconds.
        return _with(table, column, _of_array(table.get_column(column).to_numpy(), moment))
    counted = _in_arrow(table.get_column(column))
    if counted is None:
        return None
    held = nw.new_series(column, counted, nw.Int64, backend=table.implementation)
    there = nw.when(nw.col(column) != MISSING).then(nw.col(column))
    return table.with_columns(held).with_columns(there)


def _in_arrow(series: nw.Series[Any]) -> NDArray[np.int64] | None:
    """Return days or microseconds of a column of Arrow, None if it is another's.

    What 64 bits do not hold is missing: Arrow would refuse all.
    """
    is_pandas = series.implementation.is_pandas_like() and "[pyarrow]" in native_type(series)
    if not (is_pandas or series.implementation.is_pyarrow()):
        return None
    array: Any = series.to_arrow()
    unit = getattr(array.type, "unit", "day")
    numbers = array.view("int32").cast("int64") if unit == "day" else array.view("int64")
    counted = np.asarray(numbers.fill_null(MISSING))
    factor = {"s": 1_000_000, "ms": 1_000}.get(unit, 1)
    most = (2**63 - 1) // factor
    inside = (counted >= -most) & (counted <= most)
    found = np.where(inside, counted, 0) * factor // (1_000 if unit == "ns" else 1)
    return np.where(inside, found, MISSING)


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
