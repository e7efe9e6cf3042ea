"""AboveThreshold: private by the law of all outputs, and drawn exactly."""

from itertools import combinations, product
from math import exp

import numpy as np
import pytest

import dpselect as dp
from dpselect.draws import above_threshold as draws

EPSILON, THRESHOLD = 1.2, 2
AR = dp.Neighbours.ADD_REMOVE


def above_threshold(**changed):
    asked = {"threshold": THRESHOLD, "sensitivity": 1, "epsilon": EPSILON, "neighbours": AR}
    return dp.AboveThreshold(**asked | changed)


def outputs(n, stops):
    return [found for c in range(stops + 1) for found in combinations(range(n), c)]


def law_of_outputs(queries, stops, scales):
    return np.exp(
        [
            draws.log_probability(np.array(queries), THRESHOLD, *scales, stops, found)
            for found in outputs(len(queries), stops)
        ]
    )


def within_one(x, y):
    return max(abs(a - b) for a, b in zip(x, y, strict=True)) <= 1


def in_one_direction(x, y):
    steps = {b - a for a, b in zip(x, y, strict=True)}
    return steps <= {0, 1} or steps <= {0, -1}


@pytest.mark.parametrize(
    ("stops", "relation", "moves"),
    [(1, within_one, 2), (2, within_one, 4), (2, in_one_direction, 2)],
    ids=["one stop", "two stops", "two stops, monotone"],
)
def test_the_law_keeps_epsilon_on_every_pair_of_queries_and_attains_it(stops, relation, moves):
    scales = draws.scales_for(EPSILON, rise=1, move=moves)
    report = dp.audit.check_private(
        lambda queries: law_of_outputs(queries, stops, scales),
        product(range(4), repeat=4),
        relation,
        EPSILON,
    )

    assert report.ok, str(report)
    assert report.pairs == (4872 if relation is within_one else 2145)
    assert report.loss == pytest.approx(EPSILON, abs=1e-9)


def test_the_law_is_that_of_the_noise_by_definition():
    queries, (b1, b2) = (1, 3), (1.5, 0.75)
    noise, law = np.arange(80), np.zeros(3)
    p, q = ((1 - exp(-1 / b)) * np.exp(-noise / b) for b in (b1, b2))
    for rho, first, second in product(range(60), range(60), range(60)):
        above = [
            query + nu >= THRESHOLD + rho
            for query, nu in zip(queries, (first, second), strict=True)
        ]
        law[above.index(True) + 1 if any(above) else 0] += p[rho] * q[first] * q[second]

    assert law_of_outputs(queries, 1, (b1, b2)) == pytest.approx(law)


def test_answers_follow_the_law():
    """Unseeded: false alarm 1 in 10^6."""
    from scipy import stats

    queries, query = [0, 1, 3, 2], above_threshold(stops=2)
    expected = law_of_outputs(queries, 2, draws.scales_for(EPSILON, rise=1, move=4))
    counts = dict.fromkeys(outputs(4, 2), 0)
    for _ in range(1000):
        counts[query.release(queries).answer] += 1

    assert stats.chisquare(list(counts.values()), 1000 * expected).pvalue > 1e-6


@pytest.mark.parametrize("epsilon", [1e-6, 0.3, 1.0, 7.7])
@pytest.mark.parametrize(("rise", "move", "least"), [(1, 2, 0), (3, 1, 0), (1, 100, 99)])
def test_scales_cost_epsilon_and_no_more(epsilon, rise, move, least):
    from fractions import Fraction

    first, second = map(Fraction, draws.scales_for(epsilon, rise=rise, move=move, least=least))
    paid = rise / first + move / second

    assert Fraction(epsilon) * Fraction(1 - 1e-12) < paid <= Fraction(epsilon)
    assert least / first <= Fraction(epsilon)
