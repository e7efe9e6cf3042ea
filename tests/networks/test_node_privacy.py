"""Top nodes where a node is protected with all its edges: all graphs of four and five nodes."""

from functools import cache
from itertools import combinations, permutations, product
from math import exp

import networkx as nx
import numpy as np
import polars as pl
import pytest

import dpselect as dp
from dpselect.audit import check_private
from dpselect.audit.universe import build
from dpselect.draws.own_exponential import log_probability
from dpselect.errors import NeighboursError, ParameterError, PublicClaimError
from dpselect.networks import (
    EdgeTable,
    Graph,
    degree,
    ego_betweenness,
    ego_density,
    node_privacy,
)
from support.engines import every_engine, held_by

NODE = dp.Neighbours.NODE
EPSILON = 4.0


def top(n, k=1, *, cap=2, epsilon=EPSILON, **asked):
    asked = {"metric": "degree", "protect": "node", "max_degree": cap, **asked}
    return dp.TopNodes(nodes=n, k=k, epsilon=epsilon, **asked)


@cache
def graphs(n):
    """Return every graph of ``n`` nodes, as a set of edges."""
    pairs = list(combinations(range(n), 2))
    chosen = product([False, True], repeat=len(pairs))
    return [
        frozenset(e for e, there in zip(pairs, one, strict=True) if there) for one in chosen
    ]


@cache
def degrees(graph, n):
    return np.bincount([end for edge in graph for end in edge], minlength=n)


def law(graph, design, *, cap=None, decay=None):
    """Return the log probabilities of all answers, by what the design draws with."""
    n = len(design.rows.nodes)
    scores = np.minimum(degrees(graph, n), design.cap if cap is None else cap)
    return [
        log_probability(scores, decay or design.decay, list(answer))
        for answer in permutations(range(n), design.k)
    ]


def report(query, n, **faults):
    design = query.design()
    return check_private(
        lambda graph: law(graph, design, **faults), graphs(n), NODE, query.epsilon, log=True
    )


@pytest.mark.parametrize("n", [4, 5])
def test_a_step_moves_one_score_by_the_cap_and_the_others_by_one(n):
    """Over all pairs of graphs that agree off one node; what is said is reached."""
    universe = build(graphs(n), NODE)
    pairs = list(combinations(range(n), 2))
    there = np.array([[e in graph for e in pairs] for graph in universe.databases])
    ends = np.array([[v in e for v in range(n)] for e in pairs])
    changed = there[universe.left] ^ there[universe.right]
    # Whose edges, and nobody else's, are the different ones.
    owns = ~(changed[:, :, None] & ~ends).any(axis=1)
    assert owns.any(axis=1).all()
    for cap in range(1, n):
        scores = np.minimum(there @ ends.astype(np.int64), cap)
        moved = np.abs(scores[universe.left] - scores[universe.right])
        assert (moved[~owns] <= 1).all()
        assert moved.max() == cap
        # Together: the own score, and everybody else.
        assert moved.sum(axis=1).max() == n - 1 + cap


@pytest.mark.parametrize("cap", [1, 2, 4])
@pytest.mark.parametrize("k", [1, 2, 3])
def test_a_node_is_protected_on_all_graphs_of_five_nodes(k, cap):
    for epsilon in (0.5, 8.0):
        found = report(top(5, k, cap=cap, epsilon=epsilon), 5)
        assert found.ok, str(found)
        assert found.loss > epsilon / 4


def test_every_number_of_draws_of_four_nodes():
    for k, cap in product(range(1, 5), range(1, 4)):
        assert report(top(4, k, cap=cap), 4).ok


@pytest.mark.parametrize(
    ("cap", "fault"),
    [(1, {"cap": 4}), (4, {"decay": EPSILON / 2}), (1, {"decay": EPSILON})],
    ids=["degrees are not capped", "one edge is paid for", "twice the decay"],
)
def test_planted_faults_are_found(cap, fault):
    assert report(top(5, cap=cap), 5).ok
    assert not report(top(5, cap=cap), 5, **fault).ok


@pytest.mark.parametrize("epsilon", [6.0, 20.0])
def test_the_error_is_that_of_candidates_that_are_all_as_far_behind(epsilon):
    """Each then has the chance ``e^(-decay error)`` next to the best, in each draw."""
    design = top(50, 2, cap=8, epsilon=epsilon).design()

    assert 50 * 2 * exp(-design.decay * design.error.value) == pytest.approx(0.05)


