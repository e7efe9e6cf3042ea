"""Theorems 2 to 11 of docs/report, on exact laws."""

from decimal import Decimal, getcontext
from itertools import chain, combinations, product
from math import exp, expm1, inf, log

import numpy as np
import pytest
from hypothesis import example, given, strategies as st
from scipy import stats

import dpselect as dp
from dpselect.draws import Exponential, LaplaceNoisyMax, PermuteAndFlip, grid
from dpselect.draws.noisy_max import (
    LEAST,
    bounded_range_rho,
    laplace_rho,
    permute_and_flip_rho,
)
from support.strategies import epsilons

EPSILONS = [0.05, 0.3, 1.0, 3.0, 8.0]
DRAWS = [Exponential(), PermuteAndFlip(), LaplaceNoisyMax()]
every_draw = pytest.mark.parametrize("draw", DRAWS, ids=str)


@st.composite
def neighbouring_scores(draw, most=6):
    """Unit scores before and after one step, which moves many of them as far as it can."""
    moves = st.floats(-1, 1) | st.sampled_from([-1.0, 1.0])
    pairs = draw(st.lists(st.tuples(st.floats(-6, 6), moves), min_size=2, max_size=most))
    before = np.array([score for score, _ in pairs])
    return before, before + [move for _, move in pairs]


def laplace_curve(epsilon, a):
    """G: the largest probability of an event under Lap(1), that has `a` under Lap(0)."""
    noise = stats.laplace(scale=1 / epsilon)
    return noise.cdf(noise.ppf(np.minimum(a, 1.0)) + 1)


def events(law):
    """The probability of every event but the impossible and the sure one."""
    n = len(law)
    subsets = chain.from_iterable(combinations(range(n), size) for size in range(1, n))
    return np.array([law[list(subset)].sum() for subset in subsets])


ORDERS = [1, 1 + 1e-6, 1.01, 1.3, 2, 4, 16, 256, inf]


def worst_share(draw, epsilon, pair):
    """The largest D_alpha / alpha of the laws of a pair, in units of the claimed rho."""
    p, q = (draw.probabilities(np.array(scores), epsilon) for scores in pair)
    divergences = [
        dp.audit.renyi(*law, one) / one for one in ORDERS for law in ((p, q), (q, p))
    ]
    return max(divergences) / draw.rho(epsilon)


@pytest.mark.parametrize(
    "draw", [*DRAWS[:2], pytest.param(DRAWS[2], marks=pytest.mark.slow)], ids=str
)
@given(pair=neighbouring_scores(), epsilon=epsilons)
def test_a_draw_is_dominated_by_laplace_and_loses_its_rho_at_most(draw, pair, epsilon):
    """Theorem 3, for every event, in both directions; so its loss is at most epsilon."""
    p, q = (events(draw.probabilities(scores, epsilon)) for scores in pair)

    assert (q <= laplace_curve(epsilon, p) + 1e-11).all()
    assert (p <= laplace_curve(epsilon, q) + 1e-11).all()
    assert worst_share(draw, epsilon, pair) <= 1 + 1e-6


@pytest.mark.parametrize("epsilon", EPSILONS)
@every_draw
def test_rho_bounds_two_groups_of_many_that_cross(draw, epsilon):
    """The first group leads by a gap, and moves against the second."""
    sizes = [(1, 1), (1, 30)]
    if not isinstance(draw, LaplaceNoisyMax):
        sizes += [(1, 2), (2, 1), (30, 1), (1, 400), (200, 200)]
    gaps = np.concatenate([np.linspace(-2, 4, 13), [1 + 8 / epsilon, 1 - 8 / epsilon]])
    for one, gap in product(sizes, gaps):
        pair = np.repeat([gap, 0.0], one), np.repeat([gap - 1, 1.0], one)
        assert worst_share(draw, epsilon, pair) <= 1 + 1e-6


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_two_candidates_attain_the_curve_of_laplace(epsilon):
    """Theorem 4: the trade-off function of permute-and-flip is that of Laplace noise."""
    for gap in np.linspace(-6, 6, 241) / min(epsilon, 1):
        p, q = (
            PermuteAndFlip().probabilities(np.array(scores), epsilon)
            for scores in ([gap, 0.0], [gap + 1, -1.0])
        )
        assert q[0] == pytest.approx(laplace_curve(epsilon, p[0]), abs=1e-14)


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("part", [0.0, 0.3, 0.9])
def test_the_exact_delta_of_permute_and_flip(epsilon, part):
    """The largest is at a gap that puts the losing candidate's probability at the kink."""
    gaps = [0.0, 1.0, 2.0, 1 - part, 1 + part, *np.linspace(-1, 3, 81)]
    pairs = [
        [PermuteAndFlip().probabilities(np.array(s), epsilon) for s in ([g, 0.0], [g - 1, 1.0])]
        for g in gaps
    ]
    largest = max(dp.audit.delta(p, q, part * epsilon) for p, q in pairs)

    assert largest == pytest.approx(-expm1((part - 1) * epsilon / 2), rel=1e-9)


