"""The most influential nodes: plans, laws, data, and what names of metrics stand for."""

import tracemalloc
from functools import partial
from itertools import combinations

import networkx as nx
import numpy as np
import polars as pl
import pytest

import dpselect as dp
from dpselect.combine import COMBINATIONS
from dpselect.errors import PublicClaimError
from dpselect.networks import Graph, Metric, degree, ego_betweenness, ego_density
from dpselect.networks.betweenness import ego_betweenness_facts
from dpselect.networks.top import OTHER_ORDER
from support.refusals import refused

EDGES = [(0, 1), (0, 2), (0, 3), (1, 2), (3, 4), (1, 4)]
GRAPH = Graph.from_edges(EDGES, nodes=5)
TWO = ["degree", "ego-density"]
FRONT = {"metric": TWO, "combine": "pareto"}
COMBINED_METRICS = {
    "pareto": FRONT,
    "weighted-sum": {"metric": TWO, "combine": "weighted-sum", "weights": [1, 100]},
    "margin": {"metric": TWO, "combine": "margin"},
}


def nodes(metric, *, n=5, k=1, epsilon=1.0, **asked):
    return dp.TopNodes(nodes=n, metric=metric, k=k, epsilon=epsilon, **asked)


def mechanism_of(query):
    return query.design().draw.mechanism


@pytest.mark.parametrize("combine", COMBINATIONS)
def test_a_combination_is_that_of_the_objectives(combine):
    asked = COMBINED_METRICS[combine]
    ours = nodes(**asked).objective(GRAPH)
    parts = [degree(GRAPH), ego_density(GRAPH)]
    theirs = dp.combine.by_name(combine, parts, asked.get("weights"))

    assert ours.scores == pytest.approx(theirs.scores)
    assert ours.neighbours is dp.Neighbours.EDGE
    for t in range(5):
        assert ours.sensitivity.at(t) == pytest.approx(theirs.sensitivity.at(t))


METRICS_BY_FORM = {
    "degree": {"metric": "degree"},
    "ego-density": {"metric": "ego-density"},
    "ego-betweenness": {"metric": "ego-betweenness"},
    "at most 3 neighbours": {"metric": "ego-betweenness", "max_degree": 3},
    "by degrees": {"metric": "ego-betweenness", "mechanism": "shifted"},
    "a sum": {"metric": {"degree": 1, "ego-density": 0.3}},
    "of one": {"metric": {"ego-betweenness": -3}},
    "persons": {"metric": "ego-density", "user": "u", "max_per_user": 2},
    "whole numbers": {
        "metric": ["degree", "degree"],
        "combine": "weighted-sum",
        "weights": [1, 2],
    },
    "pareto of a sum": {
        "metric": ["degree", {"ego-density": 2, "ego-betweenness": 1}],
        "combine": "pareto",
    },
    "margin": {"metric": TWO, "combine": "margin", "weights": [1, -1]},
}


@pytest.mark.parametrize("form", METRICS_BY_FORM)
def test_what_is_stated_before_any_graph_holds_of_all(form):
    """All graphs of 4 nodes, one of each shape; persons own the edges of a graph read so."""
    query = nodes(n=4, **METRICS_BY_FORM[form])
    choice = query.design().choice
    facts = choice.facts(4)

    for network in nx.graph_atlas_g():
        if len(network) != 4 or max(dict(network.degree).values()) > (query.max_degree or 4):
            continue
        found = choice.objective(Graph.from_networkx(network, nodes=4))
        for fact in ("monotone", "highest", "direction", "step"):
            assert getattr(found, fact) == getattr(facts, fact)
        for fact in ("bound", "l1", "neighbours"):
            assert getattr(found.sensitivity, fact) == getattr(facts.sensitivity, fact)
        assert found.scores.size == len(facts)
        assert found.highest is None or found.scores.max() <= found.highest + 1e-9


@pytest.mark.parametrize(
    ("asked", "mechanism"),
    [
        ({"metric": "degree"}, dp.PermuteAndFlip),
        ({"metric": degree}, dp.PermuteAndFlip),
        ({"metric": degree, "mechanism": "exponential"}, dp.ExponentialMechanism),
        ({"metric": "ego-density"}, dp.PairwiseLocalDampening),
        ({"metric": ego_betweenness}, dp.PairwiseLocalDampening),
        ({"metric": Metric(ego_betweenness, ego_betweenness_facts)}, dp.PermuteAndFlip),
        (COMBINED_METRICS["weighted-sum"], dp.PermuteAndFlip),
        ({"metric": {"degree": 1, "ego-betweenness": 1}}, dp.PairwiseLocalDampening),
        (COMBINED_METRICS["margin"], dp.PermuteAndFlip),
        # Of nodes that are dominated plain dampening may prefer those of large sensitivities.
        (FRONT, dp.LocalDampening),
        (FRONT | {"dominance": "strict"}, dp.LocalDampening),
        (FRONT | {"k": 3, "redraw": "remaining"}, dp.LocalDampening),
        (FRONT | {"dominance": "weak"}, dp.PairwiseLocalDampening),
        (FRONT | {"k": 2}, dp.PairwiseLocalDampening),
    ],
)
def test_metrics_and_combinations_choose_the_mechanism(asked, mechanism):
    query = nodes(**asked)

    assert isinstance(mechanism_of(query), mechanism)
    query.release(GRAPH)


