"""Checks of public arguments: what they take; `refusals/budget.py` has what they refuse."""

from fractions import Fraction

import numpy as np
import pytest

from dpselect import validation


@pytest.mark.parametrize("value", [0.5, np.float64(0.5), np.float32(0.5), Fraction(1, 2)])
def test_numbers_of_any_kind_become_floats(value):
    number = validation.finite("size", value)

    assert (number, type(number)) == (0.5, float)


@pytest.mark.parametrize("value", [np.int64(3), 10**400])
def test_integers_of_any_size_become_pythons(value):
    number = validation.at_least("size", value, 3)

    assert (number, type(number)) == (value, int)