def divergence_of_laplace(alpha, epsilon):
    """D_alpha of Lap(0, 1/epsilon) and Lap(1, 1/epsilon): Mironov 2017, Table II."""
    if alpha == 1:
        return epsilon + expm1(-epsilon)
    first = log(alpha / (2 * alpha - 1)) + (alpha - 1) * epsilon
    second = log((alpha - 1) / (2 * alpha - 1)) - alpha * epsilon
    return np.logaddexp(first, second) / (alpha - 1)


@pytest.mark.parametrize("epsilon", [1e-3, *EPSILONS, 40.0])
def test_rho_of_laplace_holds_at_every_order(epsilon):
    """Theorem 7, and that nothing smaller would do at order 1."""
    orders = 1 + np.geomspace(1e-2, 1e3, 400)
    shares = [divergence_of_laplace(alpha, epsilon) / alpha for alpha in orders]

    assert max(shares) <= laplace_rho(epsilon) * (1 + 1e-9) + 1e-13
    assert divergence_of_laplace(1, epsilon) >= laplace_rho(epsilon) * (1 - 1e-8)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_the_kullback_leibler_divergence_of_the_exponential_draw_is_attained(epsilon):
    gaps = 1 + np.linspace(-2, 2, 801) * max(1, 4 / epsilon)
    largest = 0.0
    for gap in gaps:
        p, q = (
            Exponential().probabilities(np.array(scores), epsilon)
            for scores in ([gap, 0.0], [gap - 1, 1.0])
        )
        largest = max(largest, dp.audit.renyi(p, q, 1))

    assert largest == pytest.approx(bounded_range_rho(epsilon), rel=1e-4)


def two_candidates(epsilon, v):
    """The law of the loser and of the winner before and after they change places."""
    b, q = exp(-v) / 2, exp(v - epsilon) / 2
    return np.array([1 - b, b]), np.array([q, 1 - q])


@pytest.mark.parametrize("epsilon", [0.01, *EPSILONS])
def test_rho_of_permute_and_flip_is_the_largest_at_every_order(epsilon):
    """Theorem 6: no order above 1 has a larger share, and order 1 attains it."""
    rho = permute_and_flip_rho(epsilon)
    pairs = [two_candidates(epsilon, v) for v in np.linspace(0, epsilon, 2001)]
    largest = {
        order: max(dp.audit.renyi(p, q, order) for p, q in pairs) / order
        for order in (1, 1 + 1e-3, 1.02, 1.1, 1.3, 2, 4, 16, 64)
    }

    assert max(largest.values()) <= rho * (1 + 1e-9)
    assert largest[1] == pytest.approx(rho, rel=1e-5)
    assert bounded_range_rho(epsilon) < rho < laplace_rho(epsilon)


def exact_laplace(epsilon):
    e = Decimal(epsilon)
    return e + (-e).exp() - 1


def exact_bounded_range(epsilon):
    e = Decimal(epsilon)
    y = e / (e.exp() - 1)
    return y - 1 - y.ln()


