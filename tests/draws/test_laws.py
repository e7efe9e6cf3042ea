"""Exact laws against the definitions of the draws."""

from itertools import pairwise, permutations
from math import exp, factorial, prod

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import integrate, stats

from dpselect.draws import Exponential, LaplaceNoisyMax, PermuteAndFlip, noisy_max
from dpselect.draws.noisy_max import _by_one_rule, _by_panels
from support.strategies import epsilons

score_lists = st.lists(st.floats(-30, 30), min_size=1, max_size=6)


def permute_and_flip_by_definition(scores, epsilon):
    """Run the algorithm in every order."""
    accept = [exp(epsilon / 2 * (s - max(scores))) for s in scores]
    law = np.zeros(len(scores))
    for order in permutations(range(len(scores))):
        refused = 1.0
        for r in order:
            law[r] += refused * accept[r] / factorial(len(scores))
            refused *= 1 - accept[r]
    return law


def noisy_max_by_quadrature(scores, noise):
    """Integrate over the winner's noisy score, between the kinks."""

    def density(x, r):
        others = prod(noise.cdf(x - s) for j, s in enumerate(scores) if j != r)
        return noise.pdf(x - scores[r]) * others

    reach = 40 * noise.std()
    kinks = sorted({min(scores) - reach, *scores, max(scores) + reach})
    return [
        sum(
            integrate.quad(density, a, b, args=(r,), epsabs=1e-13, limit=400)[0]
            for a, b in pairwise(kinks)
        )
        for r in range(len(scores))
    ]


@given(score_lists, epsilons)
def test_exponential_is_proportional_to_the_exponential(scores, epsilon):
    weights = np.exp(epsilon / 2 * (np.array(scores) - max(scores)))

    assert Exponential().probabilities(np.array(scores), epsilon) == pytest.approx(
        weights / weights.sum()
    )


@given(score_lists, epsilons)
def test_permute_and_flip_runs_its_algorithm(scores, epsilon):
    assert PermuteAndFlip().probabilities(np.array(scores), epsilon) == pytest.approx(
        permute_and_flip_by_definition(scores, epsilon), abs=1e-12
    )


@pytest.mark.slow
@pytest.mark.parametrize("scores", [[0, 1, 3, 3], [0, 0.2, -5.3], [4.0], [-1.0, -1.0]])
@pytest.mark.parametrize("epsilon", [0.3, 2.0])
def test_laplace_is_the_noisy_maximum(scores, epsilon):
    law = LaplaceNoisyMax().probabilities(np.array(scores, dtype=float), epsilon)

    assert law == pytest.approx(
        noisy_max_by_quadrature(scores, stats.laplace(scale=2 / epsilon)), abs=1e-10
    )


@pytest.mark.parametrize("spread", [0.0, 0.01, 1.0, 12.0, 400.0])
@pytest.mark.parametrize("leaders", [1, 2, 60])
def test_the_linear_time_law_equals_the_exact_rule(spread, leaders):
    """Quadratic and exact against linear; the rule itself loses 1e-10 at 2,000 nodes."""
    gaps = spread * np.random.default_rng(0).exponential(size=900)
    gaps[:leaders] = 0
    accept = np.exp(-gaps)

    assert _by_panels(accept) == pytest.approx(_by_one_rule(accept), rel=1e-9, abs=1e-15)


def test_laplace_on_equal_panels_stays_close(monkeypatch):
    scores = -np.random.default_rng(2).exponential(2, size=300)
    exact = LaplaceNoisyMax().probabilities(scores, 1.0)
    monkeypatch.setattr(noisy_max, "MOST_PANELS", 128)

    assert LaplaceNoisyMax().probabilities(scores, 1.0) == pytest.approx(exact, abs=1e-8)


def test_privacy_loss_reaches_epsilon():
    """With many candidates no draw wastes any of its epsilon."""
    scores = np.full(10**6, -200.0)
    scores[0] = 0.0
    other = scores + 1.0
    other[0] -= 2.0
    for draw in (Exponential(), PermuteAndFlip()):
        p, q = draw.probabilities(scores, 0.5), draw.probabilities(other, 0.5)
        assert np.log(q[1] / p[1]) == pytest.approx(0.5, rel=1e-9)
