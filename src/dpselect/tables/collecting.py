"""The aggregates that leave an engine, of a declared size."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dpselect._optional import pl
from dpselect.errors import DataError
from dpselect.tables.engine import Column, Frame, engine_of
from dpselect.tables.opening import unreadable
from dpselect.tables.values import objects
from dpselect.typing import Indices

EDGES_AT_ONCE = 512
"""Edges of one look-up: engines take longer to plan deeper or wider ones than to run them."""


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
    first = table.head(most + 1)
    frame = engine_of(first).fetched(lambda: unreadable(data))
    if len(frame) > most:
        raise DataError("there are more groups than were declared")
    # Here: of rows that are sorted Spark keeps a heap, of all that there could be. Together
    # threads take three times as long for texts.
    found = frame.to_polars()
    found = found.sort(order_by, multithreaded=False) if order_by else found
    return {series.name: _column(series) for series in found}


def _column(series: pl.Series) -> Column:
    if series.dtype.is_numeric() and series.null_count() == 0:
        return series.to_numpy()
    return objects(series.to_list())


def counts(column: Column) -> Indices:
    """Return counts as integers; the sum over no rows is null in SQL and counts as 0."""
    if column.dtype != object:
        return column.astype(np.int64, copy=False)
    return np.array([0 if count is None else count for count in column], dtype=np.int64)
