"""The comparison that a user picks a mechanism from."""

from itertools import combinations

import numpy as np
import pytest

import dpselect as dp

OBJECTIVE = dp.Objective(
    [1.0, 5.0, 5.0], dp.GlobalSensitivity(1, dp.Neighbours.ADD_REMOVE), monotone=True
)


class Own(dp.ExponentialMechanism):
    """A mechanism that has no name in the library."""

    name = "own"


MECHANISMS = [dp.ExponentialMechanism(epsilon=1.0), Own(epsilon=2.0)]


def test_a_row_holds_the_exact_error_and_the_exact_chance_of_a_best():
    rows = dp.compare(OBJECTIVE, MECHANISMS).rows

    assert [(row.mechanism, row.epsilon) for row in rows] == [
        ("exponential", 1.0),
        ("own", 2.0),
    ]
    for row, mechanism in zip(rows, MECHANISMS, strict=True):
        law = mechanism.probabilities(OBJECTIVE)
        assert row.expected_error == pytest.approx(4 * law[0])
        assert row.best == pytest.approx(law[1] + law[2])


COUNTS = dp.Objective(
    [9, 1, 7, 2, 2, 4], dp.GlobalSensitivity(1, dp.Neighbours.ADD_REMOVE, l1=1), step=1
)


def test_several_by_a_noisy_sequence_are_compared_exactly():
    """Against 20,000 simulations of the same release."""
    sequence = dp.NoisySequence(epsilon=0.8)
    [row] = dp.compare(COUNTS, [sequence], k=3).rows
    drawn = sequence.simulate(COUNTS, 3, size=20_000, rng=np.random.default_rng(5))
    hits = np.isin(drawn, [0, 2, 5]).sum(axis=1)

    assert row.simulations == 0
    assert row.recall == pytest.approx(hits.mean() / 3, abs=0.01)
    assert row.best == pytest.approx((hits == 3).mean(), abs=0.015)
    assert row.expected_error == pytest.approx(20 / 3 - COUNTS.scores[drawn].mean(), abs=0.03)


def test_several_by_rounds_are_simulated_and_it_is_said():
    [row] = dp.compare(COUNTS, [dp.PermuteAndFlip(epsilon=0.8)], k=3, simulations=4000).rows
    assert row.simulations == 4000
    assert 0 < row.best < row.recall < 1


def test_ties_for_the_last_places_count_as_often_as_there_are_places():
    """Two of the twos leave the nine out, and only one of them is in the true top 2."""
    tied = dp.Objective([9, 2, 2, 2], COUNTS.sensitivity, step=1)
    [row] = dp.compare(tied, [dp.NoisySequence(epsilon=50.0)], k=2, simulations=50).rows

    assert (row.recall, row.best, row.expected_error) == (1.0, 1.0, 0.0)
    drawn = dp.Objective([2, 2, 2, 9], COUNTS.sensitivity, step=1)
    worst = dp.compare(drawn, [dp.NoisySequence(epsilon=1e-9)], k=2, simulations=2000).rows[0]
    assert worst.recall == pytest.approx(3 / 4, abs=0.03)


@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_the_uniform_row_is_the_mean_over_all_sets(k):
    scores = np.array([1.0, 5.0, 5.0, 4.0, 5.0])
    objective = dp.Objective(scores, dp.GlobalSensitivity(1, dp.Neighbours.ADD_REMOVE))
    last = np.sort(scores)[-k]
    places = k - (scores > last).sum()
    sets = [scores[list(one)] for one in combinations(range(5), k)]
    hits = [(one > last).sum() + min((one == last).sum(), places) for one in sets]

    uniform = dp.compare(objective, MECHANISMS, k=k, simulations=2).uniform

    assert uniform.recall == pytest.approx(np.mean(hits) / k)
    assert uniform.best == pytest.approx(np.mean([hit == k for hit in hits]))
    gap = np.sort(scores)[-k:].mean() - scores.mean()
    assert uniform.expected_error == pytest.approx(gap)
