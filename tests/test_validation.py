"""Checks of public arguments: what they take; `refusals/budget.py` has what they refuse."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from math import inf

import numpy as np
import pytest

from dpselect import validation

CHECKS = {
    "positive": validation.positive,
    "finite": validation.finite,
    "within": partial(validation.within, low=0, high=inf),
}


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize(
    "value", [0.5, np.float64(0.5), np.float32(0.5), Fraction(1, 2)], ids=repr
)
def test_numbers_of_any_kind_become_floats(check, value):
    number = CHECKS[check]("size", value)

    assert (number, type(number)) == (0.5, float)


def test_at_least_takes_integers_of_any_size():
    assert validation.at_least("size", np.int64(3), 3) == 3
    assert validation.at_least("size", 10**400, 3) == 10**400
