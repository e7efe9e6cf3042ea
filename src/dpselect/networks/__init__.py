"""The most influential nodes of a network, each edge private.

A graph on public nodes becomes an objective over them: a centrality, with what one edge can
change of it. Any mechanism then chooses from that.

Source: Farias et al., Local Dampening, VLDB J. 2023, section 6.
"""

from dpselect.networks.betweenness import EgoBetweenness, ego_betweenness
from dpselect.networks.combined import Margin, Pareto, WeightedSum
from dpselect.networks.degree import Degree, degree
from dpselect.networks.density import EgoDensity, ego_density
from dpselect.networks.engine import EdgeTable
from dpselect.networks.graph import Graph
from dpselect.networks.metric import Metric
from dpselect.networks.selection import influential_nodes

__all__ = [
    "Degree",
    "EdgeTable",
    "EgoBetweenness",
    "EgoDensity",
    "Graph",
    "Margin",
    "Metric",
    "Pareto",
    "WeightedSum",
    "degree",
    "ego_betweenness",
    "ego_density",
    "influential_nodes",
]
