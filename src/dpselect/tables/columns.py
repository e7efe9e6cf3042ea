"""Named columns of a table as they are, or as numbers: also of days, times and durations.

Days are counted from 1970-01-01, points in time and durations in microseconds, points in time
from the beginning of that day. Each value is coded by itself and exactly, in whatever holds it:
what is finer than a microsecond is cut off as the engines cut it. What is of another type in a
container that declares none is missing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Sized
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpselect._optional import nw
from dpselect.errors import ColumnError, DataError, ParameterError
from dpselect.tables import opening, values
from dpselect.tables.collecting import collect
from dpselect.tables.dialect import FieldType
from dpselect.tables.engine import Frame, engine_of
from dpselect.tables.kinds import DAY, Kind, Moment, float_type, moment_of, type_name
from dpselect.tables.source import Source
from dpselect.typing import Values

REFUSAL = "the values must be numbers, one for each record"

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


def count_records(
    data: object, *, numeric: Sequence[str] = (), plain: Sequence[str] = ()
) -> int:
    """Return the number of rows of a table that has these columns; no value is read.

    It is private unless the neighbour relation is substitution.

    Raises:
        ColumnError, DataError: As for ``check_columns``.
    """
    table = opening.check_columns(data, numeric=numeric, plain=plain)
    row = collect(table.select(nw.len().alias("records")), data, most=1)
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
    table = as_numbers(opening.check_columns(data, numeric=numeric, plain=plain), data, numeric)
    wanted = table.select(*dict.fromkeys([*numeric, *plain]))
    return engine_of(wanted).fetched(lambda: opening.unreadable(data))


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
    table = as_numbers(opening.check_columns(data, numeric=numeric, plain=plain), data, numeric)
    return values.as_kinds(table, dict.fromkeys(plain, Kind.TEXT))


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
    if opening.is_table(data):
        if column is None:
            raise opening.no_column_named(data)
        return series_numbers(read_columns(data, numeric=[column])[column])
    if isinstance(data, Mapping) or (column is not None and not isinstance(data, Sized)):
        opening.open_table(data)  # which says what a table is
    if column is not None:
        raise ParameterError(
            f"column is for tables, and data is a {type(data).__name__}: leave it out"
        )
    held = values.of_values(data, REFUSAL)
    if held.kind == Kind.TEXT:
        raise DataError(f"{REFUSAL}, and are of type text")
    return held.numbers()


def series_numbers(series: nw.Series[Any]) -> Values:
    """Return a Series of numbers, or of anything, as float64; other values become NaN."""
    return values.of_series(series).numbers()


def declared_float(data: object, column: str | None = None) -> type[np.floating[Any]]:
    """Return the type of floats that a column, or the numbers themselves, are declared of.

    It is float64 of all that is no shorter float.
    """
    if opening.is_table(data):
        return float_type(opening.schema(opening.open_table(data), data)[str(column)]).type
    series = values.as_series(data)
    if isinstance(series, nw.Series):
        return float_type(series.dtype).type
    kind = np.float64 if values.is_listed(data) else np.asarray(data).dtype.type
    return kind if kind in {np.float16, np.float32} else np.float64


def as_numbers(table: Frame, data: object, columns: Sequence[str]) -> Frame:
    """Return the table with some columns as float64; other fields than numbers become null."""
    source, types = Source.of(data), table.collect_schema()
    untyped: dict[str, FieldType] = {
        one: "number" for one in columns if source.is_untyped(one) and types[one] == nw.String
    }
    table = values.as_kinds(source.typed(table, untyped), dict.fromkeys(columns, Kind.NUMBERS))
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
        if not opening.is_table(data):
            if column is not None or self.minus is not None:
                raise ParameterError("`column` and `minus` are for tables: leave them out")
            refusal = f"the values must be {NAMES[self.moment]}, one for each record"
            return numeric_column(
                self.of(values.as_table(data, refusal), values.VALUE), values.VALUE
            )
        if column is None:
            raise opening.no_column_named(data)
        columns = [column] if self.minus is None else [column, self.minus]
        kind: Moment = "number"
        if self.moment == "number":
            table = opening.check_columns(data, numeric=columns)
            # Dates that are read as numbers are all missing, and nothing would say so.
            if untyped := [one for one in columns if Source.of(data).is_untyped(one)]:
                raise ColumnError(
                    f"a text file declares no types: say by `column_type` {untyped[0]}=number "
                    f"that {untyped[0]!r} holds numbers; of dates or times the values that may "
                    "be released are durations, such as 60d"
                )
        else:
            table = opening.check_columns(data, plain=columns)
            kind, *others = {
                self._held(one, opening.schema(table, data)[one], data) for one in columns
            }
            if others:
                raise ColumnError(f"columns {column!r} and {self.minus!r} must be of one type")
        return nw.to_native(_in_engine(table, data, columns, kind))

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


NUMBERS = Measure()
"""A column of numbers, as it is."""


def _in_engine(
    table: nw.LazyFrame[Any], data: object, columns: list[str], kind: Moment
) -> nw.LazyFrame[Any]:
    """Return a lazy frame with the first column, less the second, as float64."""
    source, numbers = Source.of(data), [nw.col(one) for one in columns]
    if kind == "number":
        table = as_numbers(table, data, columns)
    else:
        for one in columns:
            if source.is_untyped(one) and kind not in FIELDS:
                raise ColumnError(f"column {one!r}: a text file has days and local times alone")
            if source.is_untyped(one):
                table = source.reading()[1].typed(table, {one: FIELDS[kind]})
            if table.collect_schema()[one] == nw.Object:
                table = values.as_kinds(table, {one: kind})
            else:
                table = engine_of(table).counted(one, kind)
        if len(columns) > 1:
            # Integers of which two have a difference of 64 bits.
            numbers = [nw.when(one.is_between(-LARGEST, LARGEST)).then(one) for one in numbers]
    number = numbers[0] if len(numbers) == 1 else numbers[0] - numbers[1]
    # Days between two days are whole, so the factor is exact.
    unit = float(DAY) if kind == "day" and len(columns) > 1 else 1.0
    return table.with_columns((number.cast(nw.Float64) * unit).alias(columns[0]))