def exact_two_candidates(epsilon):
    """The largest divergence, by bisection of its derivative."""
    e, half = Decimal(epsilon), Decimal("0.5")

    def laws(v):
        return (-v).exp() / 2, (v - e).exp() / 2

    low, high = Decimal(), min(e, (e / 2 + 2).ln())
    for _ in range(80):
        middle = (low + high) / 2
        b, q = laws(middle)
        slope = b * ((1 - b) * (1 - q) / (b * q)).ln() - (1 - b) + q * b / (1 - q)
        low, high = (middle, high) if slope > 0 else (low, middle)
    b, q = laws((low + high) * half)
    return (1 - b) * ((1 - b) / q).ln() + b * (b / (1 - q)).ln()


@given(st.floats(-9, 6).map(exp))
def test_rho_of_permute_and_flip_is_rounded_upwards(epsilon):
    getcontext().prec = 60

    assert (
        0
        < Decimal(permute_and_flip_rho(epsilon)) / exact_two_candidates(epsilon) - 1
        < Decimal("2e-6")
    )


@given(st.floats(-35, 9).map(exp))
@example(LEAST)
@example(LEAST * (1 - 2.0**-50))
def test_rho_is_rounded_upwards(epsilon):
    getcontext().prec = 60
    for rho, exact in (
        (laplace_rho, exact_laplace),
        (bounded_range_rho, exact_bounded_range),
    ):
        assert 0 < Decimal(rho(epsilon)) / exact(epsilon) - 1 < Decimal("1e-6")


@pytest.mark.parametrize("epsilon", [5e-324, 1e-200, 1e-17, 709.0, 710.0, 1e5, 1e200, 1e308])
@every_draw
def test_rho_is_finite_and_above_zero_for_every_epsilon(draw, epsilon):
    rho = draw.rho(epsilon)

    assert 0 < rho < inf
    assert rho <= max(epsilon * (1 + 1e-9) + 1e-300, 1e-300) or epsilon > 1e100
    budget = dp.Budget(1e308, 1e-6, neighbours=dp.Neighbours.EDGE)
    if epsilon > 1e-300:
        budget.spend(epsilon, rho=rho, neighbours=dp.Neighbours.EDGE)


def discrete_laplace_curve(h, steps, a):
    """One step of integer noise multiplies odds by at most e^h, on either side of 1/2."""
    for _ in range(steps):
        a = np.minimum(exp(h) * a, 1 - exp(-h) * (1 - a))
    return a


@pytest.mark.parametrize("steps", [2, 8, 200])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 6.0])
def test_integer_noise_is_dominated_by_laplace_at_a_little_more(epsilon, steps):
    """Corollary of Theorem 3, which `LaplaceNoisyMax.rho` charges."""
    h = epsilon / steps
    a = np.linspace(1e-4, 1 - 1e-4, 5_000)
    more = epsilon + h * h / 4

    assert (
        discrete_laplace_curve(h, steps, a) <= laplace_curve(more, a) * (1 + 1e-12) + 1e-13
    ).all()
    assert (discrete_laplace_curve(h, steps, a) > laplace_curve(epsilon, a) + 1e-13).any()
    # The grid has 2 * 2^20 steps and more: h is epsilon over that.
    largest = epsilon + (epsilon / (2 * grid.STEPS_PER_UNIT)) ** 2 / 4
    assert LaplaceNoisyMax().rho(epsilon) >= largest + expm1(-largest)


def integer_noisy_max(scores, h, reach=80):
    """The exact law with integer noise, ties to the earlier candidate."""
    at = np.arange(-reach, reach + 1)
    mass = np.exp(-h * np.abs(at))
    mass /= mass.sum()
    law = np.zeros(len(scores))
    for r, score in enumerate(scores):
        for z, chance in zip(at + score, mass, strict=True):
            below = [
                mass[at + other < z + (j > r)].sum() for j, other in enumerate(scores) if j != r
            ]
            law[r] += chance * np.prod(below)
    return law


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ([0, 0], [2, -2]),
        ([3, 0], [1, 2]),
        ([0, 3], [2, 1]),
        ([1, 0, 0], [-1, 2, 2]),
        ([0, 1, 2], [2, -1, 1]),
    ],
)
@pytest.mark.parametrize("h", [0.3, 1.0])
def test_integer_noise_with_ties_is_dominated(before, after, h):
    """Scores that move by two steps each: four steps of the curve."""
    p, q = (events(integer_noisy_max(scores, h)) for scores in (before, after))

    assert (q <= discrete_laplace_curve(h, 4, p) + 1e-9).all()
    assert (p <= discrete_laplace_curve(h, 4, q) + 1e-9).all()


