"""The sensitivities of centralities, by enumeration of all graphs on six nodes.

A graph is a bit mask of its 15 possible edges, so that a neighbour is one bit flipped and an
array over all 2^15 masks is a table over the whole universe. Scores come from the definitions,
with loops over pairs of nodes; local sensitivities from flips alone.
"""

from itertools import combinations
from math import fsum

import numpy as np
import pytest

from dpselect.networks.betweenness import by_codegrees, by_degrees as betweenness_by_degrees
from dpselect.networks.density import by_spread

N = 6
PAIRS = list(combinations(range(N), 2))
masks = np.arange(2 ** len(PAIRS))
EDGE = {pair: (masks >> bit & 1).astype(bool) for bit, pair in enumerate(PAIRS)}
EDGE |= {(j, i): edge for (i, j), edge in list(EDGE.items())}
FLIPS = [masks ^ (1 << bit) for bit in range(len(PAIRS))]
OTHERS = range(1, N)

degrees = sum(EDGE[0, w].astype(int) for w in OTHERS)
largest_degrees = np.max(
    [sum(EDGE[v, w].astype(int) for w in range(N) if w != v) for v in range(N)], axis=0
)
common = [sum((EDGE[0, x] & EDGE[w, x]).astype(int) for x in OTHERS if x != w) for w in OTHERS]
everywhere = np.ones(masks.size, dtype=bool)
most, least = np.max(common, axis=0), np.min(common, axis=0)


def betweenness():
    """Return the share of shortest paths through node 0 in its ego network, summed."""
    total = np.zeros(masks.size)
    for u, w in combinations(OTHERS, 2):
        between = EDGE[0, u] & EDGE[0, w] & ~EDGE[u, w]
        others = sum(
            (EDGE[0, x] & EDGE[u, x] & EDGE[x, w]).astype(int)
            for x in OTHERS
            if x not in {u, w}
        )
        total += np.where(between, 1 / (1 + others), 0)
    return total


