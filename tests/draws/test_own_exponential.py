"""An exponential draw where an individual owns a candidate: its law, its loss, its decay."""

from collections import Counter
from fractions import Fraction
from itertools import permutations, product
from math import exp, expm1, inf, log

import numpy as np
import pytest
from scipy import stats

from dpselect.draws.own_exponential import (
    draw_with_own,
    largest_decay,
    log_probability,
    loss,
)

N, CAP = 4, 2
VECTORS = list(product(range(CAP + 1), repeat=N))


def by_definition(scores, decay, chosen):
    """Return the log probability of an answer, draw by draw."""
    weights = {place: Fraction(exp(decay * score)) for place, score in enumerate(scores)}
    chance = Fraction(1)
    for place in chosen:
        chance *= weights[place] / sum(weights.values())
        del weights[place]
    return log(chance)


@pytest.mark.parametrize("k", [1, 2, 3, N])
def test_the_law_is_that_of_the_rounds(k):
    for scores in VECTORS[::7]:
        answers = list(permutations(range(N), k))
        logs = [log_probability(np.array(scores), 0.7, list(one)) for one in answers]
        assert np.exp(logs).sum() == pytest.approx(1)
        assert logs == pytest.approx([by_definition(scores, 0.7, one) for one in answers])


def test_draws_follow_the_law():
    """Unseeded: false alarm 1 in 10^6; a shift of 6 % of mass is seen 99 times in 100."""
    scores, decay, draws = np.array([0, 3, 1, 3]), 0.5, 5_000
    seen = Counter(tuple(draw_with_own(scores, decay, 2)) for _ in range(draws))
    answers = list(permutations(range(4), 2))
    expected = [draws * exp(by_definition(scores, decay, one)) for one in answers]

    assert sum(seen[one] for one in answers) == draws
    assert stats.chisquare([seen[one] for one in answers], expected).pvalue > 1e-6


def steps():
    """Yield two vectors of scores and the own candidate."""
    for s, own in product(VECTORS, range(N)):
        around = [
            range(CAP + 1) if place == own else range(max(0, x - 1), min(CAP, x + 1) + 1)
            for place, x in enumerate(s)
        ]
        for t in product(*around):
            yield s, t, own


STEPS = list(steps())


def largest(decay, k):
    """Return the largest losses where the own one gains and is drawn, and elsewhere."""
    answers = list(permutations(range(N), k))
    drawn = [np.array([own in answer for answer in answers]) for own in range(N)]
    laws = {
        s: np.array([log_probability(np.array(s), decay, list(a)) for a in answers])
        for s in VECTORS
    }
    gained = other = -inf
    for s, t, own in STEPS:
        moved = laws[t] - laws[s]
        gains = drawn[own] & (t[own] >= s[own])
        gained = max(gained, moved[gains].max(initial=-inf))
        other = max(other, moved[~gains].max(initial=-inf))
    return gained, other


def bounds(decay, n, cap, k):
    first = decay * (cap + 2 * k - 1)
    terms = (
        ((n - i) * expm1(decay) + expm1(decay * cap)) / (n - i + 1) for i in range(1, k + 1)
    )
    return first, k * decay + sum(np.log1p(term) for term in terms)


@pytest.mark.parametrize("k", [1, 2, N])
@pytest.mark.parametrize("decay", [0.05, 1.0, 6.0])
def test_no_step_loses_more_than_the_bound(decay, k):
    """All scores of four candidates, and all steps, each kind of answer by its own bound."""
    found, stated = largest(decay, k), bounds(decay, N, CAP, k)

    assert all(one <= bound * (1 + 1e-12) for one, bound in zip(found, stated, strict=True))
    assert loss(decay, n=N, cap=CAP, k=k) == pytest.approx(max(stated))


@pytest.mark.parametrize("k", [1, 3])
def test_both_bounds_are_nearly_reached_by_many_candidates(k):
    """Own score from nothing to the cap, and back, where others that are drawn gain 1."""
    n, cap, decay = 200_000, 60, 0.1
    s, t = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
    t[0] = cap
    drawn = list(range(k))
    t[drawn[1:]] = 1
    first, _ = bounds(decay, n, cap, k)
    gained = log_probability(t, decay, drawn) - log_probability(s, decay, drawn)
    assert 0.999 * (cap + k - 1) * decay < gained <= first
    if k > 1:  # planted: what the others gain left out
        assert gained > decay * cap

    n, decay = 1000, 0.3
    s, t = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
    s[0] = cap
    others = list(range(1, k + 1))
    t[others] = 1
    first, second = bounds(decay, n, cap, k)
    lost = log_probability(t, decay, others) - log_probability(s, decay, others)
    assert 0.98 * second < lost <= second
    if k > 1:  # planted: the first bound alone, and draws that need not pay for the own one
        assert lost > first
        assert lost > 2 * k * decay


@pytest.mark.parametrize("epsilon", [1e-6, 0.5, 10.0, 2000.0])
@pytest.mark.parametrize(
    ("n", "cap", "k"), [(1, 1, 1), (5, 4, 5), (10**5, 900, 10), (50, 3, 1)]
)
def test_the_decay_is_the_largest_of_the_price(epsilon, n, cap, k):
    decay = largest_decay(epsilon, n=n, cap=cap, k=k)

    assert loss(decay, n=n, cap=cap, k=k) <= epsilon
    assert max(bounds(decay, n, cap, k)) <= epsilon
    if decay * cap < 699:
        assert loss(decay * (1 + 1e-9), n=n, cap=cap, k=k) > epsilon


def test_one_own_draw_costs_less_than_rounds_of_its_sensitivity():
    n, cap, k, epsilon = 36_692, 924, 10, 10.0

    assert largest_decay(epsilon, n=n, cap=cap, k=k) > 19 * epsilon / (2 * k * cap)
