"""Counts around nodes against networkx and against their definitions."""

from itertools import combinations

import networkx as nx
import pytest
from hypothesis import given, strategies as st

from dpselect.networks import Graph


@st.composite
def networks(draw, most=12):
    n = draw(st.integers(1, most))
    pairs = list(combinations(range(n), 2))
    chosen = draw(st.sets(st.sampled_from(pairs))) if pairs else set()
    network = nx.empty_graph(n)
    network.add_edges_from(chosen)
    return network


def of(network):
    return Graph.from_networkx(network, nodes=network.number_of_nodes())


def ego_betweenness(network, node):
    """Return Definition 19 by networkx: betweenness in the ego network, unordered pairs."""
    ego = nx.ego_graph(network, node)
    return nx.betweenness_centrality(ego, normalized=False)[node]


def common(network, v):
    return [len(set(network[v]) & set(network[w])) for w in network if w != v]


@given(networks())
def test_common_neighbours_are_counted_over_all_other_nodes(network):
    least, most = of(network).common_neighbours()

    assert least.tolist() == [min(common(network, v), default=0) for v in network]
    assert most.tolist() == [max(common(network, v), default=0) for v in network]


@pytest.mark.parametrize(
    "made",
    [
        lambda: nx.fast_gnp_random_graph(1500, 0.01, seed=1),
        lambda: nx.barabasi_albert_graph(2000, 5, seed=2),
        lambda: nx.star_graph(600),
        lambda: nx.complete_graph(60),
    ],
    ids=["random", "scale-free", "star", "complete"],
)
def test_many_nodes_in_many_pieces_are_counted_once(made):
    network = made()
    graph, nodes = of(network), list(network)[::97]

    assert graph.triangles().tolist() == list(nx.triangles(network).values())
    assert graph.ego_betweenness()[nodes] == pytest.approx(
        [ego_betweenness(network, node) for node in nodes], abs=1e-9
    )
    assert graph.common_neighbours().most[nodes].tolist() == [
        max(common(network, v)) for v in nodes
    ]
