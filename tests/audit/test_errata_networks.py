"""Ego density and ego betweenness on all graphs of four and five nodes."""

from functools import lru_cache
from itertools import combinations, product

import numpy as np
import pytest

import dpselect as dp
from dpselect.audit.universe import build, evaluate, tabulate

pytestmark = pytest.mark.slow

HORIZON = 8


@lru_cache(maxsize=1)
def graphs(n):
    edges = list(combinations(range(n), 2))
    return [
        frozenset(edge for edge, there in zip(edges, present, strict=True) if there)
        for present in product((False, True), repeat=len(edges))
    ]


def neighbourhoods(graph, n):
    return [{w for edge in graph if v in edge for w in edge if w != v} for v in range(n)]


def pairs_within(around, v):
    return [(a, b) for a, b in combinations(sorted(around[v]), 2)]


def ego_density(around, v):
    pairs = pairs_within(around, v)
    return sum(b in around[a] for a, b in pairs) / len(pairs) if pairs else 0.0


def ego_betweenness(around, v):
    return sum(
        1 / (1 + len(around[a] & around[b] & around[v]))
        for a, b in pairs_within(around, v)
        if b not in around[a]
    )


def codegrees(around, v):
    return [len(around[w] & around[v]) for w in range(len(around)) if w != v]


def density_in_print(around, v, t):
    left = len(around[v]) - t
    return 2 / (left - 2) if left > 2 else 1.0


def density_by_degree(around, v, t):
    d = len(around[v])
    return 0.0 if d == t == 0 else min(1.0, 2 / max(d - t, 1))


def density_by_spread(around, v, t):
    k = len(around[v]) - t
    if k < 3:
        return density_by_degree(around, v, t)
    shared = codegrees(around, v)
    spread = max(shared) - min(shared) + t
    return min(
        2 / k,
        max(2 * spread / (k * (k - 2)), 2 * (spread + 1) / (k * (k + 1)), 2 / (k * (k - 1))),
    )


def g(k):
    return max(k, k * (k - 1) / 4)


def betweenness_by_degree(around, v, t):
    return g(min(len(around[v]) + t, len(around) - 2))


def betweenness_by_codegree(around, v, t):
    d = len(around[v])
    h = min(max(codegrees(around, v)), d) + t
    return min(max(d + t, h * (h - 1) / 4), g(len(around) - 2))


def objective_by(score, delta, n, bound):
    def objective_of(graph):
        around = neighbourhoods(graph, n)
        sensitivity = dp.ElementSensitivity(
            lambda t: [delta(around, v, t) for v in range(n)],
            bound,
            HORIZON,
            dp.Neighbours.EDGE,
        )
        return dp.Objective([score(around, v) for v in range(n)], sensitivity)

    return objective_of


def check(objective_of, n, **options):
    return dp.audit.check_admissible(objective_of, graphs(n), dp.Neighbours.EDGE, **options)


def test_row_2_the_printed_density_bound_shrinks_with_the_distance():
    report = check(objective_by(ego_density, density_in_print, 4, bound=2.0), 4)
    worst = report.finding("condition (ii)").worst

    assert report.finding("condition (i)").ok
    assert not report.finding("condition (ii)").ok
    assert report.finding("condition (ii)").excess == pytest.approx(1.0)
    assert len(neighbourhoods(worst.y, 4)[worst.candidate]) == 3
    assert worst.distance == 0


class Uncut(dp.ElementSensitivity):
    """Values as the function gives them, also above the bound."""

    def at(self, distance):
        if distance >= self.horizon:
            return np.asarray(self.bound)
        return np.asarray(self._local(distance))


def test_row_2_above_its_bound_a_shifted_score_moves_by_more_than_one():
    def objective_of(graph):
        around = neighbourhoods(graph, 4)
        sensitivity = Uncut(
            lambda t: [density_in_print(around, v, t) for v in range(4)],
            1.0,
            HORIZON,
            dp.Neighbours.EDGE,
        )
        return dp.Objective([ego_density(around, v) for v in range(4)], sensitivity)

    def large_shift(objective):
        return (objective.scores - objective.sensitivity.shortfall()) / 1.0

    report = check(objective_of, 4, scalings={"dampened": large_shift})

    assert set(report.failed) == {"condition (ii)", "bounded", "unit scores: dampened"}
    assert report.finding("unit scores: dampened").excess == pytest.approx(2 / 3)


def test_row_2_clamping_to_the_global_bound_suffices():
    check(objective_by(ego_density, density_in_print, 4, bound=1.0), 4).raise_if_failed()


@pytest.mark.slow
@pytest.mark.parametrize("delta", [density_by_degree, density_by_spread])
@pytest.mark.parametrize("n", [4, 5])
def test_density_is_admissible(delta, n):
    options = {} if n == 4 else {"max_distance": 4}

    check(objective_by(ego_density, delta, n, bound=1.0), n, **options).raise_if_failed()


@pytest.mark.slow
@pytest.mark.parametrize("delta", [betweenness_by_degree, betweenness_by_codegree])
@pytest.mark.parametrize("n", [4, 5])
def test_betweenness_is_admissible_and_its_global_bound_exact(delta, n):
    options = {} if n == 4 else {"max_distance": 4}
    report = check(objective_by(ego_betweenness, delta, n, bound=g(n - 2)), n, **options)

    report.raise_if_failed()
    assert report.finding("global bound").excess == 0


def test_degrees_of_more_than_a_public_cap_are_left_out_with_their_edges():
    capped = [x for x in graphs(5) if max(map(len, neighbourhoods(x, 5))) <= 2]
    objective_of = objective_by(
        ego_betweenness, lambda around, v, t: g(min(len(around[v]) + t, 1)), 5, bound=g(1)
    )
    report = dp.audit.check_admissible(objective_of, capped, dp.Neighbours.EDGE)

    report.raise_if_failed()
    assert report.finding("global bound").excess == 0


@pytest.mark.parametrize(
    ("score", "delta", "cells"),
    [
        (ego_density, density_by_degree, [(d, t) for d in range(5) for t in range(4)]),
        (ego_betweenness, betweenness_by_degree, [(d, t) for d in range(5) for t in range(4)]),
    ],
)
def test_bounds_by_degree_are_attained_by_some_graph_of_each_degree(score, delta, cells):
    """Nothing smaller can be a function of degree and distance alone."""
    objective_of = objective_by(score, delta, 5, bound=g(3))
    universe = build(graphs(5), dp.Neighbours.EDGE)
    local = tabulate(universe, evaluate(universe, objective_of), 3).local
    degree = np.array([[len(a) for a in neighbourhoods(x, 5)] for x in universe.databases])
    worst = {(d, t): local[t][degree == d].max() for d, t in cells}
    around = {d: [set(range(1, d + 1))] * 5 for d in range(5)}

    assert worst == pytest.approx({(d, t): delta(around[d], 0, t) for d, t in cells})