score_lists = st.lists(st.floats(-30, 30), min_size=2, max_size=7)


def is_better(law, other, scores):
    """Likelihood-ratio order: law / other does not fall with the score."""
    order = np.argsort(scores, kind="stable")
    a, b = law[order], other[order]
    return (a[1:] * b[:-1] >= a[:-1] * b[1:] * (1 - 1e-9) - 1e-250).all()


@given(score_lists, epsilons)
def test_permute_and_flip_lies_between_two_exponential_draws(scores, epsilon):
    """Theorem 9: EM(epsilon) <= PF(epsilon) <= EM(2 epsilon)."""
    scores = np.array(scores)
    flip = PermuteAndFlip().probabilities(scores, epsilon)

    assert is_better(flip, Exponential().probabilities(scores, epsilon), scores)
    assert is_better(Exponential().probabilities(scores, 2 * epsilon), flip, scores)
    assert (flip >= Exponential().probabilities(scores, epsilon) / 2 * (1 - 1e-12)).all()


@given(
    st.lists(st.tuples(st.floats(-9, 9), st.floats(0, 4)), min_size=2, max_size=7),
    st.sampled_from(["non-decreasing", "non-increasing"]),
    epsilons,
)
def test_shifted_is_never_worse_where_its_direction_holds(pairs, direction, epsilon):
    """Theorem 10: where larger scores have a smaller sum of shortfalls, or a larger one."""
    scores = np.sort([score for score, _ in pairs])
    step = np.sort([delta for _, delta in pairs])
    local = dp.ElementSensitivity(
        lambda t: np.minimum((step if direction == "non-decreasing" else step[::-1]) + t, 5.0),
        5.0,
        dp.Neighbours.EDGE,
        horizon=9,
    )
    objective = dp.Objective(scores, local, direction=direction)
    shifted = dp.ShiftedLocalDampening(epsilon=epsilon).probabilities(objective)
    plain = dp.ExponentialMechanism(epsilon=epsilon).probabilities(objective)

    assert is_better(shifted, plain, scores)


@given(
    score_lists, st.lists(st.floats(0, 3), min_size=1, max_size=5), st.integers(0, 8), epsilons
)
def test_dampening_by_one_sensitivity_for_all_is_never_worse(scores, table, horizon, epsilon):
    """Theorem 10: the slopes 1 / delta(t) are at least 1 / Delta."""
    local = dp.LocalSensitivity(
        lambda t: table[min(t, len(table) - 1)], 3.0, dp.Neighbours.EDGE, horizon=horizon
    )
    objective = dp.Objective(scores, local)
    dampened = dp.LocalDampening(epsilon=epsilon).probabilities(objective)
    plain = dp.ExponentialMechanism(epsilon=epsilon).probabilities(objective)

    assert is_better(dampened, plain, np.array(scores))


@given(
    st.lists(st.floats(0, 9), min_size=2, max_size=7, unique=True),
    st.floats(1, 100),
    st.floats(0.05, 8),
    st.sampled_from(
        ["exponential", "permute-and-flip", "local-dampening", "shifted", "pairwise"]
    ),
)
def test_no_release_of_a_record_exceeds_the_ceiling(values, p, epsilon, name):
    """Theorem 52; these mechanisms treat labels alike, so that any labelling will do."""
    if name == "shifted":
        mechanism = dp.ShiftedLocalDampening(epsilon=epsilon, direction="non-decreasing")
    else:
        mechanism = dp.mechanisms.by_name(name, epsilon)
    objective = dp.percentiles.percentile(values, p=p, upper=9.0)
    law = mechanism.probabilities(objective)
    best = law[objective.scores == objective.scores.max()]
    ceiling = exp(2 * epsilon) / (exp(2 * epsilon) + len(values) - 1)

    assert best.size > 1 or best[0] <= ceiling * (1 + 1e-9)
