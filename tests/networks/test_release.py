"""Releases of nodes: the plan, the law, and the metric and mechanism that names stand for."""

from functools import partial
from itertools import combinations, permutations

import networkx as nx
import numpy as np
import polars as pl
import pytest
from scipy import stats

import dpselect as dp
from dpselect.combine import COMBINATIONS
from dpselect.errors import NeighboursError, ParameterError, PublicClaimError
from dpselect.mechanisms import MECHANISMS
from dpselect.networks import (
    METRICS,
    EdgeTable,
    Graph,
    degree,
    ego_betweenness,
    ego_density,
    plan_nodes,
    release_nodes,
)
from dpselect.networks.metrics import COMBINED, choose

EDGES = [(0, 1), (0, 2), (0, 3), (1, 2), (3, 4), (1, 4)]
GRAPH = Graph.from_edges(EDGES, nodes=5)
TWO = ["degree", "ego-density"]
COMBINED_METRICS = {
    "pareto": {"metric": TWO, "combine": "pareto"},
    "weighted-sum": {"metric": TWO, "combine": "weighted-sum", "weights": [1, 100]},
    "margin": {"metric": TWO, "combine": "margin"},
}
LOCAL = [name for name in MECHANISMS if name != "generalized"]


class Ledger:
    """A budget that remembers, or refuses."""

    neighbours = dp.Neighbours.EDGE

    def __init__(self, refuse=None):
        self.spent, self.refuse = [], refuse

    def spend(self, epsilon, *, neighbours, delta, rho, mechanism, **_):
        if self.refuse:
            raise self.refuse
        self.spent.append((epsilon, neighbours, delta, rho, mechanism))

    def remaining_after(self, *_, **__):
        if self.refuse:
            raise self.refuse


@pytest.mark.parametrize("mechanism", LOCAL)
@pytest.mark.parametrize("metric", METRICS)
def test_every_mechanism_chooses_by_every_metric(metric, mechanism):
    release = release_nodes(GRAPH, 3, metric=metric, mechanism=mechanism, epsilon=1.5)

    assert len(set(release.answer)) == 3
    assert set(release.answer) <= set(range(5))
    assert release.epsilon == 1.5
    times = 1 if mechanism == "noisy-sequence" else 3
    spends = [(spend.times, spend.epsilon) for spend in release.plan.spends]
    assert spends == [(times, 1.5 / times)]
    assert release.neighbours is dp.Neighbours.EDGE
    assert release.exact


@pytest.mark.parametrize("mechanism", [None, *LOCAL])
@pytest.mark.parametrize("combine", COMBINATIONS)
def test_several_metrics_are_combined(combine, mechanism):
    if (combine, mechanism) == ("margin", "anchored"):
        mechanism = partial(dp.AnchoredLocalDampening, anchor=4)  # it states no highest score
    budget = dp.Budget(1.0, neighbours=dp.Neighbours.EDGE)
    release = release_nodes(
        GRAPH, 3, **COMBINED_METRICS[combine], mechanism=mechanism, epsilon=0.9, budget=budget
    )

    assert len(set(release.answer)) == 3
    assert release.plan.arguments["metric"] == f"{combine}(degree, ego-density)"
    assert budget.remaining == pytest.approx(0.1)


@pytest.mark.parametrize("combine", COMBINATIONS)
def test_a_combination_is_that_of_the_objectives(combine):
    asked = COMBINED_METRICS[combine]
    ours = choose(**asked, epsilon=1).objective(GRAPH)
    parts = [degree(GRAPH), ego_density(GRAPH)]
    theirs = dp.combine.by_name(combine, parts, asked.get("weights"))

    assert ours.scores == pytest.approx(theirs.scores)
    assert ours.neighbours is dp.Neighbours.EDGE
    for t in range(5):
        assert ours.sensitivity.at(t) == pytest.approx(theirs.sensitivity.at(t))


@pytest.mark.parametrize("combine", ["pareto", "weighted-sum"])
def test_no_graph_exceeds_the_anchor_of_a_combination(combine):
    """All 34 graphs of 5 nodes, up to the names of these."""
    choice = choose(**COMBINED_METRICS[combine], epsilon=1)
    highest = choice.objective(Graph.without_edges(5)).highest

    for network in nx.graph_atlas_g():
        if len(network) != 5:
            continue
        objective = choice.objective(Graph.from_edges([*network.edges], nodes=5))
        assert objective.scores.max() <= highest + 1e-9
        assert objective.highest == highest


