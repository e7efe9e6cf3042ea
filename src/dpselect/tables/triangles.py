"""The number of triangles at every node."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import narwhals as nw

from dpselect.tables.collecting import Column, collect
from dpselect.tables.degrees import degrees
from dpselect.tables.edges import both_ways
from dpselect.tables.kept import kept

CORNERS = ("a", "b", "c")


@contextmanager
def triangles(edges: nw.LazyFrame[Any]) -> Iterator[nw.LazyFrame[Any]]:
    r"""Hold every triangle once, as its corners ``a``, ``b`` and ``c``, while the block runs.

    Each is found from its corner of the least degree, so that :math:`O(m^{3/2})` pairs of
    edges are joined, whatever the hubs.
    """
    a, b, c = (nw.col(corner) for corner in CORNERS)
    with kept(edges) as simple, kept(_upwards(simple)) as upwards:
        pairs = upwards.join(upwards.rename({"b": "c"}), on="a").filter(b < c)
        closing = simple.rename({"low": "b", "high": "c"})
        with kept(pairs.join(closing, on=["b", "c"]).select(a, b, c)) as found:
            yield found


def count_triangles(edges: nw.LazyFrame[Any], *, nodes: int) -> dict[str, Column]:
    """Count the triangles at every node.

    Args:
        edges: As :func:`~dpselect.tables.edges.simple_edges` returns them. Private.
        nodes: How many nodes there are. Public.

    Returns:
        ``node`` and ``triangles``; a node without triangles has no row. Private.
    """
    with triangles(edges) as found:
        ends = [found.select(nw.col(corner).alias("node")) for corner in CORNERS]
        counted = nw.concat(ends).group_by("node").agg(nw.len().alias("triangles"))
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
