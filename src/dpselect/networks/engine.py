"""A graph whose edges stay in the engine that holds them: only counts of nodes come out."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import cached_property

import numpy as np

from dpselect import tables
from dpselect.networks.edges import Nodes, Rule, check_rules, checked_nodes
from dpselect.typing import Indices, Values


class EdgeTable:
    """An undirected graph in a table of edges, to be counted where it is.

    It takes the place of a :class:`~dpselect.networks.Graph` wherever nodes are scored by
    ``degree``, ``ego-density`` or ``ego-betweenness`` or several of them, and gives the same
    scores to the last bit. What is collected is one number a node, and for ego betweenness
    one for each node and number of common neighbours. What it folds and what it refuses is
    what a ``Graph`` does.

    Args:
        edges: A lazy frame (polars, DuckDB, PySpark, ...) with an edge a row, or anything
            else that :func:`dpselect.tables.open_table` opens. Private.
        nodes: Their number ``n``, if ids are ``0`` to ``n - 1``; or at most 10,000 ids or
            labels. Public.
        source: The column of one end.
        target: The column of the other end.
        self_loops: ``"drop"`` or ``"refuse"`` an edge from a node to itself.
        unknown: ``"refuse"`` or ``"drop"`` an edge with an end that is missing or not among
            ``nodes``; to refuse takes one more pass over the edges.

    Raises:
        ParameterError: ``nodes`` or a rule is not one, or there are too many labels.
        ColumnError: A column is missing, or its type cannot hold such nodes.
        PublicClaimError: An edge is refused; which one is not said.
        DataError: The edges cannot be read.

    Examples:
        >>> import polars as pl
        >>> edges = pl.LazyFrame({"source": [0, 1, 1], "target": [1, 0, 2]})
        >>> EdgeTable(edges, nodes=4, source="source", target="target").degrees
        array([1, 2, 1, 0])
    """

    def __init__(
        self,
        edges: object,
        *,
        nodes: Nodes,
        source: str,
        target: str,
        self_loops: Rule = "drop",
        unknown: Rule = "refuse",
    ) -> None:
        self.nodes: Sequence[Hashable] = checked_nodes(nodes)
        check_rules(self_loops, unknown, loops=False, strangers=False)
        self._edges = tables.simple_edges(edges, source, target, self.nodes)
        if "refuse" in {self_loops, unknown}:
            strangers, loops = tables.count_odd_edges(edges, source, target, self.nodes)
            check_rules(self_loops, unknown, loops=loops > 0, strangers=strangers > 0)

    def __len__(self) -> int:
        return len(self.nodes)

    def __repr__(self) -> str:
        return f"EdgeTable({len(self)} nodes)"

    @cached_property
    def degrees(self) -> Indices:
        """The number of neighbours of every node, shape ``(n,)``. Private."""
        return self._by_node(tables.count_degrees(self._edges, nodes=len(self)), "degree")

    @cached_property
    def triangles(self) -> Indices:
        """The number of edges between neighbours of every node, shape ``(n,)``. Private."""
        counted = tables.count_triangles(self._edges, nodes=len(self))
        return self._by_node(counted, "triangles")

    @cached_property
    def common_neighbours(self) -> tuple[Indices, Indices]:
        """The least and the most that each node shares with any other. Private."""
        shared = tables.common_neighbours(self._edges, nodes=len(self))
        least, most, met = (self._by_node(shared, name) for name in ("least", "most", "met"))
        # Where a node has none in common with some other, the least is 0 whatever the rest.
        return np.where(met == len(self) - 1, least, 0), most

    @cached_property
    def ego_betweenness(self) -> Values:
        """The betweenness of every node within its own ego network, shape ``(n,)``. Private.

        Counts of pairs are whole numbers, and their shares are summed here in ascending
        order of ``k``: no engine rounds.
        """
        degrees = self.degrees
        most = int(degrees.sum())
        table = tables.count_ego_pairs(self._edges, most=most)
        node, k, pairs = self._positions(table["node"]), table["k"], table["pairs"]
        k, pairs = k.astype(np.int64), pairs.astype(np.int64)
        order = np.lexsort((k, node))
        shared = np.zeros(len(self))
        np.add.at(shared, node[order], pairs[order] / (k[order] + 1))
        met = np.bincount(node, pairs, minlength=len(self)).astype(np.int64)
        alone = degrees * (degrees - 1) // 2 - self.triangles - met
        return shared + alone

    def _by_node(self, table: dict[str, tables.Column], column: str) -> Indices:
        counts = np.zeros(len(self), dtype=np.int64)
        counts[self._positions(table["node"])] = table[column].astype(np.int64)
        return counts

    def _positions(self, nodes: tables.Column) -> Indices:
        if isinstance(self.nodes, range):
            return nodes.astype(np.int64)
        position = {label: index for index, label in enumerate(self.nodes)}
        return np.array([position[node] for node in nodes.tolist()], dtype=np.int64)
