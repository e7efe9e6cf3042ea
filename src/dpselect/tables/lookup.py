"""Codes of values: the position of a number among edges, of a category among those listed.

Most engines evaluate nested conditional expressions, of which a row takes one branch. Spark
would compile them to a method too long for Java to optimise: there each step of the search is
a look-up in an array.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import narwhals as nw
import numpy as np

from dpselect.errors import ParameterError
from dpselect.tables.kinds import numbers_alone
from dpselect.tables.spark import array_of, functions, on_spark
from dpselect.typing import Indices, Values

MOST_LISTED = 10_000
"""Values of a column that are compared with; a query of so many takes seconds to make."""

NESTED = 64
"""Conditions in each other, at most: of hundreds, Python's own calls are too deep."""

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
    if on_spark(table):
        return _searched(table, edges)
    return table.with_columns(
        _position(nw.col(column), ascending).alias(column)
        for column, ascending in edges.items()
    )


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
    if on_spark(table):
        return _listed(table, goals)
    return table.with_columns(_code(c, listed).alias(c) for c, listed in goals.items())


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


def _code(column: str, goals: Sequence[Any]) -> nw.Expr:
    none = nw.lit(None, nw.Int64)
    known = [(code, goal) for code, goal in enumerate(goals) if goal is not None]
    parts = []
    for start in range(0, len(known), NESTED):
        chosen = none
        for code, goal in known[start : start + NESTED]:
            found = nw.col(column) == goal
            chosen = nw.when(found).then(nw.lit(code, nw.Int64)).otherwise(chosen)
        parts.append(chosen)
    return nw.max_horizontal(none, *parts)


def _listed(table: nw.LazyFrame[Any], goals: Mapping[str, list[Any]]) -> nw.LazyFrame[Any]:
    f, types = functions(table), table.collect_schema()
    names = {nw.String: "string", nw.Float64: "double"}

    def place(column: str) -> Any:  # noqa: ANN401 -- Spark's
        """Return the position from 1 on, 0 for none."""
        kind = names.get(type(types[column]), "bigint")
        listed = f.array(*map(f.lit, goals[column])).cast(f"array<{kind}>")
        return f.array_position(listed, f.col(column).cast(kind))

    native = nw.to_native(table).withColumns({c: place(c) for c in goals})
    return nw.from_native(
        native.withColumns({c: f.when(f.col(c) > 0, f.col(c) - 1) for c in goals})
    )


def _position(value: nw.Expr, edges: Sequence[float] | Indices | Values) -> nw.Expr:
    ascending = [float(edge) for edge in edges]
    return nw.when(~value.is_null()).then(_search(value, ascending, 0, len(ascending)))


def _search(value: nw.Expr, edges: list[float], first: int, last: int) -> nw.Expr:
    """Return how many edges are at most a number, known to be ``first`` to ``last``."""
    if first == last:
        return nw.lit(first)
    middle = (first + last) // 2
    return (
        nw.when(value >= edges[middle])
        .then(_search(value, edges, middle + 1, last))
        .otherwise(_search(value, edges, first, middle))
    )


def _searched(
    table: nw.LazyFrame[Any],
    edges: Mapping[str, Sequence[float] | Indices | Values],
) -> nw.LazyFrame[Any]:
    """Return the positions by as many projections as the search has steps."""
    f, native = functions(table), nw.to_native(table)
    digits = max(len(ascending) for ascending in edges.values()).bit_length()
    # Places before and after the edges hold NaN, which Spark orders above all numbers.
    arrays = {
        column: array_of(
            table, np.pad(np.array(held, float), (1, 2**digits), constant_values=np.nan)
        )
        for column, held in edges.items()
    }
    places = {column: f"{column} place" for column in edges}

    def further(column: str, step: int) -> Any:  # noqa: ANN401 -- Spark's
        """Return the step if the edge there is reached, else 0."""
        edge = f.get(arrays[column], f.col(places[column]).bitwiseOR(f.lit(step)))
        return f.when(f.col(column) >= edge, f.lit(step)).otherwise(f.lit(0))

    native = native.withColumns(
        {place: f.when(f.col(c).isNotNull(), f.lit(0)) for c, place in places.items()}
    )
    # One binary digit of the place after the other; a sum would be checked for overflow.
    for step in (2**digit for digit in reversed(range(digits))):
        native = native.withColumns(
            {place: f.col(place).bitwiseOR(further(c, step)) for c, place in places.items()}
        )
    kept = [c for c in table.collect_schema().names() if c not in edges]
    found = [f.col(place).alias(c) for c, place in places.items()]
    return nw.from_native(native.select(*kept, *found))
