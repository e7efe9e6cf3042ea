"""Counts around nodes against networkx and against their definitions."""

import networkx as nx
import pytest

from dpselect.networks import Graph


def of(network):
    return Graph.from_networkx(network, nodes=network.number_of_nodes())


def ego_betweenness(network, node):
    """Return Definition 19 by networkx: betweenness in the ego network, unordered pairs."""
    ego = nx.ego_graph(network, node)
    return nx.betweenness_centrality(ego, normalized=False)[node]


def common(network, v):
    return [len(set(network[v]) & set(network[w])) for w in network if w != v]


@pytest.mark.parametrize(
    "made",
    [
        lambda: nx.fast_gnp_random_graph(1500, 0.01, seed=1),
        lambda: nx.barabasi_albert_graph(2000, 5, seed=2),
        lambda: nx.star_graph(600),
        lambda: nx.complete_graph(60),
        lambda: nx.complete_multipartite_graph(3, 4, 5),
        lambda: nx.path_graph(2),
    ],
    ids=["random", "scale-free", "star", "complete", "multipartite", "an edge"],
)
def test_many_nodes_in_many_pieces_are_counted_once(made):
    network = made()
    graph, nodes = of(network), list(network)[::97]

    assert graph.triangles().tolist() == list(nx.triangles(network).values())
    assert graph.ego_betweenness()[nodes] == pytest.approx(
        [ego_betweenness(network, node) for node in nodes], abs=1e-9
    )
    least, most = graph.common_neighbours()
    assert least[nodes].tolist() == [min(common(network, v)) for v in nodes]
    assert most[nodes].tolist() == [max(common(network, v)) for v in nodes]
