"""PrivTopk: what is released, what it costs, and its law."""

from functools import partial
from itertools import permutations

import numpy as np
import pytest
from scipy import stats

import dpselect as dp
from dpselect.errors import NeighboursError, ParameterError, PublicClaimError
from dpselect.networks import EgoBetweenness, Graph, influential_nodes
from dpselect.networks.metrics import METRICS, named

EDGES = [(0, 1), (0, 2), (0, 3), (1, 2), (3, 4), (1, 4)]
GRAPH = Graph.from_edges(EDGES, nodes=5)
SHORT_NAMES = [
    "exponential",
    "permute-and-flip",
    "noisy-max",
    "local-dampening",
    "shifted",
    "anchored",
    "pairwise",
]


class Ledger:
    """A budget that remembers, or refuses."""

    def __init__(self, refuse=None):
        self.spent, self.refuse = [], refuse

    def spend(self, epsilon, *, neighbours, rho, mechanism):
        if self.refuse:
            raise self.refuse
        self.spent.append((epsilon, neighbours, rho, mechanism))


@pytest.mark.parametrize("mechanism", SHORT_NAMES)
@pytest.mark.parametrize("metric", METRICS)
def test_every_mechanism_chooses_by_every_metric(metric, mechanism):
    release = influential_nodes(GRAPH, 3, metric=metric, mechanism=mechanism, epsilon=1.5)

    assert len(set(release.candidates)) == 3
    assert set(release.candidates) <= set(range(5))
    assert release.epsilon == 1.5
    assert release.epsilon_per_round == 0.5
    assert release.neighbours is dp.Neighbours.EDGE
    assert release.exact


def test_a_large_epsilon_finds_the_most_central_nodes_by_name():
    names = ["ann", "bob", "cy", "dee", "eve"]
    contacts = [("ann", "bob"), ("ann", "cy"), ("ann", "dee"), ("bob", "eve")]
    graph = Graph.from_edges(contacts, nodes=names)
    release = influential_nodes(
        graph, 2, metric="ego-betweenness", mechanism="pairwise", epsilon=1e4
    )

    assert release.candidates == ("ann", "bob")


def test_metrics_and_mechanisms_can_be_given_as_objects():
    release = influential_nodes(
        GRAPH,
        1,
        metric=EgoBetweenness(max_degree=3),
        mechanism=partial(dp.ShiftedLocalDampening, direction="non-increasing"),
        epsilon=1,
    )

    assert "non-increasing" in release.mechanism


@pytest.mark.parametrize(
    ("mechanism", "form"),
    [("shifted", "degree"), ("anchored", "degree"), ("pairwise", "codegree")],
)
def test_a_name_stands_for_the_form_that_suits_the_mechanism(mechanism, form):
    assert named("ego-betweenness", mechanism) == EgoBetweenness(sensitivity=form)
    assert named("degree", mechanism) == METRICS["degree"]


def test_the_budget_is_spent_once_for_all_rounds():
    ledger = Ledger()
    influential_nodes(
        GRAPH, 2, metric="degree", mechanism="exponential", epsilon=1, budget=ledger
    )

    ((epsilon, neighbours, rho, mechanism),) = ledger.spent
    assert (epsilon, neighbours) == (1, dp.Neighbours.EDGE)
    assert rho <= 2 * 0.5**2 / 8
    assert mechanism == "ExponentialMechanism(epsilon=1)"


@pytest.mark.parametrize(
    ("arguments", "error", "complaint"),
    [
        ({"k": 6}, ParameterError, "k must be at most the number of nodes, 5, not 6"),
        ({"k": 0}, ParameterError, "k must be at least 1"),
        ({"metric": "pagerank"}, ParameterError, "metric must be one of degree, ego-dens"),
        ({"mechanism": "best"}, ParameterError, "mechanism must be one of"),
        ({"epsilon": 0}, ParameterError, "epsilon must be finite and > 0"),
        ({"metric": EgoBetweenness(max_degree=2)}, PublicClaimError, "max_degree = 2"),
        ({"graph": EDGES}, ParameterError, "graph must be a Graph"),
    ],
)
def test_bad_input_costs_nothing(arguments, error, complaint):
    ledger = Ledger()
    fine = {"graph": GRAPH, "k": 2, "metric": "degree", "mechanism": "shifted", "epsilon": 1}

    with pytest.raises(error, match=complaint):
        influential_nodes(**(fine | arguments), budget=ledger)
    assert not ledger.spent


def test_a_budget_that_refuses_stops_the_release():
    ledger = Ledger(NeighboursError("kept for another relation"))

    with pytest.raises(NeighboursError):
        influential_nodes(
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
            one_round = mechanism._draws_by.law(scores[left], mechanism.epsilon / k)
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
    dp.PairwiseLocalDampening(epsilon=3),
]


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


@pytest.mark.parametrize("mechanism", ["local-dampening", "permute-and-flip"])
def test_releases_of_k_follow_the_law_of_k_rounds(mechanism):
    """Unseeded: false alarm 1 in 10^6; a shift of 6 % of mass is seen 99 times in 100."""
    draws = 4000
    kind = {"local-dampening": dp.LocalDampening, "permute-and-flip": dp.PermuteAndFlip}
    objective = METRICS["degree"].objective(GRAPH)
    law = law_of_rounds(kind[mechanism](epsilon=2), objective, 2)
    counts = dict.fromkeys(law, 0)
    for _ in range(draws):
        release = influential_nodes(GRAPH, 2, metric="degree", mechanism=mechanism, epsilon=2)
        counts[release.candidates] += 1
    expected = [draws * probability for probability in law.values()]

    assert stats.chisquare(list(counts.values()), expected).pvalue > 1e-6
