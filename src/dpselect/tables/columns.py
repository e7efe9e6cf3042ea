"""Named columns of a table, as float64 numbers or as they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Sized
from typing import Any

import numpy as np

from dpselect._optional import nw, pl
from dpselect.errors import DataError, ParameterError
from dpselect.tables.collecting import collect
from dpselect.tables.dialect import FieldType
from dpselect.tables.engine import Frame, engine_of
from dpselect.tables.kinds import Kind, declares_nothing, type_name
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
    as_series,
    is_listed,
    names_of_series,
    of_series,
    of_values,
)
from dpselect.typing import Values

REFUSAL = "the values must be numbers, one for each record"


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
    series = as_series(data)
    if isinstance(series, nw.Series):
        kind = Kind.of(series.dtype)
        if not (kind and kind.is_number) and not declares_nothing(series):
            raise DataError(
                f"the values are of type {type_name(series.dtype)}, which is not numeric"
            )
        return series_numbers(series)
    values = of_values(data, REFUSAL)
    if values.kind == "text":
        raise DataError(REFUSAL)
    return values.numbers()


def series_numbers(series: nw.Series[Any]) -> Values:
    """Return a Series of numbers, or of anything, as float64; other values become NaN."""
    return of_series(series).numbers()


def declared_float(data: object, column: str | None = None) -> type[np.floating[Any]]:
    """Return the type of floats that a column, or the numbers themselves, are declared of.

    It is float64 of all that is no shorter float.
    """
    if is_table(data):
        dtype = schema(open_table(data), data)[str(column)]
        return np.float32 if dtype == nw.Float32 else np.float64
    series = as_series(data)
    if isinstance(series, nw.Series):
        return np.float32 if series.dtype == nw.Float32 else np.float64
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
