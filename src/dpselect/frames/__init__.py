"""Tables of any kind: opened, read by column, or counted by the engine that holds them.

What a private choice needs of records, edges or points is counts. Each kind of count is one
function of one module here, written once as narwhals expressions and run by whatever holds
the rows: polars, DuckDB, PySpark. Only the counts come out.
"""

from dpselect.frames.columns import (
    as_numbers,
    count_records,
    numeric_column,
    read_columns,
    series_numbers,
)
from dpselect.frames.opening import (
    Frame,
    check_columns,
    is_csv,
    is_lazy,
    is_table,
    open_table,
)

__all__ = [
    "Frame",
    "as_numbers",
    "check_columns",
    "count_records",
    "is_csv",
    "is_lazy",
    "is_table",
    "numeric_column",
    "open_table",
    "read_columns",
    "series_numbers",
]
