"""Shifted and pairwise scores against their definitions; `test_precision` has all others."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given, strategies as st

import dpselect as dp
from dpselect import scaling
from dpselect.scaling import pairs
from support.strategies import dampened_by_definition, element_objectives, widths_of

EDGE = dp.Neighbours.EDGE


def dampened_each(objective, values):
    return [
        dampened_by_definition(value, widths_of(objective.sensitivity, len(objective), r))
        for r, value in enumerate(values)
    ]


def dampened_difference(objective, r, other, combine):
    return dampened_by_definition(
        objective.scores[r] - objective.scores[other],
        widths_of(objective.sensitivity, len(objective), r, other, combine=combine),
    )


@pytest.mark.slow
@given(element_objectives())
def test_shifted_is_the_limit_of_definitions_15_and_16(objective):
    """Beyond the horizon the shifted dampened scores no longer change but together."""
    sensitivity = objective.sensitivity
    far = sensitivity.bound * (sensitivity.horizon + 1) + np.abs(objective.scores).max()
    for sign, direction in [(-1, "non-decreasing"), (1, "non-increasing")]:
        limit = scaling.shifted(objective, direction)
        for shift in (sign * far, sign * (far + 2.5)):
            by_definition = np.array(dampened_each(objective, objective.scores + shift))
            assert limit - limit[0] == pytest.approx(by_definition - by_definition[0])


def least_dampened(objective):
    """Return the least dampened difference of each; monotone scores need one sensitivity."""
    combine, n = max if objective.monotone else sum, len(objective)
    return [
        min(dampened_difference(objective, r, q, combine) for q in range(n) if q != r)
        for r in range(n)
    ]


@st.composite
def flat_objectives(draw, *, monotone):
    flat = dp.LocalSensitivity(lambda t: 0.5 + t, 4.0, EDGE, horizon=9)
    scores = draw(st.lists(st.integers(-20, 20), min_size=2, max_size=5))
    return dp.Objective(scores, flat, monotone=monotone)


@pytest.mark.slow
@pytest.mark.parametrize("held", [4, pairs.PAIRS])
@pytest.mark.parametrize("objectives", [partial(element_objectives, least=2), flat_objectives])
@given(st.booleans(), st.data())
def test_pairwise_is_the_least_dampened_difference(objectives, held, monotone, data):
    """In one block of pairs and in many, for a sensitivity of each and one of all."""
    objective = data.draw(objectives(monotone=monotone))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pairs, "PAIRS", held)
        assert scaling.pairwise(objective) == pytest.approx(least_dampened(objective))


def test_the_worked_example_5():
    """Two nodes of betweenness 6.5 beside six of 0, LS of 3 and 5, bound 7.5, epsilon 2."""
    steps = [3.0, 5.0]
    sensitivity = dp.LocalSensitivity(lambda t: steps[t], 7.5, EDGE, horizon=2)
    objective = dp.Objective([6.5, 6.5, 0, 0, 0, 0, 0, 0], sensitivity)

    assert scaling.dampened(objective)[:2] == pytest.approx([1.7, 1.7])
    law = dp.LocalDampening(epsilon=2).probabilities(objective)
    assert law[[0, 2]].round(2) == pytest.approx([0.32, 0.06])


@pytest.mark.parametrize("bound", [1e-200, [1e-200, 2e-200] * 20])
def test_no_score_is_infinite_nor_is_told_by_a_warning(bound):
    largest = [1.7e308, -1.7e308] * (np.size(bound) // 2 or 1)
    objective = dp.Objective(largest, dp.GlobalSensitivity(bound, EDGE))
    anchored = partial(scaling.anchored, anchor=0.0)
    generalized = partial(scaling.generalized, t=0.0)
    for scaled in (
        scaling.by_global,
        scaling.dampened,
        anchored,
        scaling.pairwise,
        generalized,
    ):
        assert np.isfinite(scaled(objective)).all()
