"""Bounds on the error of a draw that hold on any data."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given

import dpselect as dp
from support.releases.core import mechanisms_at
from support.strategies import element_objectives, epsilons

BOUNDED = [
    one
    for one in mechanisms_at(1)
    if one.name not in {"shifted", "generalized", "noisy-sequence"}
]


@pytest.mark.slow
@pytest.mark.parametrize("mechanism", BOUNDED, ids=repr)
@pytest.mark.parametrize("monotone", [False, True])
@given(objective=element_objectives(), epsilon=epsilons)
def test_larger_errors_are_rarer_than_beta(mechanism, monotone, objective, epsilon):
    """For objectives whose best score is 0, as a percentile's is."""
    scores = objective.scores - objective.scores.max()
    objective = dp.Objective(scores, objective.sensitivity, monotone=monotone)
    mechanism = replace(mechanism, epsilon=epsilon)
    for beta in (0.5, 0.05):
        most = mechanism.error_bound(objective, "votes", attained=0, probability=1 - beta)
        assert mechanism.probabilities(objective)[-scores > most.value + 1e-9].sum() <= beta


@pytest.mark.slow
@given(objective=element_objectives(least=2), epsilon=epsilons)
def test_larger_errors_of_a_noisy_sequence_are_rarer_than_beta(objective, epsilon):
    """Of any released candidate, for any k, against all that are left out."""
    scores = np.rint(objective.scores)
    counts = dp.Objective(scores, dp.GlobalSensitivity(2, dp.Neighbours.EDGE, l1=3), step=1)
    mechanism = dp.NoisySequence(epsilon=epsilon).for_objective(counts)
    drawn = mechanism.simulate(counts, 1, size=400, rng=np.random.default_rng(1))
    most = mechanism.error_bound(counts, "votes")

    assert (scores.max() - scores[drawn] > most.value).mean() <= 0.05 + 0.05
