"""Checks of public arguments: what is refused, and how it is said."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from math import inf, nan

import numpy as np
import pytest

from dpselect import _validate
from dpselect.errors import NeighboursError, ParameterError, ScoresError
from dpselect.neighbours import Neighbours

CHECKS = {
    "positive": _validate.positive,
    "finite": _validate.finite,
    "within": partial(_validate.within, low=0, high=inf),
}
every_check = pytest.mark.parametrize("check", CHECKS.values(), ids=CHECKS)


@every_check
@pytest.mark.parametrize("value", [True, np.True_, None, "1", 1j, [1.0]], ids=repr)
def test_what_is_no_number_is_refused_by_its_type(check, value):
    with pytest.raises(ParameterError, match=r"^size must be a .*number"):
        check("size", value)


@every_check
@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("value", [10**400, Fraction(10**400, 3)], ids=["int", "fraction"])
def test_a_number_too_large_for_a_float_is_refused(check, value, sign):
    with pytest.raises(ParameterError, match=r"size must be .*too large for a float"):
        check("size", sign * value)


@every_check
def test_nan_is_refused(check):
    with pytest.raises(ParameterError, match="size must be"):
        check("size", nan)


@every_check
@pytest.mark.parametrize(
    "value", [0.5, np.float64(0.5), np.float32(0.5), Fraction(1, 2)], ids=repr
)
def test_numbers_of_any_kind_become_floats(check, value):
    number = check("size", value)

    assert (number, type(number)) == (0.5, float)


@pytest.mark.parametrize("value", [0, -1.0, 5e-324, inf, -inf])
def test_positive_refuses_what_is_not_above_0_and_finite(value):
    with pytest.raises(ParameterError, match="size must be finite and > 0"):
        _validate.positive("size", value)


@pytest.mark.parametrize("value", [inf, -inf])
def test_finite_refuses_infinities(value):
    with pytest.raises(ParameterError, match="size must be a finite number, got"):
        _validate.finite("size", value)


def test_within_has_closed_ends():
    assert [_validate.within("size", end, 1, 3) for end in (1, 3)] == [1.0, 3.0]
    for value in (np.nextafter(1, 0), np.nextafter(3, 4), inf):
        with pytest.raises(ParameterError, match="size must be between 1 and 3, got"):
            _validate.within("size", value, 1, 3)


def test_at_least_takes_integers_of_any_size():
    assert _validate.at_least("size", np.int64(3), 3) == 3
    assert _validate.at_least("size", 10**400, 3) == 10**400
    with pytest.raises(ParameterError, match="size must be at least 3, got 2"):
        _validate.at_least("size", 2, 3)
    for value in (3.0, True, None):
        with pytest.raises(ParameterError, match="size must be an integer, not a"):
            _validate.at_least("size", value, 3)


def test_a_wrong_type_is_named():
    with pytest.raises(ParameterError, match="rng must be a Generator, not an int"):
        _validate.instance("rng", 1, np.random.Generator)


def test_a_relation_is_one_of_four():
    assert _validate.neighbours(Neighbours.SWAP) is Neighbours.SWAP
    assert _validate.neighbours("swap") is Neighbours.SWAP
    for value in ("swaps", None, 1, ["swap"]):
        with pytest.raises(NeighboursError, match="'add-remove', 'substitute', 'edge'"):
            _validate.neighbours(value)


def test_tables_have_two_relations():
    assert _validate.table_neighbours("substitute") is Neighbours.SUBSTITUTE
    with pytest.raises(NeighboursError, match="'add-remove' or 'substitute', not 'edge'"):
        _validate.table_neighbours(Neighbours.EDGE)


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ([10**400, 1], "must be finite numbers"),
        ([nan, 1.0], "NaN or infinite"),
        (["a"], "must be finite numbers"),
        ([[1.0], [2.0]], "one number for each"),
        ([], "one number for each"),
    ],
)
def test_scores_are_finite_numbers_in_a_row(values, says):
    with pytest.raises(ScoresError, match=says):
        _validate.scores(values)


def test_scores_cannot_be_changed_afterwards():
    with pytest.raises(ValueError, match="read-only"):
        _validate.scores([1, 2]).high[0] = 3
