"""Tables as an engine holds them: memory, polars, DuckDB or Spark."""

from __future__ import annotations

from dataclasses import replace
from glob import escape
from pathlib import Path

from dpselect import validation
from dpselect._optional import needed
from dpselect.errors import DataError, ParameterError, no_file, replaced
from dpselect.tables.formats import PARQUET, literal
from dpselect.tables.opening import open_table
from dpselect.tables.source import Source
from dpselect.tables.spark import spark_table

ENGINES = ("memory", "polars", "duckdb", "spark")
TABLE = "::"
"""Between a file of DuckDB and the name of a table in it."""


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
        f"{source} cannot be read: --engine duckdb takes Parquet files, or a table of a file "
        "of DuckDB as clinic.duckdb::stays; for text files take polars"
    )
    file, _, table = str(source.path).partition(TABLE)
    locked = DataError(f"{file}: another process has it open, or it is no DuckDB file")
    absent = DataError(f"there is no table {table} in {file}, or it cannot be read")

    def opened() -> object:
        if table:
            if not Path(file).is_file():
                raise no_file(file)
            connection = replaced(lambda: duckdb.connect(file, read_only=True), lambda: locked)
            return replaced(lambda: connection.table(table), lambda: absent)
        files = source.files()
        if not all(source.kind(one) in PARQUET for one in files):
            raise refusal
        if not files or not all(one.is_file() for one in files):
            raise no_file(source)
        # Types guessed from folders' names would depend on values: they are text.
        names = [escape(literal(one)) for one in files]
        rows = "select * from read_parquet(?, hive_types_autocast = false)"
        return duckdb.connect().sql(rows, params=[names])

    if not table:
        source.refuse_managed()
    relation = replaced(opened, lambda: refusal)
    return Source(frame=relation, where=source.where) if source.where else relation
