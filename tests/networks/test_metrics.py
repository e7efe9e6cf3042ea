"""Centralities as objectives: what the paper prints, what is admissible, what is refused."""

from functools import partial
from itertools import combinations

import networkx as nx
import numpy as np
import pytest

import dpselect as dp
from dpselect.networks import Graph, degree, ego_betweenness, ego_density
from support.graphs import GRAPHS


def of(edges, n):
    return Graph.from_edges(sorted(edges), nodes=n)


def flipped(edges, pair):
    return edges ^ {pair}


def test_example_1_the_ego_betweenness_of_two_hubs():
    """They are adjacent, and both are joined to six others."""
    hubs = nx.complete_multipartite_graph(1, 1, 6)

    assert ego_betweenness(of(hubs.edges, 8)).scores.tolist() == [7.5, 7.5, *[0.0] * 6]


BY_DEGREE = partial(ego_betweenness, sensitivity="degree")


@pytest.mark.parametrize("metric", [degree, ego_density, ego_betweenness, BY_DEGREE])
def test_every_metric_passes_the_audit_on_all_graphs_of_four_nodes(metric):
    report = dp.audit.check_admissible(
        lambda edges: metric(of(edges, 4)), GRAPHS, dp.Neighbours.EDGE
    )

    report.raise_if_failed()
    assert metric(of([], 4)).sensitivity.l1 is None or report.finding("l1").excess == 0
    largest = max(metric(of(edges, 4)).scores.max() for edges in GRAPHS)
    assert largest == metric(of([], 4)).highest


CLIQUE = nx.complete_graph(7)
CLIQUE.add_edges_from((7, member) for member in range(1, 5))
"""Node 7 shares one neighbour less with 0 than the others: joining it is the worst of all."""

DENSE = [
    CLIQUE,
    nx.complete_bipartite_graph(2, 9),
    nx.complete_multipartite_graph(4, 4, 3),
    nx.gnp_random_graph(12, 0.7, seed=3),
    nx.gnp_random_graph(12, 0.9, seed=4),
]


@pytest.mark.slow
@pytest.mark.parametrize("network", DENSE)
@pytest.mark.parametrize("objective_of", [ego_betweenness, ego_density])
def test_graphs_too_large_to_enumerate_are_admissible_where_we_look(network, objective_of):
    """Both conditions at every edge; codegrees above five are where p takes over."""
    n = network.number_of_nodes()
    edges = frozenset(tuple(sorted(edge)) for edge in network.edges)
    here = objective_of(of(edges, n))
    for pair in combinations(range(n), 2):
        there = objective_of(of(flipped(edges, pair), n))
        change = np.abs(here.scores - there.scores)
        assert (here.sensitivity.at(0) >= change - 1e-12).all()
        for t in range(n):
            near, far = here.sensitivity.at(t), there.sensitivity.at(t + 1)
            assert (far >= near - 1e-12).all()


@pytest.mark.parametrize("n", [1, 2, 3])
def test_the_smallest_graphs_have_objectives_too(n):
    graph = of(combinations(range(n), 2), n)

    for objective in (degree(graph), ego_density(graph), ego_betweenness(graph)):
        assert len(objective) == n
        assert dp.LocalDampening(epsilon=1).probabilities(objective).sum() == pytest.approx(1)


def scores_of(metric, graph):
    numbered = nx.convert_node_labels_to_integers(graph)
    return dict(zip(graph, metric(numbered).scores, strict=True))


@pytest.mark.slow
def test_scores_of_egos_are_those_of_networkx_on_its_atlas():
    for graph in nx.graph_atlas_g()[1::5]:
        betweenness = scores_of(ego_betweenness, graph)
        density = scores_of(ego_density, graph)
        for node in graph:
            ego = nx.ego_graph(graph, node)
            among = nx.betweenness_centrality(ego, normalized=False)
            others = graph.subgraph(graph[node])

            assert betweenness[node] == pytest.approx(among[node])
            assert density[node] == pytest.approx(nx.density(others))
