r"""Egocentric density: the share of the pairs of neighbours that are adjacent.

.. math:: u(v) = \frac{2 A}{d (d - 1)},

with :math:`d` neighbours and :math:`A` edges between them; 0 where :math:`d < 2`.

Source: PrivPareto, section 7. Its Lemma 7.2 is not admissible; both forms here are ours.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

import numpy as np

from dpselect.errors import ParameterError
from dpselect.neighbours import Neighbours
from dpselect.networks import counts
from dpselect.networks.engine import EdgeTable
from dpselect.networks.graph import Graph
from dpselect.networks.spread import SpreadSensitivity
from dpselect.objective import Objective
from dpselect.sensitivity import Sensitivity, TabulatedSensitivity
from dpselect.typing import Direction, Indices

Form: TypeAlias = Literal["spread", "degree"]
"""What the sensitivity reads off the graph besides the degrees."""


@dataclass(frozen=True, slots=True)
class EgoDensity:
    """The share of the pairs of a node's neighbours that are adjacent.

    Attributes:
        sensitivity: ``"spread"`` or ``"degree"``; see :func:`ego_density`. Public.

    Raises:
        ParameterError: ``sensitivity`` is neither.
    """

    sensitivity: Form = "spread"
    name: ClassVar[str] = "ego-density"
    # The densest ego networks are small ones, whose densities one edge changes most.
    direction: ClassVar[Direction] = "non-decreasing"

    def __post_init__(self) -> None:
        if self.sensitivity not in _FORMS:
            raise ParameterError(
                f"sensitivity must be one of {', '.join(_FORMS)}, not {self.sensitivity!r}"
            )

    def objective(self, graph: Graph | EdgeTable) -> Objective:
        degrees = graph.degrees
        pairs = degrees * (degrees - 1) // 2
        scores = counts.triangles(graph) / np.maximum(pairs, 1)
        return Objective(scores, _FORMS[self.sensitivity](graph), graph.nodes)

    def largest(self, graph: Graph | EdgeTable) -> float:  # noqa: ARG002 -- the same for all graphs
        return 1.0


def ego_density(graph: Graph | EdgeTable, *, sensitivity: Form = "spread") -> Objective:
    r"""Return the egocentric density of every node as an objective.

    :math:`\Delta = 1`, and with :math:`d` the degree and :math:`k = d - t`

    * ``"degree"``: :math:`\delta(t) = \min(1, 2/\max(k, 1))`, attained by some graph for
      every :math:`d` and :math:`t`, but that an isolated node has 0 at :math:`t = 0`;
    * ``"spread"``: at most that, and much smaller in sparse graphs, where no other node has
      many neighbours in common with this one; see
      :class:`~dpselect.networks.spread.SpreadSensitivity`.

    Guarantee:
        Both are admissible under ``Neighbours.EDGE`` in the universe of all graphs on the
        public nodes. The horizon is ``n - 1``, where both have reached 1.

    Args:
        graph: The graph.
        sensitivity: Which form. Public.

    Raises:
        ParameterError: ``sensitivity`` is neither.

    Examples:
        >>> paw = Graph.from_edges([(0, 1), (0, 2), (1, 2), (0, 3)], nodes=4)
        >>> ego_density(paw).scores.round(3)
        array([0.333, 1.   , 1.   , 0.   ])
    """
    return EgoDensity(sensitivity).objective(graph)


def by_degrees(degrees: Indices, n: int) -> Sensitivity:
    """Return the form ``"degree"`` for degrees in a graph of ``n`` nodes."""
    # The key n - 1 - d + t counts upwards while the degree left, n - 1 - key, falls.
    left = np.arange(n)[::-1]
    table = np.minimum(1, 2 / np.maximum(left, 1))
    return TabulatedSensitivity(table, n - 1 - degrees, 1.0, n - 1, Neighbours.EDGE)


def by_spread(degrees: Indices, spreads: Indices, n: int) -> Sensitivity:
    """Return the form ``"spread"`` for degrees and spreads in a graph of ``n`` nodes."""
    return SpreadSensitivity(degrees, spreads, max(n - 1, 1))


def _by_spread(graph: Graph | EdgeTable) -> Sensitivity:
    least, most = counts.common_neighbours(graph)
    return by_spread(graph.degrees, most - least, len(graph))


_FORMS: dict[str, Callable[[Graph | EdgeTable], Sensitivity]] = {
    "spread": _by_spread,
    "degree": lambda graph: by_degrees(graph.degrees, len(graph)),
}
