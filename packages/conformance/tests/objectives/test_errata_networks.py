"""Ego density in print, on all graphs of four nodes."""

from functools import lru_cache
from itertools import combinations, product

import numpy as np
import pytest

import dpselect as dp

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


def density_in_print(around, v, t):
    left = len(around[v]) - t
    return 2 / (left - 2) if left > 2 else 1.0


def objective_by(score, delta, n, bound):
    def objective_of(graph):
        around = neighbourhoods(graph, n)
        sensitivity = dp.ElementSensitivity(
            lambda t: [delta(around, v, t) for v in range(n)],
            bound,
            dp.Neighbours.EDGE,
            horizon=HORIZON,
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
            dp.Neighbours.EDGE,
            horizon=HORIZON,
        )
        return dp.Objective([ego_density(around, v) for v in range(4)], sensitivity)

    def large_shift(objective):
        return (objective.scores - objective.sensitivity.shortfall()) / 1.0

    report = check(objective_of, 4, scalings={"dampened": large_shift})

    assert set(report.failed) == {"condition (ii)", "bounded", "unit scores: dampened"}
    assert report.finding("unit scores: dampened").excess == pytest.approx(2 / 3)


def test_row_2_clamping_to_the_global_bound_suffices():
    check(objective_by(ego_density, density_in_print, 4, bound=1.0), 4).raise_if_failed()
