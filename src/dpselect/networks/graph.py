"""An undirected graph on a public node set, in compressed rows."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dpselect.errors import DataError
from dpselect.networks import edges as _edges
from dpselect.networks import tables
from dpselect.networks.edges import Ends, Nodes, Rule, checked_nodes
from dpselect.networks.tables import Edges
from dpselect.typing import Indices

if TYPE_CHECKING:
    import igraph
    import networkx as nx
    from scipy import sparse


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Graph:
    """An undirected graph without loops or parallel edges; made by a ``from_`` method.

    The nodes are public: they are the candidates, so every ``from_`` method asks for them
    and none reads them off the edges. The edges are private, and so is their number.

    What a source holds beyond a simple graph is folded: parallel edges, both directions of
    one edge, weights and attributes. One individual is one edge *after* folding, whatever the
    number of its records. A loop joins no two nodes: by default its record is dropped, which
    maps one record to none and is part of the guarantee. An end that is not among the nodes
    contradicts what was declared public, so by default it is refused.

    Attributes:
        starts: Where the row of each node begins in ``rows``, shape ``(n + 1,)``.
            Private.
        rows: The positions of the neighbours of all nodes, int32, ascending within a
            row; read-only. Private.
        nodes: The node ids or labels, in candidate order. Public.
    """

    starts: Indices
    rows: NDArray[np.int32]
    nodes: Sequence[Hashable]

    def __len__(self) -> int:
        return len(self.nodes)

    def __repr__(self) -> str:
        return f"Graph({len(self)} nodes)"

    @property
    def degrees(self) -> Indices:
        """The number of neighbours of every node, shape ``(n,)``. Private."""
        return np.diff(self.starts)

    @classmethod
    def without_edges(cls, nodes: Nodes) -> Graph:
        """Return the graph on these nodes that has no edge: what is public of any on them.

        Args:
            nodes: Their number ``n``, or all ids or labels.

        Raises:
            ParameterError: ``nodes`` is empty or repeats itself.
        """
        none = _edges.of_array(np.empty((0, 2), dtype=np.int64))
        return _built(none, checked_nodes(nodes), "drop", "refuse")

    @classmethod
    def from_edges(
        cls,
        edges: Edges,
        *,
        nodes: Nodes,
        source: str | None = None,
        target: str | None = None,
        self_loops: Rule = "drop",
        unknown: Rule = "refuse",
    ) -> Graph:
        """Read a list of edges: 10^7 of them in seconds, a few dozen bytes each.

        Args:
            edges: A Parquet or CSV file, a data frame, or an array or sequence of pairs.
            nodes: Their number ``n``, if ids are ``0`` to ``n - 1``; or all ids or labels.
                Public.
            source: The column of one end. Required for files and frames.
            target: The column of the other end.
            self_loops: ``"drop"`` or ``"refuse"`` an edge from a node to itself.
            unknown: ``"refuse"`` or ``"drop"`` an edge with an end that is missing or not
                among ``nodes``.

        Raises:
            ParameterError: ``nodes`` is empty or repeats itself, or columns are not named.
            ColumnError: A column is missing, or its type cannot hold such nodes: fractional
                numbers are no ids.
            PublicClaimError: An edge is refused; which one is not said.

        Examples:
            >>> Graph.from_edges([(0, 1), (1, 0), (1, 2)], nodes=4).degrees
            array([1, 2, 1, 0])
        """
        labels = checked_nodes(nodes)
        ends = tables.read(edges, source, target, labels)
        return _built(ends, labels, self_loops, unknown)

    @classmethod
    def from_scipy(
        cls,
        matrix: sparse.sparray | sparse.spmatrix,
        *,
        nodes: Nodes,
        self_loops: Rule = "drop",
    ) -> Graph:
        """Take every non-zero entry of an adjacency matrix as an edge.

        Args:
            matrix: Shape ``(n, n)``; one triangle is enough.
            nodes: ``n``, or the ids or labels of the rows. Public.
            self_loops: ``"drop"`` or ``"refuse"`` a non-zero diagonal.

        Raises:
            DataError: ``matrix`` is not sparse, or not square with a row for each node.
            PublicClaimError: The diagonal is refused.
        """
        labels = checked_nodes(nodes)
        return _built(_edges.of_matrix(matrix, len(labels)), labels, self_loops, "refuse")

    @classmethod
    def from_networkx(
        cls,
        graph: nx.Graph[Any],
        *,
        nodes: Nodes,
        self_loops: Rule = "drop",
        unknown: Rule = "refuse",
    ) -> Graph:
        """Take the edges of an undirected networkx graph or multigraph.

        Args:
            graph: The graph.
            nodes: All node ids or labels, or ``n`` for ``0`` to ``n - 1``. To declare the
                graph's own node set public, give ``graph.nodes``.
            self_loops: ``"drop"`` or ``"refuse"``.
            unknown: ``"refuse"`` or ``"drop"`` an edge with an end not among ``nodes``.

        Raises:
            DataError: The graph is directed.
            PublicClaimError: An edge is refused.
        """
        labels = checked_nodes(nodes)
        _refuse_directed(directed=graph.is_directed(), remedy="graph.to_undirected()")
        return _built(_edges.of_pairs(graph.edges(), labels), labels, self_loops, unknown)

    @classmethod
    def from_igraph(
        cls, graph: igraph.Graph, *, nodes: Nodes, self_loops: Rule = "drop"
    ) -> Graph:
        """Take the edges of an undirected igraph graph.

        Args:
            graph: The graph.
            nodes: The number of vertices, or an id or label for each, in vertex order.
                Public.
            self_loops: ``"drop"`` or ``"refuse"``.

        Raises:
            DataError: The graph is directed, or has another number of vertices.
            PublicClaimError: An edge is refused.
        """
        labels = checked_nodes(nodes)
        _refuse_directed(directed=graph.is_directed(), remedy="graph.as_undirected()")
        if graph.vcount() != len(labels):
            raise DataError(
                f"nodes must name the vertices of the graph one by one; it has another number "
                f"of vertices than {len(labels)}"
            )
        ends = _edges.of_array(np.array(graph.get_edgelist(), dtype=np.int64).reshape(-1, 2))
        return _built(ends, labels, self_loops, "refuse")


def _refuse_directed(*, directed: bool, remedy: str) -> None:
    if directed:
        raise DataError(
            f"the graph is directed, and the scores are of undirected graphs: give {remedy} if "
            "the direction does not matter"
        )


def _built(ends: Ends, nodes: Sequence[Hashable], self_loops: Rule, unknown: Rule) -> Graph:
    starts, rows = _edges.rows(_edges.kept(ends, self_loops, unknown), len(nodes))
    for array in (starts, rows):
        array.setflags(write=False)
    return Graph(starts, rows, nodes)
