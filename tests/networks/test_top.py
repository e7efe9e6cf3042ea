"""The most influential nodes: plans, laws, data, and what names of metrics stand for."""

from functools import partial
from itertools import combinations, permutations

import networkx as nx
import numpy as np
import polars as pl
import pytest
from scipy import stats

import dpselect as dp
from dpselect.combine import COMBINATIONS
from dpselect.errors import (
    ColumnError,
    DataError,
    NeighboursError,
    ParameterError,
    PublicClaimError,
)
from dpselect.mechanisms import MECHANISMS
from dpselect.networks import (
    METRICS,
    EdgeTable,
    Graph,
    degree,
    ego_betweenness,
    ego_density,
)
from dpselect.networks.metrics import COMBINED

EDGES = [(0, 1), (0, 2), (0, 3), (1, 2), (3, 4), (1, 4)]
GRAPH = Graph.from_edges(EDGES, nodes=5)
TWO = ["degree", "ego-density"]
COMBINED_METRICS = {
    "pareto": {"metric": TWO, "combine": "pareto"},
    "weighted-sum": {"metric": TWO, "combine": "weighted-sum", "weights": [1, 100]},
    "margin": {"metric": TWO, "combine": "margin"},
}
LOCAL = [name for name in MECHANISMS if name != "generalized"]


def nodes(metric, *, n=5, k=1, epsilon=1.0, **asked):
    return dp.TopNodes(nodes=n, metric=metric, k=k, epsilon=epsilon, **asked)


def mechanism_of(query):
    return query.design().draw.mechanism


class Ledger:
    """A budget that remembers, or refuses."""

    neighbours = dp.Neighbours.EDGE

    def __init__(self, refuse=None):
        self.spent, self.refuse = [], refuse

    def reserve(self, spends):
        if self.refuse:
            raise self.refuse
        return lambda: self.recorded(spends)

    def recorded(self, spends):
        if self.refuse:
            raise self.refuse
        names = ("epsilon", "neighbours", "delta", "rho", "mechanism")
        self.spent += [tuple(one[name] for name in names) for one in spends]
        return spends

    def remaining_after_all(self, _spends):
        if self.refuse:
            raise self.refuse

    def answered(self, _question):
        """Know no answer."""


@pytest.mark.parametrize("mechanism", LOCAL)
@pytest.mark.parametrize("metric", METRICS)
def test_every_mechanism_chooses_by_every_metric(metric, mechanism):
    release = nodes(metric, k=3, mechanism=mechanism, epsilon=1.5).release(GRAPH)

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
    if combine != "margin" and mechanism == "shifted":  # neither states a direction
        mechanism = {"name": "shifted", "direction": "non-increasing"}
    budget = dp.Budget(1.0, neighbours=dp.Neighbours.EDGE)
    asked = COMBINED_METRICS[combine]
    release = nodes(**asked, k=3, mechanism=mechanism, epsilon=0.9).release(
        GRAPH, budget=budget
    )

    assert len(set(release.answer)) == 3
    assert release.arguments["metric"] == TWO
    assert release.arguments["combine"] == combine
    assert budget.remaining == pytest.approx(0.1)


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


@pytest.mark.parametrize("combine", ["pareto", "weighted-sum"])
def test_no_graph_exceeds_the_anchor_of_a_combination(combine):
    """All 34 graphs of 5 nodes, up to the names of these."""
    query = nodes(**COMBINED_METRICS[combine])
    highest = query.objective([]).highest

    for network in nx.graph_atlas_g():
        if len(network) != 5:
            continue
        objective = query.objective(network)
        assert objective.scores.max() <= highest + 1e-9
        assert objective.highest == highest


@pytest.mark.parametrize("name", COMBINED)
def test_every_combination_that_has_a_mechanism_exists(name):
    assert name in COMBINATIONS
    assert COMBINED[name][0] in MECHANISMS


def test_a_large_epsilon_finds_the_most_central_nodes_by_name():
    names = ["ann", "bob", "cy", "dee", "eve"]
    contacts = [("ann", "bob"), ("ann", "cy"), ("ann", "dee"), ("bob", "eve")]
    query = nodes("ego-betweenness", n=names, k=2, mechanism="pairwise", epsilon=1e3)

    assert query.release(contacts).answer == ("ann", "bob")