@pytest.mark.parametrize("name", COMBINED)
def test_every_combination_that_has_a_mechanism_exists(name):
    assert name in COMBINATIONS
    assert COMBINED[name][0] in MECHANISMS


def test_a_large_epsilon_finds_the_most_central_nodes_by_name():
    names = ["ann", "bob", "cy", "dee", "eve"]
    contacts = [("ann", "bob"), ("ann", "cy"), ("ann", "dee"), ("bob", "eve")]
    graph = Graph.from_edges(contacts, nodes=names)
    release = release_nodes(
        graph, 2, metric="ego-betweenness", mechanism="pairwise", epsilon=1e3
    )

    assert release.answer == ("ann", "bob")


@pytest.mark.parametrize(
    ("metric", "mechanism"),
    [
        ("degree", dp.PermuteAndFlip),
        ("ego-density", dp.AnchoredLocalDampening),
        ("ego-betweenness", dp.ShiftedLocalDampening),
        (degree, dp.PermuteAndFlip),
        (ego_betweenness, dp.ShiftedLocalDampening),
        (partial(ego_betweenness, max_degree=4), dp.PermuteAndFlip),
    ],
)
def test_the_metric_chooses_the_mechanism(metric, mechanism):
    choice = choose(metric, epsilon=1)

    assert isinstance(choice.mechanism, mechanism)
    assert isinstance(
        choose(metric, epsilon=1, mechanism="pairwise").mechanism, dp.PairwiseLocalDampening
    )


@pytest.mark.parametrize(
    ("combine", "weights", "mechanism"),
    [
        ("pareto", None, dp.ShiftedLocalDampening),
        ("weighted-sum", [1, 100], dp.ShiftedLocalDampening),
        ("weighted-sum", [1, -100], dp.LocalDampening),
        ("margin", None, dp.PermuteAndFlip),
    ],
)
def test_the_combination_chooses_the_mechanism(combine, weights, mechanism):
    choice = choose(TWO, combine=combine, weights=weights, epsilon=1)

    assert isinstance(choice.mechanism, mechanism)
    release_nodes(GRAPH, 1, metric=TWO, combine=combine, weights=weights, epsilon=1)


def test_ego_betweenness_is_found_on_a_graph_with_hubs():
    """Three hubs among 2,000 nodes, epsilon 2: the global sensitivity alone finds none."""
    hubs = [(hub, 3 + (leaf * 7 + hub) % 1997) for hub in range(3) for leaf in range(600)]
    graph = Graph.from_edges(hubs, nodes=2000)
    objective = ego_betweenness(graph, sensitivity="degree")
    chosen = choose("ego-betweenness", epsilon=2).mechanism

    assert chosen.probabilities(objective)[:3].sum() > 0.99
    assert dp.PermuteAndFlip(epsilon=2).probabilities(objective)[:3].sum() < 0.01


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
        chosen = choose("ego-betweenness", epsilon=1, mechanism=mechanism).objective(graph)
        expected = ego_betweenness(graph, sensitivity=bound)
        assert np.array_equal(chosen.sensitivity.at(0), expected.sensitivity.at(0))


def test_metrics_and_mechanisms_can_be_given_as_callables():
    def popularity(graph):
        return degree(graph)

    release = release_nodes(
        GRAPH,
        1,
        metric=popularity,
        mechanism=partial(dp.ShiftedLocalDampening, direction="non-increasing"),
        epsilon=1,
    )

    assert "non-increasing" in release.mechanism
    assert release.plan.arguments["metric"] == "popularity"


@pytest.mark.parametrize(
    "asked",
    [
        {"metric": "degree"},
        {"metric": "ego-density", "mechanism": "pairwise"},
        {"metric": "ego-betweenness", "max_degree": 4},
        *COMBINED_METRICS.values(),
    ],
)
def test_a_release_carries_the_plan_that_needs_no_edges(asked):
    plan = plan_nodes(5, 2, **asked, epsilon=1.0)
    ledger = Ledger()
    release = release_nodes(GRAPH, 2, **asked, epsilon=1.0, budget=ledger)

    assert release.plan == plan
    assert plan.function == "release_nodes"
    assert "the nodes" in plan.public
    assert ledger.spent == [(1.0, dp.Neighbours.EDGE, 0.0, plan.rho, plan.description)]


