"""Tables of any kind: opening, columns, look-ups, and aggregates collected from an engine.

Rows stay in the engine that holds them: polars, DuckDB, PySpark or any other that narwhals
knows. An application states a count as narwhals expressions, and :func:`collect` returns at
most as many rows as the count was declared to have. This package knows no application.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dpselect.tables.cells import count_cells, lattice_position
    from dpselect.tables.codegrees import common_neighbours
    from dpselect.tables.collecting import Column, collect, counts, sum_in_blocks
    from dpselect.tables.columns import (
        as_numbers,
        count_records,
        numeric_column,
        read_columns,
        series_numbers,
    )
    from dpselect.tables.confusion import count_hits
    from dpselect.tables.contingency import count_tables
    from dpselect.tables.degrees import count_degrees
    from dpselect.tables.edges import count_odd_edges, simple_edges
    from dpselect.tables.egos import count_ego_pairs
    from dpselect.tables.lookup import EDGES_AT_ONCE, known, position, position_by_side
    from dpselect.tables.opening import (
        Frame,
        check_columns,
        is_csv,
        is_lazy,
        is_table,
        open_table,
        schema,
    )
    from dpselect.tables.rectangles import count_rectangles
    from dpselect.tables.spark import spark_table
    from dpselect.tables.triangles import count_triangles
    from dpselect.tables.ways import Fork, Way

# narwhals takes long to import, and data in memory may never need it.
_HOME = {
    "Column": "collecting",
    "EDGES_AT_ONCE": "lookup",
    "Frame": "opening",
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
    "position": "lookup",
    "position_by_side": "lookup",
    "read_columns": "columns",
    "schema": "opening",
    "series_numbers": "columns",
    "spark_table": "spark",
    "sum_in_blocks": "collecting",
    # Counts of single applications:
    "Fork": "ways",
    "Way": "ways",
    "common_neighbours": "codegrees",
    "count_cells": "cells",
    "count_degrees": "degrees",
    "count_ego_pairs": "egos",
    "count_hits": "confusion",
    "count_odd_edges": "edges",
    "count_rectangles": "rectangles",
    "count_tables": "contingency",
    "count_triangles": "triangles",
    "lattice_position": "cells",
    "simple_edges": "edges",
}

__all__ = [
    "EDGES_AT_ONCE",
    "Column",
    "Fork",
    "Frame",
    "Way",
    "as_numbers",
    "check_columns",
    "collect",
    "common_neighbours",
    "count_cells",
    "count_degrees",
    "count_ego_pairs",
    "count_hits",
    "count_odd_edges",
    "count_records",
    "count_rectangles",
    "count_tables",
    "count_triangles",
    "counts",
    "is_csv",
    "is_lazy",
    "is_table",
    "known",
    "lattice_position",
    "numeric_column",
    "open_table",
    "position",
    "position_by_side",
    "read_columns",
    "schema",
    "series_numbers",
    "simple_edges",
    "spark_table",
    "sum_in_blocks",
]


def __getattr__(name: str) -> Any:  # noqa: ANN401 -- the modules' own names have types
    if name not in _HOME:
        raise AttributeError(f"module 'dpselect.tables' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"dpselect.tables.{_HOME[name]}"), name)
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
