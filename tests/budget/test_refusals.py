"""What is refused: amounts, terms and places, and the argument that the error names."""

from __future__ import annotations

import sys
from decimal import Decimal
from fractions import Fraction
from functools import partial
from math import inf, nan, nextafter

import numpy as np
import pytest

from dpselect import validation
from dpselect.budget import Budget
from dpselect.budget.entry import priced
from dpselect.budget.totals import Period, Persons, Totals
from dpselect.errors import LedgerError, NeighboursError, ParameterError
from dpselect.neighbours import Neighbours

ADDED, EDGE = Neighbours.ADD_REMOVE, Neighbours.EDGE
TINY = nextafter(sys.float_info.min, 0.0)
IMPOSSIBLE = [nan, inf, -inf, -1.0, -sys.float_info.min, 5e-324, TINY, True, False, np.True_]
IMPOSSIBLE += [None, "1", 1j, Decimal(1), [1.0], 10**400]
NOT_AMOUNTS = [-1.0, 5e-324, nan, inf, True, "0.1"]
totals = partial(Totals, epsilon=1.0, delta=1e-6, neighbours=ADDED)


def made(place):
    return Budget(1.0, neighbours=EDGE, path=place)


def spent(**asked):
    return Budget(1.0, neighbours=ADDED).spend(0.1, neighbours=ADDED, **asked)


REFUSED = {
    "epsilon must be": [
        (partial(validation.positive, "epsilon"), [*IMPOSSIBLE, 0, 0.0, -0.0]),
        (partial(validation.non_negative, "epsilon"), IMPOSSIBLE),
        (lambda epsilon: priced(epsilon, 0.0, None), [*NOT_AMOUNTS, 0]),
        (lambda epsilon: priced(epsilon, 1e-6, None), [*NOT_AMOUNTS, False, -0.1, None]),
        (lambda epsilon: totals(epsilon=epsilon), [0, -1.0, nan, inf, True, "1"]),
        (lambda epsilon: Budget(1.0, neighbours=EDGE).remaining_after(epsilon), [-1.0]),
    ],
    r"epsilon must be finite and > 0, got 0\.0": [
        (partial(validation.positive, "epsilon"), [Fraction(1, 10**400)]),
        (lambda delta: priced(0.0, delta, None), [0, 0.0, -0.0]),
    ],
    "rho must be": [(lambda rho: priced(0.1, 0.0, rho), [*NOT_AMOUNTS, 0])],
    "delta must be": [
        (partial(validation.probability, "delta"), [*IMPOSSIBLE, 1, 1.0, 1.5]),
        (lambda delta: priced(0.1, delta, None), [-1e-9, 5e-324, 1.0, nan, True, "0", None]),
        (lambda delta: totals(delta=delta), [-1e-9, 1.0, nan, True, None]),
    ],
    "protects must be": [(lambda who: Persons(*who), [("", None), (None, 1), (3, 1)])],
    "rows must be": [(lambda rows: Persons("who", rows), [0, 1.5, True, 2**53 + 1])],
    "must be": [(lambda period: Period(*period), [("week", "one-period"), ("day", "person")])],
    "must be .*sum.*zcdp.*either": [(lambda rule: totals(composition=rule), ["pure"])],
    "at most 1.0 together": [(lambda all_: totals(shares=all_), [(("A", 0.6), ("B", 0.5))])],
    "share must be finite and > 0": [(lambda one: totals(shares=(one,)), [("Ann", 0.0)])],
    "must name an analyst": [(lambda one: totals(shares=(one,)), [("", 0.5), (3, 0.5)])],
    "each analyst once": [(lambda one: totals(shares=(one, one)), [("Ann", 0.1)])],
    "laplace_rounds must be": [
        (lambda rounds: spent(laplace_rounds=rounds), [-1, 1.0, True, "2"])
    ],
}
OF_RELATIONS = {
    "neighbours must be": [
        (lambda relation: totals(neighbours=relation), [None, "edges", 1]),
        (lambda relation: totals().steps(relation, None), [None, "edges", 1]),
    ],
    "to protect persons": [
        (lambda relation: totals(neighbours=relation, persons=Persons("who")), [EDGE, "swap"])
    ],
    # What is released for persons is no release by rows: a row moves those that count.
    "with all rows": [(lambda user: spent(user=user), [""])],
}
PLACES = {
    r"no ledger at .*budget\.db; make one first, by ": [(Budget.open, ["nowhere/budget.db"])],
    "there is no folder .*(missing|file)": [(made, ["missing/budget.db", "file/budget.db"])],
    "cannot be|no folder": [(made, ["/", "/proc/budget.db", "budget\0.db"])],
}
ROWS = [
    pytest.param(error, said, make, value, id=f"{said}, {value!r}")
    for error, table in (
        (ParameterError, REFUSED),
        (NeighboursError, OF_RELATIONS),
        (LedgerError, PLACES),
    )
    for said, makes in table.items()
    for make, values in makes
    for value in values
]


@pytest.mark.parametrize(("error", "said", "make", "value"), ROWS)
def test_it_is_refused_in_words_of_its_argument(
    tmp_path, monkeypatch, error, said, make, value
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").touch()

    with pytest.raises(error, match=said):
        make(value)
    assert [one.name for one in tmp_path.iterdir()] == ["file"]
