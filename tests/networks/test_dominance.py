"""Kinds of dominance among nodes: scores and admissibility on all graphs of four nodes."""

from itertools import combinations

import numpy as np
import pytest

import dpselect as dp

NODES = 4
PAIRS = list(combinations(range(NODES), 2))
GRAPHS = [
    frozenset(pair for bit, pair in enumerate(PAIRS) if mask >> bit & 1)
    for mask in range(2 ** len(PAIRS))
]
every_kind = pytest.mark.parametrize("dominance", ["weak", "standard", "strict"])


def asked(dominance="standard", **more):
    given = {"metric": ["degree", "ego-density"], "combine": "pareto", "k": 1, "epsilon": 1.5}
    return dp.TopNodes(nodes=NODES, dominance=dominance, **given | more)


def metrics(graph, node):
    """Degree and ego density, by their definitions."""
    near = [v for v in range(NODES) if frozenset({v, node}) in map(frozenset, graph)]
    inner = [pair for pair in combinations(near, 2) if pair in graph]
    pairs = len(near) * (len(near) - 1) // 2
    return len(near), len(inner) / pairs if pairs else 0.0


def dominates(a, b, dominance):
    """Definition 4.3, which prints the weak kind, and the two others."""
    if dominance == "strict":
        return all(x > y for x, y in zip(a, b, strict=True))
    return all(x >= y for x, y in zip(a, b, strict=True)) and (dominance == "weak" or a != b)


def score(graph, dominance):
    points = [metrics(graph, node) for node in range(NODES)]
    return [
        -sum(dominates(points[s], points[r], dominance) for s in range(NODES) if s != r)
        for r in range(NODES)
    ]


def objectives(dominance, **more):
    query = asked(dominance, **more)
    return {graph: query.objective(sorted(graph)) for graph in GRAPHS}


def is_admissible(found):
    """Definition 6 on every pair of neighbours, and a graph with itself, at all distances."""
    for graph, objective in found.items():
        here = [np.broadcast_to(objective.sensitivity.at(t), NODES) for t in range(NODES + 3)]
        for flip in [frozenset(), *(frozenset({pair}) for pair in PAIRS)]:
            other = found[graph ^ flip]
            if (here[0] < np.abs(objective.scores - other.scores)).any():
                return False
            for t, further in enumerate(here[1:]):
                if (further < other.sensitivity.at(t)).any():
                    return False
    return True


@every_kind
def test_scores_and_sensitivities_are_those_of_the_definition(dominance):
    found = objectives(dominance)

    for graph, objective in found.items():
        assert objective.scores.tolist() == score(graph, dominance)
    assert is_admissible(found)


@pytest.mark.parametrize(("dominance", "other"), [("standard", "weak"), ("strict", "standard")])
def test_rivals_counted_by_another_kind_are_not_admissible(dominance, other):
    """A planted bug: those that surely dominate a node are too many."""
    found, wrong = objectives(dominance), objectives(other)
    for graph, objective in found.items():
        objective.sensitivity.dominators = wrong[graph].sensitivity.dominators

    assert not is_admissible(found)


SHIFTED = {"name": "shifted", "direction": "non-increasing"}


@every_kind
@pytest.mark.parametrize("mechanism", ["local-dampening", "pairwise", SHIFTED, "exponential"])
def test_every_draw_is_private(dominance, mechanism):
    query = asked(dominance, mechanism=mechanism)
    made = query.design().draw.mechanism
    laws = {
        graph: made.probabilities(objective)
        for graph, objective in objectives(dominance, mechanism=mechanism).items()
    }
    losses = [
        np.abs(np.log(laws[graph] / laws[graph ^ {pair}])).max()
        for graph in GRAPHS
        for pair in PAIRS
    ]

    assert 0.2 < max(losses) <= 1.5 * (1 + 1e-9)


def test_the_front_is_not_attained_where_equal_nodes_dominate_each_other():
    bounds = {
        kind: asked(kind, epsilon=50.0, mechanism="anchored").plan.error
        for kind in ("weak", "standard")
    }
    largest = {kind: max(max(score(g, kind)) for g in GRAPHS) for kind in bounds}
    least = {kind: min(max(score(g, kind)) for g in GRAPHS) for kind in bounds}

    assert largest == {"weak": 0, "standard": 0}
    assert least == {"weak": 1 - NODES, "standard": 0}
    assert bounds["weak"].value > bounds["standard"].value