def test_a_plan_states_the_error_in_the_unit_of_the_metric():
    plan = plan_nodes(30, 2, metric="degree", epsilon=1.0)

    assert plan.error.value == pytest.approx(2 * 2 * 6.3969, abs=1e-3)
    assert "neighbours" in plan.error.unit
    assert plan_nodes(30, 2, metric="ego-betweenness", epsilon=1.0).error.value == np.inf


def test_the_budget_is_spent_once_for_all_rounds():
    ledger = Ledger()
    release_nodes(GRAPH, 2, metric="degree", mechanism="exponential", epsilon=1, budget=ledger)

    ((epsilon, neighbours, delta, rho, mechanism),) = ledger.spent
    assert (epsilon, neighbours, delta) == (1, dp.Neighbours.EDGE, 0)
    assert rho <= 2 * 0.5**2 / 8 * (1 + 1e-9)
    assert mechanism == "release_nodes: ExponentialMechanism(epsilon=1.0)"


def of_records(graph):
    count = dp.GlobalSensitivity(1, dp.Neighbours.ADD_REMOVE)
    return dp.Objective(graph.degrees, count, graph.nodes)


@pytest.mark.parametrize(
    ("arguments", "error", "complaint"),
    [
        ({"k": 6}, ParameterError, "k must be at most the number of nodes, 5, not 6"),
        ({"k": 0}, ParameterError, "k must be at least 1"),
        ({"metric": "pagerank"}, ParameterError, "metric must be one of degree, ego-dens"),
        ({"metric": 7}, ParameterError, "metric must be one of degree, ego-dens"),
        ({"metric": [7]}, ParameterError, "metric must be one of degree, ego-dens"),
        ({"metric": []}, ParameterError, "at least one metric"),
        ({"metric": TWO}, ParameterError, "several metrics need combine=, one of pareto"),
        ({"metric": TWO, "combine": "sum"}, ParameterError, "combine must be one of pareto"),
        ({"metric": TWO, "combine": "weighted-sum"}, ParameterError, "needs weights"),
        (
            {"metric": TWO, "combine": "weighted-sum", "weights": [1]},
            ParameterError,
            "weights must be 2 numbers",
        ),
        (
            {"metric": TWO, "combine": "weighted-sum", "weights": "ab"},
            ParameterError,
            "weights must be",
        ),
        ({"weights": [1]}, ParameterError, "weights go with combine="),
        ({"max_degree": 3}, ParameterError, "max_degree goes with the metric ego-betweenness"),
        ({"metric": of_records}, NeighboursError, "must be stated for edge neighbours"),
        ({"mechanism": "best"}, ParameterError, "mechanism must be one of"),
        ({"epsilon": 0}, ParameterError, "epsilon must be finite and > 0"),
        (
            {"metric": "ego-betweenness", "max_degree": 2},
            PublicClaimError,
            "max_degree = 2",
        ),
        ({"graph": EDGES}, ParameterError, "graph must be a Graph"),
    ],
)
def test_bad_input_costs_nothing(arguments, error, complaint):
    ledger = Ledger()
    fine = {"graph": GRAPH, "k": 2, "metric": "degree", "mechanism": "shifted", "epsilon": 1}

    with pytest.raises(error, match=complaint):
        release_nodes(**(fine | arguments), budget=ledger)
    assert not ledger.spent


def test_an_engine_releases_by_the_same_plan():
    frame = pl.LazyFrame(EDGES, schema=["a", "b"], orient="row")
    table = EdgeTable(frame, source="a", target="b", nodes=5)

    for asked in ({"metric": "ego-betweenness"}, *COMBINED_METRICS.values()):
        release = release_nodes(table, 2, **asked, epsilon=1.0)
        assert release.plan == release_nodes(GRAPH, 2, **asked, epsilon=1.0).plan


