"""The privacy profile of the best of several runs: never below the true one, and reached."""

from dataclasses import replace
from functools import cache, partial
from itertools import combinations, product
from math import exp, inf, log, sqrt

import numpy as np
import pytest
from scipy.stats import norm

import dpselect as dp
from applications_cases import repetitions
from dpselect.budget import zcdp
from dpselect_applications.tuning import (
    Geometric,
    Logarithmic,
    Profile,
    best_probabilities,
    profile_of_best,
    profiles,
)
from dpselect_applications.tuning.profiles import least_epsilon, of_zcdp
from dpselect_applications.tuning.repetitions import Repetitions
from support.refusals import refused

LAWS = [*repetitions.LAWS, Logarithmic(mean=30)]
every_law = pytest.mark.parametrize("law", LAWS, ids=repr)
RATIOS = np.exp(np.linspace(0, 4, 41))
GRID = 6
SIMPLEX = [
    np.array([a, b, GRID - a - b]) / GRID
    for a, b in product(range(GRID + 1), repeat=2)
    if a + b <= GRID
]


def hockey_stick(one, other, ratio):
    """Return the delta of two laws at a ratio of probabilities, in one direction."""
    return np.maximum(one - ratio * other, 0).sum()


def true_profile(pairs, ratio):
    """Return the delta of the worst of several pairs, in both directions."""
    return max(
        hockey_stick(*laws, ratio)
        for one, other in pairs
        for laws in ((one, other), (other, one))
    )


def exact_profile(pairs):
    """Return the profile by its corners: where a ratio of two probabilities is passed."""
    corners = {*RATIOS}  # and where one direction becomes the worse one, nearly
    for one, other in pairs:
        some = (one > 0) & (other > 0)
        ratios = one[some] / other[some]
        corners |= {*ratios[ratios > 1], *(1 / ratios[ratios < 1])}
    return Profile.of([(log(t), true_profile(pairs, t)) for t in corners])


def excesses(law):
    """Yield by how much true deltas are above the bound, for all pairs of laws of a run."""
    for pair in combinations(SIMPLEX, 2):
        bound = profile_of_best(np.log(RATIOS), exact_profile([pair]), repetitions=law)
        best = [best_probabilities([0, 1, 2], one, repetitions=law) for one in pair]
        truth = [true_profile([best], ratio) for ratio in RATIOS]
        yield float((truth - bound).max())


@pytest.fixture
def coarse(monkeypatch):
    """Few cells and points, between which the bound holds as well."""
    monkeypatch.setattr(profiles, "CELLS", 200)
    monkeypatch.setattr(profiles, "SAMPLED", profiles.SAMPLED[::-50][::-1])
    profiles._mixture.cache_clear()
    yield
    profiles._mixture.cache_clear()


@pytest.mark.slow
@every_law
@pytest.mark.usefixtures("coarse")
def test_no_pair_of_laws_is_above_the_bound(law):
    assert max(excesses(law)) <= 1e-12


@cache
def run_law(votes, epsilon=1.0, most=3):
    """The favourite of two letters by the exponential mechanism, and its cut noisy count.

    Returns the probability of each pair of a count and a letter, the smallest count first.
    """
    favourite = np.exp(epsilon / 2 * np.array([votes.count(one) for one in "ab"]))
    favourite /= favourite.sum()
    found = np.zeros((most + 1, 2))
    for which, letter in enumerate("ab"):
        true = votes.count(letter)
        for noise in range(-60, 61):
            at = min(max(true + noise, 0), most)
            tanh = np.tanh(epsilon / 4)
            found[at, which] += favourite[which] * tanh * exp(-abs(noise) * epsilon / 2)
    return found.ravel() / found.sum()


UNIVERSE = ["a" * a + "b" * b for a, b in product(range(4), repeat=2)]
NEIGHBOURS = [
    (x, y)
    for x, y in combinations(UNIVERSE, 2)
    if abs(len(x) - len(y)) == 1
    and abs(x.count("a") - y.count("a")) + abs(x.count("b") - y.count("b")) == 1
]


@pytest.fixture(scope="module")
def base():
    """Return the laws of a run on all neighbours, and pairs of its profile."""
    laws = [(run_law(x), run_law(y)) for x, y in NEIGHBOURS]
    corners = exact_profile(laws)
    both = zip(corners.ratios, corners.deltas, strict=True)
    return laws, [(log(t), d) for t, d in both if t >= 1]


