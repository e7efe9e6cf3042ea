"""Spends of which a part is given back when the outcome is known."""

import sqlite3
from contextlib import closing
from dataclasses import replace

import pytest

from dpselect.budget import Budget
from dpselect.errors import InsufficientBudgetError, LedgerError, ParameterError
from dpselect.neighbours import Neighbours

ADDED = Neighbours.ADD_REMOVE
GRANTED = 1.0


@pytest.fixture
def budget(make):
    return make(GRANTED, 1e-6)


def spend(budget, epsilon=0.75):
    return budget.spend(epsilon, neighbours=ADDED, delta=1e-8, mechanism="top")


def test_what_is_refunded_can_be_spent_again(budget):
    first = spend(budget)
    with pytest.raises(InsufficientBudgetError):
        spend(budget)

    budget.refund(first, 0.5)

    assert budget.entries == (replace(first, refunded=0.5),)
    assert (budget.spent, budget.remaining) == (0.25, 0.75)
    assert spend(budget).sequence == 2
    assert budget.remaining == 0.0
    if budget.path is not None:
        assert Budget.open(budget.path).entries == budget.entries
        assert Budget.open(budget.path).spent == 1.0


def test_a_spend_is_refunded_once_and_by_no_more_than_it_cost(budget):
    first, other = spend(budget, 0.5), replace(spend(budget, 0.125), token="other")  # noqa: S106
    with pytest.raises(ParameterError):
        budget.refund(first, 0.6)
    for wrong in (0.0, -1.0, float("nan")):
        with pytest.raises(ParameterError, match="epsilon"):
            budget.refund(first, wrong)
    budget.refund(first, 0.5)

    for again in (first, other, replace(first, sequence=9)):
        with pytest.raises(LedgerError):
            budget.refund(again, 0.1)
    assert budget.spent == 0.125


def test_no_entry_of_another_budget_is_refunded(budget, tmp_path):
    others = [Budget(100.0, 1e-6, neighbours=ADDED, path=one) for one in (None, tmp_path / "b")]
    other_entries = [spend(one, 50.0) for one in others]
    kept = spend(budget, 0.5)

    # Of the same second, number and mechanism.
    for wrong in (replace(one, time=kept.time) for one in other_entries):
        with pytest.raises(LedgerError):
            budget.refund(wrong, 0.25)
        with pytest.raises(LedgerError):
            budget.record_answer(wrong, {"answer": ["of another budget"]})
    assert (budget.spent, budget.entries[0].answer) == (0.5, None)


def test_what_is_refunded_is_read_off_the_store_and_not_off_the_entry_given(make):
    budget = make(GRANTED, 1e-6, shares={"ada": 0.5})
    entry = spend(budget, 0.25)
    with pytest.raises(ParameterError):
        budget.refund(replace(entry, epsilon=9.0, steps=8), 4.0)

    budget.refund(replace(entry, share="ada", period="2026", steps=2), 0.125)

    assert [one.refunded for one in budget.entries] == [0.125]
    assert {pot.share: pot.spent for pot in budget.pots} == {"ada": 0.0, "": 0.125}


def test_other_programs_cannot_refund_twice_or_more_than_was_spent(tmp_path):
    path = tmp_path / "budget.db"
    budget = Budget(GRANTED, 1e-6, neighbours=ADDED, path=path)
    budget.refund(spend(budget), 0.5)

    for row in ("2, 1", "2, 2", "3, 1"):
        with closing(sqlite3.connect(path)) as file, pytest.raises(sqlite3.Error, match="once"):
            file.execute(f"INSERT INTO refunds VALUES ({row}, 0.1, '0.6', '', '')")  # noqa: S608
    with closing(sqlite3.connect(path)) as file, file:
        file.execute("DROP TRIGGER refunds_no_UPDATE")
        file.execute("UPDATE refunds SET refunds = '0.7'")
    with pytest.raises(LedgerError):
        budget.entries  # noqa: B018 -- the property reads the file
