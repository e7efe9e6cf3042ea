"""Refusals of budgets: amounts, terms, and what they do not protect."""

import sys
from decimal import Decimal
from fractions import Fraction
from functools import partial
from math import inf, nan

import numpy as np

from dpselect import validation
from dpselect.budget import Budget
from dpselect.budget.entry import priced
from dpselect.budget.totals import Period, Persons, Totals
from dpselect.errors import InsufficientBudgetError, NeighboursError
from support.refusals import Each, refusing

ADDED = "add-remove"
NO_FLOATS = [nan, True, np.True_, None, "1", 1j, [1.0], Decimal(1), 10**400, -(10**400)]
NO_FLOATS += [Fraction(10**400, 3), Fraction(-(10**400), 3)]
NO_NUMBERS = [*NO_FLOATS, inf, -inf, -1.0, 5e-324]
NO_AMOUNTS = [-1.0, 5e-324, nan, inf, True, "0.1", -sys.float_info.min]


def number(check, **given):
    [(name, value)] = given.items()
    check(name, value)


POSITIVE = refusing(number, validation.positive)
NOT_NEGATIVE = refusing(number, validation.non_negative)
PROBABILITY = refusing(number, validation.probability)
FINITE = refusing(number, validation.finite)
FROM_1_TO_3 = refusing(number, partial(validation.within, low=1, high=3))
AT_LEAST_3 = refusing(number, partial(validation.at_least, least=3))
GENERATOR = refusing(number, partial(validation.instance, kind=np.random.Generator))
PRICED = refusing(priced, epsilon=0.1, delta=0.0, rho=None)
TOTALS = refusing(Totals, epsilon=1.0, delta=1e-6, neighbours=ADDED)
OF_USERS = refusing(Totals, epsilon=1.0, persons=Persons("who"))
STEPS = refusing(Totals(epsilon=1.0, neighbours=ADDED).steps, user=None)
SPENT = refusing(Budget(1.0, neighbours=ADDED).spend, epsilon=0.1, neighbours=ADDED)
OF_PERSONS = refusing(
    Budget(1.0, neighbours=ADDED, protects="who").spend, 0.1, neighbours=ADDED
)

ROWS = [
    POSITIVE("epsilon", epsilon=Each([*NO_NUMBERS, 0, -0.0, Fraction(1, 10**400)])),
    NOT_NEGATIVE("epsilon", epsilon=Each(NO_NUMBERS)),
    FINITE("size", size=Each([*NO_FLOATS, inf, -inf])),
    FROM_1_TO_3("size", size=Each([*NO_FLOATS, np.nextafter(1, 0), np.nextafter(3, 4), inf])),
    AT_LEAST_3("size", size=Each([2, 3.0, True, None])),
    GENERATOR("size", size=1),
    PROBABILITY("delta", delta=Each([*NO_NUMBERS, 1, 1.5])),
    PRICED("epsilon", epsilon=Each([*NO_AMOUNTS, 0])),
    PRICED("epsilon", delta=1e-6, epsilon=Each([*NO_AMOUNTS, False, None])),
    PRICED("epsilon", epsilon=0.0, delta=Each([0, -0.0])),
    PRICED("delta", delta=Each([-1e-9, 5e-324, 1.0, nan, True, "0", None])),
    PRICED("rho", rho=Each([*NO_AMOUNTS, 0])),
    TOTALS("epsilon", epsilon=Each([0, -1.0, nan, inf, True, "1"])),
    TOTALS("delta", delta=Each([-1e-9, 1.0, nan, True, None])),
    TOTALS("composition", composition="pure"),
    TOTALS("share", shares=Each([(("A", 0.6), ("B", 0.5)), (("Ann", 0.0),), (("", 0.5),)])),
    TOTALS("share", shares=Each([((3, 0.5),), (("Ann", 0.1), ("Ann", 0.1))])),
    TOTALS("neighbours", NeighboursError, neighbours=Each([None, "edges", 1])),
    OF_USERS("neighbours", NeighboursError, neighbours=Each(["edge", "swap"])),
    STEPS("neighbours", NeighboursError, neighbours=Each([None, "edges", 1])),
    refusing(Persons, rows=1)("protects", column=Each(["", None, 3])),
    refusing(Persons, "who")("rows", rows=Each([0, 1.5, True, 2**53 + 1])),
    refusing(Period, unit="one-period")("period", length="week"),
    refusing(Period, "day")("period_unit", unit="person"),
    SPENT("mechanism", mechanism=Each([None, b"median"])),
    SPENT("note", note="\ud800"),
    SPENT("", InsufficientBudgetError, epsilon=1.1),
    SPENT("delta", InsufficientBudgetError, delta=1e-7),
    SPENT("neighbours", NeighboursError, neighbours=Each(["substitute", "edges"])),
    # What is released for persons is no release by rows: a row moves those that count.
    SPENT("protects", NeighboursError, user=""),
    OF_PERSONS("user", NeighboursError),
]
