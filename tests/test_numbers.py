"""Searches by halving, and numbers as they are shown."""

import sys
from fractions import Fraction
from math import inf, nextafter

import pytest
from hypothesis import given, strategies as st

from dpselect import _numbers, writing


@given(st.integers(-50, 5000), st.integers(-60, -40))
def test_the_least_integer_is_found(first, start):
    assert _numbers.least(lambda n: n >= first, start) == max(first, start)


def test_a_condition_that_holds_from_the_start_on_is_asked_once():
    asked = []

    assert _numbers.least(lambda n: not asked.append(n), 7) == 7
    assert asked == [7]


@pytest.mark.parametrize("relative", [False, True])
@given(point=st.floats(1e-3, 1e6))
def test_the_boundary_is_between_two_floats_close_together(relative, point):
    low, high = _numbers.boundary(lambda x: x >= point, 1e-4, 1e7, relative=relative)

    assert low < point <= high
    assert high - low <= 1e-9 * point


@pytest.mark.parametrize(
    ("number", "text"),
    [(0.12345678, "0.1235"), (24.412, "24.41"), (999.96, "1000"), (124251.0, "124,300")],
)
def test_numbers_have_four_digits(number, text):
    assert writing.digits(number) == text


def test_long_decimals_in_a_text_are_shortened():
    text = "f(epsilon=0.7999999999999999, cap=1e-07, n=123456789, x1.2345678)"

    assert writing.six_digits(text) == "f(epsilon=0.8, cap=1e-07, n=123456789, x1.2345678)"


@given(st.floats(min_value=sys.float_info.min, allow_infinity=False))
def test_the_exact_amount_is_what_is_printed(number):
    exact = _numbers.exact(number)

    assert exact == Fraction(repr(number))
    assert abs(exact - Fraction(number)) <= Fraction(number) / 10**15


@given(st.fractions(min_value=Fraction(1, 10**9), max_value=10**6))
def test_floor_and_ceiling_print_the_nearest_amounts(fraction):
    low, high = _numbers.floor(fraction), _numbers.ceiling(fraction)

    assert _numbers.exact(low) <= fraction < _numbers.exact(nextafter(low, inf))
    assert _numbers.exact(nextafter(high, 0)) < fraction <= _numbers.exact(high)
