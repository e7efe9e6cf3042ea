"""The edges that nodes are chosen by: counted in the engine that holds them, or in memory."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from dpselect import tables
from dpselect.errors import ParameterError
from dpselect.networks import edge_queries as queries, reading
from dpselect.networks.edge_queries import EdgeRows, checked_nodes
from dpselect.networks.graph import CommonNeighbours, Graph, NodeCounts, is_graph, node_counts
from dpselect.sensitivity.summation import RunningSum
from dpselect.tables.engine import engine_of
from dpselect.tables.opening import unreadable
from dpselect.typing import Indices, Values

if TYPE_CHECKING:
    import narwhals as nw
    import polars as pl

    from dpselect.query import Query
    from dpselect.tables import Column


class EdgeTable(NodeCounts):
    """An undirected graph in a table of edges, counted by the engine that holds the table.

    It can be used wherever a ``Graph`` can, and its counts are the same to the last bit. One
    number per node is collected, and for ego betweenness one for each node and number of common
    neighbours; each count is made once and kept. Records are folded and dropped as in a
    ``Graph``. It is made by ``from_edges`` from a lazy frame (polars, DuckDB, PySpark, ...)
    with an edge a row, or anything else that ``dpselect.tables.open_table`` opens.
    """

    def __init__(self, edges: nw.LazyFrame[Any], rows: EdgeRows, source: object = None) -> None:
        self.nodes, self.max_per_user = rows.nodes, rows.max_per_user
        self._edges, self._source = edges, source

    @classmethod
    def of_rows(cls, edges: object, rows: EdgeRows) -> EdgeTable:
        """Read edges by a rule, as ``from_edges`` does."""
        return cls(queries.simple_edges(edges, rows), rows, edges)

    @cached_property
    def degrees(self) -> Indices:
        """The number of neighbours of every node, shape ``(n,)``. Private."""
        engine = engine_of(self._edges)
        if not (engine.is_here and isinstance(self.nodes, range)):
            return self._by_node(queries.count_degrees(self._edges, nodes=len(self)), "degree")
        degrees = np.zeros(len(self), dtype=np.int64)

        # The ends of polars' edges are counted as they come.
        def add(part: pl.DataFrame) -> None:
            for end in part:
                np.add.at(degrees, end.to_numpy(), 1)

        engine.each(add, lambda: unreadable(self._source))
        return degrees

    def triangles(self) -> Indices:
        """Return the number of edges between neighbours of every node. Private."""
        return self._triangles

    def common_neighbours(self) -> CommonNeighbours:
        """Return the fewest and most neighbours that each node shares with another. Private."""
        return self._common_neighbours

    @cached_property
    def _triangles(self) -> Indices:
        counted = queries.count_triangles(self._edges, nodes=len(self))
        return self._by_node(counted, "triangles")

    @cached_property
    def _common_neighbours(self) -> CommonNeighbours:
        shared = queries.count_common_neighbours(self._edges, nodes=len(self))
        least, most, met = (self._by_node(shared, name) for name in ("least", "most", "met"))
        # A node that has none in common with some other has the least 0, whatever the rest.
        return CommonNeighbours(np.where(met == len(self) - 1, least, 0), most)

    def ego_betweenness(self) -> Values:
        """Return the betweenness of every node within its own ego network. Private."""
        # Counts of pairs are integers, and their shares are summed here, compensated and in
        # descending order of k, as the kernels do: no engine rounds.
        degrees = self.degrees
        table = queries.count_ego_pairs(self._edges, most=int(degrees.sum()))
        node, k, pairs = self._positions(table["node"]), table["k"], table["pairs"]
        k, pairs = k.astype(np.int64), pairs.astype(np.int64)
        order = np.lexsort((-k, node))
        node, k, pairs = node[order], k[order], pairs[order]
        turn = np.arange(node.size) - np.searchsorted(node, node)
        shared = RunningSum()
        for at in np.split(np.argsort(turn, kind="stable"), np.cumsum(np.bincount(turn))[:-1]):
            term = np.zeros(len(self))
            term[node[at]] = pairs[at] / (k[at] + 1)
            shared.add(term)
        met = np.bincount(node, pairs, minlength=len(self)).astype(np.int64)
        alone = degrees * (degrees - 1) // 2 - self.triangles() - met
        return alone + shared.total

    def _by_node(self, table: dict[str, Column], column: str) -> Indices:
        counts = np.zeros(len(self), dtype=np.int64)
        counts[self._positions(table["node"])] = table[column].astype(np.int64)
        return counts

    def _positions(self, nodes: Column) -> Indices:
        if isinstance(self.nodes, range):
            return nodes.astype(np.int64)
        position = {label: index for index, label in enumerate(self.nodes)}
        return np.array([position[node] for node in nodes.tolist()], dtype=np.int64)


class NodeRows(EdgeRows):
    """The edges that a query about nodes reads, or a graph in place of them."""

    @classmethod
    def asked(cls, query: Query[Any]) -> Self:
        """Return the checked fields of a query.

        Raises:
            ParameterError: One is out of its range, or does not go with another.
        """
        names = ("nodes", "source", "target", "user", "max_per_user", "on_invalid")
        fields = {name: getattr(query, name) for name in names}
        rows = cls(**fields | {"nodes": checked_nodes(fields["nodes"])})
        _ = rows.ends
        return rows

    def check(self, data: Any) -> None:  # noqa: ANN401 -- edges of any kind, or a graph
        """Check the columns of a table; no row is read."""
        if not is_graph(data):
            reading.check(data, self)

    def read(self, data: Any, *, degrees: bool = False) -> NodeCounts:  # noqa: ANN401
        """Return the graph of some data; edges in an engine stay there. Private.

        Args:
            data: Edges of any kind, or a graph.
            degrees: Whether nothing else is counted, for which no graph has to be made.

        Raises:
            ParameterError: It is a graph on other nodes, or limited to other edges.
        """
        if is_graph(data):
            return self._same(node_counts(data))
        counted = degrees and reading.edge_file(data) is None and tables.is_table(data)
        return (EdgeTable if counted or tables.is_lazy(data) else Graph).of_rows(data, self)

    def _same(self, graph: NodeCounts) -> NodeCounts:
        """Return a graph if it is on the same nodes and limited to the same edges."""
        if graph.nodes != self.nodes and set(graph.nodes) != set(self.nodes):
            raise ParameterError("`nodes` must be those of the graph: `nodes`=graph.nodes")
        limit = graph.max_per_user
        if limit is not None and limit != self.max_per_user:
            raise ParameterError(
                f"the graph has at most {limit} edges of a person: give `user` and "
                f"`max_per_user`={limit}"
            )
        if limit is None and self.cap is not None:
            raise ParameterError(
                "`max_per_user` is for a graph that was read with `user` and `max_per_user`"
            )
        return graph