def test_a_sum_of_metrics_is_drawn_as_a_weighted_sum():
    weights = {"degree": 1, "ego-betweenness": 2}
    alone, combined = (
        nodes(weights),
        nodes([*weights], combine="weighted-sum", weights=[*weights.values()]),
    )

    assert mechanism_of(alone) == mechanism_of(combined)
    assert (alone.objective(GRAPH).scores == combined.objective(GRAPH).scores).all()


@pytest.mark.parametrize(
    ("mechanism", "bound"),
    [
        ("shifted", "degree"),
        ("anchored", "degree"),
        ("pairwise", "codegree"),
        ("exponential", "codegree"),
        (dp.ShiftedLocalDampening, "degree"),
        (partial(dp.ShiftedLocalDampening, direction="non-decreasing"), "degree"),
        (dp.LocalDampening, "codegree"),
    ],
)
def test_a_name_stands_for_the_bound_that_suits_the_mechanism(mechanism, bound):
    clique = Graph.from_edges(list(combinations(range(9), 2)), nodes=12)
    path = Graph.from_edges([(0, leaf) for leaf in range(1, 9)], nodes=12)

    for graph in (clique, path):
        chosen = nodes("ego-betweenness", n=12, mechanism=mechanism).objective(graph)
        expected = ego_betweenness(graph, sensitivity=bound)
        assert np.array_equal(chosen.sensitivity.at(0), expected.sensitivity.at(0))


def test_a_metric_of_ones_own_says_what_its_facts_say():
    """What the objective claims besides is not used: it may be read off the edges."""

    def popularity(graph):
        ours = degree(graph)
        claims = {"monotone": True, "highest": ours.scores.max()}
        return dp.Objective(ours.scores, ours.sensitivity, ours.candidates, **claims)

    facts = dp.Facts(candidates=5, sensitivity=degree(GRAPH).sensitivity, highest=4.5)
    popular = Metric(popularity, lambda _nodes: facts, counts=["degrees"])
    decreasing = partial(dp.ShiftedLocalDampening, direction="non-increasing")
    query = nodes(popular, mechanism=decreasing)
    found = query.objective(GRAPH)
    release = query.release(GRAPH)

    assert (found.monotone, found.highest) == (False, 4.5)
    assert query.plan.passes == 1
    assert "non-increasing" in release.mechanism
    assert "popularity" in release.arguments["metric"]


def test_a_network_of_a_billion_nodes_is_planned_in_no_memory():
    tracemalloc.start()
    try:
        for asked in ({"metric": "degree"}, COMBINED_METRICS["weighted-sum"]):
            assert nodes(n=10**9, **asked).plan.error.value < 1e4
        assert tracemalloc.get_traced_memory()[1] < 2**25
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("asked", "keeps"),
    [
        ({"metric": "ego-betweenness"}, True),
        ({"metric": "ego-betweenness", "mechanism": "shifted"}, False),
        ({"metric": "ego-density", "mechanism": "anchored"}, False),
        ({"metric": "degree", "mechanism": "shifted"}, True),
        ({"metric": "ego-density", "mechanism": "noisy-sequence"}, True),
        ({"metric": "ego-density", "mechanism": "generalized"}, True),
        ({"metric": TWO, "combine": "pareto"}, True),
        ({"metric": TWO, "combine": "pareto", "mechanism": "local-dampening", "k": 2}, False),
    ],
)
def test_a_plan_says_where_the_best_node_may_not_be_first(asked, keeps):
    assert (OTHER_ORDER not in nodes(**asked).plan.mechanism) == keeps


def test_nodes_are_compared_with_those_that_remain(monkeypatch):
    """Every round is one draw, at its share of epsilon, by the Pareto score of the rest."""
    edges = [(0, 1), (0, 2), (0, 3), (0, 4), (1, 2), (5, 3)]
    graph, rounds = Graph.from_edges(edges, nodes=6), []

    def drawn(mechanism, objective, _k=1):
        rounds.append((mechanism.epsilon, objective))
        return [2]

    monkeypatch.setattr(dp.ExponentialMechanism, "draw_positions", drawn)
    asked = {"combine": "pareto", "redraw": "remaining", "mechanism": "exponential"}
    release = nodes(TWO, n=6, k=3, epsilon=6.0, **asked).release(edges)
    parts = [degree(graph), ego_density(graph)]
    left = np.arange(6)

    assert release.answer == (2, 3, 4)
    for epsilon, objective in rounds:
        expected = dp.pareto([part.take(left) for part in parts])
        assert epsilon == 2.0
        assert list(objective.candidates) == left.tolist()
        assert objective.scores.tolist() == expected.scores.tolist()
        assert (objective.sensitivity.at(1) == expected.sensitivity.at(1)).all()
        left = np.delete(left, 2)


STAR = [(0, leaf) for leaf in range(1, 5)]
FRAME = pl.DataFrame(STAR, schema=["source", "target"], orient="row")


@pytest.mark.parametrize("kind", ["to_pandas", "lazy", "clone"])
def test_a_check_reads_the_schema_alone(kind, crossing):
    data = getattr(FRAME, kind)()
    crossing.clear()
    nodes("degree").check(data)

    assert not crossing


def test_a_record_that_is_no_edge_is_a_claim_that_takes_a_pass():
    frame = pl.DataFrame({"source": [0, 0, 9], "target": [1, 2, 1]})
    claimed = nodes("degree", epsilon=200.0, on_invalid="raise")
    repaired = nodes("degree", epsilon=200.0)

    assert claimed.plan.passes == repaired.plan.passes + 1
    for data in (frame, frame.lazy()):
        assert repaired.release(data).answer == (0,)
        with refused("nodes", error=PublicClaimError):
            claimed.release(data)
