"""Combinations by name equal the functions that they name."""

import numpy as np
import pytest

import dpselect as dp
from dpselect.combine import COMBINATIONS, by_name

EDGE = dp.Neighbours.EDGE


def parts(*scores):
    return [dp.Objective(u, dp.GlobalSensitivity(1, EDGE)) for u in scores]


@pytest.mark.parametrize("name", COMBINATIONS)
@pytest.mark.parametrize("number", [1, 3])
def test_a_name_without_weights_is_the_function_on_the_objectives(name, number):
    objectives, ones = parts([5, 9, 1], [7, 2, 1], [0, 8, 3])[:number], [1] * number
    expected = {
        "pareto": lambda: dp.pareto(objectives),
        "weighted-sum": lambda: dp.weighted_sum(objectives, ones),
        "margin": lambda: dp.margin(objectives),
    }[name]()

    for weights in (None, ones):
        found = by_name(name, objectives, weights)
        assert (found.scores == expected.scores).all()
        assert found.sensitivity.bound == expected.sensitivity.bound


@pytest.mark.parametrize("name", ["pareto", "margin"])
def test_of_weights_only_the_signs_matter_elsewhere(name):
    both = parts([5, 9, 1], [7, 2, 1])
    turned = parts([5, 9, 1], [-7, -2, -1])

    found = by_name(name, both, [3, -2])
    expected = COMBINATIONS[name](turned)
    assert found.scores == pytest.approx(expected.scores)
    shortfalls = found.sensitivity.shortfall(), expected.sensitivity.shortfall()
    assert np.array_equal(*shortfalls)


@pytest.mark.parametrize("name", COMBINATIONS)
def test_an_objective_of_weight_zero_is_left_out(name):
    both = parts([5, 9, 1], [7, 2, 1])

    assert (by_name(name, both, [0, 1]).scores == by_name(name, both[1:]).scores).all()