@pytest.mark.parametrize(
    ("metric", "mechanism"),
    [
        ("degree", dp.PermuteAndFlip),
        ("ego-density", dp.PairwiseLocalDampening),
        ("ego-betweenness", dp.PairwiseLocalDampening),
        (degree, dp.PermuteAndFlip),
        (ego_betweenness, dp.PairwiseLocalDampening),
        (partial(ego_betweenness, max_degree=4), dp.PermuteAndFlip),
    ],
)
def test_the_metric_chooses_the_mechanism(metric, mechanism):
    named = mechanism_of(nodes(metric, mechanism="exponential"))

    assert isinstance(mechanism_of(nodes(metric)), mechanism)
    assert isinstance(named, dp.ExponentialMechanism)


@pytest.mark.parametrize(
    ("metric", "combine", "weights", "mechanism"),
    [
        (TWO, "pareto", None, dp.LocalDampening),
        (TWO, "weighted-sum", [1, 100], dp.PermuteAndFlip),
        (TWO, "weighted-sum", [1, -100], dp.PermuteAndFlip),
        (["degree", "ego-betweenness"], "weighted-sum", [1, 1], dp.PairwiseLocalDampening),
        (TWO, "margin", None, dp.PermuteAndFlip),
    ],
)
def test_the_combination_chooses_the_mechanism(metric, combine, weights, mechanism):
    query = nodes(metric, combine=combine, weights=weights)

    assert isinstance(mechanism_of(query), mechanism)
    query.release(GRAPH)


@pytest.mark.parametrize(
    ("asked", "mechanism"),
    [
        ({"k": 1}, dp.LocalDampening),
        ({"k": 1, "dominance": "strict"}, dp.LocalDampening),
        ({"k": 3, "redraw": "remaining"}, dp.LocalDampening),
        ({"k": 1, "dominance": "weak"}, dp.PairwiseLocalDampening),
        ({"k": 2}, dp.PairwiseLocalDampening),
    ],
)
def test_a_front_in_every_round_is_drawn_by_its_lead(asked, mechanism):
    """Of nodes that are dominated plain dampening may prefer those of large sensitivities."""
    assert isinstance(mechanism_of(nodes(TWO, combine="pareto", **asked)), mechanism)


def test_a_sum_of_metrics_is_one_of_several():
    one_sum = {"ego-density": 2, "ego-betweenness": 0.5}
    query = nodes(["degree", one_sum], combine="pareto", max_degree=4)
    parts = [degree(GRAPH), ego_density(GRAPH), ego_betweenness(GRAPH, max_degree=4)]
    expected = dp.pareto([parts[0], dp.weighted_sum(parts[1:], [2, 0.5])])
    found = query.objective(GRAPH)

    assert (found.scores == expected.scores).all()
    for distance in range(6):
        assert (found.sensitivity.at(distance) == expected.sensitivity.at(distance)).all()
    assert query.design().choice.metrics == (
        "degree",
        {"ego-density": 2, "ego-betweenness": 0.5},
    )
    assert query.release(GRAPH).answer[0] in range(5)


def test_a_sum_of_metrics_is_drawn_as_a_weighted_sum():
    weights = {"degree": 1, "ego-betweenness": 2}
    alone, combined = (
        nodes(weights),
        nodes([*weights], combine="weighted-sum", weights=[*weights.values()]),
    )

    assert mechanism_of(alone) == mechanism_of(combined)
    assert (alone.objective(GRAPH).scores == combined.objective(GRAPH).scores).all()


@pytest.mark.parametrize(
    ("metric", "says"),
    [
        ([{}, "degree"], "needs a metric"),
        ([{"degree": 0}, "ego-density"], "not all 0"),
        ([{"degree": float("nan")}, "ego-density"], "finite"),
        ([{"degree": "two"}, "ego-density"], "must be numbers"),
        ([{"deg": 1}, "ego-density"], "metric must be one of"),
    ],
)
def test_a_sum_of_metrics_is_checked_before_the_data(metric, says):
    with pytest.raises(ParameterError, match=says):
        nodes(metric, combine="pareto")


