"""Pairs of neighbours within ego networks, by how many neighbours they have in common."""

from __future__ import annotations

from typing import Any

import narwhals as nw

from dpselect.tables.collecting import Column, collect
from dpselect.tables.kept import kept
from dpselect.tables.triangles import CORNERS, triangles


def count_ego_pairs(edges: nw.LazyFrame[Any], *, most: int) -> dict[str, Column]:
    r"""Count for every node the pairs of its neighbours that are not adjacent.

    By the number ``k >= 1`` of common neighbours within the ego network: these counts are
    whole numbers, so that no engine rounds, and the driver sums their :math:`1/(k + 1)`.

    Args:
        edges: As :func:`~dpselect.tables.edges.simple_edges` returns them. Private.
        most: A number that the rows do not exceed, such as the sum of all degrees.

    Returns:
        ``node``, ``k`` and how many ``pairs``; only where there are some. Private.
    """
    with triangles(edges) as found, kept(_inner_ways(found)) as inner:
        there = inner.rename({"u": "w"})
        meeting = inner.join(there, on=["node", "x"]).filter(nw.col("u") < nw.col("w"))
        pairs = meeting.group_by("node", "u", "w").agg(nw.len().alias("k"))
        adjacent = edges.rename({"low": "u", "high": "w"})
        apart = pairs.join(adjacent, on=["u", "w"], how="anti")
        counted = apart.group_by("node", "k").agg(nw.len().alias("pairs"))
        return collect(counted, edges, most=most)


def _inner_ways(found: nw.LazyFrame[Any]) -> nw.LazyFrame[Any]:
    """Return the edges between neighbours of each ``node``, from ``u`` to ``x`` and back."""
    a, b, c = CORNERS
    turns = [(a, b, c), (a, c, b), (b, a, c), (b, c, a), (c, a, b), (c, b, a)]
    return nw.concat(
        [
            found.select(nw.col(node).alias("node"), nw.col(u).alias("u"), nw.col(x).alias("x"))
            for node, u, x in turns
        ]
    )
