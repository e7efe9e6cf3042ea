"""The best of private runs: its exact law, its least price by brute force, replay, refusals."""

from fractions import Fraction
from functools import partial
from itertools import pairwise, product
from math import exp

import numpy as np
import pytest
from dp_accounting import ComposedDpEvent, LaplaceDpEvent, ZCDpEvent
from dp_accounting.dp_event import RandomizedResponseDpEvent, RepeatAndSelectDpEvent
from dp_accounting.privacy_accountant import NeighboringRelation
from dp_accounting.rdp import RdpAccountant
from scipy import stats

import dpselect as dp
from applications_cases.releases.tuning import run
from applications_cases.repetitions import LAWS
from dpselect.budget.zcdp import rho_of_pure
from dpselect.draws.exact.inversion import resolve
from dpselect.extend import intercepted
from dpselect_applications import tuning
from dpselect_applications.tuning.repetitions import rho_of_best
from dpselect_conformance import replay

every_law = pytest.mark.parametrize("law", LAWS, ids=repr)
ways = [(law, None) for law in LAWS] + [(tuning.Geometric(mean=4), 1.0)]
every_way = pytest.mark.parametrize(("law", "threshold"), ways, ids=repr)


def numbers_of(law, most):
    """The law of the number: Poisson's, or ``binom(k + η - 1, k) (1 - γ)^k`` from 1 on."""
    k = np.arange(1, most)
    if isinstance(law, tuning.Poisson):
        return stats.poisson.pmf(np.arange(most + 1), law.mean)
    weights = np.cumprod([1.0, *((k + law.shape) / (k + 1) * (1 - law.stop))])
    return np.array([0.0, *(weights / weights.sum())])


def by_definition(law, scores, one_run, threshold, most=400):
    """Sum over the number of runs of the probability that each outcome is released."""
    numbers = numbers_of(law, most)
    out = np.zeros(len(scores))
    for k, chance in enumerate(numbers):
        for y, score in enumerate(scores):
            if threshold is not None:
                if score >= threshold:
                    below = one_run[np.asarray(scores) < threshold].sum()
                    out[y] += chance * one_run[y] * sum(below**j for j in range(k))
                continue
            worse = one_run[np.asarray(scores) < score].sum()
            level = one_run[np.asarray(scores) == score].sum()
            # The first of the best ones is run j: the j runs before it are worse.
            out[y] += chance * sum(
                one_run[y] * worse**j * (worse + level) ** (k - 1 - j) for j in range(k)
            )
    return out


@pytest.mark.slow
@every_way
def test_the_law_is_the_sum_over_all_numbers_of_runs(law, threshold):
    scores = np.array([0.0, 2.0, 1.0, 2.0])
    one_run = np.array([0.4, 0.1, 0.3, 0.2])
    exact = tuning.best_probabilities(scores, one_run, repetitions=law, threshold=threshold)

    assert exact == pytest.approx(by_definition(law, scores, one_run, threshold), abs=1e-12)


def neighbouring_laws(epsilon, steps=3):
    """Pairs of laws of three outcomes whose ratios are within e^epsilon; extremes included."""
    grid = np.linspace(0, 1, steps + 2)[1:-1]
    kink = 1 / (1 + exp(epsilon))
    for here in product([*grid, kink, 1 - kink], [1e-6, 0.05, 0.3]):
        low, mid = here[0] * (1 - here[1]), here[1]
        one = np.array([low, mid, 1 - low - mid])
        for signs in product([-1, 0, 1], repeat=3):
            for free in range(3):
                other = one * np.exp(np.array(signs) * epsilon)
                other[free] = 1 - np.delete(other, free).sum()
                ratios = other / one
                if ratios.min() > 0 and np.abs(np.log(ratios)).max() <= epsilon + 1e-9:
                    yield one, other


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [0.1, 2.5])
@every_way
def test_the_price_is_the_largest_loss_over_all_pairs_of_runs(law, threshold, epsilon):
    """Outcomes, and that there is none: no more than the price, and the price is attained."""
    release = partial(
        tuning.best_probabilities, [0.0, 1.0, 2.0], repetitions=law, threshold=threshold
    )
    worst = 0.0
    for pair in neighbouring_laws(epsilon):
        here, there = (np.append(law, 1 - law.sum()) for law in map(release, pair))
        possible = np.minimum(here, there) > 1e-8
        worst = max(worst, float(np.abs(np.log(here[possible] / there[possible])).max()))
    price = dp.BestOf(
        repetitions=law, threshold=threshold, epsilon_per_run=epsilon, neighbours="substitute"
    ).plan.epsilon

    assert worst <= price * (1 + 1e-8)
    assert worst >= price * (1 - 1e-4)


@every_law
def test_every_start_of_ten_bits_is_decided_as_the_running_sums_say(law):
    """What is decided lies within the part of its number, and few starts are left open."""
    sums = np.concatenate([[0.0], np.cumsum(numbers_of(law, 400))])
    weights, still_open = tuning.drawing.weights(law.number_distribution, 10), 0
    for start in range(2**10):
        number = resolve(weights, start, 10)
        if number is None:
            still_open += 1
            continue
        assert sums[number] <= (start + 1e-9) / 2**10
        assert (start + 1 - 1e-9) / 2**10 <= sums[number + 1]
    assert still_open < 70


