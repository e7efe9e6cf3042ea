"""Data that contradict a public claim raise, and no rule could repair them instead."""

import re
from itertools import combinations

import numpy as np
import pytest

import dpselect as dp
from dpselect.errors import PublicClaimError
from dpselect.networks import ego_betweenness

STAR = [(0, 1), (0, 2), (0, 3)]


def subsets(things):
    return [
        frozenset(some)
        for size in range(len(things) + 1)
        for some in combinations(things, size)
    ]


def repairs(universe, satisfies):
    """Whether some map to the databases that satisfy a claim moves no step further than one.

    It must leave those that satisfy it alone. One database alone is mapped here; without a
    place for it there is none for all.
    """
    kept = [x for x in universe if satisfies(x)]
    return [
        any(all(len(y ^ image) <= 1 for y in kept if len(x ^ y) <= 1) for image in kept)
        for x in universe
        if not satisfies(x)
    ]


def test_no_rule_can_drop_a_record_too_many():
    for most in (2, 3):
        within = repairs(subsets(range(most + 1)), lambda x, most=most: len(x) <= most)

        assert within == [False]


def test_no_rule_can_drop_an_edge_too_many():
    """All graphs on four nodes of degree 2, and a star of three edges."""

    def degree(edges):
        return max((sum(v in edge for edge in edges) for v in range(4)), default=0)

    graphs = subsets(list(combinations(range(4), 2)))
    stars = [x for x in graphs if degree(x) > 2]
    near = repairs(
        [x for x in graphs if degree(x) <= 2] + [frozenset(STAR)], lambda x: degree(x) <= 2
    )

    assert len(stars) == 23
    assert near == [False]


def test_a_claim_that_moves_alone_could_be_repaired():
    """What the two tests above would see: one record too many of one is one step from none."""
    assert repairs(subsets(range(2)), lambda x: len(x) <= 1) == [True]


def test_a_degree_above_the_claim_raises_without_a_number():
    graph = dp.networks.Graph.from_edges(STAR, nodes=4)
    smaller = dp.networks.Graph.from_edges(STAR[:2], nodes=4)
    with pytest.raises(PublicClaimError) as caught:
        ego_betweenness(graph, max_degree=2)

    assert not re.search(r"[034-9]", str(caught.value))
    assert len(ego_betweenness(smaller, max_degree=2)) == 4


def test_records_beyond_the_claim_raise_without_a_number():
    x, y = np.array([[0], [1], [0]]), [0, 1, 1]
    public = {"domains": {"x0": [0, 1]}, "classes": [0, 1], "max_records": 2}
    public |= {"neighbours": dp.Neighbours.ADD_REMOVE}
    with pytest.raises(PublicClaimError) as caught:
        dp.trees.split_scores(x, y, **public)

    assert not re.search(r"[0-9]", str(caught.value))
    assert len(dp.trees.split_scores(x[:2], y[:2], **public)) == 1
