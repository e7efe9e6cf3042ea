"""Theorems 2 to 11 of docs/report, on exact laws."""

from decimal import Decimal, getcontext
from itertools import chain, combinations, permutations, product
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
    unrefused,
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
    low = np.exp(epsilon) * a
    middle = 1 - np.exp(-epsilon) / (4 * np.maximum(a, np.exp(-epsilon) / 2))
    high = 1 - np.exp(-epsilon) * (1 - a)
    return np.where(low <= 0.5, low, np.where(a <= 0.5, middle, high))


def events(law):
    """The probability of every event but the impossible and the sure one."""
    n = len(law)
    subsets = chain.from_iterable(combinations(range(n), size) for size in range(1, n))
    return np.array([law[list(subset)].sum() for subset in subsets])


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_the_curve_of_the_page_is_that_of_laplace(epsilon):
    a = np.linspace(0.001, 0.999, 499)
    scale = 1 / epsilon
    by_definition = stats.laplace.cdf(stats.laplace.ppf(a, 0, scale) + 1, 0, scale)

    assert laplace_curve(epsilon, a) == pytest.approx(by_definition, rel=1e-12)


@pytest.mark.slow
@every_draw
@given(pair=neighbouring_scores(), epsilon=epsilons)
def test_a_noisy_maximum_is_dominated_by_laplace(draw, pair, epsilon):
    """Theorem 3, for every event, in both directions."""
    p, q = (events(draw.probabilities(scores, epsilon)) for scores in pair)

    assert (q <= laplace_curve(epsilon, p) + 1e-11).all()
    assert (p <= laplace_curve(epsilon, q) + 1e-11).all()


def test_a_noise_of_twice_the_hazard_rate_is_not():
    """What the test above would see if the noise were made for half of epsilon."""
    p, q = (PermuteAndFlip().probabilities(np.array(s), 2.0) for s in ([0.5, 0.0], [-0.5, 1.0]))

    assert (events(q) > laplace_curve(1.0, events(p)) + 0.01).any()


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


def under_the_curve(p, q, epsilon):
    """Whether two outcomes' likelihood ratios are those of a point under the curve."""
    ratios = p / q
    up, down = ratios[ratios > 1 + 1e-9], ratios[ratios < 1 - 1e-9]
    for high, low in product(up, down):
        of_q = (1 - low) / (high - low)
        if high * of_q > laplace_curve(epsilon, of_q) + 1e-12:
            return False
    return True


@given(pair=neighbouring_scores(), epsilon=epsilons)
def test_two_candidates_have_any_two_likelihood_ratios_of_permute_and_flip(pair, epsilon):
    """Searched, and more than Theorem 5 says: for any two of the outcomes at once."""
    p, q = (PermuteAndFlip().probabilities(scores, epsilon) for scores in pair)

    assert under_the_curve(p, q, epsilon)


def test_more_than_two_candidates_of_any_law_under_the_curve_would_not_do():
    """The curve alone allows Laplace noise in three parts, whose divergence is larger."""
    edges = np.array([0.3, 0.8])
    p, q = (np.diff(stats.laplace.cdf(edges - at), prepend=0, append=1) for at in (0, 1))

    assert (events(p) <= laplace_curve(1.0, events(q)) + 1e-12).all()
    assert not under_the_curve(q, p, 1.0)


def first_two_kinds(kinds):
    """Sets of places that random orders visit before the third kind, with probabilities."""
    chances = {}
    orders = list(permutations(range(len(kinds))))
    for order in orders:
        seen = [kinds[place] for place in order]
        length = next(i for i in range(len(kinds) + 1) if len({*seen[:i], *seen[i:][:1]}) == 3)
        block = frozenset(order[:length])
        chances[block] = chances.get(block, 0) + 1 / len(orders)
    return chances


@pytest.mark.parametrize("kinds", ["ABC", "AABC", "ABBC", "AABBC", "AABCC", "ABBBC"])
@pytest.mark.parametrize("epsilon", [0.3, 2.0])
@pytest.mark.parametrize("part", [0.2, 0.5])
def test_three_kinds_are_a_mixture_of_two_kinds(kinds, epsilon, part):
    """Line 3 of the proof of Theorem 5: best before, best after, and best in both."""
    before = np.array([{"A": 0, "B": (part - 1) * epsilon, "C": 0}[kind] for kind in kinds])
    after = np.array([{"A": -part * epsilon, "B": 0, "C": 0}[kind] for kind in kinds])
    for scores in (before, after):
        mixed = np.zeros(len(kinds))
        for block, chance in first_two_kinds(kinds).items():
            places = sorted(block)
            assert len({kinds[place] for place in places}) == 2
            # Scores are logarithms of acceptance probabilities: an epsilon of 2.
            mixed[places] += chance * PermuteAndFlip().probabilities(scores[places], 2.0)

        assert mixed == pytest.approx(PermuteAndFlip().probabilities(scores, 2.0), rel=1e-12)


