"""Codes of values: the position of a number among edges, of a category among those listed."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import narwhals as nw

from dpselect.errors import ParameterError
from dpselect.tables.engine import engine_of
from dpselect.tables.kinds import numbers_alone
from dpselect.typing import Indices, Values

MOST_LISTED = 10_000
"""Values of a column that are compared with; a query of so many takes seconds to make."""

EDGES_AT_ONCE = 512
"""Edges of one look-up: engines take longer to plan deeper or wider ones than to run them."""


def without_nan(column: str) -> nw.Expr:
    """Return a column as float64, null where there is no number.

    Engines compare NaN differently, so it becomes null here and no other function meets it.
    """
    return numbers_alone(nw.col(column).cast(nw.Float64))


def with_positions(
    table: nw.LazyFrame[Any],
    edges: Mapping[str, Sequence[float] | Indices | Values],
) -> nw.LazyFrame[Any]:
    """Return a table whose numbers are replaced by their positions among ascending edges.

    That is how many edges are at most the number: a binary search, so that a row costs as
    many comparisons as the number of edges has binary digits.

    Args:
        table: The rows.
        edges: The columns to replace, of float64 or null but not NaN, each with its edges.
            Public, ascending. A null stays null.
    """
    if not edges:
        return table
    return engine_of(table).placed(edges)


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
