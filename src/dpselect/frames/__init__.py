"""Tables of any kind: opened, read by column, or counted by the engine that holds them.

What a private choice needs of records, edges or points is counts. Each kind of count is one
function of one module here, written once as narwhals expressions and run by whatever holds
the rows: polars, DuckDB, PySpark. Only the counts come out.
"""

from dpselect.frames.cases import known, position
from dpselect.frames.cells import count_cells, lattice_position
from dpselect.frames.codegrees import common_neighbours
from dpselect.frames.collecting import Column, collect
from dpselect.frames.columns import (
    as_numbers,
    count_records,
    numeric_column,
    read_columns,
    series_numbers,
)
from dpselect.frames.confusion import count_hits
from dpselect.frames.contingency import count_tables
from dpselect.frames.degrees import count_degrees
from dpselect.frames.edges import count_odd_edges, simple_edges
from dpselect.frames.egos import count_ego_pairs
from dpselect.frames.opening import (
    Frame,
    check_columns,
    is_csv,
    is_lazy,
    is_table,
    open_table,
)
from dpselect.frames.ranks import Ranks, count_ranks
from dpselect.frames.rectangles import count_rectangles
from dpselect.frames.spark import spark_table
from dpselect.frames.triangles import count_triangles
from dpselect.frames.ways import Fork, Way

__all__ = [
    "Column",
    "Fork",
    "Frame",
    "Ranks",
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
    "count_ranks",
    "count_records",
    "count_rectangles",
    "count_tables",
    "count_triangles",
    "is_csv",
    "is_lazy",
    "is_table",
    "known",
    "lattice_position",
    "numeric_column",
    "open_table",
    "position",
    "read_columns",
    "series_numbers",
    "simple_edges",
    "spark_table",
]
