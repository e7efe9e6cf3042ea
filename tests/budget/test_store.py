"""Stores of entries: order, atomic decisions, refusals, forks."""

import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest

from dpselect.budget.entry import Entry
from dpselect.budget.ledger import Ledger
from dpselect.budget.store import Memory, sums_of
from dpselect.budget.totals import Sums, Totals
from dpselect.neighbours import Neighbours

EDGE = Neighbours.EDGE


@pytest.fixture(params=["memory", "ledger"])
def store(request, tmp_path):
    totals = Totals(epsilon=1.0, delta=0.0, neighbours=EDGE)
    if request.param == "memory":
        return Memory()
    return Ledger.create_or_open(tmp_path / "budget.db", totals)


def following(state, many=1, share="", period=""):
    """Return so many entries that follow, with the sums of their share after each."""
    made, sums = [], state.sums(period, share)
    for _ in range(many):
        at = {"share": share, "period": period}
        entry = Entry(epsilon=0.1, delta=0.0, rho=0.005, neighbours=EDGE, **at)
        sums = sums.plus(entry)
        made.append((entry, sums))
    return made


def test_every_share_and_period_has_sums_of_its_own(store):
    for share, period, many in (("a", "1", 2), ("", "1", 1), ("a", "2", 3), ("a", "1", 1)):
        store.append(partial(following, many=many, share=share, period=period))
    store.refund(store.entries()[1], 0.05)

    found = sums_of(store.entries())
    number = {where: round(10 * sums.epsilon + sums.refunded) for where, sums in found.items()}
    assert number == {("1", "a"): 3, ("1", ""): 1, ("2", "a"): 3}
    assert found["1", "a"].refunded > 0
    for where, sums in found.items():
        assert store.look(lambda state, where=where: state.sums(*where)) == sums
    assert store.look(lambda state: state.sums("3", "a")) == Sums()
    assert store.look(lambda state: state[:2]) == (7, "2")


def test_no_thread_comes_between_a_decision_and_its_entry(store):
    def decide(state):
        # Long enough for every other thread to have its turn, if it could.
        time.sleep(0.002)
        return following(state, many=2)

    with ThreadPoolExecutor(16) as threads:
        returned = list(threads.map(lambda _: store.append(decide), range(32)))

    assert sorted(made[0].sequence for made in returned) == list(range(1, 65, 2))
    assert all(two.sequence == one.sequence + 1 for one, two in returned)
    assert [entry.sequence for entry in store.entries()] == list(range(1, 65))