def test_the_front_leads_at_a_small_epsilon():
    """A hub among 2,000 nodes, which no edge brings near the others."""
    hub = [(0, leaf) for leaf in range(1, 700)] + [(1, 2), (2, 3)]
    query = nodes(TWO, n=2000, epsilon=0.5, combine="pareto")
    objective = query.objective(Graph.from_edges(hub, nodes=2000))
    front = objective.scores == 0

    assert mechanism_of(query).probabilities(objective)[front].sum() > 0.999
    pairwise = dp.PairwiseLocalDampening(epsilon=0.5).probabilities(objective)
    assert pairwise[front].sum() < 0.01


def test_ego_betweenness_is_found_on_a_graph_with_hubs():
    """Three hubs among 2,000 nodes, epsilon 2: the global sensitivity alone finds none."""
    hubs = [(hub, 3 + (leaf * 7 + hub) % 1997) for hub in range(3) for leaf in range(600)]
    query = nodes("ego-betweenness", n=2000, epsilon=2)
    objective = query.objective(Graph.from_edges(hubs, nodes=2000))

    assert mechanism_of(query).probabilities(objective)[:3].sum() > 0.99
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
        chosen = nodes("ego-betweenness", n=12, mechanism=mechanism).objective(graph)
        expected = ego_betweenness(graph, sensitivity=bound)
        assert np.array_equal(chosen.sensitivity.at(0), expected.sensitivity.at(0))


def test_metrics_and_mechanisms_can_be_given_as_callables():
    def popularity(graph):
        return degree(graph)

    decreasing = partial(dp.ShiftedLocalDampening, direction="non-increasing")
    release = nodes(popularity, mechanism=decreasing).release(GRAPH)

    assert "non-increasing" in release.mechanism
    assert release.arguments["metric"].endswith("popularity")


def test_a_plan_states_the_error_in_the_unit_of_the_metric():
    plan = nodes("degree", n=30, k=2).plan

    assert plan.error.value == pytest.approx(2 * 6.3969, abs=1e-3)
    assert "neighbours" in plan.error.unit
    shifted = nodes("ego-betweenness", n=30, k=2, mechanism="shifted")
    assert shifted.plan.error.value == np.inf


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
        ({"metric": TWO}, ParameterError, "several metrics need combine, one of pareto"),
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
        ({"weights": [1]}, ParameterError, "weights go with combine"),
        ({"max_degree": 3}, ParameterError, "max_degree goes with the metric ego-betweenness"),
        ({"metric": of_records}, NeighboursError, "must be stated for edge neighbours"),
        ({"mechanism": "best"}, ParameterError, "mechanism must be one of"),
        ({"above": 3}, ParameterError, "give k or above, one of them"),
        ({"k": None, "above": 3}, ParameterError, "above needs a noisy sequence"),
        ({"epsilon": 0}, ParameterError, "epsilon must be finite and > 0"),
        (
            {"metric": "ego-betweenness", "max_degree": 2},
            PublicClaimError,
            "max_degree=2",
        ),
        ({"graph": Graph.from_edges(EDGES, nodes=6)}, ParameterError, "nodes must be those"),
        ({"nodes": ["a", "b"]}, ParameterError, "nodes must be those of the graph"),
        ({"nodes": 0}, ParameterError, "nodes must be at least 1"),
        ({"source": "a", "target": "a"}, ParameterError, "source and target must name"),
        ({"graph": 7}, DataError, "edges must be a file, a data frame, or pairs"),
    ],
)
def test_bad_input_costs_nothing(arguments, error, complaint):
    ledger = Ledger()
    fine = {"nodes": 5, "k": 2, "metric": "degree", "mechanism": "shifted", "epsilon": 1}
    asked = fine | arguments
    graph = asked.pop("graph", GRAPH)

    with pytest.raises(error, match=complaint):
        dp.TopNodes(**asked).release(graph, budget=ledger)
    assert not ledger.spent


