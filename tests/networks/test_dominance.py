"""Pareto scores of nodes on all graphs of four nodes: kinds of dominance, and sums in them."""

from fractions import Fraction
from itertools import combinations

import pytest

import dpselect as dp
from support.graphs import GRAPHS
from support.strategies import dominates

NODES = range(4)
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


def score(edges, dominance, second="ego-density"):
    points = list(metrics(edges, second))
    return [
        -sum(dominates(points[s], points[r], dominance) for s in NODES if s != r) for r in NODES
    ]


@every_case
def test_scores_and_sensitivities_are_those_of_the_definition(dominance, second):
    query = asked(dominance, second)
    found = {graph: query.objective(sorted(graph)) for graph in GRAPHS}

    for graph, objective in found.items():
        assert objective.scores.tolist() == score(graph, dominance, second)
    dp.audit.check_admissible(found.get, GRAPHS, dp.Neighbours.EDGE).raise_if_failed()
