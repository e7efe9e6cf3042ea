r"""Edges within ego networks, counted so that no neighbour has more than a public share.

The edges between the neighbours :math:`S = N(v)` of a node are the triangles through it. One
edge at :math:`v` moves their number by up to the degree. Counted instead is

.. math:: f_L(S) = \max \Big\{ \sum_e x_e : 0 \le x_e \le 1,\;
                   \sum_{e \ni w} x_e \le L \text{ for all } w \in S \Big\}

over the edges :math:`e` between nodes of :math:`S`: their number, where no node of :math:`S`
has more than :math:`L` neighbours in :math:`S`.

**Lemma.** A node of :math:`S` more changes :math:`f_L` by 0 to :math:`L`, an edge more by 0 to
1. So an edge at :math:`v` changes it by at most :math:`L`, any other edge by at most 1, for all
degrees. *Proof.* More edges lose nothing: extend :math:`x` by 0. A node more: leave out
its edges in an optimal :math:`x`, which carry at most :math:`L`; the rest is feasible without
it. An edge more: leave it out, which carries at most 1. ∎

:math:`2 f_L` is the largest flow through the bipartite double cover of :math:`S`, with
capacities :math:`L` at its ends and 1 at its edges, and an integer.

Source: the extension of edge counts to graphs of any degree is that of Kasiviswanathan, Nissim,
Raskhodnikova and Smith, TCC 2013; here it is of ego networks, under one edge.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dpselect.networks.graph import Graph
from dpselect.typing import Indices

LARGEST_FLOW = 2**31 - 1


def largest_cap(nodes: int) -> int:
    """Return a cap that no flow overflows; public."""
    return max(1, LARGEST_FLOW // max(nodes, 1))


def flows(graph: Graph, hubs: Sequence[int], caps: Sequence[int]) -> Indices:
    """Return :math:`2 f_L` of the neighbours of some nodes.

    Args:
        graph: The graph. Private.
        hubs: Positions of nodes. Public.
        caps: :math:`L` of each, >= 1 and at most :func:`largest_cap`. Public.

    Returns:
        Shape ``(m,)``, >= 0. Private.
    """
    return np.array(
        [flow(*ego_edges(graph, hub), cap) for hub, cap in zip(hubs, caps, strict=True)],
        dtype=np.int64,
    )


def ego_edges(graph: Graph, node: int) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
    """Return both ends of every edge between neighbours, twice, and how many neighbours."""
    starts, rows = graph.starts, graph.rows
    members = rows[starts[node] : starts[node + 1]]
    sizes = starts[members + 1] - starts[members]
    ends = np.concatenate(
        [np.empty(0, np.int32)]
        + [rows[starts[one] : starts[one + 1]] for one in members.tolist()]
    )
    here = np.repeat(np.arange(members.size), sizes)
    there = np.searchsorted(members, ends)
    inside = there < members.size
    inside[inside] = members[there[inside]] == ends[inside]
    return here[inside].astype(np.int64), there[inside].astype(np.int64), members.size


def flow(here: NDArray[np.int64], there: NDArray[np.int64], size: int, cap: int) -> int:
    """Return the largest flow through the double cover of a graph.

    Args:
        here: One end of every edge in both directions, from 0 to ``size - 1``.
        there: The other end.
        size: The number of nodes.
        cap: The capacity of every node.
    """
    if here.size == 0 or int(np.bincount(here).max()) <= cap:
        return int(here.size)
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_flow

    every = np.arange(size)
    source, sink = 2 * size, 2 * size + 1
    tails = np.concatenate([here, np.full(size, source), size + every])
    heads = np.concatenate([size + there, every, np.full(size, sink)])
    capacities = np.full(tails.size, cap, dtype=np.int32)
    capacities[: here.size] = 1
    network = csr_array((capacities, (tails, heads)), shape=(sink + 1, sink + 1))
    return int(maximum_flow(network, source, sink).flow_value)
