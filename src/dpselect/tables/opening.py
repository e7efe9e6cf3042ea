"""Opening of tables: a path or any frame becomes a narwhals frame, and no row is read.

A command states the engine that holds them: memory, polars, DuckDB or Spark.

polars is the embedded engine and reads files; narwhals is the common interface to all frames.
The schema of a table is public and is quoted in errors. Its values are private and are not:
engines quote the field that they could not read, so their errors are replaced here.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from glob import escape
from pathlib import Path
from typing import Any

from dpselect import validation
from dpselect._optional import needed, np, nw
from dpselect.errors import (
    ColumnError,
    DataError,
    ParameterError,
    PublicClaimError,
    in_short,
    no_column,
    no_file,
)
from dpselect.passes import replaced
from dpselect.tables.dialect import no_field
from dpselect.tables.engine import Engine, Frame, engine_of
from dpselect.tables.formats import OTHERS, PARQUET, check_clocks, literal
from dpselect.tables.kinds import NUMERIC, Kind, type_name
from dpselect.tables.source import Source, misnamed
from dpselect.tables.text import columns_of
from dpselect.tables.values import in_polars
from dpselect.tables.where import filtered

ENGINES = ("memory", "polars", "duckdb", "spark")


def open_table(data: object, *, numbers: Collection[str] = ()) -> Frame:
    """Return a table as a narwhals frame, without reading its rows.

    Args:
        data: A path, a frame, or a ``Source`` of either.
        numbers: Columns to read as float64 where the rows are those of a text file.

    Returns:
        Lazy where the source is. Columns of a CSV file are text, except those of
        ``Source.column_type``: the file declares no types, and types guessed from fields would
        depend on private values.

    Raises:
        ColumnError: There is no column that the source names.
        DataError: There is no such file, it cannot be read, or ``data`` is not a table.
    """
    source = Source.of(data)
    native = source.frame
    frame = None if source.path is not None else _frame_of(native)
    if source.path is None and frame is None:
        raise DataError(
            "data must be a frame (polars, pandas, pyarrow, a table of DuckDB, ...) or the "
            f"path of a .parquet or .csv file, not a {type(native).__name__}"
        )

    def rows() -> Frame:
        if frame is None:
            return _scan(source, numbers)
        if not frame.implementation.is_polars() and (error := misnamed(native)) is not None:
            raise error
        held = isinstance(frame, nw.DataFrame)
        table = in_polars(frame) if held else engine_of(frame).compared()
        return filtered(table, source.comparisons)

    return replaced(rows, lambda: unreadable(data))


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
    table = open_table(data, numbers=numeric)
    types, source = schema(table, data), Source.of(data)
    for column in [*numeric, *plain]:
        if not isinstance(column, str):
            raise ColumnError(f"a column is named by a text, not by a {type(column).__name__}")
        misread, what = engine_of(table).misread
        if misread.fullmatch(column):
            raise ColumnError(f"engines may take the column {column!r} for {what}")
        if column not in types:
            if source.is_csv:
                raise no_field(column, types.names())
            raise no_column(column, types, "" if column in plain else choices(types))
    if any(map(source.is_untyped, plain)):
        source.note_reading(["text"])
    for column in numeric:
        # Values that nothing is declared of are read one by one.
        if Kind.of(types[column]) not in {*NUMERIC, Kind.ANYTHING}:
            raise ColumnError(
                f"column {column!r} is of type {type_name(types[column])}, which is not numeric"
                f"{_cure(types[column], column)}; {choices(types)}"
            )
    return table


def are_in_header(
    data: object, *, numeric: Sequence[str] = (), plain: Sequence[str] = ()
) -> bool:
    """Return whether data are one text file whose first line names columns, each once.

    Any column of it is text, and can be read as numbers, so that there is nothing else to
    check, for which an engine would be imported. False is no answer: ``check_columns`` gives
    one.

    Args:
        data: As for ``open_table``.
        numeric: Columns to read as numbers.
        plain: Columns to read as text.

    Raises:
        DataError: There is no such file, or its first line is no header.
    """
    source, columns = Source.of(data), [*numeric, *plain]
    if source.path is None or source.comparisons or source.column_type or source.streamed:
        return False
    files, dialect, form = source.reading()
    if len(files) != 1 or not form.reads_lines:
        return False
    source.check_there()
    names = replaced(lambda: columns_of(files, dialect), lambda: unreadable(source))
    is_misread = any(map(Engine.misread[0].fullmatch, columns))
    if is_misread or len({*columns}) < len(columns) or not {*columns} <= {*names}:
        return False
    source.note_reading(["number"] * len(numeric) + ["text"] * len(plain))
    return True


def kinds_of(data: object, names: Sequence[str]) -> tuple[Kind, ...]:
    """Return what columns of keys, groups or persons hold; no row is read.

    Raises:
        ColumnError: One is missing, or of a type that these cannot have.
        DataError: As for ``open_table``.
    """
    if are_in_header(data, plain=names):
        return (Kind.TEXT,) * len(names)
    types = schema(check_columns(data, plain=names), data)
    return tuple(Kind.of_names(types[name], name) for name in names)


def _cure(kind: object, column: str) -> str:
    """Return how a column of a type becomes one of numbers, row by row; nothing if not."""
    cures: dict[Any, str] = {
        nw.String: "if it holds numbers, cast it: strict=False in polars, TRY_CAST in SQL",
        nw.Time: f"give hours or seconds as a number: pl.col({column!r}).dt.hour() of polars",
    } | dict.fromkeys(
        (nw.Date, nw.Datetime, nw.Duration),
        "for percentiles give `lower`, `upper` and `step` as dates and durations, such as "
        "date(2024, 1, 1) and timedelta(days=1), in commands 2024-01-01, 60d and 1d; or "
        "`minus`, a column of earlier dates, for the time between the two",
    )
    return next((f": {cure}" for known, cure in cures.items() if kind == known), "")


def is_table(data: object) -> bool:
    """Return whether data are a path or a frame, not the values themselves."""
    if isinstance(data, np.ndarray | list | tuple):
        return False  # narwhals takes as long to say so as a small release
    source = Source.of(data)
    return source.path is not None or _frame_of(source.frame) is not None


def is_lazy(data: object) -> bool:
    """Return whether data are a frame whose rows stay in their engine until collected."""
    if isinstance(data, Source):
        return data.streamed or is_lazy(data.frame)
    return isinstance(_frame_of(data), nw.LazyFrame)


def _frame_of(native: object) -> Any:  # noqa: ANN401 -- a frame of narwhals
    """Return a frame as it is, None of anything else."""
    frame = replaced(
        lambda: nw.from_native(native, pass_through=True),
        lambda: misnamed(native) or DataError("the table cannot be read"),
    )
    return frame if isinstance(frame, nw.DataFrame | nw.LazyFrame) else None


def is_ordered(data: object) -> bool:
    """Return whether the rows of data have an order, and so row numbers."""
    return not is_lazy(data) or engine_of(open_table(data)).is_ordered


def schema(table: Frame, data: object) -> nw.Schema:
    """Return the columns and their types; ``Object`` of columns that declare no type."""
    return replaced(table.collect_schema, lambda: unreadable(data))


def unreadable(data: object) -> DataError:
    """Return the error that states what a table must be like, without its content."""
    source = Source.of(data)
    if source.path is not None:
        alike = "several files must have the same columns of the same types"
        right = f"{source.reading()[2].right}; it must be complete, and {alike}"
    else:
        frame = _frame_of(source.frame)
        right = Engine.refusal if frame is None else engine_of(frame).refusal
    # How a text file is written is stated by whoever reads it.
    kind = PublicClaimError if source.is_csv else DataError
    return kind(f"{source} cannot be read: {right}")


def choices(types: nw.Schema) -> str:
    """Return which columns of numbers a schema declares."""
    numeric = [str(name) for name, dtype in types.items() if Kind.of(dtype) in NUMERIC]
    return f"the numeric columns are: {in_short(numeric) or '(none)'}"


def _scan(source: Source, numbers: Collection[str]) -> nw.LazyFrame[Any]:
    files, dialect, form = source.reading()
    source.check_there()
    # Rows may be selected by the same fields as text.
    asked = {*numbers} - {one.column for one in source.comparisons} - {*source.column_type}
    table = nw.from_native(form.scan(files, dialect, asked))
    if not form.is_text:
        return filtered(table, source.comparisons)
    dialect.note_reading(["number"] if asked else [])
    table = filtered(dialect.typed(table, source.column_type), source.comparisons, dialect)
    types, known = table.collect_schema(), source.column_type
    late = [one for one in numbers if types.get(one) == nw.String and one not in known]
    return dialect.typed(table, dict.fromkeys(late, "number"))


def checked_engine(engine: str, master: str | None) -> None:
    """Raise unless there is such an engine, and a master only for Spark."""
    validation.one_of("engine", engine, ENGINES)
    if master is not None and engine != "spark":
        raise ParameterError("`master` goes with `engine`=spark")


def held(
    path: str | Source,
    engine: str = "memory",
    *,
    master: str | None = None,
) -> object:
    """Return a table as an engine holds it; no row is read.

    Args:
        path: Where it is; Spark also reads ``s3a://`` and ``hdfs://``, DuckDB the tables of a
            file of its own, as ``clinic.duckdb::stays``.
        engine: One of ``ENGINES``.
        master: Spark's.

    Raises:
        ParameterError: There is no such engine, or a master for another.
        DataError: The table cannot be opened.
    """
    checked_engine(engine, master)
    if engine == "memory":
        return path
    source = Source.of(path)
    if engine == "duckdb":
        return _duckdb(source)
    if engine == "spark":
        from dpselect.tables.spark import spark_table

        return spark_table(path, master=master)
    open_table(source)  # which says what is wrong with it
    return replace(source, streamed=True)


def _duckdb(source: Source) -> object:
    """Return a relation of DuckDB: of Parquet files, or of a table in a file of DuckDB.

    Not of text files: DuckDB looks at rows to find out how a file is written.
    """
    needed("duckdb", extra="duckdb")
    import duckdb

    refusal = DataError(
        f"{source} cannot be read: `engine`=duckdb takes Parquet files, or a table of a file "
        f"of DuckDB as clinic.duckdb::stays; {OTHERS}"
    )
    file, _, table = str(source.path).partition("::")
    if table:
        source.refuse_dialect("tables of DuckDB")
        if not Path(file).is_file():
            raise no_file(file)
        absent = f"{file} has no table {table}, is no DuckDB file, or open in another process"
        relation = replaced(
            lambda: duckdb.connect(file, read_only=True).table(table), lambda: DataError(absent)
        )
    else:
        files, dialect, _ = source.reading()
        if dialect.format not in PARQUET:
            raise refusal
        source.check_there()
        # Types guessed from folders' names would depend on values: they are text.
        names = [escape(literal(one)) for one in files]
        rows = "select * from read_parquet(?, hive_types_autocast = false)"
        relation = replaced(lambda: duckdb.connect().sql(rows, params=[names]), lambda: refusal)
        replaced(lambda: check_clocks(files), lambda: refusal)
    return Source(frame=relation, where=source.where) if source.where else relation
