from typing import get_args

import pytest

import dpselect as dp
from dpselect.mechanisms import MECHANISMS, by_name
from dpselect.mechanisms.base import MechanismName

EDGE = dp.GlobalSensitivity(1, dp.Neighbours.EDGE)


@pytest.mark.parametrize("name", MECHANISMS)
def test_every_name_makes_a_mechanism_of_that_name(name):
    assert by_name(name, 2.0).name == name


def test_editors_complete_every_name():
    assert get_args(MechanismName) == tuple(MECHANISMS)


def test_a_factory_is_called_with_epsilon():
    assert by_name(dp.PermuteAndFlip, 2.0) == dp.PermuteAndFlip(epsilon=2.0)


def test_public_facts_of_the_objective_reach_the_mechanism():
    objective = dp.Objective([1.0, 2.0], EDGE, highest=3.0, direction="non-increasing")

    assert by_name("anchored", 2.0).for_objective(objective) == dp.AnchoredLocalDampening(
        epsilon=2.0, anchor=3.0
    )
    assert by_name("shifted", 2.0).for_objective(objective) == dp.ShiftedLocalDampening(
        epsilon=2.0, direction="non-increasing"
    )


def test_what_the_caller_says_goes_before_the_objective():
    objective = dp.Objective([1.0, 2.0], EDGE, highest=3.0)
    anchored = dp.AnchoredLocalDampening(epsilon=1.0, anchor=9.0)

    assert anchored.for_objective(objective) == anchored