def test_an_edge_s_price_does_not_protect_a_node():
    query = dp.TopNodes(nodes=4, k=1, metric="degree", epsilon=EPSILON)
    mechanism = query.design().draw.mechanism

    def of_edges(graph):
        return mechanism.probabilities(query.objective(sorted(graph)))

    assert check_private(of_edges, graphs(4), dp.Neighbours.EDGE, EPSILON).ok
    assert not check_private(of_edges, graphs(4), NODE, EPSILON).ok


def twin(graph, v, w):
    """Return the graph in which ``v`` has the neighbours of ``w``."""
    others = {end for edge in graph if w in edge for end in edge} - {v, w}
    kept = {edge for edge in graph if v not in edge or w in edge}
    return frozenset(kept | {tuple(sorted((v, other))) for other in others})


def test_any_two_nodes_can_be_made_twins_in_one_step():
    """The step of Theorem 52: exchanged names leave the graph as it is."""
    for graph in graphs(4):
        for v, w in permutations(range(4), 2):
            made = twin(graph, v, w)
            names = {v: w, w: v}
            swapped = {tuple(sorted(names.get(end, end) for end in edge)) for edge in made}
            assert swapped == made
            assert all(v in edge for edge in made ^ graph)


@pytest.mark.parametrize("k", [1, 2])
@pytest.mark.parametrize("epsilon", [0.2, 1.0, 3.0])
def test_no_node_is_named_more_often_than_the_ceiling(k, epsilon):
    answers = np.array(list(permutations(range(5), k)))
    design = top(5, k, cap=4, epsilon=epsilon).design()
    ceiling = k * exp(2 * epsilon) / (exp(2 * epsilon) + 4)
    named = [
        np.bincount(answers.ravel(), np.repeat(np.exp(law(graph, design)), k), minlength=5)
        for graph in graphs(5)
    ]

    assert max(one.max() for one in named) <= ceiling
    assert sum(named[0]) == pytest.approx(k)


def contacts():
    rng = np.random.default_rng(7)
    ends = rng.integers(-1, 60, (2, 500))
    hub = np.stack([np.zeros(40, dtype=np.int64), np.arange(10, 50)])
    a, b = np.concatenate([ends, hub, hub[::-1]], axis=1)
    return pl.DataFrame({"a": a, "b": b})


@every_engine
def test_every_engine_scores_the_same_whatever_the_order_of_rows(engine):
    rows = contacts()
    design = top(60, 3, cap=22, source="a", target="b").design()
    scores = design.scores(design.rows.read(rows))

    assert scores.max() == 22 > scores.min()
    shuffled = rows.sample(fraction=1.0, shuffle=True, seed=3)
    for data in (shuffled, held_by(engine, shuffled)):
        assert design.scores(design.rows.read(data)).tolist() == scores.tolist()


def test_a_graph_serves_too():
    edges = [(0, 1), (0, 2), (0, 3), (1, 2), (5, 0), (1, 0)]
    design = top(6, cap=3).design()
    read = Graph.from_edges(edges, nodes=6)
    lazy = pl.LazyFrame(edges, schema=["source", "target"], orient="row")
    held = EdgeTable(lazy, source="source", target="target", nodes=6)
    network = nx.Graph(edges)
    network.add_nodes_from(range(6))

    for data in (edges, read, held):
        assert design.scores(design.rows.read(data)).tolist() == [3, 2, 2, 1, 0, 1]
    assert top(list(network), cap=3, epsilon=60.0).release(network).answer == (0,)
    persons = pl.DataFrame({"source": [0], "target": [1], "who": [3]})
    of_persons = Graph.from_edges(
        persons, source="source", target="target", user="who", nodes=6, max_per_user=1
    )
    with pytest.raises(ParameterError, match="at most 1 edges of a person"):
        top(6).release(of_persons)


def test_a_large_epsilon_finds_the_hubs():
    """The second hub by name is below the first and above the rest; 50 draws of each."""
    hubs = [(0, leaf) for leaf in range(2, 90)] + [(1, leaf) for leaf in range(2, 60)]
    for k, wanted in ((1, {(0,)}), (2, {(0, 1), (1, 0)})):
        query = top(100, k, cap=90, epsilon=50.0)
        assert {query.release(hubs).answer for _ in range(50)} <= wanted


