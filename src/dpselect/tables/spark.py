"""Files as lazy frames of Spark: on this machine, or wherever a master says."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import PurePosixPath
from typing import Any

import narwhals as nw
from numpy.typing import NDArray

from dpselect._replacing import replaced
from dpselect.errors import DataError
from dpselect.tables.opening import CSV, MANAGED, PARQUET, Frame, kind_of, separator_of
from dpselect.tables.sessions import session
from dpselect.tables.where import FilteredFile, kept

NAMED = re.compile(r"\w+\.\w+(\.\w+)?")
"""Names of tables in a catalogue: a schema and a table, and a catalogue before."""

LOGGERS = ("DataFrameQueryContextLogger", "SQLQueryContextLogger")
"""Python loggers of PySpark that print the message of a failed query."""


def spark_table(
    path: str,
    *,
    master: str | None = None,
    numeric: Collection[str] = (),
    whole: Collection[str] = (),
) -> nw.LazyFrame[Any]:
    """Return a table of Spark, without reading its rows.

    Args:
        path: The name of a table in a catalogue, such as ``"catalog.schema.table"``, or a
            Parquet, ``.csv`` or ``.tsv`` file, a folder or a pattern of names with such
            an ending, anywhere that Spark reads from; a name without one is Parquet.
        master: Such as ``"spark://host:7077"``, ``"local[4]"``, or ``"sc://host:15002"`` for
            Spark Connect. If not given, the session that there is, as under
            ``spark-submit``, or else this machine.
        numeric: Columns that hold numbers in a CSV file, whose others are text. A field that
            is no number is a missing one.
        whole: Columns that hold integers in a CSV file.

    Raises:
        DataError: There is no such table, or it is of another kind.
        MissingDependencyError: PySpark is not installed.
    """
    kind = kind_of(PurePosixPath(path))
    named = NAMED.fullmatch(path) is not None and kind not in PARQUET | CSV
    if kind and kind not in PARQUET | CSV and "*" not in kind and not named:
        raise DataError(
            f"{path} must end in .parquet, .csv or .tsv, be a folder of Parquet files, or "
            "name a table as catalog.schema.table"
        )
    table = _read(path, kind if not named else None, session(master).read)
    if isinstance(path, FilteredFile):
        table = kept(table, path.comparisons, untyped=kind in CSV)
    if kind not in CSV:
        return table
    kinds = dict.fromkeys(numeric, "double") | dict.fromkeys(whole, "bigint")
    rows = nw.to_native(table)
    found = {c: rows[c].try_cast(kind) for c, kind in kinds.items() if c in rows.columns}
    return nw.from_native(rows.withColumns(found)) if found else table


def _read(path: str, kind: str | None, reader: Any) -> nw.LazyFrame[Any]:  # noqa: ANN401 -- Spark's
    """Return a table by the kind of its files, None for one of a catalogue; CSV as text."""
    if kind is None:
        return _opened(lambda: reader.table(path), f"there is no table {path} in the catalogue")
    for log, table in (("_delta_log", "a Delta"), ("metadata/*.metadata.json", "an Iceberg")):
        if _is_there(reader, f"{path}/{log}"):
            raise DataError(f"{path} is {table} table; {MANAGED.format('spark.read.table')}")

    def opened() -> Any:  # noqa: ANN401 -- a frame of Spark
        if kind not in CSV:
            return reader.parquet(path)
        return reader.csv(
            path,
            sep=separator_of(path, kind),
            header=True,
            ignoreLeadingWhiteSpace=True,
            ignoreTrailingWhiteSpace=True,
        )

    refusal = f"{path} cannot be read by Spark: is it there, and complete?"
    if path.startswith("s3"):
        refusal += " For S3 it needs a connector: --packages org.apache.hadoop:hadoop-aws:..."
    return _opened(opened, refusal)


def _opened(opened: Callable[[], Any], refusal: str) -> nw.LazyFrame[Any]:
    """Return what Spark opens, its columns known: Spark Connect looks for them late."""

    def known() -> Any:  # noqa: ANN401 -- a frame of Spark
        native = opened()
        if not native.columns:
            raise DataError(refusal)
        return native

    return nw.from_native(replaced(known, lambda: DataError(refusal)))


def _is_there(reader: Any, path: str) -> bool:  # noqa: ANN401 -- Spark's
    """Return whether Spark finds a file, on whatever storage; none is read."""
    try:
        return bool(reader.text(path).inputFiles())
    except Exception:  # noqa: BLE001 -- a class of Java
        return False


def on_spark(table: Frame) -> bool:
    """Return whether the rows are Spark's own, in a session of Java or of Spark Connect."""
    return table.implementation.is_pyspark() or table.implementation.is_pyspark_connect()


def functions(table: Frame) -> Any:  # noqa: ANN401 -- a module of PySpark
    """Return Spark's functions of columns, for the kind of session that a table is of."""
    connect = ".connect" if table.implementation.is_pyspark_connect() else ""
    return import_module(f"pyspark.sql{connect}.functions")


def distinct(table: nw.LazyFrame[Any]) -> nw.LazyFrame[Any]:
    """Return the rows that differ; narwhals would sort and number those of Spark."""
    if on_spark(table):
        return nw.from_native(nw.to_native(table).distinct())
    return table.unique()


def stacked(table: nw.LazyFrame[Any], name: str) -> nw.LazyFrame[Any]:
    """Return the values of all columns as one column, by one pass over the rows of Spark."""
    columns = table.collect_schema().names()
    if on_spark(table):
        f = functions(table)
        ends = f.explode(f.array(*columns)).alias(name)
        return nw.from_native(nw.to_native(table).select(ends))
    return nw.concat([table.select(nw.col(column).alias(name)) for column in columns])


def array_of(table: Frame, numbers: NDArray[Any]) -> Any:  # noqa: ANN401 -- a Column
    """Return public numbers as an array that is the same for all rows.

    It is sent as one text, and made once a query: a literal for each number takes long to
    plan, and a method with all of them is not compiled.
    """
    f = functions(table)
    kind = "double" if numbers.dtype.kind == "f" else "int"
    return f.split(f.lit(",".join(map(str, numbers.tolist()))), ",").cast(f"array<{kind}>")


@contextmanager
def silenced(table: Frame) -> Iterator[None]:
    """Keep Spark from printing why a query fails, which quotes values, while the block runs.

    Its driver and the executors in the same process are silent; those of a cluster write logs
    of their own. Other engines print nothing.
    """
    if not table.implementation.is_pyspark():
        yield
        return
    native: Any = nw.to_native(table)
    context = native.sparkSession.sparkContext
    root = context._jvm.org.apache.logging.log4j.LogManager.getRootLogger()  # noqa: SLF001
    level = root.getLevel().toString()
    loggers = [logging.getLogger(name) for name in LOGGERS]
    before = [logger.disabled for logger in loggers]
    context.setLogLevel("OFF")
    for logger in loggers:
        logger.disabled = True
    try:
        yield
    finally:
        context.setLogLevel(level)
        for logger, disabled in zip(loggers, before, strict=True):
            logger.disabled = disabled
