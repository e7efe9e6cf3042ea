"""The most influential nodes of a network with private edges.

``TopNodes`` draws nodes by centralities, ``Hubs`` through noisy degrees. A graph on public
nodes becomes an objective over them: a centrality, with a bound on its change by one edge.

Source: Farias et al., Local Dampening, VLDB J. 2023, section 6.
"""

from dpselect.networks.betweenness import ego_betweenness
from dpselect.networks.density import ego_density
from dpselect.networks.edge_table import EdgeTable
from dpselect.networks.graph import CommonNeighbours, Graph, NodeCounts
from dpselect.networks.hubs import Hubs
from dpselect.networks.metrics import METRICS, Metric, degree
from dpselect.networks.top import TopNodes

__all__ = [
    "METRICS",
    "CommonNeighbours",
    "EdgeTable",
    "Graph",
    "Hubs",
    "Metric",
    "NodeCounts",
    "TopNodes",
    "degree",
    "ego_betweenness",
    "ego_density",
]


def __dir__() -> list[str]:
    return sorted(__all__)
