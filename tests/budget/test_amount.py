from __future__ import annotations

import sys
from fractions import Fraction
from math import inf, nextafter

import numpy as np
import pytest
from hypothesis import given, strategies as st

from dpselect import validation
from dpselect.budget import amount

positives = st.floats(min_value=sys.float_info.min, allow_infinity=False)


@pytest.mark.parametrize("value", [0, 0.0, -0.0])
def test_zero_is_not_negative_and_prints_without_a_sign(value):
    assert repr(validation.non_negative("epsilon", value)) == "0.0"
    assert repr(validation.probability("delta", value)) == "0.0"


@pytest.mark.parametrize(
    "value", [0.5, np.float64(0.5), np.float32(0.5), Fraction(1, 2)], ids=repr
)
def test_real_numbers_of_any_kind_become_floats(value):
    number = validation.positive("epsilon", value)

    assert (number, type(number)) == (0.5, float)


def test_the_extremes_are_amounts():
    assert validation.positive("epsilon", sys.float_info.min) == sys.float_info.min
    assert validation.positive("epsilon", sys.float_info.max) == sys.float_info.max
    assert validation.non_negative("epsilon", sys.float_info.min) == sys.float_info.min
    assert validation.probability("delta", nextafter(1.0, 0.0)) < 1


@given(positives)
def test_the_exact_amount_is_what_is_printed(number):
    assert amount.exact(number) == Fraction(repr(number))


@given(positives)
def test_the_exact_amount_is_within_one_part_in_ten_to_the_fifteen(number):
    error = abs(amount.exact(number) - Fraction(number))

    assert error <= Fraction(number) / 10**15


@given(st.fractions(min_value=0, max_value=10**6))
def test_floor_prints_the_largest_amount_that_is_not_more(fraction):
    number = amount.floor(fraction)

    assert amount.exact(number) <= fraction < amount.exact(nextafter(number, inf))
