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
    return Graph.from_edges(datasets.load(name), source="src", target="dst", nodes=NODES[name])
