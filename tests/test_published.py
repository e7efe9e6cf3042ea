"""Others' numbers: laws that privacy libraries publish in their tests, and networkx's tests."""

import inspect

import networkx as nx
import numpy as np
import pytest
from networkx.algorithms.centrality.tests import test_betweenness_centrality as theirs

from dpselect.audit import delta
from dpselect.budget.zcdp import delta_of_gaussian
from dpselect.draws.sequence import DiscreteLaplace
from dpselect.networks import ego_betweenness, ego_density

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("deviation", "sensitivity", "epsilon", "published"),
    [
        (1, 1, 0, 0.38292492),
        (1, 1, 1, 0.12693674),
        (2, 6, 1, 0.78760074),
        (5, 5, 2, 0.02092364),
    ],
)
def test_gaussian_noise_has_the_delta_of_dp_accounting(
    deviation, sensitivity, epsilon, published
):
    found = delta_of_gaussian(sensitivity / deviation, epsilon)

    assert found == pytest.approx(published, abs=1e-8)


@pytest.mark.parametrize(
    ("rate", "sensitivity", "epsilon", "published"),
    [
        (1, 1, 1, 0),
        (1 / 3, 3, 1, 0),
        (0.5, 4, 2, 0),
        (0.5, 4, 0.5, 0.54202002),
        (0.5, 4, 1, 0.39346934),
    ],
)
def test_discrete_laplace_noise_has_the_delta_of_dp_accounting(
    rate, sensitivity, epsilon, published
):
    noise = DiscreteLaplace(1 / rate)
    counts = np.arange(-200, 201 + sensitivity)

    found = delta(noise.mass(counts), noise.mass(counts - sensitivity), epsilon)

    assert found == pytest.approx(published, abs=1e-8)


def _scores(metric, graph):
    numbered = nx.convert_node_labels_to_integers(graph)
    return dict(zip(graph, metric(numbered).scores, strict=True))


def _is_asked(graph, asked):
    plain = {name for name, value in asked.items() if value is not None} <= {"normalized"}
    return plain and not (graph.is_directed() or graph.is_multigraph())


THEIRS = [
    getattr(one(), name)
    for one in vars(theirs).values()
    if inspect.isclass(one) and "Edge" not in one.__name__
    for name in dir(one)
    if name.startswith("test_") and not inspect.signature(getattr(one(), name)).parameters
]


def test_ego_betweenness_passes_the_tests_of_networkx(monkeypatch):
    """A node beside all others has the whole graph as its ego network."""
    own, seen = nx.betweenness_centrality, []

    def replaced(graph, **asked):
        found = own(graph, **asked)
        n = len(graph)
        if _is_asked(graph, asked) and n > 2:
            pairs = (n - 1) * (n - 2) / 2 if asked.get("normalized", True) else 1
            ours = _scores(ego_betweenness, graph)
            beside = [node for node in graph if graph.degree(node) == n - 1]
            seen.extend(beside)
            found |= {node: ours[node] / pairs for node in beside}
        return found

    monkeypatch.setattr(nx, "betweenness_centrality", replaced)
    for test in THEIRS:
        test()

    assert len(seen) >= 7


def test_scores_of_egos_are_those_of_networkx_on_its_atlas():
    for graph in nx.graph_atlas_g()[1::5]:
        betweenness = _scores(ego_betweenness, graph)
        density = _scores(ego_density, graph)
        for node in graph:
            ego = nx.ego_graph(graph, node)
            among = nx.betweenness_centrality(ego, normalized=False)
            others = graph.subgraph(graph[node])

            assert betweenness[node] == pytest.approx(among[node])
            assert density[node] == pytest.approx(nx.density(others))
