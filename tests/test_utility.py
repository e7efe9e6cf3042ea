"""Bounds that hold on any data, against exact laws."""

from dataclasses import replace
from math import inf, log

import numpy as np
import pytest
from hypothesis import given

import dpselect as dp
from dpselect.errors import ParameterError
from dpselect.utility import error_bound
from strategies import element_objectives, epsilons

FLIP = dp.draws.PermuteAndFlip()
BOUNDED = [
    dp.ExponentialMechanism(epsilon=1),
    dp.PermuteAndFlip(epsilon=1),
    dp.ReportNoisyMax(epsilon=1, noise="laplace"),
    dp.LocalDampening(epsilon=1),
    dp.LocalDampening(epsilon=1, draw=FLIP),
    dp.AnchoredLocalDampening(epsilon=1, anchor=0.0),
    dp.PairwiseLocalDampening(epsilon=1),
]


@pytest.mark.parametrize("mechanism", BOUNDED, ids=repr)
@given(objective=element_objectives(), epsilon=epsilons)
def test_larger_errors_are_rarer_than_beta(mechanism, objective, epsilon):
    """For objectives whose best score is 0, as a percentile's is."""
    scores = objective.scores - objective.scores.max()
    objective = dp.Objective(scores, objective.sensitivity)
    mechanism = replace(mechanism, epsilon=epsilon)
    for beta in (0.5, 0.05):
        most = error_bound(
            mechanism,
            candidates=scores.size,
            bound=objective.sensitivity.bound,
            best=0,
            beta=beta,
        )
        assert mechanism.probabilities(objective)[-scores > most + 1e-9].sum() <= beta


def test_the_bound_of_the_exponential_mechanism():
    mechanism = dp.ExponentialMechanism(epsilon=0.5)

    assert error_bound(mechanism, candidates=100, bound=3) == pytest.approx(
        2 * 3 / 0.5 * log(100 / 0.05)
    )


@pytest.mark.parametrize(
    "mechanism",
    [
        dp.ShiftedLocalDampening(epsilon=1, direction="non-decreasing"),
        dp.LocalDampening(epsilon=1),
        dp.AnchoredLocalDampening(epsilon=1, anchor=1.0),
    ],
)
def test_nothing_is_said_where_nothing_is_known(mechanism):
    assert error_bound(mechanism, candidates=10, bound=1) == inf


def test_a_beta_is_a_probability():
    with pytest.raises(ParameterError, match="beta"):
        error_bound(BOUNDED[0], candidates=1, bound=1, beta=np.nan)
