"""The most influential nodes of a network, where each edge is private.

A graph on public nodes becomes an objective over them: a centrality, with what one edge can
change of it. Any mechanism then chooses from that.

Source: Farias et al., Local Dampening, VLDB J. 2023, section 6.
"""

from dpselect.networks.betweenness import ego_betweenness
from dpselect.networks.counts import CommonNeighbours, NodeCounts
from dpselect.networks.density import ego_density
from dpselect.networks.edge_table import EdgeTable
from dpselect.networks.graph import Graph
from dpselect.networks.hubs import plan_hubs, release_hubs
from dpselect.networks.metrics import METRICS, Metric, NamedMetric, degree
from dpselect.networks.release import plan_nodes, release_nodes

__all__ = [
    "METRICS",
    "CommonNeighbours",
    "EdgeTable",
    "Graph",
    "Metric",
    "NamedMetric",
    "NodeCounts",
    "degree",
    "ego_betweenness",
    "ego_density",
    "plan_hubs",
    "plan_nodes",
    "release_hubs",
    "release_nodes",
]


def __dir__() -> list[str]:
    return sorted(__all__)