def accepted(accept):
    """The law of permute-and-flip on any acceptance probabilities, one of which is 1."""
    return accept * unrefused(accept)


@pytest.mark.parametrize("epsilon", [0.2, 1.0, 4.0])
@pytest.mark.parametrize("v", [0.0, 0.3, 0.8, 1.0])
def test_candidates_are_mixtures_of_four_kinds(epsilon, v):
    """Lines 1 and 2 of the proof of Theorem 5: the corners of a polygon."""
    v *= epsilon
    corners = np.array([[0, 0], [1, exp(-v)], [exp(v - epsilon), 1], [1, 1]])
    rng = np.random.default_rng(7)
    weights = rng.dirichlet([0.5] * 4, size=4)
    # One candidate is best before the step, and one after it.
    weights[0], weights[1] = [0, 0.4, 0, 0.6], [0, 0, 0.7, 0.3]
    before, after = (weights @ corners).T
    mixed = np.zeros((2, 4))
    for kinds in product(range(4), repeat=4):
        chance = np.prod(weights[range(4), kinds])
        if chance > 0:
            mixed += chance * np.array([accepted(side) for side in corners[list(kinds)].T])

    assert mixed[0] == pytest.approx(accepted(before), rel=1e-12, abs=1e-15)
    assert mixed[1] == pytest.approx(accepted(after), rel=1e-12, abs=1e-15)
    assert mixed.sum(axis=1) == pytest.approx(1, rel=1e-12)


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


def test_any_two_nodes_can_be_made_twins_in_one_step():
    """The step of Theorem 52: exchanged names leave the graph as it is."""
    pairs = list(combinations(range(4), 2))
    for there in product([False, True], repeat=len(pairs)):
        graph = {pair for pair, one in zip(pairs, there, strict=True) if one}
        for v, w in permutations(range(4), 2):
            others = {end for edge in graph if w in edge for end in edge} - {v, w}
            kept = {edge for edge in graph if v not in edge or w in edge}
            made = kept | {tuple(sorted((v, other))) for other in others}
            names = {v: w, w: v}
            swapped = {tuple(sorted(names.get(end, end) for end in edge)) for edge in made}
            assert swapped == made
            assert all(v in edge for edge in made ^ graph)


@pytest.mark.parametrize("draw", DRAWS[:2], ids=str)
@pytest.mark.parametrize("epsilon", [0.2, 1.0])
@pytest.mark.parametrize("n", [5, 200])
def test_the_least_lead_is_between_the_bounds(draw, n, epsilon):
    """Theorems 50 and 51, for counts: a lead of `q` records, doubled unit scores."""
    beta = 0.05
    least = max(log(n * (1 - beta)), log((n - 1) / (n * beta))) / epsilon
    enough = log(n / beta) / epsilon

    def success(q):
        scores = np.zeros(n)
        scores[0] = 2 * q
        return draw.probabilities(scores, epsilon)[0]

    assert success(least * 0.999) < 1 - beta
    assert success(enough) >= 1 - beta
    assert enough - least <= log(1 / (beta * (1 - beta))) / epsilon


def expected_sum(law, scores, rounds):
    """Of what rounds without replacement draw, by exact laws."""
    if rounds == 0:
        return 0.0
    return sum(
        chance * (score + expected_sum(law, np.delete(scores, place), rounds - 1))
        for place, (chance, score) in enumerate(zip(law(scores), scores, strict=True))
    )


def test_sums_over_rounds_of_permute_and_flip_are_not_below_exponential_ones():
    """Searched, no theorem (docs/report, Theorem 11)."""
    rng = np.random.default_rng(4)
    for n, rounds in [(3, 2), (4, 2), (4, 3)] * 15:
        scores = rng.exponential(rng.choice([0.5, 2, 6]), n)
        flip, exponential = (
            expected_sum(lambda some, draw=draw: draw.probabilities(some, 2.0), scores, rounds)
            for draw in (PermuteAndFlip(), Exponential())
        )
        assert flip > exponential


def test_a_worse_first_draw_may_leave_an_easier_second_one():
    def after(first, *left):
        return first + expected_sum(
            lambda some: Exponential().probabilities(some, 2.0), np.array(left, dtype=float), 1
        )

    assert (after(2, 3, 0), after(3, 2, 0)) == pytest.approx((4.86, 4.76), abs=0.005)
