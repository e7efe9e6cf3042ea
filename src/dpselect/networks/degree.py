"""Degree: the number of neighbours, and the baseline that every other metric has to beat."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dpselect.neighbours import Neighbours
from dpselect.networks.engine import EdgeTable
from dpselect.networks.graph import Graph
from dpselect.objective import Objective
from dpselect.sensitivity import GlobalSensitivity
from dpselect.typing import Direction


@dataclass(frozen=True, slots=True)
class Degree:
    r"""The number of neighbours.

    One edge more adds 1 to the degrees of its ends and takes from none: the sensitivity is 1
    at every graph, and the objective is monotone, which is worth a factor of 2 in epsilon.
    """

    name: ClassVar[str] = "degree"
    direction: ClassVar[Direction] = "non-decreasing"

    def objective(self, graph: Graph | EdgeTable) -> Objective:
        return Objective(
            graph.degrees, GlobalSensitivity(1, Neighbours.EDGE), graph.nodes, monotone=True
        )

    def largest(self, graph: Graph | EdgeTable) -> float:
        return float(len(graph) - 1)


def degree(graph: Graph | EdgeTable) -> Objective:
    r"""Return the degree of every node as an objective.

    Guarantee:
        :math:`\delta = \Delta = 1` under ``Neighbours.EDGE``, exact; monotone. The nodes are
        public.
    """
    return Degree().objective(graph)
