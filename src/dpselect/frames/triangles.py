"""The number of triangles at every node."""

from __future__ import annotations

from typing import Any

import narwhals as nw

from dpselect.frames.collecting import Column, collect
from dpselect.frames.degrees import degrees
from dpselect.frames.edges import both_ways

CORNERS = ("a", "b", "c")


def triangles(edges: nw.LazyFrame[Any]) -> nw.LazyFrame[Any]:
    r"""Return every triangle once, as its corners ``a``, ``b`` and ``c``.

    Each is found from its corner of the least degree, so that :math:`O(m^{3/2})` pairs of
    edges are joined, whatever the hubs.
    """
    upwards = _upwards(edges)
    a, b, c = (nw.col(corner) for corner in CORNERS)
    pairs = upwards.join(upwards.rename({"b": "c"}), on="a").filter(b < c)
    closing = edges.rename({"low": "b", "high": "c"})
    return pairs.join(closing, on=["b", "c"]).select(a, b, c)


def count_triangles(edges: nw.LazyFrame[Any], *, nodes: int) -> dict[str, Column]:
    """Count the triangles at every node.

    Args:
        edges: As :func:`~dpselect.frames.edges.simple_edges` returns them. Private.
        nodes: How many nodes there are. Public.

    Returns:
        ``node`` and ``triangles``; a node without triangles has no row. Private.
    """
    found = triangles(edges)
    corners = nw.concat([found.select(nw.col(corner).alias("node")) for corner in CORNERS])
    counted = corners.group_by("node").agg(nw.len().alias("triangles"))
    return collect(counted, edges, most=nodes)


def _upwards(edges: nw.LazyFrame[Any]) -> nw.LazyFrame[Any]:
    """Return edges from the end of lower degree, the smaller of two equal, to the other."""
    ways = both_ways(edges)
    degree = degrees(edges)
    here = degree.rename({"degree": "here"})
    there = degree.rename({"node": "other", "degree": "there"})
    node, other = nw.col("node"), nw.col("other")
    rises = (nw.col("here") < nw.col("there")) | (
        (nw.col("here") == nw.col("there")) & (node < other)
    )
    known = ways.join(here, on="node").join(there, on="other").filter(rises)
    return known.select(node.alias("a"), other.alias("b"))
