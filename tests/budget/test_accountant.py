import json
import re
from datetime import datetime, timedelta
from functools import partial
from importlib.metadata import version

import pytest
from hypothesis import given, strategies as st

from dpselect.budget import Budget, Entry
from dpselect.errors import InsufficientBudgetError, LedgerError
from dpselect.neighbours import Neighbours
from support.refusals import refused

EDGE = Neighbours.EDGE

thousandths = st.integers(1, 400).map(lambda n: n / 1000)


@pytest.fixture
def make(make):
    return partial(make, neighbours=EDGE)


def test_an_entry_says_what_was_spent(make):
    entry = make().spend(0.25, neighbours=EDGE, rho=0.01, mechanism="median", note="age")

    assert datetime.fromisoformat(entry.time).utcoffset() == timedelta(0)
    said = {"neighbours": EDGE, "mechanism": "median", "note": "age"}
    said |= {"sequence": 1, "time": entry.time, "version": version("dpselect")}
    assert entry == Entry(epsilon=0.25, delta=0.0, rho=0.01, **said)


some = st.just((0.0, 4e-7)) | st.tuples(thousandths, st.sampled_from([0.0, 4e-7]))


@given(st.lists(some, max_size=12), st.sampled_from([0.0, 1e-6]))
def test_a_dry_run_refuses_exactly_what_a_spend_refuses(spends, total):
    budget = Budget(1.0, total, neighbours=EDGE)
    for epsilon, delta in spends:
        rho = epsilon**2 / 8 or None
        spend = {"epsilon": epsilon, "delta": delta, "rho": rho, "neighbours": EDGE}
        try:
            promised = budget.remaining_after([spend])
        except InsufficientBudgetError as refusal:
            with pytest.raises(InsufficientBudgetError, match=re.escape(str(refusal))):
                budget.spend(epsilon, delta=delta, rho=rho, neighbours=EDGE)
        else:
            budget.spend(epsilon, delta=delta, rho=rho, neighbours=EDGE)
            assert budget.remaining == promised


def test_a_note_does_not_fill_the_disk(make):
    for name in ("note", "source", "version", "analyst"):
        with refused(name):
            make().for_request(**{name: "x" * 10_001})


def test_the_repr_shows_totals_and_what_remains(tmp_path):
    budget = Budget(1.0, 1e-6, neighbours=EDGE)
    for epsilon in (0.1, 0.2):
        budget.spend(epsilon, neighbours=EDGE)
    path = tmp_path / "budget.db"
    ledger = Budget(2.0, neighbours=EDGE, path=path)

    assert json.loads(budget.to_json())["spent"] == 0.3
    assert repr(budget) == "<Budget epsilon=1.0, delta=1e-06, neighbours=edge: remaining 0.7>"
    assert f"neighbours=edge, path={str(path)!r}: remaining 2.0" in repr(ledger)
    path.unlink()
    assert "remaining unreadable" in repr(ledger)
    with pytest.raises(LedgerError):
        _ = ledger.remaining
