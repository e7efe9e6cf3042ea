"""What a centrality has to give to be chosen by."""

from __future__ import annotations

from typing import Protocol

from dpselect.networks.engine import EdgeTable
from dpselect.networks.graph import Graph
from dpselect.objective import Objective
from dpselect.typing import Direction


class Metric(Protocol):
    """A score for every node, with what one edge can change of it.

    Any object with these members is a metric. Before the first release, hold its
    sensitivity against the definition with :func:`dpselect.audit.check_admissible`.

    Examples:
        Score a node by its neighbours that have other neighbours too. An edge at the node
        itself changes at most one of those, an edge elsewhere at most two, and all scores
        move in the same direction.

        >>> import numpy as np
        >>> import dpselect as dp
        >>> from dpselect.networks import Graph
        >>> class Brokers:
        ...     name = "brokers"
        ...     direction = "non-decreasing"
        ...
        ...     def objective(self, graph):
        ...         busy = np.concatenate([[0], np.cumsum(graph.degrees[graph.rows] > 1)])
        ...         scores = np.diff(busy[graph.starts])
        ...         change = dp.GlobalSensitivity(2, dp.Neighbours.EDGE)
        ...         return dp.Objective(scores, change, graph.nodes, monotone=True)
        ...
        ...     def largest(self, graph):
        ...         return len(graph) - 1.0
        >>> star = Graph.from_edges([(0, 1), (0, 2), (2, 3)], nodes=4)
        >>> Brokers().objective(star).scores
        array([1., 1., 1., 1.])
    """

    @property
    def name(self) -> str:
        """The short name, as tables and the command line have it."""

    @property
    def direction(self) -> Direction:
        """How the sensitivity goes with the score, for shifted dampening. Public."""

    def objective(self, graph: Graph | EdgeTable) -> Objective:
        """Return the score of every node, in node order, under ``Neighbours.EDGE``."""

    def largest(self, graph: Graph | EdgeTable) -> float:
        """Return a score that no graph on these nodes exceeds: an anchor. Public.

        It may read the nodes of the graph, never its edges.
        """
