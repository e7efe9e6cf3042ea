"""Edge lists as simple graphs, in the engine that holds them: every edge once, no loops."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import narwhals as nw

from dpselect.errors import ColumnError, ParameterError
from dpselect.tables.collecting import collect, counts
from dpselect.tables.columns import as_numbers
from dpselect.tables.opening import check_columns, is_csv, schema

MOST_LABELS = 10_000
"""Labels that a query can list; more nodes must have ids from 0."""


def simple_edges(
    data: object, source: str, target: str, nodes: Sequence[Hashable]
) -> nw.LazyFrame[Any]:
    """Return every edge between two different nodes once, as ``low`` and ``high``.

    Parallel edges and both directions of one are folded. An edge with an end that is missing
    or not among the nodes is left out, and so is an edge from a node to itself.

    Args:
        data: A path or any frame with an edge a row. Private.
        source: The column of one end.
        target: The column of the other end.
        nodes: ``range(n)`` for ids ``0`` to ``n - 1``; or all ids or labels. Public.

    Raises:
        ColumnError: A column is missing, or its type cannot hold such nodes.
        ParameterError: There are more than 10,000 ids or labels.
        DataError: The data cannot be read.
    """
    s, t = nw.col("source"), nw.col("target")
    ends = _ends(data, source, target, nodes).filter(
        is_node(s, nodes), is_node(t, nodes), s != t
    )
    ordered = ends.select(
        nw.when(s < t).then(s).otherwise(t).alias("low"),
        nw.when(s < t).then(t).otherwise(s).alias("high"),
    )
    return ordered.unique()


def count_odd_edges(
    data: object, source: str, target: str, nodes: Sequence[Hashable]
) -> tuple[int, int]:
    """Return how many records name an end that is no node, and how many are loops. Private.

    Arguments and errors are those of :func:`simple_edges`.
    """
    s, t = nw.col("source"), nw.col("target")
    both = is_node(s, nodes) & is_node(t, nodes)
    table = _ends(data, source, target, nodes).select(
        nw.when(both).then(nw.lit(0)).otherwise(nw.lit(1)).sum().alias("unknown"),
        nw.when(both & (s == t)).then(nw.lit(1)).otherwise(nw.lit(0)).sum().alias("loops"),
    )
    row = collect(table, data, most=1)
    return int(counts(row["unknown"])[0]), int(counts(row["loops"])[0])


def both_ways(edges: nw.LazyFrame[Any]) -> nw.LazyFrame[Any]:
    """Return every simple edge from each of its ends, as ``node`` and ``other``."""
    low, high = nw.col("low"), nw.col("high")
    return nw.concat(
        [
            edges.select(low.alias("node"), high.alias("other")),
            edges.select(high.alias("node"), low.alias("other")),
        ]
    )


def is_node(end: nw.Expr, nodes: Sequence[Hashable]) -> nw.Expr:
    """Return whether an end is one of the nodes; null or false if not."""
    if isinstance(nodes, range):
        return (end >= 0) & (end < len(nodes))
    return end.is_in(list(nodes))


def _ends(
    data: object, source: str, target: str, nodes: Sequence[Hashable]
) -> nw.LazyFrame[Any]:
    if source == target:
        raise ParameterError("source and target must name the columns of the two ends")
    if not isinstance(nodes, range) and len(nodes) > MOST_LABELS:
        raise ParameterError(
            f"an engine takes at most {MOST_LABELS:,} labels in a query: number the nodes "
            "from 0 in the table, and give their number as nodes"
        )
    table = check_columns(data, plain=[source, target])
    whole = all(isinstance(node, int) for node in nodes[:1])
    if whole and is_csv(data):
        table = as_numbers(table, data, [source, target])
    else:
        _check_types(schema(table, data), (source, target), whole=whole)
    ends = table.lazy().select(nw.col(source).alias("source"), nw.col(target).alias("target"))
    if not whole:
        return ends
    # A field of a CSV file such as 1.5 is no id, and neither is one that is no number.
    return ends.select(
        nw.when(nw.col(end) % 1 == 0).then(nw.col(end)).cast(nw.Int64).alias(end)
        if is_csv(data)
        else nw.col(end).cast(nw.Int64).alias(end)
        for end in ("source", "target")
    )


def _check_types(types: nw.Schema, columns: Sequence[str], *, whole: bool) -> None:
    for column in columns:
        kind = types[column]
        if whole and not kind.is_integer():
            raise ColumnError(
                f"column {column!r} must name nodes, which are whole numbers; it is of type "
                f"{kind}"
            )
        if not whole and kind.is_numeric():
            raise ColumnError(
                f"column {column!r} must name nodes, which are text; it is of type {kind}"
            )
