import sys
from decimal import Decimal, localcontext
from math import exp, inf

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st
from scipy.special import log_ndtr, ndtr

from dpselect.budget.zcdp import delta_of, delta_of_gaussian, epsilon_of, rho_of_pure

EPSILONS = [1e-3, 0.01, 0.1, 0.5, 1.0, 2.0, 5.0, 20.0]

epsilons = st.floats(1e-3, 20)
rhos = st.floats(1e-6, 1e3)
deltas = st.floats(1e-12, 0.5)


def renyi(p, q, order):
    """By definition, for finite laws without zeros, given to 50 digits."""
    return sum(x**order * y ** (1 - order) for x, y in zip(p, q, strict=True)).ln() / (
        order - 1
    )


def response(epsilon):
    odds = Decimal(epsilon).exp()
    return odds / (odds + 1), 1 / (odds + 1)


@pytest.fixture(autouse=True)
def _fifty_digits():
    with localcontext(prec=50):
        yield


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_rho_is_the_least_one_as_the_order_tends_to_one(epsilon):
    """The limit is the Kullback-Leibler divergence."""
    yes, no = response(epsilon)
    limit = (yes - no) * (yes / no).ln()

    assert 0 < Decimal(rho_of_pure(epsilon)) / limit - 1 < 1e-11


@given(
    st.lists(st.tuples(st.floats(0.01, 1), st.floats(-1, 1)), min_size=2, max_size=6),
    epsilons,
    st.floats(1.01, 100),
)
def test_no_pair_of_laws_within_epsilon_diverges_more(cells, epsilon, order):
    p = [Decimal(weight) for weight, _ in cells]
    q = [Decimal(weight) * Decimal(epsilon * tilt).exp() for weight, tilt in cells]
    p, q = [x / sum(p) for x in p], [y / sum(q) for y in q]
    pure = max(abs((x / y).ln()) for x, y in zip(p, q, strict=True))
    assume(pure > 1e-6)

    assert renyi(p, q, Decimal(order)) < Decimal(order) * Decimal(rho_of_pure(float(pure)))


@pytest.mark.parametrize("epsilon", [sys.float_info.min, 1e-200, 1e308, sys.float_info.max])
def test_rho_is_positive_and_finite_at_the_extremes(epsilon):
    assert 0 < rho_of_pure(epsilon) <= epsilon
    assert rho_of_pure(0.0) == 0


@given(rhos, deltas)
def test_epsilon_is_the_best_over_all_orders_rounded_upwards(rho, delta):
    def bound(order):
        at_order = order * Decimal(rho) + (1 - 1 / order).ln()
        return at_order - (Decimal(delta) * order).ln() / (order - 1)

    low, high = Decimal(-20), (2 / Decimal(delta)).ln()
    for _ in range(60):
        left, right = (2 * low + high) / 3, (low + 2 * high) / 3
        if bound(1 + left.exp()) < bound(1 + right.exp()):
            high = right
        else:
            low = left
    best = max(Decimal(0), bound(1 + low.exp()))

    above = float(Decimal(epsilon_of(rho, delta)) - best)

    assert -1e-15 < above < 1e-9 * float(1 + best)


@pytest.mark.parametrize(
    ("rho", "delta", "epsilon"),
    [(0.0, 0.0, 0.0), (0.0, 0.1, 0.0), (1.0, 0.0, inf), (inf, 0.1, inf)],
)
def test_nothing_costs_nothing_and_without_delta_nothing_converts(rho, delta, epsilon):
    assert epsilon_of(rho, delta) == epsilon


@pytest.mark.parametrize("epsilon", [0.0, 1.0, inf])
def test_nothing_has_no_delta_and_without_a_bound_everything_may_fail(epsilon):
    assert delta_of(0.0, epsilon) == 0
    assert delta_of(inf, epsilon) == 1


@given(rhos, st.floats(0.01, 20))
def test_delta_is_the_least_whose_epsilon_is_enough(rho, epsilon):
    delta = delta_of(rho, epsilon)

    assert delta == 1 or epsilon_of(rho, delta) <= epsilon
    assert epsilon_of(rho, delta * (1 - 1e-9)) > epsilon or delta < 1e-300


@pytest.mark.parametrize("rho", [sys.float_info.min, 1e300])
@pytest.mark.parametrize("delta", [sys.float_info.min, 1 - 2**-53])
def test_epsilon_exists_at_the_extremes(rho, delta):
    assert 0 <= epsilon_of(rho, delta) < inf


@pytest.mark.parametrize(
    ("mu", "epsilon"), [(0.2, 1.0), (1.0, 0.3), (3.0, 8.0), (0.05, 0.1), (1.0, 0.0), (3.0, 0.0)]
)
def test_the_price_of_gaussian_noise_is_the_integral_of_the_definition(mu, epsilon):
    from scipy.integrate import quad

    def excess(x):
        density = np.exp(-((x - mu) ** 2) / 2) - exp(epsilon) * np.exp(-(x**2) / 2)
        return max(0.0, density / np.sqrt(2 * np.pi))

    start = epsilon / mu + mu / 2
    delta = quad(excess, start, start + 12, epsabs=1e-15, epsrel=1e-13, limit=200)[0]

    assert delta_of_gaussian(mu, epsilon) == pytest.approx(delta, abs=1e-12 * delta + 1e-17)


@pytest.mark.parametrize(("mu", "epsilon"), [(20.0, 299.0), (20.0, 301.0), (24.0, 400.0)])
def test_far_in_the_tail_the_price_is_rounded_up(mu, epsilon):
    up, down = epsilon / mu - mu / 2, epsilon / mu + mu / 2
    exact = ndtr(-up) - exp(epsilon + log_ndtr(-down))

    assert exact * (1 - 1e-12) <= delta_of_gaussian(mu, epsilon) <= exact * (1 + 1e-5)


def test_beyond_all_floats_the_price_is_0():
    assert delta_of_gaussian(1.0, 1e4) == 0
