"""Tables of any kind: opened, read by column, or counted by the engine that holds them.

What a private choice needs of records, edges or points is counts. Each kind of count is one
function of one module here, written once as narwhals expressions and run by whatever holds
the rows: polars, DuckDB, PySpark. Only the counts come out.
"""

from dpselect.tables.cases import known, position
from dpselect.tables.codegrees import common_neighbours
from dpselect.tables.collecting import Column, collect
from dpselect.tables.columns import (
    as_numbers,
    count_records,
    numeric_column,
    read_columns,
    series_numbers,
)
from dpselect.tables.degrees import count_degrees
from dpselect.tables.edges import count_odd_edges, simple_edges
from dpselect.tables.egos import count_ego_pairs
from dpselect.tables.opening import (
    Frame,
    check_columns,
    is_csv,
    is_lazy,
    is_table,
    open_table,
)
from dpselect.tables.ranks import Ranks, count_ranks
from dpselect.tables.spark import spark_table
from dpselect.tables.triangles import count_triangles

__all__ = [
    "Column",
    "Frame",
    "Ranks",
    "as_numbers",
    "check_columns",
    "collect",
    "common_neighbours",
    "count_degrees",
    "count_ego_pairs",
    "count_odd_edges",
    "count_ranks",
    "count_records",
    "count_triangles",
    "is_csv",
    "is_lazy",
    "is_table",
    "known",
    "numeric_column",
    "open_table",
    "position",
    "read_columns",
    "series_numbers",
    "simple_edges",
    "spark_table",
]
