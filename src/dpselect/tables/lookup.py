"""Position of a number among public edges, as nested conditional expressions."""

from __future__ import annotations

from collections.abc import Sequence

import narwhals as nw

from dpselect.typing import Indices, Values

EDGES_AT_ONCE = 512
"""Edges of one look-up: engines take longer to plan deeper or wider ones than to run them."""


def known(column: str) -> nw.Expr:
    """Return a column as float64, null where there is no number.

    Engines compare NaN differently, so it becomes null here and no other function meets it.
    """
    value = nw.col(column).cast(nw.Float64)
    return nw.when(~value.is_nan()).then(value)


def position(value: nw.Expr, edges: Sequence[float] | Indices | Values) -> nw.Expr:
    """Return how many of some ascending edges are at most a number, null for null.

    Binary search: DuckDB and Spark evaluate only the branches that a row takes, so a row
    costs as many comparisons as the number of edges has binary digits.

    Args:
        value: Numbers.
        edges: Public, ascending.
    """
    steps = [(float(edge), True) for edge in edges]
    return nw.when(~value.is_null()).then(_search(value, steps, 0, len(steps)))


def position_by_side(value: nw.Expr, edges: Sequence[float]) -> nw.Expr:
    """Return the position of a number among ascending edges, with those equal to one apart.

    ``2 j`` for a number between edge ``j - 1`` and edge ``j``, ``2 j + 1`` for one equal to
    edge ``j``; null for null.

    Args:
        value: Numbers.
        edges: Public, ascending.
    """
    steps = [(float(edge), held) for edge in edges for held in (True, False)]
    return nw.when(~value.is_null()).then(_search(value, steps, 0, len(steps)))


def _search(value: nw.Expr, steps: list[tuple[float, bool]], first: int, last: int) -> nw.Expr:
    """Return how many steps a number is past, known to be ``first`` to ``last``."""
    if first == last:
        return nw.lit(first)
    middle = (first + last) // 2
    edge, held = steps[middle]
    past = value >= edge if held else value > edge
    return (
        nw.when(past)
        .then(_search(value, steps, middle + 1, last))
        .otherwise(_search(value, steps, first, middle))
    )
