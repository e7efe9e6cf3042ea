"""Several metrics as one, against the combinations of their objectives."""

import pytest

import dpselect as dp
from dpselect.errors import ParameterError
from dpselect.networks import (
    Degree,
    Graph,
    Margin,
    Pareto,
    WeightedSum,
    degree,
    ego_density,
    influential_nodes,
)

EDGES = [(0, 1), (0, 2), (0, 3), (1, 2), (3, 4), (1, 4), (5, 6)]
GRAPH = Graph.from_edges(EDGES, nodes=8)
PARTS = [degree(GRAPH), ego_density(GRAPH)]
NAMES = ["degree", "ego-density"]
METRICS = [Pareto(NAMES), WeightedSum(NAMES, weights=[1, 100]), Margin(NAMES)]


@pytest.mark.parametrize(
    ("metric", "objective"),
    [
        (METRICS[0], dp.pareto(PARTS)),
        (METRICS[1], dp.weighted_sum(PARTS, [1, 100])),
        (METRICS[2], dp.margin(PARTS)),
    ],
)
def test_a_combined_metric_is_the_combination(metric, objective):
    ours = metric.objective(GRAPH)

    assert ours.scores == pytest.approx(objective.scores)
    assert ours.neighbours is dp.Neighbours.EDGE
    for t in range(5):
        assert ours.sensitivity.at(t) == pytest.approx(objective.sensitivity.at(t))


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.name)
@pytest.mark.parametrize(
    "mechanism", ["exponential", "local-dampening", "shifted", "anchored", "pairwise"]
)
def test_nodes_are_released_without_replacement(metric, mechanism):
    budget = dp.Budget(1.0, neighbours=dp.Neighbours.EDGE)
    release = influential_nodes(
        GRAPH, 3, metric=metric, mechanism=mechanism, epsilon=0.9, budget=budget
    )

    assert len(set(release.candidates)) == 3
    assert release.epsilon_per_round == pytest.approx(0.3)
    assert budget.remaining == pytest.approx(0.1)


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.name)
def test_no_graph_exceeds_the_anchor(metric):
    every_pair = [(a, b) for b in range(5) for a in range(b)]
    for pattern in range(2 ** len(every_pair)):
        edges = [pair for i, pair in enumerate(every_pair) if pattern >> i & 1]
        graph = Graph.from_edges(edges, nodes=5)
        assert metric.objective(graph).scores.max() <= metric.largest(graph) + 1e-9


def test_the_anchor_reads_no_edge():
    empty = Graph.without_edges(8)

    for metric in METRICS:
        assert metric.largest(GRAPH) == metric.largest(empty)


def test_metrics_can_be_objects():
    assert Pareto([Degree(), "ego-density"]) == Pareto(NAMES)
    assert Pareto([Degree(), "ego-density"]).name == "pareto(degree, ego-density)"


@pytest.mark.parametrize("metrics", [[], "degree"])
def test_metrics_are_a_sequence(metrics):
    with pytest.raises(ParameterError, match="at least one metric"):
        Pareto(metrics)


def test_a_metric_has_to_exist():
    with pytest.raises(ParameterError, match="metric must be one of"):
        Margin(["fame"])


def test_an_empty_list_of_edges_is_a_graph_on_any_nodes():
    assert Graph.from_edges([], nodes=["Ann", "Bob"]).degrees.tolist() == [0, 0]
    assert Graph.without_edges(["Ann", "Bob"]).nodes == ("Ann", "Bob")
