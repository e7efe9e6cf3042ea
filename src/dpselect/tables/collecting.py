"""Collection of aggregates from an engine, refusing more rows than declared."""

from __future__ import annotations

from collections.abc import Sequence

import narwhals as nw
import numpy as np

from dpselect import passes
from dpselect._optional import replaced
from dpselect.errors import DataError
from dpselect.passes import MOST_SUMS
from dpselect.tables.engine import Column, Frame, engine_of
from dpselect.tables.opening import unreadable
from dpselect.typing import Indices


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
    engine = engine_of(first)
    with passes.query(), engine.silenced():
        columns = replaced(engine.columns, lambda: unreadable(data))
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
