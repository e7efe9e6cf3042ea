"""Rounds or one sequence: what is chosen, from public facts alone."""

from math import comb

import numpy as np
import pytest

import dpselect as dp
from dpselect.mechanisms import TopK, top_k

EDGE = dp.Neighbours.EDGE


def facts(n=1000, l1=2, *, monotone=True, scores=None):
    scores = np.zeros(n) if scores is None else scores
    return dp.Objective(scores, dp.GlobalSensitivity(1, EDGE, l1=l1), monotone=monotone, step=1)


def rounds_or_sequence(mechanism, objective, k):
    sequence = dp.NoisySequence(epsilon=mechanism.epsilon).for_objective(objective)
    return top_k.rounds_or_sequence(mechanism, objective, k, sequence)


def least_k(objective, mechanism):
    return next(
        k
        for k in range(1, len(objective))
        if rounds_or_sequence(mechanism, objective, k) is not mechanism
    )


@pytest.mark.parametrize("n", [20, 1000, 40_000])
def test_degrees_are_read_off_one_sequence_from_three_on(n):
    assert least_k(facts(n), dp.PermuteAndFlip(epsilon=0.7)) == 3


@pytest.mark.parametrize(("l1", "monotone", "k"), [(1, True, 2), (1, False, 1), (23, True, 28)])
def test_the_crossing_follows_l1(l1, monotone, k):
    found = least_k(facts(l1=l1, monotone=monotone), dp.PermuteAndFlip(epsilon=1.0))

    assert found == k


def test_without_an_l1_and_with_other_mechanisms_nothing_changes():
    rounds, local = dp.PermuteAndFlip(epsilon=1.0), dp.LocalDampening(epsilon=1.0)

    assert rounds_or_sequence(rounds, facts(l1=None), 50) is rounds
    assert rounds_or_sequence(local, facts(), 50) is local


def test_the_probabilities_that_are_compared():
    """Against simulations of the scores they are stated for: 3 of 40, ahead by 9."""
    scores = np.where(np.arange(40) < 3, 9.0, 0.0)
    objective = facts(scores=scores)
    rng = np.random.default_rng(3)
    sequence = dp.NoisySequence(epsilon=1.0, step=2.0**-9)
    for mechanism, law in (
        (sequence, top_k._at_once(top_k._laplace, 3, 37, 9 / 2)),
        (dp.PermuteAndFlip(epsilon=1.0), top_k._by_rounds(top_k._exponential, 3, 37, 9 / 3)),
        (dp.ExponentialMechanism(epsilon=1.0), top_k._by_rounds(top_k._gumbel, 3, 37, 9 / 3)),
    ):
        drawn = mechanism.simulate(objective, 3, size=20_000, rng=rng)
        assert law == pytest.approx((drawn < 3).all(axis=1).mean(), abs=0.015)


@pytest.mark.parametrize(("noise", "delta"), [("laplace", 0), ("gaussian", 1e-6)])
def test_the_lead_of_a_noise_is_that_of_its_exact_law(noise, delta):
    sequence = dp.NoisySequence(epsilon=0.05, noise=noise, delta=delta, l1=1, bound=1, step=1)
    lead = top_k._least_lead(3, 37, noise) * sequence.noise_scale
    chosen = np.arange(40) < 3
    objective = dp.Objective(
        round(lead) * chosen, dp.GlobalSensitivity(1, "add-remove"), step=1
    )

    assert sequence.set_probability(objective, chosen) == pytest.approx(0.95, abs=0.003)


def choose(*, k=None, above=None, mechanism=None, objective=None):
    rounds = dp.PermuteAndFlip(epsilon=1.0)
    objective = objective or facts(500)
    return TopK.choose(objective, k=k, above=above, mechanism=mechanism, rounds=rounds)


def test_a_choice_follows_it_unless_a_mechanism_is_named():
    named = {
        (k, mechanism): type(choose(k=k, mechanism=mechanism).mechanism).__name__
        for k in (2, 3)
        for mechanism in (None, "permute-and-flip", "noisy-sequence")
    }

    assert named[2, None] == named[3, "permute-and-flip"] == "PermuteAndFlip"
    assert named[3, None] == named[2, "noisy-sequence"] == "NoisySequence"
    assert (choose(k=3).spend.times, choose(k=2).spend.times) == (1, 2)


@pytest.mark.parametrize("k", [1, 4])
def test_the_exact_law_keeps_to_the_bounds_of_theorem_36(k):
    """Counts of one value a person: what any mechanism needs, and what is enough here."""
    n, epsilon = 30, 1.0
    # The last of all: ties, which go to the earlier, are against them.
    chosen = np.arange(n) >= n - k
    mechanism = dp.NoisySequence(epsilon=epsilon, l1=1, bound=1, step=1)

    def right(lead):
        objective = dp.Objective(lead * chosen, dp.GlobalSensitivity(1, "add-remove"), step=1)
        return mechanism.set_probability(objective, chosen)

    for lead in range(25):
        assert epsilon * lead * k >= np.log(comb(n, k) * right(lead))
    for beta in (0.5, 0.05):
        assert right(int(np.ceil(2 / epsilon * np.log(2 * n / beta)))) >= 1 - beta
