"""Counts around every node of a graph, on all cores, or by the engine that holds its edges.

The compiled kernels release the interpreter lock, so plain threads share the work: nodes are
dealt in pieces of equal parts of heavy and light ones, and a free thread takes the next.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from dpselect.networks.engine import EdgeTable
from dpselect.networks.graph import Graph
from dpselect.typing import Indices, Values

if TYPE_CHECKING:
    from dpselect.networks.kernels import Ranked

Number = TypeVar("Number", np.int64, np.float64)

Progress: TypeAlias = Callable[[int, int], None]
"""Called with the number of nodes done and of all nodes, from the calling thread."""

NODES_PER_PIECE = 256
MOST_PIECES = 64


class Shared(NamedTuple):
    """How many neighbours each node shares with any one other node; shape ``(n,)``, private."""

    least: Indices
    most: Indices


def triangles(graph: Graph | EdgeTable) -> Indices:
    """Return the number of triangles at every node, that is of edges between its neighbours.

    In :math:`O(m^{3/2})`; memory for one number per node and core.
    """
    if isinstance(graph, EdgeTable):
        return graph.triangles
    order, ranked = _ranked(graph)
    return _in_node_order(_triangles(ranked), order)


def common_neighbours(graph: Graph | EdgeTable) -> Shared:
    r"""Return :math:`\min` and :math:`\max_{w \ne v} |N(w) \cap N(v)|` for every node.

    Over all other nodes, adjacent or not; 0 if there are none. In :math:`O(\sum_v d_v^2)`;
    memory for a few numbers per node and core.
    """
    if isinstance(graph, EdgeTable):
        return Shared(*graph.common_neighbours)
    from dpselect.networks import kernels

    order, ranked = _ranked(graph)
    n = len(graph)
    pieces = _dealt(n, _workers())
    met = np.zeros((len(pieces), n), dtype=np.int32)
    least, most = np.full_like(met, n), np.zeros_like(met)

    def count(piece: int) -> None:
        kernels.common_neighbours(
            ranked.starts, ranked.rows, pieces[piece], met[piece], least[piece], most[piece]
        )

    _share(count, [part.size for part in pieces])
    # Where a node has none in common with some other, the least is 0 whatever the rest.
    all_met = (met.sum(axis=0) == n - 1) & (n > 1)
    low, high = np.where(all_met, least.min(axis=0), 0), most.max(axis=0)
    return Shared(
        _in_node_order(low.astype(np.int64), order),
        _in_node_order(high.astype(np.int64), order),
    )


def ego_betweenness(graph: Graph | EdgeTable, progress: Progress | None = None) -> Values:
    """Return the betweenness of every node within its own ego network.

    The work at a node is that of all pairs of edges within its ego network that meet.
    Memory: the edges of one ego network, and one number per node, for each core.

    Args:
        graph: The graph.
        progress: Told from time to time how many nodes are done.

    Source: Farias et al., VLDB J. 2023, Definition 19; pairs are unordered.
    """
    if isinstance(graph, EdgeTable):
        return graph.ego_betweenness
    from dpselect.networks import kernels

    order, ranked = _ranked(graph)
    edges = _triangles(ranked)
    heaviest = np.argsort(-edges, kind="stable")
    pieces = [heaviest[part] for part in _dealt(len(graph), MOST_PIECES)]
    scores = np.empty(len(graph))

    def score(piece: int) -> None:
        kernels.ego_betweenness(*ranked, pieces[piece], int(edges.max()), scores)

    _share(score, [part.size for part in pieces], progress)
    return _in_node_order(scores, order)


def _ranked(graph: Graph) -> tuple[Indices, Ranked]:
    """Return the nodes in ascending order of degree, and the graph in that order."""
    from dpselect.networks import kernels

    order = np.argsort(graph.degrees, kind="stable")
    return order, kernels.Ranked(*kernels.ranked(graph.starts, graph.rows, order))


def _triangles(ranked: Ranked) -> Indices:
    from dpselect.networks import kernels

    n = ranked.above.size
    pieces = _dealt(n, _workers())
    counts = np.zeros((len(pieces), n), dtype=np.int64)
    _share(
        lambda piece: kernels.triangles(*ranked, pieces[piece], counts[piece]),
        [part.size for part in pieces],
    )
    return counts.sum(axis=0)


def _in_node_order(values: NDArray[Number], order: Indices) -> NDArray[Number]:
    by_node = np.empty_like(values)
    by_node[order] = values
    return by_node


def _workers() -> int:
    return os.cpu_count() or 1


def _dealt(n: int, most: int) -> list[Indices]:
    """Deal ``0`` to ``n - 1`` in turn, into at most ``most`` pieces of a useful size."""
    pieces = min(most, -(-n // NODES_PER_PIECE))
    return [np.arange(first, n, pieces) for first in range(pieces)]


def _share(
    work: Callable[[int], None], sizes: Sequence[int], progress: Progress | None = None
) -> None:
    """Do ``work(piece)`` for every piece, on all cores."""
    done, total = 0, sum(sizes)
    with ThreadPoolExecutor(_workers()) as pool:
        running = {pool.submit(work, piece): size for piece, size in enumerate(sizes)}
        for finished in as_completed(running):
            finished.result()
            done += running[finished]
            if progress is not None:
                progress(done, total)