def test_a_budget_that_refuses_stops_the_release():
    ledger = Ledger(NeighboursError("kept for another relation"))

    with pytest.raises(NeighboursError):
        release_nodes(
            GRAPH, 1, metric="degree", mechanism="exponential", epsilon=1, budget=ledger
        )


def law_of_rounds(mechanism, objective, k):
    """Return the law of ordered ``k``-tuples by drawing round after round, by enumeration.

    Unit scores are those of all nodes: a round only leaves out what was drawn before.
    """
    scores = mechanism.unit_scores(objective)
    law = {}
    for chosen in permutations(range(scores.size), k):
        left, probability = list(range(scores.size)), 1.0
        for node in chosen:
            one_round = mechanism.draws_by.law(scores[left], mechanism.epsilon / k)
            probability *= one_round[left.index(node)]
            left.remove(node)
        law[chosen] = probability
    return law


ROUNDS = [
    dp.ExponentialMechanism(epsilon=3),
    dp.PermuteAndFlip(epsilon=3),
    dp.LocalDampening(epsilon=3),
    dp.ShiftedLocalDampening(epsilon=3, direction="non-decreasing"),
    dp.AnchoredLocalDampening(epsilon=3, anchor=6),
]


@pytest.mark.slow
@pytest.mark.parametrize("mechanism", ROUNDS, ids=lambda m: m.name)
def test_simulations_of_k_follow_the_law_of_k_rounds(mechanism):
    """False alarm 1 in 10^6 each; a 5 % error in one of 20 outcomes is seen 9 times in 10."""
    objective = dp.networks.ego_betweenness(GRAPH)
    law = law_of_rounds(mechanism, objective, 2)
    drawn = mechanism.simulate(objective, 2, size=400_000, rng=np.random.default_rng(5))
    outcomes = np.asarray(drawn) @ [5, 1]
    observed = np.bincount(outcomes, minlength=25)[[5 * a + b for a, b in law]]
    expected = 400_000 * np.array(list(law.values()))

    assert sum(law.values()) == pytest.approx(1)
    assert stats.chisquare(observed, expected).pvalue > 1e-6


@pytest.mark.slow
@pytest.mark.parametrize("mechanism", ["local-dampening", "permute-and-flip"])
def test_releases_of_k_follow_the_law_of_k_rounds(mechanism):
    """Unseeded: false alarm 1 in 10^6; a shift of 10 % of mass is seen 99 times in 100."""
    draws = 1500
    kind = {"local-dampening": dp.LocalDampening, "permute-and-flip": dp.PermuteAndFlip}
    objective = degree(GRAPH)
    law = law_of_rounds(kind[mechanism](epsilon=2), objective, 2)
    counts = dict.fromkeys(law, 0)
    for _ in range(draws):
        release = release_nodes(GRAPH, 2, metric="degree", mechanism=mechanism, epsilon=2)
        counts[release.answer] += 1
    expected = [draws * probability for probability in law.values()]

    assert stats.chisquare(list(counts.values()), expected).pvalue > 1e-6


def test_nodes_are_compared_with_those_that_are_left(monkeypatch):
    """Every round is one draw, at its share of epsilon, by the Pareto score of the rest."""
    edges = [(0, 1), (0, 2), (0, 3), (0, 4), (1, 2), (5, 3)]
    graph, rounds = Graph.from_edges(edges, nodes=6), []

    def drawn(mechanism, objective, _k=1):
        rounds.append((mechanism.epsilon, objective))
        return [2]

    monkeypatch.setattr(dp.ExponentialMechanism, "choose", drawn)
    release = release_nodes(
        graph,
        3,
        metric=TWO,
        combine="pareto",
        among="left",
        epsilon=6.0,
        mechanism="exponential",
    )
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


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"among": "some"}, "among must be"),
        ({"metric": "degree", "combine": None}, "goes with combine="),
        ({"mechanism": "noisy-sequence"}, "has none"),
    ],
)
def test_rounds_among_those_left_need_a_comparison_and_rounds(changes, says):
    asked = {"metric": ["degree", "ego-density"], "combine": "pareto", "among": "left"}

    with pytest.raises(ParameterError, match=says):
        plan_nodes(6, 2, epsilon=1.0, **(asked | changes))
