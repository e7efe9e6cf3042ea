"""Counts that metrics ask a graph for, found on one without edges."""

from __future__ import annotations

from dpselect._parallel import Progress
from dpselect.networks.counts import CommonNeighbours
from dpselect.networks.graph import Graph
from dpselect.networks.reading import Nodes
from dpselect.passes import Pass
from dpselect.typing import Indices, Values

OF_PAIRS = "two for each edge"
"""Rows of the count for ego betweenness."""


class AskedCounts(Graph):
    """A graph without edges that keeps which passes an edge table takes for its counts. Public.

    Args:
        nodes: The nodes of the graph: their number ``n``, or all ids or labels.

    Raises:
        ParameterError: ``nodes`` is empty or names a node twice.
    """

    __slots__ = ("_asked", "_empty")
    _asked: dict[str, Pass]
    _empty: Graph

    def __init__(self, nodes: Nodes) -> None:
        empty = Graph.without_edges(nodes)
        super().__init__(empty.starts, empty.rows, empty.nodes)
        object.__setattr__(self, "_asked", {})
        object.__setattr__(self, "_empty", empty)

    @property
    def passes(self) -> tuple[Pass, ...]:
        """The passes for all counts that were asked for."""
        return tuple(self._asked.values())

    @property
    def degrees(self) -> Indices:
        self._asked["degrees"] = Pass(len(self))
        return self._empty.degrees

    def triangles(self) -> Indices:
        self._asked["triangles"] = Pass(len(self))
        return self._empty.triangles()

    def common_neighbours(self) -> CommonNeighbours:
        self._asked["common neighbours"] = Pass(len(self))
        return self._empty.common_neighbours()

    def ego_betweenness(self, progress: Progress | None = None) -> Values:
        _ = self.degrees
        self._asked["pairs"] = Pass(OF_PAIRS)
        self.triangles()
        return self._empty.ego_betweenness(progress)
