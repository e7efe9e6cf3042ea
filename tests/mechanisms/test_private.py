"""Every mechanism on every pair of a small universe, by its exact law."""

from functools import cache
from itertools import product

import numpy as np
import pytest

import dpselect as dp

CUBE = list(product((0, 1, 2), repeat=3))
UP, DOWN = "non-decreasing", "non-increasing"
MECHANISMS = {
    "exponential": dp.ExponentialMechanism,
    "permute-and-flip": dp.PermuteAndFlip,
    "laplace": dp.ReportNoisyMax,
} | {
    f"{name}, {draw.name}": lambda epsilon, kind=kind, options=options, draw=draw: kind(
        epsilon=epsilon, draw=draw, **options
    )
    for draw in (dp.draws.Exponential(), dp.draws.PermuteAndFlip())
    for name, kind, options in [
        ("dampened", dp.LocalDampening, {}),
        ("shifted up", dp.ShiftedLocalDampening, {"direction": UP}),
        ("shifted down", dp.ShiftedLocalDampening, {"direction": DOWN}),
        ("anchored", dp.AnchoredLocalDampening, {"anchor": 8.0}),
        ("pairwise", dp.PairwiseLocalDampening, {}),
        ("generalized", dp.GeneralizedExponential, {"t": 2.0}),
    ]
}


def score(x):
    a, b, c = x
    return np.array([a + b + c, 2.0 * a * b, 4.0 - c * c, 0.5 * b])


@cache
def local(x, t):
    """The local sensitivity by definition."""
    around = [y for y in CUBE if sum(a != b for a, b in zip(x, y, strict=True)) <= 1]
    if t == 0:
        return np.max([np.abs(score(x) - score(y)) for y in around], axis=0)
    return np.max([local(y, t - 1) for y in around], axis=0)


def objective_of(x):
    sensitivity = dp.ElementSensitivity(
        lambda t: local(x, min(t, 3)),
        [2.0, 8.0, 4.0, 1.0],
        dp.Neighbours.SUBSTITUTE,
        horizon=4,
    )
    return dp.Objective(score(x), sensitivity)


def test_the_objective_is_admissible():
    report = dp.audit.check_admissible(objective_of, CUBE, dp.Neighbours.SUBSTITUTE)

    report.raise_if_failed()
    assert report.tight


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 6.0])
@pytest.mark.parametrize("name", MECHANISMS)
def test_a_mechanism_is_private_at_its_epsilon(name, epsilon):
    mechanism = MECHANISMS[name](epsilon=epsilon)
    report = dp.audit.check_private(
        lambda x: mechanism.probabilities(objective_of(x)),
        CUBE,
        dp.Neighbours.SUBSTITUTE,
        epsilon,
    )

    report.raise_if_failed()
    assert report.loss > epsilon / 20


def counts(x):
    votes = dp.GlobalSensitivity(1.0, dp.Neighbours.ADD_REMOVE)
    return dp.Objective([float(x.count(name)) for name in "ab"], votes, monotone=True)


@pytest.mark.parametrize("name", ["exponential", "permute-and-flip", "pairwise, exponential"])
def test_monotone_counts_are_private_without_the_factor_two(name):
    """The loss comes near epsilon, so the doubled scores are used and no more than that."""
    ballots = [("a",) * i + ("b",) * j for i in range(6) for j in range(6)]
    mechanism = MECHANISMS[name](epsilon=1.0)
    report = dp.audit.check_private(
        lambda x: mechanism.probabilities(counts(x)), ballots, dp.Neighbours.ADD_REMOVE, 1.0
    )

    report.raise_if_failed()
    assert report.loss > 0.9 if "pairwise" not in name else report.loss > 0.4
