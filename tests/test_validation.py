"""Checks of public arguments: what is refused, and how it is said."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from functools import partial
from itertools import product
from math import inf, nan

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from dpselect import validation
from dpselect.errors import NeighboursError, ParameterError, ScoresError
from dpselect.neighbours import Neighbours
from dpselect.objective import exact_scores


class Index:
    """An object that is no number and has one."""

    def __index__(self):
        return 2**60 + 1


CHECKS = {
    "positive": validation.positive,
    "finite": validation.finite,
    "within": partial(validation.within, low=0, high=inf),
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
        validation.positive("size", value)


@pytest.mark.parametrize("value", [inf, -inf])
def test_finite_refuses_infinities(value):
    with pytest.raises(ParameterError, match="size must be a finite number, got"):
        validation.finite("size", value)


def test_within_has_closed_ends():
    assert [validation.within("size", end, 1, 3) for end in (1, 3)] == [1.0, 3.0]
    for value in (np.nextafter(1, 0), np.nextafter(3, 4), inf):
        with pytest.raises(ParameterError, match="size must be between 1 and 3, got"):
            validation.within("size", value, 1, 3)


def test_at_least_takes_integers_of_any_size():
    assert validation.at_least("size", np.int64(3), 3) == 3
    assert validation.at_least("size", 10**400, 3) == 10**400
    with pytest.raises(ParameterError, match="size must be at least 3, got 2"):
        validation.at_least("size", 2, 3)
    for value in (3.0, True, None):
        with pytest.raises(ParameterError, match="size must be an integer, not a"):
            validation.at_least("size", value, 3)


def test_a_wrong_type_is_named():
    with pytest.raises(ParameterError, match="rng must be a Generator, not an int"):
        validation.instance("rng", 1, np.random.Generator)


def test_a_relation_is_one_of_four():
    assert validation.neighbours(Neighbours.SWAP) is Neighbours.SWAP
    assert validation.neighbours("swap") is Neighbours.SWAP
    for value in ("swaps", None, 1, ["swap"]):
        with pytest.raises(NeighboursError, match=r"'add-remove' .*'substitute' .*'edge'"):
            validation.neighbours(value)


def test_tables_have_two_relations():
    assert validation.table_neighbours("substitute") is Neighbours.SUBSTITUTE
    with pytest.raises(NeighboursError, match="'add-remove' or 'substitute', not 'edge'"):
        validation.table_neighbours(Neighbours.EDGE)


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
        exact_scores(values)


KINDS = {
    "int": int,
    "int64": np.int64,
    "decimal": Decimal,
    "fraction": Fraction,
    "long double": np.longdouble,
}


@pytest.mark.parametrize(
    ("kind", "held"),
    [
        *product(KINDS, [list, np.array]),
        *product(["int", "decimal"], [pl.Series, pd.Series, pa.array]),
    ],
)
@pytest.mark.parametrize("start", [2**53, 2**60])
def test_numbers_of_every_kind_keep_their_digits(kind, held, start):
    """Also 2^53 + 1, which as a float is 2^53."""
    numbers = [start + more for more in (1, 2, 3, 17)]

    kept = exact_scores(held(list(map(KINDS[kind], numbers))))

    pairs = zip(kept.high.tolist(), kept.low.tolist(), strict=True)
    assert [Fraction(high) + Fraction(low) for high, low in pairs] == numbers


def test_a_decimal_is_more_than_its_float():
    kept = exact_scores([Decimal("0.1"), 0.1])

    assert kept.low[0] == float(Fraction(1, 10) - Fraction(0.1))
    assert kept.low[1] == 0


@pytest.mark.parametrize(
    "values",
    [
        ["1", "2"],
        np.array(["1", "2"]),
        pl.Series(["1", "2"]),
        np.array(["2024-01-01"], dtype="datetime64[ns]"),
        np.array([1], dtype="timedelta64[s]"),
        pd.Series(pd.to_datetime(["2024-01-01"])),
        [Index()],
    ],
    ids=lambda values: type(values).__name__,
)
def test_texts_dates_and_what_has_an_index_are_no_scores(values):
    with pytest.raises(ScoresError, match="must be finite numbers"):
        exact_scores(values)


def test_scores_cannot_be_changed_afterwards():
    with pytest.raises(ValueError, match="read-only"):
        exact_scores([1, 2]).high[0] = 3
