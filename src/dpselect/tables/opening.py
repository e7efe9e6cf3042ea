"""Opening of tables: a path or any frame becomes a narwhals frame, and no row is read.

polars is the embedded engine and reads files; narwhals is the common interface to all frames.
The schema of a table is public and is quoted in errors. Its values are private and are not:
engines quote the field that they could not read, so their errors are replaced here.
"""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import narwhals as nw

from dpselect._optional import needed, replaced
from dpselect.errors import ColumnError, DataError, no_column, no_file
from dpselect.tables.collation import by_bytes
from dpselect.tables.fields import typed
from dpselect.tables.kinds import NUMERIC, declared, declares_nothing, type_name
from dpselect.tables.source import CSV, PARQUET, Frame, Source, ending, literal
from dpselect.tables.where import filtered

HOLDERS = {
    "DuckDBPyConnection": "connection.table('stays')",
    "SparkSession": "spark.table('stays')",
}
"""Types of engines that hold tables, with how one is named."""


def open_table(data: object) -> Frame:
    """Return a table as a narwhals frame, without reading its rows.

    Args:
        data: A path, a frame, or a ``Source`` of either.

    Returns:
        Lazy where the source is. Columns of a CSV file are text, except those of
        ``Source.column_type``: the file declares no types, and types guessed from fields would
        depend on private values.

    Raises:
        ColumnError: There is no column that the source names.
        DataError: There is no such file, it cannot be read, or ``data`` is not a table.
    """
    if isinstance(data, Source):
        rows = open_table(data.frame) if data.path is None else _scan(data)
        types = data.column_type if data.is_csv else None
        return replaced(
            lambda: filtered(
                rows, data.comparisons, declared_fields=types, decimal=data.decimal
            ),
            lambda: unreadable(data),
        )
    if isinstance(data, str | PathLike):
        return _scan(Source(data))
    frame = nw.from_native(data, pass_through=True)
    if not isinstance(frame, nw.DataFrame | nw.LazyFrame):
        kind = type(data).__name__
        cure = f": give a table of it, as {HOLDERS[kind]}" if kind in HOLDERS else ""
        raise DataError(
            "data must be a frame (polars, pandas, pyarrow, DuckDB, ...) or the path of a "
            f".parquet or .csv file, not a {kind}{cure}"
        )
    if isinstance(frame, nw.LazyFrame):
        return replaced(lambda: by_bytes(frame), lambda: unreadable(data))
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
    table = open_table(data)
    types = schema(table, data)
    for column in [*numeric, *plain]:
        if not isinstance(column, str):
            raise ColumnError(f"a column is named by a text, not by a {type(column).__name__}")
        if column not in types:
            raise no_column(column, types, "" if column in plain else choices(types, data))
        if {*column} & {*".`"} and table.implementation.is_spark_like():
            raise ColumnError(
                f"Spark takes the column {column!r} for a field of another: rename it without "
                "dots and backquotes"
            )
    eager, source = isinstance(table, nw.DataFrame), Source.of(data)
    for column in numeric:
        # Values that nothing is declared of are read one by one.
        if not source.is_untyped(column) and not (
            declared(types[column]) in NUMERIC or (eager and types[column] == nw.Object)
        ):
            raise ColumnError(
                f"column {column!r} is of type {type_name(types[column])}, which is not numeric"
                f"{_cure(types[column])}; {choices(types, data)}"
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
    source = Source.of(data)
    frame = nw.from_native(source.frame, pass_through=True)
    return source.path is not None or isinstance(frame, nw.DataFrame | nw.LazyFrame)


def is_lazy(data: object) -> bool:
    """Return whether data are a frame whose rows stay in their engine until collected."""
    return isinstance(nw.from_native(Source.of(data).frame, pass_through=True), nw.LazyFrame)


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
    if source.is_csv:
        right = "it must have a header, and every quotation mark must be closed"
    elif source.path is not None:
        right = "it must be a Parquet file that is complete"
    else:
        right = "its engine refused the query"
        frame = nw.from_native(source.frame, pass_through=True)
        if isinstance(frame, nw.LazyFrame) and frame.implementation.is_spark_like():
            right = (
                "Spark stopped the query, as it does for a file that is incomplete, not of "
                "the types it declares or not where its executors look for it, and when "
                "executors or its server are lost; their logs say which"
            )
    return DataError(f"{source} cannot be read: {right}")


def choices(types: nw.Schema, data: object) -> str:
    """Return which columns there are to choose from."""
    if Source.of(data).is_csv:
        return f"the columns are: {', '.join(types)}"
    numeric = [name for name, kind in types.items() if declared(kind) in NUMERIC]
    return f"the numeric columns are: {', '.join(numeric) or '(none)'}"


def no_column_named(data: object) -> ColumnError:
    """Return the error for a table of which no column is named."""
    types = schema(open_table(data), data)
    return ColumnError(f"data is a table: name the column; {choices(types, data)}")


def _scan(source: Source) -> nw.LazyFrame[Any]:
    needed("polars", extra="standard")
    import polars as pl

    found = source.files()
    kinds = {ending(file) for file in found}
    if not kinds <= PARQUET | CSV:
        suffixes = {Path(file).suffix.lower().partition("::")[0] for file in found}
        cure = ""
        if suffixes & {".xlsx", ".xls", ".ods"}:
            cure = ": save the sheet as CSV, or give the frame of polars.read_excel"
        elif suffixes & {".duckdb", ".db"}:
            cure = ": a table of DuckDB is read as clinic.duckdb::stays by --engine duckdb, "
            cure += "or in Python as a relation of DuckDB"
        raise DataError(f"{source} must be a .parquet, .csv or .tsv file{cure}")
    if not (kinds <= PARQUET or len(kinds) == 1):
        raise DataError(f"{source} must be files of one kind: .parquet, .csv or .tsv")
    if kinds <= PARQUET:
        source.refuse_typed()
    source.refuse_managed()
    missing = [file for file in found if not file.is_file()]
    if missing or not found:
        raise no_file(source)
    if kinds <= PARQUET:
        names = _folder_keys(found)
        if not names:
            return nw.from_native(pl.scan_parquet([*map(literal, found)], glob=False))
        # Types guessed from folders' names would depend on values: they are text.
        text = dict.fromkeys(names, pl.String)
        return nw.from_native(
            pl.scan_parquet(
                [*map(literal, found)], glob=False, hive_partitioning=True, hive_schema=text
            )
        )
    # What one record has too much or in another encoding is repaired there.
    texts = pl.scan_csv(
        [*map(literal, found)],
        separator=source.separator_of(next(iter(kinds))),
        infer_schema=False,
        glob=False,
        encoding="utf8-lossy",
        truncate_ragged_lines=True,
    )
    return replaced(
        lambda: typed(nw.from_native(texts), source.column_type, source.decimal),
        lambda: unreadable(source),
    )


def _folder_keys(files: Sequence[Path]) -> list[str]:
    """Return the columns that folders named ``column=value`` hold, those of all files."""
    keys = [[part.split("=")[0] for part in file.parts[:-1] if "=" in part] for file in files]
    return keys[0] if keys and all(one == keys[0] for one in keys) else []