@every_law
@pytest.mark.parametrize("known", [3, 10, 64])
def test_weights_and_what_is_beyond_them_are_enclosed(law, known):
    """By fractions; of the largest number on, 2,000 more are summed up."""
    law = law.number_distribution
    weights = tuning.drawing.weights(law, known)
    exact = Fraction(1 << 2 * known + 64)
    k = law.first
    for (low, high), (next_low, next_high) in pairwise(
        zip(weights.least, weights.most, strict=True)
    ):
        assert next_low - low <= exact <= next_high - high
        exact *= Fraction(*law.ratio(k))
        k += 1
    beyond = 0.0
    weight = float(exact)
    for more in range(k, k + 2000):
        beyond += weight
        weight *= float(Fraction(*law.ratio(more)))
    assert beyond * (1 - 1e-9) <= weights.beyond
    assert weights.beyond <= weights.most[-1] >> known + 31


@every_law
def test_means_are_as_stated_and_the_inverse_price_inverts(law):
    numbers = numbers_of(law, 3000)

    assert numbers @ np.arange(3001) == pytest.approx(law.mean, rel=1e-7)
    for x in (0.0, 0.3, 1.0):
        assert law.generating_function(np.array(x)) == pytest.approx(
            numbers @ x ** np.arange(3001), abs=1e-9
        )
    each = law.epsilon_per_run(1.5)
    assert law.epsilon_of(each) <= 1.5 == pytest.approx(law.epsilon_of(each), rel=1e-12)


BASES = {
    "laplace": (LaplaceDpEvent(0.7), NeighboringRelation.ADD_OR_REMOVE_ONE),
    "zcdp": (ZCDpEvent(0.05), NeighboringRelation.ADD_OR_REMOVE_ONE),
    "response": (RandomizedResponseDpEvent(0.6, 2), NeighboringRelation.REPLACE_ONE),
}


@pytest.mark.slow
@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("mean", [1.5, 10.0, 200.0])
@pytest.mark.parametrize("shape", [0.0, 0.5, 1.0, 4.0, np.inf])
def test_renyi_divergences_are_those_of_dp_accounting(base, mean, shape):
    event, relation = BASES[base]
    law = (
        tuning.Poisson(mean=mean)
        if shape == np.inf
        else tuning.TruncatedNegativeBinomial(mean=mean, shape=shape)
    )
    one, theirs = (RdpAccountant(neighboring_relation=relation) for _ in range(2))
    one.compose(event)
    theirs.compose(ComposedDpEvent([RepeatAndSelectDpEvent(event, mean, shape)]))
    ours = tuning.renyi_of_best(one._orders, one._rdp, repetitions=law)

    if shape == np.inf:  # there they are not made to rise with the order
        assert (ours <= theirs._rdp * (1 + 1e-12)).all()
        lower = np.minimum.accumulate(theirs._rdp[::-1])[::-1]
        assert ours == pytest.approx(lower, rel=1e-9, abs=1e-9)
    else:
        assert ours == pytest.approx(theirs._rdp, rel=1e-9, abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize(("epsilon", "rho"), [(2.0, 0.05), (0.5, 0.5**2 / 8)])
def test_rho_bounds_every_renyi_divergence_of_real_pairs(epsilon, rho):
    for law in LAWS:
        bound = rho_of_best(epsilon, rho, law)
        assert bound <= rho_of_pure(law.epsilon_of(epsilon))
        for one, other in neighbouring_laws(epsilon, steps=1):
            orders = product((1.001, 1.5, 3.0, 9.0, 40.0, 1e3), ((one, other), (other, one)))
            if any(renyi(*pair, order) > rho * order for order, pair in orders):
                continue
            here, there = (
                tuning.best_probabilities([0, 1, 2], each, repetitions=law)
                for each in (one, other)
            )
            for order in (1.001, 2.0, 8.0, 64.0):
                assert renyi(here, there, order) <= order * bound * (1 + 1e-9)


def renyi(p, q, order):
    p, q = (np.append(law, max(1 - law.sum(), 0.0)) for law in (p, q))
    held = p > 1e-8
    logs = order * np.log(p[held]) + (1 - order) * np.log(q[held])
    return float(np.logaddexp.reduce(logs)) / (order - 1)


PUBLIC = {"repetitions": tuning.Geometric(mean=3), "epsilon_per_run": 1.0}
PUBLIC |= {"neighbours": "add-remove"}


def test_a_replay_sees_a_run_that_costs_more_than_it_claims():
    def release(votes):
        return dp.BestOf(**PUBLIC).release([partial(run, votes, "abc", 4.0)])

    reports = [replay(release, "aabbc", "aabbcc") for _ in range(30)]

    assert any("the draws use epsilon" in str(report) for report in reports)


def test_nothing_is_released_below_the_threshold_or_without_a_run():
    runs, few = [lambda: (0.5, "a")], PUBLIC | {"repetitions": tuning.Poisson(mean=1e-9)}

    assert dp.BestOf(threshold=1.0, **PUBLIC).release(runs).answer == ()
    assert dp.BestOf(**few).release(runs).answer == ()


@pytest.mark.parametrize(("threshold", "made"), [(None, 5), (2.0, 3)])
def test_as_many_runs_are_made_as_are_drawn_and_the_first_of_the_best_is_kept(threshold, made):
    """A threshold ends them: scores are 0, 1, 2, 2, 1."""
    told = iter(zip([0, 1, 2, 2, 1], "abcde", strict=True))

    def five(name, draw, _args, _kwargs):
        return 5 if name.endswith("draw_number") else draw()

    with intercepted(five):
        release = dp.BestOf(threshold=threshold, **PUBLIC).release([lambda: next(told)])

    assert release.answer == ("c",)
    assert len([*told]) == 5 - made