def law_of_rounds(mechanism, objective, k):
    """Return the law of ordered ``k``-tuples by drawing round after round, by enumeration.

    Unit scores are those of all nodes: a round only leaves out what was drawn before.
    """
    scores = mechanism.unit_scores(objective)
    law = {}
    for chosen in permutations(range(scores.size), k):
        left, probability = list(range(scores.size)), 1.0
        for node in chosen:
            one_round = mechanism.draw.probabilities(scores[left], mechanism.epsilon / k)
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
        release = nodes("degree", k=2, mechanism=mechanism, epsilon=2).release(GRAPH)
        counts[release.answer] += 1
    expected = [draws * probability for probability in law.values()]

    assert stats.chisquare(list(counts.values()), expected).pvalue > 1e-6


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


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"redraw": "some"}, "redraw must be 'remaining'"),
        ({"metric": "degree", "combine": None}, "goes with combine="),
        ({"mechanism": "noisy-sequence"}, "has none"),
        ({"k": None, "above": 3}, "has none"),
    ],
)
def test_rounds_among_the_remaining_need_a_comparison_and_rounds(changes, says):
    asked = {"metric": TWO, "combine": "pareto", "redraw": "remaining"}

    with pytest.raises(ParameterError, match=says):
        nodes(**(asked | changes))


STAR = [(0, leaf) for leaf in range(1, 5)]
FRAME = pl.DataFrame(STAR, schema=["source", "target"], orient="row")


@pytest.mark.parametrize(
    "data",
    [
        STAR,
        np.array(STAR),
        FRAME,
        FRAME.lazy(),
        FRAME.to_pandas(),
        FRAME.to_pandas().astype(object),
        Graph.from_edges(STAR, nodes=5),
        EdgeTable(FRAME.lazy(), source="source", target="target", nodes=5),
        nx.star_graph(4),
    ],
    ids=lambda data: type(data).__name__,
)
def test_edges_of_any_kind_are_the_same_graph(data):
    query = nodes("degree", epsilon=200.0)
    query.check(data)

    assert query.release(data).answer == (0,)
    assert query.objective(data).scores.tolist() == [4, 1, 1, 1, 1]


def test_files_are_read_in_memory_and_named_nodes_taken_from_networkx(tmp_path):
    path = tmp_path / "star.csv"
    FRAME.write_csv(path)
    graph = nx.star_graph(["hub", *"abc"])

    assert nodes("degree", epsilon=200.0).release(path).answer == (0,)
    assert nodes("degree", epsilon=200.0).release(str(path)).answer == (0,)
    named = nodes("degree", n=graph.nodes, epsilon=200.0)
    assert named.nodes == ("hub", "a", "b", "c")
    assert named.release(graph).answer == ("hub",)


@pytest.mark.parametrize("kind", ["to_pandas", "lazy", "clone"])
def test_a_check_reads_the_schema_alone(kind, crossing):
    data = getattr(FRAME, kind)()
    crossing.clear()
    nodes("degree").check(data)

    assert not crossing

    with pytest.raises(ColumnError, match="no column 'from'"):
        nodes("degree", source="from").check(data)
    with pytest.raises(ColumnError, match="must name nodes, which are"):
        nodes("degree", n=["a", "b"]).check(data)


def test_a_record_that_is_no_edge_is_a_claim_that_takes_a_pass():
    frame = pl.DataFrame({"source": [0, 0, 9], "target": [1, 2, 1]})
    claimed = nodes("degree", epsilon=200.0, on_invalid="raise")
    repaired = nodes("degree", epsilon=200.0)

    assert claimed.plan.passes == repaired.plan.passes + 1
    for data in (frame, frame.lazy()):
        assert repaired.release(data).answer == (0,)
        with pytest.raises(PublicClaimError, match="not among nodes"):
            claimed.release(data)


def test_nodes_above_a_score_come_with_noisy_scores():
    release = dp.TopNodes(nodes=5, above=3, metric="degree", epsilon=1e3).release(STAR)

    assert release.answer == (0,)
    assert release.noisy_scores == pytest.approx([4], abs=0.5)
    assert release.plan.spends[0].purpose == "noise on all scores"
