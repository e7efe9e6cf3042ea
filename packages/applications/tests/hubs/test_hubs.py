"""Hubs through noisy degrees: capped counts by definition, the theorem by enumeration."""

from functools import cache
from itertools import combinations, product

import numpy as np
import pytest

import dpselect as dp
from dpselect.networks import Graph
from dpselect_applications.hubs import hubs
from dpselect_applications.hubs.hubs import moved_together

N = 5
PAIRS = list(combinations(range(N), 2))
CAPS = (1, 2, 3)


def both_ways(edges):
    ends = np.array(sorted(edges), dtype=np.int64).reshape(-1, 2)
    return np.concatenate([ends[:, 0], ends[:, 1]]), np.concatenate([ends[:, 1], ends[:, 0]])


@cache
def capped(edges, cap):
    return hubs.flow(*both_ways(edges), N, cap)


def by_definition(edges, cap):
    """The linear programme: at most 1 on an edge, at most the cap at a node."""
    from scipy.optimize import linprog

    edges = sorted(edges)
    if not edges:
        return 0.0
    at = np.array([[node in edge for edge in edges] for node in range(N)], dtype=float)
    return -linprog(-np.ones(len(edges)), A_ub=at, b_ub=[cap] * N, bounds=(0, 1)).fun


def test_flows_are_twice_the_capped_counts():
    of_four = [pair for pair in PAIRS if pair[1] < 4]
    for size in range(len(of_four) + 1):
        for edges in combinations(of_four, size):
            for cap in CAPS:
                assert capped(edges, cap) / 2 == pytest.approx(by_definition(edges, cap))


def largest_moves(counts, units):
    """Return by the caps of all nodes, 0 for none, what one edge moves of counts together.

    In units of each cap; of all graphs of five nodes, all edges, all sets of hubs.
    """
    codes, largest = np.arange(len(counts)), {}
    for bit in range(len(PAIRS)):
        moved = np.abs(counts[codes] - counts[codes ^ (1 << bit)]) / units
        moved = np.concatenate([np.zeros((len(codes), N, 1)), moved], axis=2)
        for caps in product(range(len(units) + 1), repeat=N):
            whole = moved[:, np.arange(N), caps].sum(axis=1).max()
            largest[caps] = max(largest.get(caps, 0.0), whole)
    return largest


def test_degrees_that_may_be_noise_are_said_to_be():
    query = dp.Hubs(metric="ego-betweenness", nodes=900, k=2, epsilon=1.0)
    star = [(0, other) for other in range(2, 400)] + [(1, other) for other in range(400, 800)]

    assert query.release(star).usable == (True, True)
    assert query.release([(7, 7)]).usable == (False, False)


def test_one_edge_moves_all_counts_together_by_what_the_noise_is_made_for():
    """Flows of every graph, node and cap; a graph is the number of its edges' bits."""
    found = np.empty((2 ** len(PAIRS), N, len(CAPS)))
    for code in range(len(found)):
        edges = {pair for bit, pair in enumerate(PAIRS) if code >> bit & 1}
        for node in range(N):
            near = {a + b - node for a, b in edges if node in (a, b)}
            inside = tuple(sorted(pair for pair in edges if near.issuperset(pair)))
            found[code, node] = [capped(inside, cap) for cap in CAPS]
    largest = largest_moves(found, 2 * np.array(CAPS))
    for caps, moved in largest.items():
        held = np.array([cap for cap in caps if cap])
        assert not held.size or moved <= moved_together(1 / held)

    for number in range(1, N + 1):
        of_one = (1,) * number + (0,) * (N - number)
        assert largest[of_one] == pytest.approx(moved_together(np.ones(number)))
    assert moved_together(np.ones(N)) == pytest.approx(N)


BY_FIRST = (2, 3, 4)
"""Numbers of first neighbours; 4 are all."""


def first_betweenness(edges, node, cap):
    """By definition: pairs of the first neighbours by the paths of length 2 between them."""
    joined = {frozenset(pair) for pair in edges}
    first = [other for other in range(N) if frozenset((node, other)) in joined][:cap]
    apart = [pair for pair in combinations(first, 2) if frozenset(pair) not in joined]
    both = [
        sum({frozenset((u, w)), frozenset((v, w))} <= joined for w in first) for u, v in apart
    ]
    return sum(1 / (between + 1) for between in both)


def test_one_edge_moves_the_betweenness_of_all_by_what_its_noise_is_made_for():
    """Of every number of first neighbours."""
    found = np.empty((2 ** len(PAIRS), N, len(BY_FIRST)))
    for code in range(len(found)):
        edges = [pair for bit, pair in enumerate(PAIRS) if code >> bit & 1]
        found[code] = [[first_betweenness(edges, v, cap) for cap in BY_FIRST] for v in range(N)]
        if code % 41 == 0:
            graph = Graph.from_edges(np.array(edges, dtype=int).reshape(-1, 2), nodes=N)
            for place, cap in enumerate(BY_FIRST):
                ours = hubs.betweenness(graph, range(N), [cap] * N)
                assert ours == pytest.approx(found[code, :, place])
    # What rounding adds is left out here, so that the bounds are those of the proof.
    at_node, between = (one - 1 / hubs.STEPS for one in hubs.changes(np.array(BY_FIRST)))
    largest = largest_moves(found, at_node)
    for caps, moved in largest.items():
        held = np.array([cap - 1 for cap in caps if cap], dtype=int)
        assert not held.size or moved <= moved_together((between / at_node)[held]) + 1e-12
    assert max(largest.values()) > 2
    assert largest[2, 0, 0, 0, 0] == 1  # attained


def random_graph(n, p, seed):
    rng = np.random.default_rng(seed)
    ends = np.array(list(combinations(range(n), 2)))
    return Graph.from_edges(ends[rng.random(len(ends)) < p], nodes=n)


@pytest.mark.slow
@pytest.mark.parametrize("density", [0.0, 0.05, 0.3, 1.0])
def test_the_estimate_is_the_mean_of_random_ego_networks(density):
    d, means = 40, []
    for seed in range(30):
        around = random_graph(d, density, seed)
        ends = [(u, v) for u in range(d) for v in around.rows[slice(*around.starts[u : u + 2])]]
        spokes = [(d, u) for u in range(d)]
        means.append(Graph.from_edges([*ends, *spokes], nodes=d + 1).ego_betweenness()[d])
    estimate = hubs.estimated_betweenness(np.array([density]), np.array([float(d)]))

    assert np.mean(means) == pytest.approx(estimate[0], rel=0.02)
