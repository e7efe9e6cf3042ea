"""Collection of aggregates from an engine, refusing more rows than declared."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any, TypeAlias

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from dpselect import passes
from dpselect._optional import replaced
from dpselect.errors import DataError
from dpselect.passes import MOST_SUMS
from dpselect.tables.collation import whole
from dpselect.tables.opening import unreadable
from dpselect.tables.source import Frame
from dpselect.tables.spark import on_spark, silenced
from dpselect.tables.together import collected
from dpselect.typing import Indices

Column: TypeAlias = NDArray[Any]

FEW = 100_000
"""Rows of Spark up to which it makes an object of each: ten times as much memory as Arrow."""


def collect(
    table: Frame, data: object, *, most: int, order_by: Sequence[str] = ()
) -> dict[str, Column]:
    """Run the query of an aggregate and return its columns.

    Args:
        table: The query.
        data: What it was made from, to name in an error.
        most: Rows that the aggregate can have. Public. At most one row more leaves the engine,
            for any query.
        order_by: Columns to sort the rows by.

    Raises:
        DataError: The engine refuses the query, or there are more rows.
    """
    first = table.lazy().head(most + 1)
    if order_by:
        # In this order: of rows that are sorted first, Spark keeps a heap of the first ones,
        # for which each executor allocates memory for all that there could be.
        first = first.sort(*order_by)
    with passes.query(), silenced(first):
        columns = replaced(lambda: _rows(first, most), lambda: unreadable(data))
    if any(column.size > most for column in columns.values()):
        raise DataError("there are more groups than were declared")
    return columns


def counts(column: Column) -> Indices:
    """Return counts as integers; the sum over no rows is null in SQL and counts as 0."""
    if column.dtype != object:
        return column.astype(np.int64)
    return np.array([0 if count is None else count for count in column], dtype=np.int64)


def sum_in_blocks(
    table: Frame, data: object, sums: Sequence[nw.Expr], *, by: Sequence[str], most: int
) -> list[dict[str, Column]]:
    """Return sums by groups, as many in one pass as the engine computes well.

    Args:
        table: The rows.
        data: What they were made from, to name in an error.
        sums: The sums, each with a name.
        by: The columns of the groups.
        most: How many groups there can be.
    """
    grouped = table.lazy().group_by(*by)
    return [
        collect(grouped.agg(*sums[first : first + MOST_SUMS]), data, most=most)
        for first in range(0, len(sums), MOST_SUMS)
    ]


def _rows(table: nw.LazyFrame[Any], most: int) -> dict[str, Column]:
    if on_spark(table) and most > FEW and find_spec("pyarrow") is not None:
        arrow: Any = nw.to_native(table).toArrow()
        return {name: _of_arrow(arrow[name]) for name in arrow.column_names}
    if table.implementation.is_spark_like():
        # Few rows need neither Arrow nor pandas, which Spark takes seconds to start.
        rows: Any = nw.to_native(table).collect()
        names = table.collect_schema().names()
        return {name: _plain([row[i] for row in rows]) for i, name in enumerate(names)}
    if table.implementation.is_polars():
        frame = nw.from_native(collected(nw.to_native(table), streaming=True))
    else:
        frame = whole(table)
    return {name: _of_series(frame.get_column(name)) for name in frame.columns}


def _of_arrow(column: Any) -> Column:  # noqa: ANN401 -- of PyArrow
    if column.null_count == 0 and "int" in str(column.type):
        return np.asarray(column.to_numpy())
    return _plain(column.to_pylist())


def _of_series(series: nw.Series[Any]) -> Column:
    if series.dtype.is_numeric() and series.null_count() == 0:
        return series.to_numpy()
    return _plain(series.to_list())


def _plain(values: list[Any]) -> Column:
    column = np.empty(len(values), dtype=object)
    column[:] = values
    return column
