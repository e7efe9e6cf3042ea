r"""Ego betweenness: for how many pairs of neighbours a node lies between.

For nodes :math:`u, w \in N(v)` that are not adjacent, with :math:`k` other common neighbours
in :math:`N(v)`, a share :math:`1/(k + 1)` of the shortest paths goes through :math:`v`;

.. math:: EBC(v) = \sum_{\{u, w\} \subseteq N(v),\, u \not\sim w} \frac{1}{k_{uw} + 1}.

An edge :math:`vw` gives or takes at most one pair for each other neighbour, or changes the
share of the pairs among the :math:`c` common neighbours of :math:`v` and :math:`w` by at most
1/2 each: with :math:`p(k) = k(k - 1)/4` the change is at most :math:`\max(d, p(c))`. An edge
between two neighbours changes at most :math:`d/2`.

Source: Farias et al., VLDB J. 2023, Definition 19 and Lemmas 12, 13 and 16. The bound by a
public degree and the form with codegrees are ours.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar, Literal, TypeAlias

import numpy as np

from dpselect import _validate
from dpselect.errors import ParameterError, PublicClaimError
from dpselect.neighbours import Neighbours
from dpselect.networks import counts
from dpselect.networks.counts import Progress
from dpselect.networks.engine import EdgeTable
from dpselect.networks.graph import Graph
from dpselect.networks.switching import SwitchingSensitivity
from dpselect.objective import Objective
from dpselect.sensitivity import Sensitivity, TabulatedSensitivity
from dpselect.typing import Direction, Indices, Values

Form: TypeAlias = Literal["codegree", "degree"]
"""What the sensitivity reads off the graph besides the degrees."""


@dataclass(frozen=True, slots=True)
class EgoBetweenness:
    """The betweenness of a node within its own ego network.

    Attributes:
        max_degree: A degree that no node exceeds; ``n - 1`` if not given. Public: it must be
            known without looking at the edges.
        sensitivity: ``"codegree"`` or ``"degree"``; see :func:`ego_betweenness`. Public.
        progress: Told how many nodes are done.

    Raises:
        ParameterError: An argument is out of its range.
    """

    max_degree: int | None = None
    sensitivity: Form = "codegree"
    progress: Progress | None = field(default=None, repr=False, compare=False)
    name: ClassVar[str] = "ego-betweenness"
    direction: ClassVar[Direction] = "non-decreasing"

    def __post_init__(self) -> None:
        if self.max_degree is not None:
            _validate.at_least("max_degree", self.max_degree, 1)
        if self.sensitivity not in _FORMS:
            raise ParameterError(
                f"sensitivity must be one of {', '.join(_FORMS)}, not {self.sensitivity!r}"
            )

    def objective(self, graph: Graph | EdgeTable) -> Objective:
        bound = self._degree_bound(graph)
        if graph.degrees.max() > bound:
            raise PublicClaimError(
                f"a node has more than max_degree = {bound} neighbours; a public bound must "
                "hold for every graph that could have been given"
            )
        # The sensitivity first: where it cannot be had, the work for the scores is spared.
        sensitivity = _FORMS[self.sensitivity](graph, bound)
        scores = counts.ego_betweenness(graph, self.progress)
        return Objective(scores, sensitivity, graph.nodes)

    def largest(self, graph: Graph | EdgeTable) -> float:
        bound = self._degree_bound(graph)
        return bound * (bound - 1) / 2

    def _degree_bound(self, graph: Graph | EdgeTable) -> int:
        possible = len(graph) - 1
        return possible if self.max_degree is None else min(self.max_degree, possible)


def ego_betweenness(
    graph: Graph | EdgeTable,
    *,
    max_degree: int | None = None,
    sensitivity: Form = "codegree",
    progress: Progress | None = None,
) -> Objective:
    r"""Return the ego betweenness of every node as an objective.

    With :math:`d` the degree, :math:`h = \max_{w \ne v} |N(w) \cap N(v)|` and :math:`D` the
    public bound on degrees, :math:`\Delta = g(D - 1)` with :math:`g(k) = \max(k, k(k - 1)/4)`,
    and

    * ``"degree"``: :math:`\delta(t) = g(\min(d + t, D - 1))`, the best that degrees can tell;
    * ``"codegree"``: :math:`\delta(t) = \max(\min(d + t, D - 1), p(\min(h + t, D - 1)))`
      with :math:`p(k) = k(k - 1)/4`. Never larger, and smaller by a factor of about
      :math:`d/4` where neighbours have little in common. :math:`d` and :math:`h` move by at
      most 1 under one edge.

    Guarantee:
        Both are admissible under ``Neighbours.EDGE`` in the universe of graphs on the public
        nodes with no degree above :math:`D`; its path distance is the number of different
        edges. The horizon is :math:`D - 1`, where both have reached :math:`\Delta`.

    Args:
        graph: The graph.
        max_degree: :math:`D`, public; ``n - 1`` if not given.
        sensitivity: Which form. Public.
        progress: Told how many nodes are done.

    Raises:
        ParameterError: An argument is out of its range.
        PublicClaimError: A degree is above ``max_degree``; which, or by how much, is not said.

    Examples:
        >>> star = Graph.from_edges([(0, 1), (0, 2), (0, 3)], nodes=4)
        >>> ego_betweenness(star).scores
        array([3., 0., 0., 0.])
    """
    metric = EgoBetweenness(max_degree, sensitivity, progress)
    return metric.objective(graph)


def by_degrees(degrees: Indices, max_degree: int) -> TabulatedSensitivity:
    """Return the form ``"degree"`` for given degrees."""
    keys = _keys(max_degree)
    table = np.maximum(keys, _pairs(keys))
    return TabulatedSensitivity(table, degrees, table[-1], keys.size - 1, Neighbours.EDGE)


def by_codegrees(degrees: Indices, codegrees: Indices, max_degree: int) -> Sensitivity:
    r"""Return the form ``"codegree"`` for given degrees and codegrees.

    The two branches cross once at most: :math:`p(h + t) > d + t \ge h + t` needs
    :math:`h + t > 5`, and from there on :math:`p` grows by more than 1 a step.
    """
    keys = _keys(max_degree)
    horizon = keys.size - 1
    bound = max(keys[-1], _pairs(keys[-1]))
    linear = TabulatedSensitivity(keys, degrees, bound, horizon, Neighbours.EDGE)
    if _pairs(keys[-1]) <= keys[-1]:
        return linear
    pairs = TabulatedSensitivity(_pairs(keys), codegrees, bound, horizon, Neighbours.EDGE)
    return SwitchingSensitivity(linear, pairs, _crossing(degrees, codegrees, horizon))


def _crossing(degrees: Indices, codegrees: Indices, horizon: int) -> Indices:
    r"""Return the first ``t`` with :math:`p(h + t) > \min(d + t, D - 1)`."""
    # With k = h + t: k(k - 1)/4 > k + (d - h), or k(k - 1)/4 > D - 1. A whole root is a
    # perfect square's, whose floating-point square root is exact.
    apart = 16.0 * (degrees - codegrees)
    above_degree = np.floor((5 + np.sqrt(25 + apart)) / 2) + 1
    above_bound = np.floor((1 + np.sqrt(1 + 16.0 * horizon)) / 2) + 1
    crossing = np.minimum(above_degree, above_bound).astype(np.int64) - codegrees
    return np.maximum(crossing, 0)


def _keys(max_degree: int) -> Indices:
    """Return ``0`` to ``D - 1``; a graph without any path of two edges is no reason to stop."""
    return np.arange(max(max_degree, 2))


def _pairs(k: Indices) -> Values:
    return k * (k - 1) / 4


_FORMS: dict[str, Callable[[Graph | EdgeTable, int], Sensitivity]] = {
    "codegree": lambda graph, bound: by_codegrees(
        graph.degrees, counts.common_neighbours(graph).most, bound
    ),
    "degree": lambda graph, bound: by_degrees(graph.degrees, bound),
}
