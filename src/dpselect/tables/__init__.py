"""Tables of any kind: opening, columns, look-ups, and aggregates collected from an engine.

Rows stay in the engine that holds them: polars, DuckDB, PySpark or any other that narwhals
knows. An application states a count as narwhals expressions, and :func:`collect` returns at
most as many rows as the count was declared to have. This package knows no application.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dpselect.tables.collecting import Column, collect, counts, sum_in_blocks
    from dpselect.tables.columns import (
        as_numbers,
        count_records,
        numeric_column,
        read_columns,
        series_numbers,
    )
    from dpselect.tables.lookup import EDGES_AT_ONCE, known, with_codes, with_positions
    from dpselect.tables.opening import (
        Frame,
        SeparatedFile,
        check_columns,
        is_csv,
        is_lazy,
        is_table,
        open_table,
        schema,
    )
    from dpselect.tables.spark import silenced, spark_table

# narwhals takes long to import, and data in memory may never need it.
_HOME = {
    "Column": "collecting",
    "EDGES_AT_ONCE": "lookup",
    "Frame": "opening",
    "SeparatedFile": "opening",
    "as_numbers": "columns",
    "check_columns": "opening",
    "collect": "collecting",
    "count_records": "columns",
    "counts": "collecting",
    "is_csv": "opening",
    "is_lazy": "opening",
    "is_table": "opening",
    "known": "lookup",
    "numeric_column": "columns",
    "open_table": "opening",
    "read_columns": "columns",
    "schema": "opening",
    "series_numbers": "columns",
    "silenced": "spark",
    "spark_table": "spark",
    "sum_in_blocks": "collecting",
    "with_codes": "lookup",
    "with_positions": "lookup",
}

__all__ = [
    "EDGES_AT_ONCE",
    "Column",
    "Frame",
    "SeparatedFile",
    "as_numbers",
    "check_columns",
    "collect",
    "count_records",
    "counts",
    "is_csv",
    "is_lazy",
    "is_table",
    "known",
    "numeric_column",
    "open_table",
    "read_columns",
    "schema",
    "series_numbers",
    "silenced",
    "spark_table",
    "sum_in_blocks",
    "with_codes",
    "with_positions",
]


def __getattr__(name: str) -> Any:  # noqa: ANN401 -- the modules' own names have types
    if name not in _HOME:
        raise AttributeError(f"module 'dpselect.tables' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"dpselect.tables.{_HOME[name]}"), name)
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
