"""Checks of public arguments: what they take; `refusals/budget.py` has what they refuse."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from functools import partial
from math import inf

import numpy as np
import pytest

from dpselect import validation
from dpselect.errors import NeighboursError
from dpselect.neighbours import Neighbours
from dpselect.objective import exact_scores
from support.refusals import refused

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


def test_within_has_closed_ends():
    assert [validation.within("size", end, 1, 3) for end in (1, 3)] == [1.0, 3.0]


def test_at_least_takes_integers_of_any_size():
    assert validation.at_least("size", np.int64(3), 3) == 3
    assert validation.at_least("size", 10**400, 3) == 10**400


def test_a_relation_is_one_of_four():
    assert validation.neighbours(Neighbours.SWAP) is Neighbours.SWAP
    assert validation.neighbours("swap") is Neighbours.SWAP
    for value in ("swaps", None, 1, ["swap"]):
        with refused("neighbours", error=NeighboursError):
            validation.neighbours(value)


def test_tables_have_two_relations():
    assert validation.table_neighbours("substitute") is Neighbours.SUBSTITUTE
    with refused("neighbours", error=NeighboursError):
        validation.table_neighbours(Neighbours.EDGE)


def test_a_decimal_is_more_than_its_float():
    kept = exact_scores([Decimal("0.1"), 0.1])

    assert kept.low[0] == float(Fraction(1, 10) - Fraction(0.1))
    assert kept.low[1] == 0
