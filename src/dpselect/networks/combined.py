"""Nodes that are good in several metrics at once (DP-MOTkIN), as metrics themselves.

Each is a metric like any other, so :func:`~dpselect.networks.influential_nodes` releases from
it by any mechanism: PrivPareto is :class:`Pareto` and PrivAgg :class:`WeightedSum`, with
``"exponential"`` in their global and with ``"local-dampening"`` in their local version.

Scores are computed once, on all nodes: a node that was drawn leaves the others' scores as
they are, so that k rounds are one noisy top-k.

Source: Farias et al., PrivPareto and PrivAgg, section 7 (DP-MOTkIN).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from numpy.typing import ArrayLike

from dpselect import combine
from dpselect.errors import ParameterError
from dpselect.networks.engine import EdgeTable
from dpselect.networks.graph import Graph
from dpselect.networks.metric import Metric
from dpselect.networks.metrics import named
from dpselect.objective import Objective
from dpselect.typing import Direction


@dataclass(frozen=True)
class _Several:
    """Some metrics, by name or as objects; at least one.

    Attributes:
        metrics: The metrics that are combined. Public.
    """

    metrics: Sequence[str | Metric]

    def __post_init__(self) -> None:
        if isinstance(self.metrics, str) or not self.metrics:
            raise ParameterError("metrics must be a sequence of at least one metric")
        object.__setattr__(self, "metrics", tuple(named(metric) for metric in self.metrics))

    @property
    def _parts(self) -> tuple[Metric, ...]:
        return tuple(named(metric) for metric in self.metrics)

    def _objectives(self, graph: Graph | EdgeTable) -> list[Objective]:
        return [metric.objective(graph) for metric in self._parts]


@dataclass(frozen=True)
class Pareto(_Several):
    """Minus the number of nodes that are better in one metric and worse in none.

    Attributes:
        horizon: Public distance from which on the sensitivity is its bound; the default of
            :func:`dpselect.pareto` if not given.
    """

    horizon: int | None = None

    @property
    def name(self) -> str:
        """The metrics, as tables and the command line have them."""
        return f"pareto({', '.join(metric.name for metric in self._parts)})"

    @property
    def direction(self) -> Direction:
        """Better nodes have fewer others that may come to dominate them."""
        return "non-increasing"

    def objective(self, graph: Graph | EdgeTable) -> Objective:
        """Return the Pareto score of every node."""
        return combine.pareto(self._objectives(graph), horizon=self.horizon)

    def largest(self, graph: Graph | EdgeTable) -> float:  # noqa: ARG002 -- the same for every graph
        """Return 0, the score of a node on the front."""
        return 0.0


@dataclass(frozen=True)
class WeightedSum(_Several):
    """The sum of the metrics, each times its weight.

    Attributes:
        weights: One finite number per metric. Public.
    """

    weights: ArrayLike = field(kw_only=True)

    @property
    def name(self) -> str:
        """The metrics, as tables and the command line have them."""
        return f"weighted-sum({', '.join(metric.name for metric in self._parts)})"

    @property
    def direction(self) -> Direction:
        """That of the first metric."""
        return self._parts[0].direction

    def objective(self, graph: Graph | EdgeTable) -> Objective:
        """Return the weighted sum for every node."""
        return combine.weighted_sum(self._objectives(graph), self.weights)

    def largest(self, graph: Graph | EdgeTable) -> float:
        """Return what no node exceeds: no metric is below 0."""
        import numpy as np

        most = np.array([metric.largest(graph) for metric in self._parts])
        return float(np.maximum(np.asarray(self.weights, dtype=np.float64), 0) @ most)


@dataclass(frozen=True)
class Margin(_Several):
    """How far every node is from being beaten in all metrics at once."""

    @property
    def name(self) -> str:
        """The metrics, as tables and the command line have them."""
        return f"margin({', '.join(metric.name for metric in self._parts)})"

    @property
    def direction(self) -> Direction:
        """Either: the sensitivity is the same for all nodes."""
        return "non-decreasing"

    def objective(self, graph: Graph | EdgeTable) -> Objective:
        """Return the margin of every node."""
        return combine.margin(self._objectives(graph))

    def largest(self, graph: Graph | EdgeTable) -> float:
        """Return a lead, in steps, that no node has over all others."""
        parts = self._parts
        empty = Graph.without_edges(graph.nodes)
        bounds = [metric.objective(empty).sensitivity.bound for metric in parts]
        leads = (m.largest(graph) / bound for m, bound in zip(parts, bounds, strict=True))
        return max(leads)
