"""Codes of values in an engine, and the aggregates that leave it, of a declared size."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from dpselect._optional import nw, pl
from dpselect.errors import DataError, ParameterError
from dpselect.passes import MOST_SUMS
from dpselect.tables.engine import Column, Frame, engine_of
from dpselect.tables.opening import unreadable
from dpselect.tables.values import objects
from dpselect.typing import Indices

MOST_LISTED = 10_000
"""Values of a column that are compared with; a query of so many takes seconds to make."""

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
    grouped = table.group_by(*by)
    return [
        collect(grouped.agg(*sums[first : first + MOST_SUMS]), data, most=most)
        for first in range(0, len(sums), MOST_SUMS)
    ]


def with_codes(
    table: nw.LazyFrame[Any], values: Mapping[str, Sequence[Hashable]]
) -> nw.LazyFrame[Any]:
    """Return a table whose values are replaced by their positions among those listed.

    Args:
        table: The rows.
        values: The columns to replace, of text, integers or float64 without NaN, each with
            its values. Public. Any other value becomes null, and a null stays null.
    """
    for column, listed in values.items():
        if len(listed) > MOST_LISTED:
            raise ParameterError(
                f"column {column!r} has {len(listed):,} listed values, and an engine compares "
                f"with {MOST_LISTED:,} at most: list fewer, and let the rest be one"
            )
    types = table.collect_schema()
    goals = {
        column: [_comparable(value, types[column]) for value in listed]
        for column, listed in values.items()
    }
    return engine_of(table).coded(goals)


def _comparable(value: Any, dtype: Any) -> Any:  # noqa: ANN401 -- narwhals' types
    """Return a listed value as the type of a column, None if no value there is equal to it."""
    if isinstance(value, str) or dtype == nw.String:
        return value if isinstance(value, str) and dtype == nw.String else None
    number = float if dtype.is_float() else int
    # An engine refuses an integer that no column of the type can hold.
    lowest, end = (0, 2**64) if dtype.is_unsigned_integer() else (-(2**63), 2**63)
    try:
        here = number is float or lowest <= value < end
        return number(value) if here and number(value) == value else None
    except (OverflowError, TypeError, ValueError):
        return None
