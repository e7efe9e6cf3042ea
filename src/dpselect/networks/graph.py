"""Graphs on public nodes: what counts around nodes, and one in memory, in compressed rows."""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Self, TypeAlias, TypeGuard, TypeVar

import numpy as np
from numpy.typing import NDArray

from dpselect import _compiled
from dpselect.errors import DataError, ParameterError
from dpselect.networks import kernels, reading
from dpselect.networks.edge_queries import EdgeRows, Nodes, checked_nodes
from dpselect.networks.kernels import Ranked
from dpselect.networks.reading import Edges, Ends
from dpselect.typing import Indices, OnInvalid, Values

if TYPE_CHECKING:
    import networkx as nx


Number = TypeVar("Number", np.int64, np.float64)
AnyGraph: TypeAlias = "NodeCounts | nx.Graph[Any]"
"""A ``Graph`` or ``EdgeTable``; or an
undirected graph of networkx, whose node set is thereby declared public."""

NODES_PER_PIECE = 256
MOST_PIECES = 64


class CommonNeighbours(NamedTuple):
    """The extremes of ``|N(v) ∩ N(w)|`` over all other nodes ``w``, by node.

    Over all nodes other than ``v``, adjacent or not; 0 where there are none. Private.
    """

    least: Indices
    """The minimum for every node, shape ``(n,)``."""

    most: Indices
    """The maximum for every node, shape ``(n,)``."""


