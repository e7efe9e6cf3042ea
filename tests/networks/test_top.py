"""The most influential nodes: plans, laws, data, and what names of metrics stand for."""

import tracemalloc
from functools import partial

import networkx as nx
import polars as pl
import pytest

import dpselect as dp
from dpselect.networks import Graph, Metric, degree

EDGES = [(0, 1), (0, 2), (0, 3), (1, 2), (3, 4), (1, 4)]
GRAPH = Graph.from_edges(EDGES, nodes=5)
TWO = ["degree", "ego-density"]


def nodes(metric, *, n=5, k=1, epsilon=1.0, **asked):
    return dp.TopNodes(nodes=n, metric=metric, k=k, epsilon=epsilon, **asked)


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
        for asked in ({"metric": "degree"}, {"metric": {"degree": 1, "ego-density": 100}}):
            assert nodes(n=10**9, **asked).plan.error.value < 1e4
        assert tracemalloc.get_traced_memory()[1] < 2**25
    finally:
        tracemalloc.stop()


STAR = [(0, leaf) for leaf in range(1, 5)]
FRAME = pl.DataFrame(STAR, schema=["source", "target"], orient="row")


@pytest.mark.parametrize("kind", ["to_pandas", "lazy", "clone"])
def test_a_check_reads_the_schema_alone(kind, crossing):
    data = getattr(FRAME, kind)()
    crossing.clear()
    nodes("degree").check(data)

    assert not crossing
