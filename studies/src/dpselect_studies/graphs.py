"""The graphs of both papers on influential nodes, loaded once for each process."""

from __future__ import annotations

from functools import cache

from dpselect.networks import Graph
from dpselect_studies import datasets

NODES = {"enron": 36_692, "github_musae": 37_700, "dblp_htne": 28_085}
TITLES = {
    "enron": "Enron",
    "github_musae": "GitHub",
    "dblp_htne": "DBLP of ten fields (for com-dblp)",
}
"""Names in tables; a substitute is named as one."""


@cache
def load(name: str) -> Graph:
    """Return a graph by the name of its data set.

    Raises:
        DataError: The data set cannot be had.
    """
    edges = datasets.load(name)
    return Graph.from_edges(edges, source="src", target="dst", nodes=NODES[name])


@cache
def own_bound(name: str) -> int:
    """Return the largest degree of a graph, which the papers take for a public bound."""
    return int(load(name).degrees.max())
