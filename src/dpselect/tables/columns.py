"""Named columns of a table as they are, or as numbers, and what an engine counts of them.

Numbers are also those of days, times and durations.
Days are counted from 1970-01-01, points in time and durations in microseconds, points in time
from the beginning of that day. Each value is coded by itself and exactly, in whatever holds it:
what is finer than a microsecond is cut off as the engines cut it. What is of another type in a
container that declares none is missing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpselect._optional import nw, pl
from dpselect.errors import ColumnError, DataError, ParameterError
from dpselect.tables import opening, values
from dpselect.tables.dialect import FieldType
from dpselect.tables.engine import Column, Frame, engine_of
from dpselect.tables.kinds import DAY, Kind, Moment, float_type, moment_of, type_name
from dpselect.tables.source import Source
from dpselect.typing import Indices, Values

EDGES_AT_ONCE = 512
"""Edges of one look-up: engines take longer to plan deeper or wider ones than to run them."""

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


def collect(
    table: Frame, data: object, *, most: int, order_by: Sequence[str] = ()
) -> dict[str, Column]:
    """Run the query of an aggregate and return its columns.

    Args:
        table: The query.
        data: What it was made from, to name in an error.
        most: Rows that the aggregate can have. Public. At most one row more leaves the engine,
            for any query.
        order_by: Columns to sort the rows by.

    Raises:
        DataError: The engine refuses the query, or there are more rows.
    """
    first = table.head(most + 1)
    frame = engine_of(first).fetched(lambda: opening.unreadable(data))
    if len(frame) > most:
        raise DataError("there are more groups than were declared")
    # Here: of rows that are sorted Spark keeps a heap, of all that there could be. Together
    # threads take three times as long for texts.
    found = frame.to_polars()
    found = found.sort(order_by, multithreaded=False) if order_by else found
    return {series.name: _column(series) for series in found}


def _column(series: pl.Series) -> Column:
    if series.dtype.is_numeric() and series.null_count() == 0:
        return series.to_numpy()
    return values.objects(series.to_list())


def counts(column: Column) -> Indices:
    """Return counts as integers; the sum over no rows is null in SQL and counts as 0."""
    if column.dtype != object:
        return column.astype(np.int64, copy=False)
    return np.array([0 if count is None else count for count in column], dtype=np.int64)


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
    table = opening.check_columns(data, numeric=numeric, plain=plain)
    wanted = engine_of(table).read(numeric, "number").select(*dict.fromkeys([*numeric, *plain]))
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
    table = opening.check_columns(data, numeric=numeric, plain=plain)
    table = engine_of(table).read(numeric, "number")
    return engine_of(table).read(plain, Kind.TEXT)


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
    if (column := _named(data, column)) is not None:
        return series_numbers(read_columns(data, numeric=[column])[column])
    held = values.of_values(data, REFUSAL)
    if held.kind == Kind.TEXT:
        raise DataError(f"{REFUSAL}, and are of type text")
    return held.numbers()


def _named(data: object, column: str | None, *others: str | None) -> str | None:
    """Return the column of a table; None of data that are the values themselves."""
    if not opening.is_table(data):
        if isinstance(data, Mapping) or {column, *others} != {None}:
            opening.open_table(data)  # which says what a table is
    elif column is None:
        raise ColumnError("data is a table: name the column")
    return column


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
            DataError: The data cannot be read, are of another type, or no table with columns.
        """
        if self == NUMBERS:
            return data
        if (column := _named(data, column, self.minus)) is None:
            refusal = f"the values must be {NAMES[self.moment]}, one for each record"
            return numeric_column(
                self.of(values.as_table(data, refusal), values.VALUE), values.VALUE
            )
        columns = [column] if self.minus is None else [column, self.minus]
        fields = [one for one in columns if Source.of(data).is_untyped(one)]
        # What is read where no type is declared, of which the difference may be a duration.
        is_difference = self.minus is not None and self.moment == "duration"
        read: Moment = "local time" if is_difference else self.moment
        asked = "numeric" if read == "number" else "plain"
        table = opening.check_columns(data, **{asked: columns})
        if fields and read not in FIELDS:
            # Dates that are read as numbers are all missing, and nothing would say so.
            raise ColumnError(
                f"a text file declares no types: say by `column_type` {fields[0]}=number that "
                f"{fields[0]!r} holds numbers; it has days and local times, and of two columns "
                "of them the values that may be released are durations, such as 60d"
            )
        if fields:
            dialect = Source.of(data).reading()[1]
            table = dialect.typed(table, dict.fromkeys(fields, FIELDS[read]))
        types = opening.schema(table, data)
        kind, *others = {self._held(one, types[one], read) for one in columns}
        if others:
            raise ColumnError(f"columns {column!r} and {self.minus!r} must be of one type")
        table = engine_of(table).read(columns, kind)
        return nw.to_native(table.with_columns(_less(kind, *columns).alias(column)))

    def _held(self, column: str, dtype: Any, read: Moment) -> Moment:  # noqa: ANN401 -- a type
        """Return what a column of a type holds, ``read`` if it declares none."""
        found = read if dtype == nw.Object else moment_of(dtype)
        allowed = {self.moment} if self.moment == read else {"day", "local time", "time"}
        if found not in allowed:
            raise ColumnError(
                f"column {column!r} is of type {type_name(dtype)}, and the values that may be "
                f"released are {NAMES[self.moment]}: give both alike, a day among times as "
                "2024-01-31T00:00"
            )
        return found


NUMBERS = Measure()
"""A column of numbers, as it is."""


def _less(kind: Moment, column: str, minus: str | None = None) -> nw.Expr:
    """Return a column, less another one, as float64."""
    if minus is None:
        return nw.col(column).cast(nw.Float64)
    first, second = map(nw.col, (column, minus))
    if kind == "number":
        return first - second
    # Integers of which two have a difference of 64 bits.
    of_both = first.is_between(-LARGEST, LARGEST) & second.is_between(-LARGEST, LARGEST)
    number = nw.when(of_both).then(first - second).cast(nw.Float64)
    # Days between two days are whole, so the factor is exact.
    return number * float(DAY) if kind == "day" else number
