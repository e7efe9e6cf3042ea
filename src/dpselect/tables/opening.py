"""Opening of tables: a path or any frame becomes a narwhals frame, and no row is read.

polars is the embedded engine and reads files; narwhals is the common interface to all frames.
The schema of a table is public and is quoted in errors. Its values are private and are not:
engines quote the field that they could not read, so their errors are replaced here.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from os import PathLike
from typing import Any

import numpy as np

from dpselect._optional import nw
from dpselect.errors import (
    ColumnError,
    DataError,
    PublicClaimError,
    no_column,
    no_field,
    no_file,
    replaced,
)
from dpselect.tables.embedded import Frame
from dpselect.tables.engine import engine_of
from dpselect.tables.fields import note_reading, typed
from dpselect.tables.kinds import (
    NUMERIC,
    declared,
    declares_nothing,
    type_name,
    with_known_types,
)
from dpselect.tables.source import COMPRESSED, Source, check_name, check_names, is_of
from dpselect.tables.where import filtered

HOLDERS = {
    "DuckDBPyConnection": "connection.table('stays')",
    "SparkSession": "spark.table('stays')",
}
"""Types of engines that hold tables, with how one is named."""


def open_table(data: object, *, numbers: Collection[str] = ()) -> Frame:
    """Return a table as a narwhals frame, without reading its rows.

    Args:
        data: A path, a frame, or a ``Source`` of either.
        numbers: Columns to read as float64 where the rows are those of a text file, unless
            rows are selected by them.

    Returns:
        Lazy where the source is. Columns of a CSV file are text, except those of
        ``Source.column_type``: the file declares no types, and types guessed from fields would
        depend on private values.

    Raises:
        ColumnError: There is no column that the source names.
        DataError: There is no such file, it cannot be read, or ``data`` is not a table.
    """
    if isinstance(data, Source):
        if data.path is not None:
            return _scan(data, numbers)
        rows = open_table(data.frame)
        return replaced(lambda: filtered(rows, data.comparisons), lambda: unreadable(data))
    if isinstance(data, str | PathLike):
        return _scan(Source(data), numbers)
    if is_of(data, "pyspark"):
        replaced(lambda: check_names(data), lambda: unreadable(data))
    frame = nw.from_native(with_known_types(data), pass_through=True)
    if not isinstance(frame, nw.DataFrame | nw.LazyFrame):
        kind = type(data).__name__
        cure = f": give a table of it, as {HOLDERS[kind]}" if kind in HOLDERS else ""
        raise DataError(
            "data must be a frame (polars, pandas, pyarrow, DuckDB, ...) or the path of a "
            f".parquet or .csv file, not a {kind}{cure}"
        )
    if isinstance(frame, nw.LazyFrame):
        return replaced(lambda: engine_of(frame).compared(), lambda: unreadable(data))
    return frame


def check_columns(
    data: object, *, numeric: Sequence[str] = (), plain: Sequence[str] = ()
) -> Frame:
    """Return the opened table if it has these columns; no row is read.

    Args:
        data: As for ``open_table``.
        numeric: Columns that must hold numbers. Any may in a CSV file, and any of objects in
            a frame in memory.
        plain: Columns of any type.

    Raises:
        ColumnError: A column is missing or not numeric.
        DataError: As for ``open_table``.
    """
    table = open_table(data, numbers={*numeric} - {*plain})
    types, source = schema(table, data), Source.of(data)
    for column in [*numeric, *plain]:
        if not isinstance(column, str):
            raise ColumnError(f"a column is named by a text, not by a {type(column).__name__}")
        check_name(column)
        if column not in types:
            if source.is_csv:
                raise no_field(column, types.names())
            raise no_column(column, types, "" if column in plain else choices(types))
        if {*column} & {*".`"} and engine_of(table).is_spark:
            raise ColumnError(
                f"Spark takes the column {column!r} for a field of another: rename it without "
                "dots and backquotes"
            )
    eager = isinstance(table, nw.DataFrame)
    for column in numeric:
        # Values that nothing is declared of are read one by one.
        if not source.is_untyped(column) and not (
            declared(types[column]) in NUMERIC or (eager and types[column] == nw.Object)
        ):
            raise ColumnError(
                f"column {column!r} is of type {type_name(types[column])}, which is not numeric"
                f"{_cure(types[column])}; {choices(types)}"
            )
    return table


def _cure(kind: object) -> str:
    """Return how a column of a type becomes one of numbers, row by row; nothing if not."""
    if kind == nw.Duration:
        return (
            ": for percentiles give `upper` and `step` as durations, such as "
            "timedelta(days=60) and timedelta(days=1), in commands 60d and 1d"
        )
    if kind in (nw.Date, nw.Datetime):
        return (
            ": for percentiles give dates as `lower` and `upper` and a duration as `step`, "
            "such as date(2024, 1, 1) and timedelta(days=1), in commands 2024-01-01 and 1d; or "
            "`minus`, a column of earlier dates, for the time between the two"
        )
    return ""


def is_table(data: object) -> bool:
    """Return whether data are a path or a frame, not the values themselves."""
    if isinstance(data, np.ndarray | list | tuple):
        return False  # narwhals takes as long to say so as a small release
    source = Source.of(data)
    frame = nw.from_native(source.frame, pass_through=True)
    return source.path is not None or isinstance(frame, nw.DataFrame | nw.LazyFrame)


def is_lazy(data: object) -> bool:
    """Return whether data are a frame whose rows stay in their engine until collected."""
    source = Source.of(data)
    frame = nw.from_native(source.frame, pass_through=True)
    return source.streamed or isinstance(frame, nw.LazyFrame)


def schema(table: Frame, data: object) -> nw.Schema:
    """Return the columns and their types; ``Object`` of columns that declare no type."""
    types = replaced(table.collect_schema, lambda: unreadable(data))
    if isinstance(table, nw.DataFrame):
        nothing = {c for c in table.columns if declares_nothing(table.get_column(c))}
        return nw.Schema({c: nw.Object() if c in nothing else k for c, k in types.items()})
    return types


def unreadable(data: object) -> DataError:
    """Return the error that states what a table must be like, without its content."""
    source = Source.of(data)
    if source.path is not None:
        files = source.files()
        right = source.format_of(files)[1].right
        if any(file.suffix.lower() in COMPRESSED for file in files):
            right = f"it is not complete, or {right}"
    else:
        right = "its engine refused the query"
        frame = nw.from_native(source.frame, pass_through=True)
        if isinstance(frame, nw.LazyFrame) and engine_of(frame).is_spark:
            right = (
                "Spark stopped the query, as it does for a file that is incomplete, not of "
                "the types it declares or not where its executors look for it, and when "
                "executors or its server are lost; their logs say which"
            )
    # How a text file is written is stated by whoever reads it.
    kind = PublicClaimError if source.is_csv else DataError
    return kind(f"{source} cannot be read: {right}")


def choices(types: nw.Schema) -> str:
    """Return which columns of numbers a schema declares."""
    numeric = [str(name) for name, kind in types.items() if declared(kind) in NUMERIC]
    return f"the numeric columns are: {', '.join(numeric) or '(none)'}"


def no_column_named(data: object) -> ColumnError:
    """Return the error for a table of which no column is named."""
    types = schema(open_table(data), data)
    there = "" if Source.of(data).is_csv else f"; {choices(types)}"
    return ColumnError(f"data is a table: name the column{there}")


def _scan(source: Source, numbers: Collection[str]) -> nw.LazyFrame[Any]:
    found = source.files()
    kind, form = source.format_of(found)
    source.refuse_managed()
    missing = [file for file in found if not file.is_file()]
    if missing or not found:
        raise no_file(source)

    def rows() -> nw.LazyFrame[Any]:
        asked = {*numbers} - {one.column for one in source.comparisons} - {*source.column_type}
        table = nw.from_native(form.scan(found, source, kind, asked))
        if form.is_text:
            note_reading(["number"] if asked else [], source)
            table = typed(table, source.column_type, source)
        return filtered(table, source.comparisons, dialect=source if form.is_text else None)

    return replaced(rows, lambda: unreadable(source))
