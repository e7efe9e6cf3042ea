"""Spends of which a part is given back when the outcome is known."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from functools import cache
from math import exp

import pytest
from hypothesis import given, settings, strategies as st

from dpselect.budget import Budget
from dpselect.errors import InsufficientBudgetError, LedgerError, ParameterError
from dpselect.neighbours import Neighbours

ADDED = Neighbours.ADD_REMOVE
STEP, LONGEST, GRANTED = 0.25, 3, 1.0


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


def test_what_is_refunded_is_read_off_the_store_and_not_off_the_entry_given(tmp_path):
    stores = {"memory": None, "ledger": tmp_path / "budget.db"}
    budgets = [
        Budget(GRANTED, 1e-6, neighbours=ADDED, shares={"ada": 0.5}, path=path)
        for path in stores.values()
    ]
    for budget in budgets:
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


@settings(max_examples=20)
@given(st.lists(st.tuples(st.integers(1, 9), st.integers(0, 9)), max_size=12))
def test_sums_are_exact_in_memory_and_in_a_ledger(tmp_path_factory, requests):
    path = tmp_path_factory.mktemp("refunds") / "budget.db"
    both = [Budget(2.0, neighbours=ADDED, path=where) for where in (None, path)]
    for price, back in requests:
        for budget in both:
            try:
                entry = spend(budget, price / 10)
            except InsufficientBudgetError:
                continue
            if 0 < back <= price:
                budget.refund(entry, back / 10)
    net = [sum(round(10 * (e.epsilon - e.refunded)) for e in budget.entries) for budget in both]

    assert both[0].spent == both[1].spent == net[0] / 10 == net[1] / 10


def best_excess(paid):
    """Return the best analyst's sum of [P(y) - e^epsilon Q(y)]_+, by definition.

    A release is up to ``LONGEST`` randomised responses at ``STEP`` each and ends with the
    first that says yes. It is spent for all of them and costs ``paid`` of the number of yes
    and no when it is over. After each the analyst may make another, mirrored or not, if it
    fits.
    """
    truth = exp(STEP) / (exp(STEP) + 1)
    steps = round(GRANTED / STEP)

    @cache
    def excess(spent, loss, left):
        best = max(0.0, 1 - exp(GRANTED - loss * STEP))
        if spent + LONGEST > steps or not left:
            return best
        for sign in (1, -1):
            yes = truth if sign == 1 else 1 - truth
            value, going = 0.0, 1.0
            for drawn in range(1, LONGEST + 1):
                after = spent + paid(1, drawn - 1), loss + sign * (2 - drawn), left - 1
                value += going * yes * excess(*after)
                going *= 1 - yes
            none = excess(spent + paid(0, LONGEST), loss - sign * LONGEST, left - 1)
            best = max(best, value + going * none)
        return best

    return excess(0, 0, 12)


def test_no_adaptive_choice_of_refunded_releases_breaks_the_guarantee():
    assert best_excess(lambda yes, no: yes + no) <= 1e-12


def test_refunds_before_the_outcome_is_known_break_it():
    """All but one draw given back when the spend is made, whatever is drawn then."""
    assert best_excess(lambda *_: 1) > 0.01


def test_a_stop_that_is_not_paid_breaks_it():
    assert best_excess(lambda _, no: no) > 0.03


CROWD = """
import os, random, signal, sys, time
from dpselect.budget import Budget
from dpselect.errors import InsufficientBudgetError
from dpselect.neighbours import Neighbours

ADDED = Neighbours.ADD_REMOVE
path, published, refunds, number = *sys.argv[1:4], int(sys.argv[4])

def release(name):
    # Up to 8 draws at 1/128, each of which ends it with probability 1/2.
    budget = Budget(0.5, 1e-6, neighbours=ADDED, path=path)
    entry = budget.spend(1 / 16, neighbours=ADDED, delta=1e-9, note=name)
    if refunds == "first":
        budget.refund(entry, 7 / 128)
    drawn = next((n for n in range(1, 8) if os.urandom(1)[0] % 2), 8)
    os.write(answers, f"{name} {drawn}\\n".encode())
    if refunds == "last" and drawn < 8:
        budget.refund(entry, (8 - drawn) / 128)

answers = os.open(published, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
gate, opener = os.pipe()
children, doomed = [], random.sample(range(number), number // 2)
for name in map(str, range(number)):
    children.append(os.fork())
    if children[-1] == 0:
        os.close(opener)
        os.read(gate, 1)
        try:
            release(name)
        except InsufficientBudgetError:
            os.write(answers, f"{name} refused\\n".encode())
        # Those that are to be killed are alive until then, however busy the machine is.
        signal.pause() if int(name) in doomed else os._exit(0)
os.close(opener)
while not os.path.getsize(published):
    time.sleep(0.001)
for at in doomed:
    time.sleep(random.expovariate(number / 2))
    os.kill(children[at], signal.SIGKILL)
for child in children:
    os.waitpid(child, 0)
"""


def crowd(tmp_path, refunds, number):
    """Return the draws that were published, by the name of the process, and the budget."""
    path, published = tmp_path / "budget.db", tmp_path / "answers"
    # Each Budget of the crowd opens this file: none of them is waited for to make it.
    Budget(0.5, 1e-6, neighbours=ADDED, path=path)
    run = [sys.executable, "-c", CROWD, path, published, refunds, str(number)]
    subprocess.run(run, check=True)
    lines = dict(line.split() for line in published.read_text().splitlines())
    drawn = {name: int(word) for name, word in lines.items() if word != "refused"}
    return drawn, Budget.open(path)


def underpaid(drawn, budget):
    """Return the processes whose answer cost more than the ledger says now."""
    net = {entry.note: entry.epsilon - entry.refunded for entry in budget.entries}
    return [name for name, draws in drawn.items() if net.get(name, 0.0) < draws / 128]


needs_kill = pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")


@pytest.mark.slow
@needs_kill
def test_two_hundred_processes_killed_at_any_moment_never_pay_too_little(tmp_path):
    """Half of them get SIGKILL at random moments; dying, they lose epsilon at most."""
    drawn, budget = crowd(tmp_path, "last", 200)
    entries = budget.entries

    assert underpaid(drawn, budget) == []
    assert {entry.note for entry in entries if entry.refunded} <= set(drawn)
    assert budget.spent == sum(entry.epsilon - entry.refunded for entry in entries) <= 0.5
    assert any(entry.refunded for entry in entries)


@needs_kill
def test_refunds_before_the_draw_are_caught_among_processes(tmp_path):
    drawn, budget = crowd(tmp_path, "first", 40)

    assert underpaid(drawn, budget)