class NodeCounts(ABC):
    """An undirected graph on public nodes that can count around each of them.

    ``Graph`` counts in memory, ``EdgeTable`` in the engine that holds the edges. Both give the
    same numbers to the last bit. All counts are in the order of ``nodes`` and private.

    Attributes:
        nodes: The node ids or labels, in candidate order. Public.
        max_per_user: Largest number of edges of a person, if it was read with ``user``. Public.
    """

    __slots__ = ()
    nodes: Sequence[Hashable]
    max_per_user: int | None

    @classmethod
    def from_edges(
        cls,
        edges: Edges,
        *,
        source: str | None = None,
        target: str | None = None,
        user: str | None = None,
        nodes: Nodes,
        max_per_user: int | None = None,
        on_invalid: OnInvalid = "repair",
    ) -> Self:
        """Read edges: as a ``Graph`` 10^7 of them in seconds, a few dozen bytes each.

        Args:
            edges: A Parquet or CSV file, an edge list such as ``.txt`` (SNAP), ``.graphml``,
                ``.gml``, ``.net`` or ``.mtx``, a data frame, an array or sequence of pairs, or
                a sparse adjacency matrix of SciPy, each of whose non-zero entries is an edge;
                one triangle is enough. A list or tuple declares no type: its ends are looked up
                one by one. For an ``EdgeTable`` a table, such as a lazy frame.
            source: The column of one end. Required for files and frames.
            target: The column of the other end.
            user: The column of the person that a row belongs to, such as the caller: text,
                integers, booleans or dates. An edge is in the graph if one of its rows is
                counted, of any person. Rows without a person are dropped.
            nodes: Their number ``n``, if ids are ``0`` to ``n - 1``; or all ids or labels, of
                which an engine lists at most 10,000. Public.
            max_per_user: Maximal number of different edges counted per person, selected by a
                rule that depends on that person's rows alone (``dpselect.tables.people``);
                given with ``user``.
            on_invalid: ``"repair"`` drops each record that is not an edge: an end is missing or
                not among ``nodes``, or both ends are the same. ``"raise"`` is for curators who
                declare publicly that there is none; it takes one more pass over a table.

        Raises:
            ParameterError: ``nodes`` is empty or names a node twice, columns are not named,
                ``on_invalid`` is unknown, or edges are declared to have weights.
            ColumnError: A column is missing, or its type cannot hold such nodes, as
                fractional numbers cannot.
            DataError: ``edges`` cannot be read, or are not pairs.
            PublicClaimError: A record is not an edge and ``on_invalid="raise"``; the message
                does not say which one.

        Examples:
            >>> Graph.from_edges([(0, 1), (1, 0), (1, 2)], nodes=4).degrees
            array([1, 2, 1, 0])
            >>> import polars as pl
            >>> from dpselect.networks import EdgeTable
            >>> edges = pl.LazyFrame({"source": [0, 1, 1], "target": [1, 0, 2]})
            >>> EdgeTable.from_edges(edges, source="source", target="target", nodes=4).degrees
            array([1, 2, 1, 0])
        """
        rows = EdgeRows(
            nodes=checked_nodes(nodes),
            source=source,
            target=target,
            user=user,
            max_per_user=max_per_user,
            on_invalid=on_invalid,
        )
        return cls.of_rows(edges, rows)

    @classmethod
    @abstractmethod
    def of_rows(cls, edges: Any, rows: EdgeRows) -> Self:  # noqa: ANN401 -- edges of any kind
        """Read edges by a rule, as ``from_edges`` does."""

    def __len__(self) -> int:
        """Return the number of nodes. Public."""
        return len(self.nodes)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self)} nodes)"

    @property
    @abstractmethod
    def degrees(self) -> Indices:
        """The number of neighbours of every node, shape ``(n,)``."""

    @abstractmethod
    def triangles(self) -> Indices:
        """Return the number of edges between neighbours of every node, shape ``(n,)``."""

    @abstractmethod
    def common_neighbours(self) -> CommonNeighbours:
        """Return the fewest and most neighbours that each node shares with another."""

    @abstractmethod
    def ego_betweenness(self) -> Values:
        """Return the betweenness of every node within its own ego network, shape ``(n,)``.

        Source: Farias et al., VLDB J. 2023, Definition 19; pairs are unordered.
        """


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Graph(NodeCounts):
    """An undirected graph without loops or parallel edges; made by a ``from_`` method.

    The nodes are public: they are the candidates, so every ``from_`` method takes them as an
    argument instead of reading them from the edges. The edges and their number are private.

    Parallel edges and both directions of one edge are folded into one edge, without attributes.
    Edges that are declared to have weights are refused: by a column of a table of that name,
    by a sparse matrix or a MatrixMarket file of real numbers. What else
    is in a record, as in networkx, is left out. One individual is one edge after
    folding, whatever the number of its records. A record that joins a node to itself, or has an
    end that is missing or not among the nodes, is not an edge and is dropped by default.
    Whether a record is dropped depends on that record alone, so the guarantee includes it.

    Attributes:
        starts: Start of the row of each node in ``rows``, shape ``(n + 1,)``. Private.
        rows: The positions of the neighbours of all nodes, int32, ascending within a
            row; read-only. Private.
        nodes: The node ids or labels, in candidate order. Public.
        max_per_user: Largest number of edges of a person, if it was read with ``user``. Public.
    """

    starts: Indices
    rows: NDArray[np.int32]
    nodes: Sequence[Hashable]
    max_per_user: int | None = None

    @property
    def degrees(self) -> Indices:
        """The number of neighbours of every node, shape ``(n,)``. Private."""
        return np.diff(self.starts)

    def triangles(self) -> Indices:
        """Return the number of edges between neighbours of every node, shape ``(n,)``.

        In ``O(m^(3/2))``; memory for one number per node and processor. Private.
        """
        order, ranked = self._ranked()
        return _in_node_order(_triangles(ranked), order)

    def common_neighbours(self) -> CommonNeighbours:
        """Return the fewest and most neighbours that each node shares with another.

        In ``O(∑_v d_v^2)``; memory for a few numbers per node and processor. Private.
        """
        order, ranked = self._ranked()
        n = len(self)
        pieces = _pieces(n, _compiled.processors())
        met = np.zeros((len(pieces), n), dtype=np.int32)
        least, most = np.full_like(met, n), np.zeros_like(met)

        def count(piece: int) -> None:
            kernels.common_neighbours(
                ranked.starts, ranked.rows, pieces[piece], met[piece], least[piece], most[piece]
            )

        _compiled.each_piece(count, len(pieces))
        # A node that has none in common with some other has the least 0, whatever the rest.
        all_met = (met.sum(axis=0) == n - 1) & (n > 1)
        low, high = np.where(all_met, least.min(axis=0), 0), most.max(axis=0)
        return CommonNeighbours(
            _in_node_order(low.astype(np.int64), order),
            _in_node_order(high.astype(np.int64), order),
        )

    def ego_betweenness(self) -> Values:
        """Return the betweenness of every node within its own ego network, shape ``(n,)``.

        The work at a node is that of all pairs of edges within its ego network that share
        an end. Memory: the edges of one ego network, and one number per node, for each
        processor. Private.

        Source: Farias et al., VLDB J. 2023, Definition 19; pairs are unordered.
        """
        order, ranked = self._ranked()
        edges = _triangles(ranked)
        heaviest = np.argsort(-edges, kind="stable")
        pieces = [heaviest[part] for part in _pieces(len(self), MOST_PIECES)]
        scores = np.empty(len(self))

        def score(piece: int) -> None:
            kernels.ego_betweenness(*ranked, pieces[piece], int(edges.max()), scores)

        _compiled.each_piece(score, len(pieces))
        return _in_node_order(scores, order)

    def _ranked(self) -> tuple[Indices, Ranked]:
        """Return the nodes in ascending order of degree, and the graph in that order."""
        order = np.argsort(self.degrees, kind="stable")
        return order, kernels.Ranked(*kernels.ranked(self.starts, self.rows, order))

    @classmethod
    def of_rows(cls, edges: Edges, rows: EdgeRows) -> Graph:
        """Read edges by a rule, as ``from_edges`` does."""
        return built(reading.read(edges, rows), rows.nodes, rows.max_per_user)

    @classmethod
    def from_networkx(
        cls, graph: nx.Graph[Any], *, nodes: Nodes, on_invalid: OnInvalid = "repair"
    ) -> Graph:
        """Take the edges of an undirected networkx graph or multigraph, without attributes.

        Args:
            graph: The graph.
            nodes: All node ids or labels, or ``n`` for ``0`` to ``n - 1``. To declare the
                graph's own node set public, give ``graph.nodes``.
            on_invalid: As for ``from_edges``.

        Raises:
            DataError: The graph is directed.
            PublicClaimError: A record is not an edge and ``on_invalid="raise"``.
        """
        labels = checked_nodes(nodes)
        if graph.is_directed():
            raise DataError(
                "the graph is directed, and the metrics are of undirected graphs: give "
                "graph.to_undirected() if the direction does not matter"
            )
        ends = reading.of_pairs(graph.edges(), labels)
        return built(reading.without_invalid(ends, on_invalid), labels)


