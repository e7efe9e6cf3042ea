"""Combinations by name, of few candidates and of no weight."""

import pytest

import dpselect as dp
from dpselect.combine import COMBINATIONS, by_name

EDGE = dp.Neighbours.EDGE


def parts(*scores):
    return [dp.Objective(u, dp.GlobalSensitivity(1, EDGE)) for u in scores]


@pytest.mark.parametrize("name", COMBINATIONS)
def test_an_objective_of_weight_zero_is_left_out(name):
    both = parts([5, 9, 1], [7, 2, 1])

    assert (by_name(name, both, [0, 1]).scores == by_name(name, both[1:]).scores).all()


@pytest.mark.parametrize("name", COMBINATIONS)
def test_one_candidate_has_no_rival(name):
    found = by_name(name, parts([3], [3])).scores

    assert found.tolist() == [6 if name == "weighted-sum" else 0]
