"""Tables of any kind: opened, read by column, or counted by the engine that holds them.

What a private choice needs of records, edges or points is counts. Each kind of count is one
function of one module here, written once as narwhals expressions and run by whatever holds
the rows: polars, DuckDB, PySpark. Only the counts come out.
"""

from dpselect.tables.cases import known, position
from dpselect.tables.cells import count_cells, lattice_position
from dpselect.tables.collecting import Column, collect
from dpselect.tables.columns import (
    as_numbers,
    count_records,
    numeric_column,
    read_columns,
    series_numbers,
)
from dpselect.tables.confusion import count_hits
from dpselect.tables.contingency import count_tables
from dpselect.tables.opening import (
    Frame,
    check_columns,
    is_csv,
    is_lazy,
    is_table,
    open_table,
)
from dpselect.tables.ranks import Ranks, count_ranks
from dpselect.tables.rectangles import count_rectangles
from dpselect.tables.spark import spark_table
from dpselect.tables.ways import Fork, Way

__all__ = [
    "Column",
    "Fork",
    "Frame",
    "Ranks",
    "Way",
    "as_numbers",
    "check_columns",
    "collect",
    "count_cells",
    "count_hits",
    "count_ranks",
    "count_records",
    "count_rectangles",
    "count_tables",
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
    "spark_table",
]