def density():
    """Return the share of the pairs of neighbours of node 0 that are adjacent."""
    inner = sum(
        (EDGE[0, u] & EDGE[0, w] & EDGE[u, w]).astype(int) for u, w in combinations(OTHERS, 2)
    )
    return inner / np.maximum(degrees * (degrees - 1) // 2, 1)


def local_sensitivities(scores, universe, distances):
    """Return LS(x, t, 0) of Definition 5 for ``t`` below ``distances``, by neighbour steps."""
    inside = [universe & universe[flip] for flip in FLIPS]
    worst = np.zeros(masks.size)
    for flip, allowed in zip(FLIPS, inside, strict=True):
        worst = np.maximum(worst, np.where(allowed, np.abs(scores - scores[flip]), 0))
    for _ in range(distances):
        yield worst
        reach = worst.copy()
        for flip, allowed in zip(FLIPS, inside, strict=True):
            reach = np.maximum(reach, np.where(allowed, worst[flip], 0))
        worst = reach


def assert_admissible(sensitivity, scores, universe, distances):
    """Assert Definition 6 on every graph, flip and distance, and the bound."""
    exact = list(local_sensitivities(scores, universe, distances))
    assert (sensitivity.at(0) >= exact[0] - 1e-12)[universe].all()
    for t in range(distances):
        here, further = (np.broadcast_to(sensitivity.at(s), masks.shape) for s in (t, t + 1))
        assert (here >= exact[t] - 1e-12)[universe].all()
        assert (here <= sensitivity.bound).all()
        for flip in FLIPS:
            assert (further >= here[flip] - 1e-12)[universe & universe[flip]].all()


@pytest.mark.slow
@pytest.mark.parametrize("max_degree", [2, 3, 4, 5])
def test_betweenness_by_degrees_is_the_worst_graph_of_each_degree(max_degree):
    universe = largest_degrees <= max_degree
    sensitivity = betweenness_by_degrees(degrees, max_degree)

    for t, exact in enumerate(local_sensitivities(betweenness(), universe, 7)):
        delta = np.broadcast_to(sensitivity.at(t), masks.shape)
        for d in range(max_degree + 1):
            cell = universe & (degrees == d)
            assert delta[cell] == pytest.approx(exact[cell].max())


@pytest.mark.parametrize("max_degree", [2, 3, 4, 5])
@pytest.mark.parametrize("form", ["degree", "codegree"])
def test_betweenness_is_admissible(form, max_degree):
    universe = largest_degrees <= max_degree
    sensitivity = (
        betweenness_by_degrees(degrees, max_degree)
        if form == "degree"
        else by_codegrees(degrees, most, max_degree)
    )

    assert_admissible(sensitivity, betweenness(), universe, 7)


@pytest.mark.parametrize("max_degree", [2, 3, 4, 5])
def test_the_global_bound_of_betweenness_is_attained(max_degree):
    universe = largest_degrees <= max_degree
    worst = next(local_sensitivities(betweenness(), universe, 1))[universe].max()

    assert betweenness_by_degrees(degrees, max_degree).bound == pytest.approx(worst)
    assert by_codegrees(degrees, most, max_degree).bound == pytest.approx(worst)


def test_an_isolated_node_has_no_density_to_lose():
    isolated = degrees == 0

    assert not next(local_sensitivities(density(), everywhere, 1))[isolated].any()
    assert not by_spread(degrees, most - least, N).at(0)[isolated].any()


def test_density_is_admissible():
    assert_admissible(by_spread(degrees, most - least, N), density(), everywhere, 7)


def test_tighter_forms_are_never_looser():
    for t in range(8):
        by_degree = np.minimum(1, 2 / np.maximum(degrees - t, 1))
        assert (by_spread(degrees, most - least, N).at(t) <= by_degree).all()
        for max_degree in range(2, N):
            tight = by_codegrees(degrees, most, max_degree).at(t)
            assert (tight <= betweenness_by_degrees(degrees, max_degree).at(t)).all()


def betweenness_among(size, inner):
    """Return the score of a node with ``size`` neighbours, for edges among them."""
    total = np.zeros(len(next(iter(inner.values()))))
    for u, w in combinations(range(size), 2):
        others = sum(
            (inner[u, x] & inner[x, w]).astype(int) for x in range(size) if x not in {u, w}
        )
        total += np.where(inner[u, w], 0, 1 / (1 + others))
    return total


def test_one_edge_at_a_node_of_degree_six_changes_what_its_codegrees_say():
    """All 2^15 graphs among six neighbours, and a seventh that joins ``c`` of them.

    Six is the least degree at which p(k) = k(k - 1)/4 exceeds k: no graph on six nodes is
    large enough to tell a wrong p. Every (graph, c) is an edge at the node, added or removed.
    """
    d = 6
    pairs = list(combinations(range(d), 2))
    graphs = np.arange(2 ** len(pairs))
    inner = {pair: (graphs >> bit & 1).astype(bool) for bit, pair in enumerate(pairs)}
    inner |= {(j, i): edge for (i, j), edge in list(inner.items())}
    before = betweenness_among(d, inner)
    shared = [sum(inner[u, x].astype(int) for x in range(d) if x != u) for u in range(d)]
    worst = dict.fromkeys(range(d + 1), 0.0)
    for c in range(d + 1):
        joined = {(u, d): np.full(graphs.size, u < c) for u in range(d)}
        after = betweenness_among(
            d + 1, inner | joined | {(d, u): joined[u, d] for u in range(d)}
        )
        highest = np.maximum(np.max(shared, axis=0), c)
        for h in range(d + 1):
            change = np.abs(after - before)[highest == h]
            worst[h] = max(worst[h], change.max(initial=0.0))

    for h in range(d + 1):
        delta = by_codegrees(np.array([d]), np.array([h]), 12).at(0)[0]
        assert delta == max(6.0, h * (h - 1) / 4)
        assert worst[h] <= delta + 1e-12
    assert worst[6] == pytest.approx(7.5)
    assert worst[5] == pytest.approx(6)
    assert betweenness_by_degrees(np.array([d]), 12).at(0) == 7.5


def test_sums_of_small_terms_keep_their_digits():
    """A node of degree 10^5 without spread: terms from 1e-10 to 1."""
    degrees, spreads = np.array([100_000]), np.array([0])
    sensitivity = by_spread(degrees, spreads, 200_000)

    exact = fsum(sensitivity.at(t).item() for t in range(90_000))
    assert sensitivity.cumulative(90_000) == pytest.approx(exact, rel=1e-15, abs=0)
