"""A Pareto score of one metric and a weighted sum of others, on all graphs of four nodes."""

from fractions import Fraction
from functools import cache
from itertools import combinations

import numpy as np
import pytest

import dpselect as dp
from dpselect.networks import Graph

NODES = range(4)
PAIRS = list(combinations(NODES, 2))
GRAPHS = [frozenset(some) for size in range(7) for some in combinations(PAIRS, size)]
WEIGHTS = {"ego-density": 3, "ego-betweenness": -1}


def degree_and_sum(edges):
    """The degree of each node, and the sum, by their definitions."""
    around = [{b for pair in edges if a in pair for b in pair if a != b} for a in NODES]
    both = []
    for near in around:
        pairs = list(combinations(sorted(near), 2))
        joined = [pair for pair in pairs if pair in edges]
        density = Fraction(len(joined), max(len(pairs), 1))
        between = sum(
            Fraction(1, 1 + len(around[a] & around[b] & near))
            for a, b in set(pairs) - set(joined)
        )
        both.append(
            (
                len(near),
                WEIGHTS["ego-density"] * density + WEIGHTS["ego-betweenness"] * between,
            )
        )
    return both


def dominators(both):
    return [
        sum(
            all(x >= y for x, y in zip(other, one, strict=True)) and other != one
            for other in both
        )
        for one in both
    ]


@cache
def objective(edges):
    query = dp.TopNodes(nodes=4, k=1, metric=["degree", WEIGHTS], combine="pareto", epsilon=1.0)
    return query.objective(Graph.from_edges(sorted(edges), nodes=4))


def test_scores_are_those_of_the_definition():
    for edges in GRAPHS:
        expected = [-count for count in dominators(degree_and_sum(edges))]
        assert objective(edges).scores.tolist() == expected


@pytest.mark.slow
def test_it_is_admissible_and_every_scaling_moves_by_one():
    report = dp.audit.check_admissible(objective, GRAPHS, "edge")

    report.raise_if_failed()


def test_one_edge_changes_a_distribution_by_its_epsilon():
    mechanism = dp.LocalDampening(epsilon=1.0)
    laws = {edges: mechanism.probabilities(objective(edges)) for edges in GRAPHS}
    worst = max(
        np.abs(np.log(laws[edges] / laws[edges ^ {pair}])).max()
        for edges in GRAPHS
        for pair in PAIRS
    )

    assert 0.3 < worst <= 1 + 1e-9
