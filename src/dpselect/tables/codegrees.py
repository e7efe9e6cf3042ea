"""How many neighbours nodes share, by the extremes over all others."""

from __future__ import annotations

from typing import Any

import narwhals as nw

from dpselect.tables.collecting import Column, collect
from dpselect.tables.edges import both_ways
from dpselect.tables.kept import kept


def common_neighbours(edges: nw.LazyFrame[Any], *, nodes: int) -> dict[str, Column]:
    r"""Return for every node what it shares with the nodes that it shares a neighbour with.

    The engine joins :math:`\sum_v d_v^2` pairs of edges: a hub of a million neighbours is
    too much for any cluster, and then the forms of sensitivity by degrees are there.

    Args:
        edges: As :func:`~dpselect.tables.edges.simple_edges` returns them. Private.
        nodes: How many nodes there are. Public.

    Returns:
        ``node``, ``least`` and ``most`` common neighbours, and how many other nodes it has
        ``met``; a node that meets none has no row. Private.
    """
    with kept(both_ways(edges)) as ways:
        there = ways.rename({"node": "with"})
        pairs = ways.join(there, on="other").filter(nw.col("node") != nw.col("with"))
        shared = pairs.group_by("node", "with").agg(nw.len().alias("shared"))
        extremes = shared.group_by("node").agg(
            nw.col("shared").min().alias("least"),
            nw.col("shared").max().alias("most"),
            nw.len().alias("met"),
        )
        return collect(extremes, edges, most=nodes)
