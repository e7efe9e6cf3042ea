"""The number of neighbours of every node."""

from __future__ import annotations

from typing import Any

import narwhals as nw

from dpselect.tables.collecting import Column, collect
from dpselect.tables.edges import both_ways
from dpselect.tables.kept import kept


def degrees(edges: nw.LazyFrame[Any]) -> nw.LazyFrame[Any]:
    """Return ``node`` and ``degree`` of every node that has an edge."""
    return both_ways(edges).group_by("node").agg(nw.len().alias("degree"))


def count_degrees(edges: nw.LazyFrame[Any], *, nodes: int) -> dict[str, Column]:
    """Count the neighbours of every node.

    Args:
        edges: As :func:`~dpselect.tables.edges.simple_edges` returns them. Private.
        nodes: How many nodes there are. Public.

    Returns:
        ``node`` and ``degree``; a node without neighbours has no row. Private.
    """
    with kept(edges) as simple:
        return collect(degrees(simple), edges, most=nodes)
