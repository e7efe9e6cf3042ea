"""The engine that holds the rows of a table."""

from __future__ import annotations

from dpselect.tables.embedded import DuckDB, Engine, Frame
from dpselect.tables.spark_engine import Spark


def engine_of(table: Frame) -> Engine:
    """Return the engine that holds the rows of a table."""
    kind = table.implementation
    if kind.is_pyspark() or kind.is_pyspark_connect():
        return Spark(table)
    return DuckDB(table) if kind.is_duckdb() else Engine(table)
