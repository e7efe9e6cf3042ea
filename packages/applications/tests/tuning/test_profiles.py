"""The privacy profile of the best of several runs: never below the true one, and reached."""

from dataclasses import replace
from functools import partial
from itertools import combinations, product
from math import exp, log

import numpy as np
import pytest

import dpselect as dp
from applications_cases import repetitions
from dpselect.budget import zcdp
from dpselect_applications import tuning
from dpselect_applications.tuning.profiles import of_zcdp
from dpselect_applications.tuning.repetitions import Repetitions
from support.refusals import refused

LAWS = [*repetitions.LAWS, tuning.Logarithmic(mean=30)]
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
    return tuning.Profile.of([(log(t), true_profile(pairs, t)) for t in corners])


def excesses(law):
    """Yield by how much true deltas are above the bound, for all pairs of laws of a run."""
    for pair in combinations(SIMPLEX, 2):
        bound = tuning.profile_of_best(np.log(RATIOS), exact_profile([pair]), repetitions=law)
        best = [tuning.best_probabilities([0, 1, 2], one, repetitions=law) for one in pair]
        truth = [true_profile([best], ratio) for ratio in RATIOS]
        yield float((truth - bound).max())


@pytest.fixture
def coarse(monkeypatch):
    """Few cells and points, between which the bound holds as well."""
    monkeypatch.setattr(tuning.profiles, "CELLS", 200)
    monkeypatch.setattr(tuning.profiles, "SAMPLED", tuning.profiles.SAMPLED[::-50][::-1])
    tuning.profiles._mixture.cache_clear()
    yield
    tuning.profiles._mixture.cache_clear()


@pytest.mark.slow
@every_law
@pytest.mark.usefixtures("coarse")
def test_no_pair_of_laws_is_above_the_bound(law):
    assert max(excesses(law)) <= 1e-12


@every_law
@pytest.mark.parametrize("delta", [0.2, 0.01, 1e-4])
@pytest.mark.usefixtures("coarse")
def test_the_stated_epsilon_holds_for_all_runs_of_that_epsilon(law, delta):
    """By the profile of the runs, by their epsilon, and both; a grid of laws of four."""
    grid = [np.array(one) / 9 for one in product(range(1, 6), repeat=4) if sum(one) == 9]
    near = [
        pair for pair in combinations(grid, 2) if np.abs(np.log(pair[0] / pair[1])).max() <= 1
    ]
    corners = exact_profile(near)
    stated = zip(corners.ratios, corners.deltas, strict=True)
    best = [
        tuple(tuning.best_probabilities(range(4), one, repetitions=law) for one in pair)
        for pair in near
    ]
    asked = dp.BestOf(
        repetitions=law, epsilon_per_run=1.0, delta=delta, neighbours="add-remove"
    )
    by_profile = replace(asked, profile_per_run=[(log(t), d) for t, d in stated if t >= 1])

    assert by_profile.plan.epsilon <= asked.plan.epsilon <= law.epsilon_of(1.0)
    for query in (asked, by_profile):
        assert true_profile(best, exp(query.plan.epsilon)) <= delta


def test_pairs_and_functions_bound_the_same_curve():
    curve, pairs = of_zcdp(0.1), [(e, zcdp.delta_of(0.1, e)) for e in (0.5, 1.0, 2.0, 4.0)]

    profile, of_pairs = tuning.Profile.of(curve), tuning.Profile.of(pairs)
    for epsilon in (0.2, 0.7, 3.0):
        by_function, by_pairs = (float(one.at(exp(epsilon))) for one in (profile, of_pairs))
        assert curve(epsilon) <= by_function * (1 + 1e-9) <= by_pairs * (1 + 1e-9)
        assert by_function == pytest.approx(curve(epsilon), rel=1e-3)
    both = tuning.Profile.of(curve, [(0.5, 1e-3)])
    assert profile.allows(both)
    assert not both.allows(profile)


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
    asked = {"repetitions": tuning.Geometric(mean=3), "neighbours": "edge", "delta": 1e-3}

    for fits in ({"rho_per_run": own.rho}, {"profile_per_run": [(0.5, 0.0)]}):
        assert len(dp.BestOf(**asked, **fits).release([lambda: (1.0, run())]).answer) == 1
    for less in ({"rho_per_run": own.rho / 2}, {"profile_per_run": [(0.4, 0.0)]}):
        with refused("delta_per_run"):
            dp.BestOf(**asked, **less).release([lambda: (1.0, run())])
