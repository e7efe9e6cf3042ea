"""Triangles, codegrees and ego betweenness of whole graphs, against igraph, SciPy, networkx.

Run: ``python benchmarks/networks.py [FOLDER]``, with Parquet edge lists of the columns ``src``
and ``dst``; ``FOLDER`` is the environment variable ``DPSELECT_DATA`` if not given. Every ratio
is of two times measured in this run. A peer that does not finish within ``CAP`` seconds is
stopped there, on nodes in random order; its time for all nodes is then extrapolated, and the
table says for how many nodes it was measured.
"""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from time import perf_counter

import igraph
import networkx as nx
import numpy as np
from rich.console import Console
from rich.table import Table
from scipy import sparse

from dpselect import scaling
from dpselect.networks import Graph, ego_betweenness
from dpselect.typing import Indices, Values

GRAPHS = {"enron": 36_692, "github_musae": 37_700, "ego_twitter": 81_306}
CAP = 10.0


def seconds(call: Callable[[], object], *, repeat: int = 3) -> float:
    """Return the best of ``repeat`` times."""
    times = []
    for _ in range(repeat):
        start = perf_counter()
        call()
        times.append(perf_counter() - start)
    return min(times)


def by_networkx(network: nx.Graph, node: int) -> float:
    """Return the betweenness of a node in its ego network as networkx users find it."""
    ego = nx.ego_graph(network, node)
    return float(nx.betweenness_centrality(ego, normalized=False)[node])


def by_scipy(adjacency: sparse.csr_array, node: int) -> float:
    """Return the same by one sparse product of the adjacency among the neighbours."""
    ego = adjacency.indices[adjacency.indptr[node] : adjacency.indptr[node + 1]]
    inner = adjacency[ego][:, ego]
    paths = sparse.triu(inner @ inner, 1)
    others = (paths - paths.multiply(inner)).data
    others = others[others > 0]
    pairs = ego.size * (ego.size - 1) / 2 - inner.nnz / 2
    return float(pairs - (1 - 1 / (1 + others)).sum())


def capped(score: Callable[[int], float], nodes: Indices, ours: Values) -> tuple[float, int]:
    """Score nodes until ``CAP`` seconds have passed, and compare; return time and number."""
    start, done = perf_counter(), 0
    for node in nodes:
        value = score(int(node))
        if abs(value - ours[node]) > 1e-9 * max(1.0, ours[node]):
            raise AssertionError("a peer has another ego betweenness")
        done += 1
        if perf_counter() - start > CAP:
            break
    return perf_counter() - start, done


def compare(table: Table, name: str, graph: Graph) -> None:
    """Measure everything on one graph."""
    ends = np.repeat(np.arange(len(graph)), graph.degrees), graph.rows
    once = ends[0] < ends[1]
    pairs = np.column_stack([ends[0][once], ends[1][once]])
    peer = igraph.Graph(len(graph), pairs.tolist())

    ours = seconds(graph.triangles)
    theirs = seconds(lambda: peer.transitivity_local_undirected(mode="zero"))
    row(table, name, "triangles", ours, "igraph", theirs)
    row(table, name, "codegrees", seconds(graph.common_neighbours))
    scores = graph.ego_betweenness()
    ours = seconds(graph.ego_betweenness)

    adjacency = sparse.csr_array((np.ones(graph.rows.size), graph.rows, graph.starts))
    network = nx.from_edgelist(pairs.tolist())
    order = np.random.default_rng(0).permutation(np.flatnonzero(graph.degrees))
    for peer_name, score in (
        ("SciPy product per ego", lambda node: by_scipy(adjacency, node)),
        ("networkx", lambda node: by_networkx(network, node)),
    ):
        time, done = capped(score, order, scores)
        label = peer_name
        if done < order.size:
            label += f", {done:,} nodes in {time:.0f} s, extrapolated"
        row(table, name, "ego betweenness", ours, label, time * order.size / done)
    objective = ego_betweenness(graph)
    for what, scaled in (
        ("shifted scores", lambda: scaling.shifted(objective, "non-decreasing")),
        ("dampened scores", lambda: scaling.dampened(objective)),
    ):
        row(table, name, what, seconds(scaled))


def row(
    table: Table,
    name: str,
    what: str,
    ours: float,
    peer: str = "",
    theirs: float | None = None,
    /,
) -> None:
    """Add one comparison."""
    beside = ("", "") if theirs is None else (f"{theirs:.3f}", f"{theirs / ours:.1f}")
    table.add_row(name, what, f"{ours:.4f}", peer, *beside)


def main() -> None:
    """Print the table."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else os.environ["DPSELECT_DATA"])
    table = Table(title="Seconds, all nodes")
    for column in ("graph", "what", "dpselect", "peer", "peer's", "times faster"):
        table.add_column(column)
    for name, nodes in GRAPHS.items():
        path = folder / f"{name}.parquet"
        compare(table, name, Graph.from_edges(path, source="src", target="dst", nodes=nodes))
    console = Console(width=120)
    console.print(table)
    console.print(f"{platform.machine()}, {os.cpu_count()} cores, Python", end=" ")
    console.print(platform.python_version(), end="")
    for package in ("numpy", "numba", "scipy", "igraph", "networkx"):
        console.print(f", {package} {version(package)}", end="")
    console.print()


if __name__ == "__main__":
    main()