@every_law
@pytest.mark.parametrize("delta", [0.2, 0.01, 1e-4])
@pytest.mark.usefixtures("coarse")
def test_the_stated_epsilon_holds_on_a_small_universe(law, delta, base):
    """By the profile of the runs, by their epsilon, and both; as tight as few outcomes are."""
    laws, pairs = base
    scores = np.repeat(np.arange(4), 2)
    best = [
        tuple(best_probabilities(scores, one, repetitions=law) for one in pair) for pair in laws
    ]
    asked = dp.BestOf(
        repetitions=law, epsilon_per_run=1.0, delta=delta, neighbours="add-remove"
    )
    by_profile = replace(asked, profile_per_run=pairs)

    assert by_profile.plan.epsilon <= asked.plan.epsilon <= law.epsilon_of(1.0)
    for query in (asked, by_profile):
        assert true_profile(best, exp(query.plan.epsilon)) <= delta


def gaussian(mu):
    """The profile of Gaussian noise of deviation 1 / mu on a sum that moves by 1."""

    def delta(epsilon):
        cut = epsilon / mu - mu / 2
        return float(norm.sf(cut) - exp(epsilon) * norm.sf(cut + mu))

    return delta


def attacked(law, mu, epsilon, cut, below):
    """Return the delta at an epsilon of Gaussian runs whose scores put large losses last.

    But for outcomes of less loss than those, of probability ``1 - below``, which are best.
    """
    x = np.linspace(-9, 9, 100_001)
    one, other = (norm.pdf(x, shift) * (x[1] - x[0]) for shift in (mu, 0.0))
    order = np.argsort(np.where(x > cut, -inf, -x), kind="stable")
    high = int((x > cut).sum())
    place = int(np.searchsorted(np.cumsum(one[order[high:]]), below))
    order = np.concatenate([order[high:][:place], order[:high], order[high:][place:]])
    laws = [
        np.diff(law.generating_function(np.minimum(np.append(0, np.cumsum(each[order])), 1)))
        for each in (one, other)
    ]
    return hockey_stick(*laws, exp(epsilon))


@pytest.mark.slow
def test_an_order_of_gaussian_runs_nearly_reaches_it():
    """The best of few orders that were tried: above 99 % of the epsilon."""
    law, mu, delta = Geometric(mean=10), sqrt(0.1), 1e-6
    epsilon = least_epsilon(Profile.of(gaussian(mu)), delta, law)
    places = product((3.0, 3.5, 4.0), norm.cdf(np.linspace(-3, 3, 25)))

    assert max(attacked(law, mu, 0.99 * epsilon, *place) for place in places) > delta


def test_pairs_and_functions_bound_the_same_curve():
    curve, pairs = of_zcdp(0.1), [(e, zcdp.delta_of(0.1, e)) for e in (0.5, 1.0, 2.0, 4.0)]

    profile, of_pairs = Profile.of(curve), Profile.of(pairs)
    for epsilon in (0.2, 0.7, 3.0):
        by_function, by_pairs = (float(one.at(exp(epsilon))) for one in (profile, of_pairs))
        assert curve(epsilon) <= by_function * (1 + 1e-9) <= by_pairs * (1 + 1e-9)
        assert by_function == pytest.approx(curve(epsilon), rel=1e-3)
    both = Profile.of(curve, [(0.5, 1e-3)])
    assert profile.allows(both)
    assert not both.allows(profile)


ASKED = {"repetitions": Geometric(mean=3), "neighbours": "edge"}


def claims(**given):
    return dp.BestOf(delta=1e-3, **ASKED, **given)


def test_every_law_has_a_rate_that_is_the_slope_of_its_function():
    for law in LAWS:
        assert isinstance(law, Repetitions)
        shares = np.array([0.0, 0.1, 0.5, 0.9])
        ends = (1 - shares + 1e-6, 1 - shares - 1e-6)
        high, low = (law.generating_function(np.minimum(end, 1.0)) for end in ends)
        steps = np.minimum(ends[0], 1.0) - ends[1]
        assert law.rate(shares) == pytest.approx((high - low) / steps, rel=1e-4)
        steps = law.rate(law.shares_better(np.linspace(0, 1, 9)))
        assert steps[1:] / steps[:-1] == pytest.approx(steps[1] / steps[0])


@pytest.mark.usefixtures("coarse")
def test_a_run_that_states_more_is_refused():
    votes = dp.Objective([1.0, 2.0], dp.GlobalSensitivity(1, "edge"))
    run = partial(dp.PermuteAndFlip(epsilon=0.5).release, votes)
    own = run().plan

    for fits in (claims(rho_per_run=own.rho), claims(profile_per_run=[(0.5, 0.0)])):
        assert len(fits.release([lambda: (1.0, run())]).answer) == 1
    for less in (claims(rho_per_run=own.rho / 2), claims(profile_per_run=[(0.4, 0.0)])):
        with refused("delta_per_run"):
            less.release([lambda: (1.0, run())])