def test_nodes_above_the_cap_are_alike():
    """What the cap costs: the order of those above it is lost at any epsilon."""
    edges = frozenset([(0, 1), (0, 2), (0, 3), (0, 4), (1, 2), (1, 3)])
    named = np.exp(law(edges, top(5, cap=2, epsilon=200.0).design()))

    assert degrees(edges, 5).tolist() == [4, 3, 2, 2, 1]
    assert named[:4] == pytest.approx([1 / 4] * 4)
    assert named[4] < 1e-6


def test_a_plan_states_the_relation_and_the_error():
    few, many = (top(1000, 2, cap=400, epsilon=epsilon).plan for epsilon in (1.0, 40.0))

    assert few.neighbours is many.neighbours is NODE
    assert [(spend.times, spend.epsilon) for spend in few.spends] == [(1, 1.0)]
    assert "no useful bound: it is 400 neighbours" in str(few.error)
    assert many.error.value < 400
    assert "one node can change" in many.warning
    assert top(1000, 2, cap=10**9).design().cap == 999
    assert top(1, 1).release([]).answer == (0,)


def test_the_stated_error_holds():
    """On the graph that is hardest: one hub at the cap among nodes without edges."""
    query = top(1000, 1, cap=400, epsilon=40.0)
    scores = np.zeros(1000, dtype=np.int64)
    scores[0] = 400
    decay = query.design().decay

    assert exp(log_probability(scores, decay, [0])) > 0.95
    scores[0] = int(query.plan.error.value)
    assert exp(log_probability(scores, decay, [0])) > 0.94


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"metric": "ego-density"}, "`protect`='node' needs `metric`='degree'"),
        ({"metric": ["degree", "ego-density"], "combine": "pareto"}, "needs `metric`='degree'"),
        ({"max_degree": None}, "needs `max_degree`"),
        ({"max_degree": 0}, "`max_degree` must be"),
        ({"k": 6}, "`k` must be"),
        ({"k": None}, "`k` must be"),
        ({"above": 3.0}, "`above` does not go with"),
        ({"user": "who", "max_per_user": 2}, "`user` does not go with"),
        ({"mechanism": "exponential"}, "`mechanism` does not go with"),
        ({"dominance": "weak"}, "`dominance` does not go with"),
        ({"interval": 0.95}, "`interval` does not go with"),
        ({"protect": "person"}, "`protect` must be"),
        ({"protect": "edge"}, "`max_degree` goes with the metric ego-betweenness"),
    ],
    ids=str,
)
def test_bad_fields_are_named(asked, message):
    with pytest.raises(ParameterError) as raised:
        dp.TopNodes(
            **{"nodes": 5, "k": 1, "epsilon": 1.0, "metric": "degree", "max_degree": 2}
            | {"protect": "node"}
            | asked
        )
    assert message.replace("`", "") in str(raised.value).replace("`", "")


def test_one_node_changes_the_other_metrics_of_all_others():
    """As an error says: a neighbour of everybody, of pairs and of a star."""
    for before, density, share in (
        ([(0, 1), (2, 3)], (0, 1), None),
        ([(0, 1), (0, 2), (0, 3)], (0, 1 / 2), 1 / 2),
    ):
        after = [*before, *((4, other) for other in range(4))]
        one, other = (Graph.from_edges(edges, nodes=5) for edges in (before, after))
        assert ego_density(one).scores[0] == density[0]
        assert ego_density(other).scores[0] == density[1]
        if share is not None:
            halved = ego_betweenness(other).scores[0] / ego_betweenness(one).scores[0]
            assert halved == share


def test_all_fields_of_edges_are_refused():
    fields = set(dp.TopNodes.__dataclass_fields__)
    served = {"nodes", "source", "target", "k", "metric", "max_degree", "protect", "on_invalid"}

    assert fields - served - {"epsilon", "dominance"} == set(node_privacy.OF_EDGES)
    assert top(5, metric=degree).plan.neighbours is NODE


def test_a_budget_of_edges_is_not_charged():
    with pytest.raises(NeighboursError, match="edge neighbours"):
        top(5).release([(0, 1)], budget=dp.Budget(9.0, neighbours="edge"))
    budget = dp.Budget(9.0, neighbours="node")
    top(5).release([(0, 1)], budget=budget)
    assert budget.remaining == pytest.approx(9.0 - EPSILON)
    with pytest.raises(PublicClaimError, match="on_invalid"):
        top(5, on_invalid="raise").release([(0, 0)], budget=budget)
    assert budget.remaining == pytest.approx(9.0 - EPSILON)
    with pytest.raises(ParameterError, match="an objective is of edges"):
        top(5).objective([(0, 1)])
