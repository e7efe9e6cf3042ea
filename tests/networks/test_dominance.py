"""Pareto scores of nodes on all graphs of four nodes: kinds of dominance, and sums in them."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

import dpselect as dp

NODES = range(4)
PAIRS = list(combinations(NODES, 2))
GRAPHS = [frozenset(some) for size in range(7) for some in combinations(PAIRS, size)]
SUM = {"ego-density": 3, "ego-betweenness": -1}
CASES = [("weak", "ego-density"), ("standard", "ego-density"), ("strict", "ego-density")]
every_case = pytest.mark.parametrize(("dominance", "second"), [*CASES, ("standard", SUM)])


def asked(dominance="standard", second="ego-density", **more):
    given = {"metric": ["degree", second], "combine": "pareto", "k": 1, "epsilon": 1.5}
    return dp.TopNodes(nodes=4, dominance=dominance, **given | more)


def metrics(edges, second):
    """The degree of each node and the second metric, by their definitions."""
    around = [{b for pair in edges if a in pair for b in pair if a != b} for a in NODES]
    for near in around:
        pairs = set(combinations(sorted(near), 2))
        density = Fraction(len(pairs & edges), max(len(pairs), 1))
        between = sum(
            Fraction(1, 1 + len(around[a] & around[b] & near)) for a, b in pairs - edges
        )
        yield len(near), density if second != SUM else 3 * density - between


def dominates(a, b, dominance):
    """Definition 4.3, which prints the weak kind, and the two others."""
    if dominance == "strict":
        return all(x > y for x, y in zip(a, b, strict=True))
    return all(x >= y for x, y in zip(a, b, strict=True)) and (dominance == "weak" or a != b)


def score(edges, dominance, second="ego-density"):
    points = list(metrics(edges, second))
    return [
        -sum(dominates(points[s], points[r], dominance) for s in NODES if s != r) for r in NODES
    ]


def objectives(dominance, second="ego-density", **more):
    query = asked(dominance, second, **more)
    return {graph: query.objective(sorted(graph)) for graph in GRAPHS}


def is_admissible(found):
    """Definition 6 on every pair of neighbours, and a graph with itself, at all distances."""
    bounds = {
        graph: [np.broadcast_to(one.sensitivity.at(t), 4) for t in range(7)]
        for graph, one in found.items()
    }
    for graph, objective in found.items():
        for flip in [frozenset(), *(frozenset({pair}) for pair in PAIRS)]:
            here, there = bounds[graph], bounds[graph ^ flip]
            if (here[0] < np.abs(objective.scores - found[graph ^ flip].scores)).any():
                return False
            if any((a < b).any() for a, b in zip(here[1:], there[:-1], strict=True)):
                return False
    return True


@every_case
def test_scores_and_sensitivities_are_those_of_the_definition(dominance, second):
    found = objectives(dominance, second)

    for graph, objective in found.items():
        assert objective.scores.tolist() == score(graph, dominance, second)
    assert is_admissible(found)