def node_counts(graph: AnyGraph) -> NodeCounts:
    """Return a graph that can count, from one of this library or networkx.

    Of a graph of networkx the nodes are the candidates: by giving it the caller declares its
    node set public.

    Raises:
        ParameterError: It is no graph.
        DataError: It is directed.
    """
    # Whoever holds such a graph has imported its package: nothing is imported here.
    networkx = sys.modules.get("networkx")
    if networkx is not None and isinstance(graph, networkx.Graph):
        return Graph.from_networkx(graph, nodes=list(graph.nodes))
    if not isinstance(graph, NodeCounts):
        kind = f"{type(graph).__module__}.{type(graph).__qualname__}"
        raise ParameterError(
            f"graph must be a Graph or an EdgeTable of dpselect.networks, or an undirected "
            f"graph of networkx, not a {kind} (graph.to_networkx() of igraph); a list of edges "
            "is read by Graph.from_edges"
        )
    return graph


def is_graph(data: object) -> TypeGuard[AnyGraph]:
    """Return whether data are a graph that ``node_counts`` takes, not edges."""
    networkx = sys.modules.get("networkx")
    return isinstance(data, (NodeCounts, *([] if networkx is None else [networkx.Graph])))


def built(ends: Ends, nodes: Sequence[Hashable], max_per_user: int | None = None) -> Graph:
    """Return the graph of edges that are read, every one of which joins two nodes."""
    starts, rows = reading.rows(ends, len(nodes))
    for array in (starts, rows):
        array.setflags(write=False)
    return Graph(starts, rows, nodes, max_per_user)


def _triangles(ranked: Ranked) -> Indices:
    n = ranked.above.size
    pieces = _pieces(n, _compiled.processors())
    counts = np.zeros((len(pieces), n), dtype=np.int64)
    _compiled.each_piece(
        lambda piece: kernels.triangles(*ranked, pieces[piece], counts[piece]), len(pieces)
    )
    return counts.sum(axis=0)


def _pieces(n: int, most: int) -> list[Indices]:
    """Split ``0`` to ``n - 1`` into at most ``most`` pieces of equal parts of low and high."""
    pieces = min(most, -(-n // NODES_PER_PIECE))
    return [np.arange(first, n, pieces) for first in range(pieces)]


def _in_node_order(values: NDArray[Number], order: Indices) -> NDArray[Number]:
    by_node = np.empty_like(values)
    by_node[order] = values
    return by_node
