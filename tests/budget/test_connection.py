"""A connection that is kept for many spends: faster, and no guarantee less."""

import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing, suppress

import pytest

from dpselect.budget import Budget, connection
from dpselect.errors import BudgetError, LedgerError
from dpselect.neighbours import Neighbours

EDGE = Neighbours.EDGE


@pytest.fixture
def path(tmp_path):
    return tmp_path / "budget.db"


@pytest.fixture
def budget(path, monkeypatch):
    """A budget with two spends of 0.25 and a connection that is kept since."""
    monkeypatch.setattr(connection, "MANY", 2)
    made = Budget(1.0, 1e-6, neighbours=EDGE, path=path)
    for _ in range(2):
        made.spend(0.25, neighbours=EDGE)
    return made


def journal(path):
    with closing(sqlite3.connect(path)) as opened:
        return opened.execute("PRAGMA journal_mode").fetchone()[0]


def test_a_budget_at_work_shares_its_file_and_leaves_one(path, budget):
    other = Budget.open(path)

    assert journal(path) == "wal"
    assert [other.spend(0.1, neighbours=EDGE).sequence for _ in range(3)] == [3, 4, 5]
    assert budget.spend(0.1, neighbours=EDGE).sequence == 6
    assert other.remaining == budget.remaining == 0.1
    del budget, other
    assert list(path.parent.iterdir()) == [path]
    assert (journal(path), Budget.open(path).remaining) == ("delete", 0.1)


def test_what_does_not_fit_leaves_nothing_behind(path, budget):
    for _ in range(2):
        with pytest.raises(BudgetError):
            budget.spend(0.75, neighbours=EDGE)
    budget.spend(0.5, neighbours=EDGE)

    assert [entry.sequence for entry in Budget.open(path).entries] == [1, 2, 3]


def replaced(path, _):
    path.unlink()
    Budget(1.0, 1e-6, neighbours=EDGE, path=path)


def moved_over(path, before):
    other = path.with_name("copy.db")
    other.write_bytes(before)
    other.replace(path)


HARMS = {
    "restored": lambda path, before: path.write_bytes(before),
    "moved over": moved_over,
    "replaced": replaced,
    "emptied": lambda path, _: path.write_bytes(b""),
    "unlinked": lambda path, _: path.unlink(),
}


@pytest.mark.parametrize("harm", HARMS)
@pytest.mark.parametrize("closed", [True, False])
def test_nothing_that_is_done_to_the_file_lets_a_live_budget_spend_twice(
    path, monkeypatch, harm, closed
):
    """The copy is made while nothing was spent; it may lack what is written ahead."""
    monkeypatch.setattr(connection, "MANY", 2)
    budget = Budget(1.0, 1e-6, neighbours=EDGE, path=path)
    before = path.read_bytes()
    for _ in range(3):
        budget.spend(0.3, neighbours=EDGE)
    if closed:
        connection._before_fork()
        connection._after_fork()
    HARMS[harm](path, before)

    for act in (lambda: budget.spend(0.2, neighbours=EDGE), lambda: budget.entries):
        # SQLite may have healed a file that was open from what was written ahead.
        with pytest.raises(LedgerError) if closed else suppress(BudgetError):
            act()
            assert budget.remaining <= 0.1


FORKED = """
import os, sys
from dpselect.budget import Budget, connection
connection.MANY = 1
budget = Budget(1.0, neighbours="edge", path=sys.argv[1])
for _ in range(3):
    budget.spend(0.05, neighbours="edge")
child = os.fork()
for _ in range(5):
    budget.spend(0.05, neighbours="edge", note="child" if child == 0 else "parent")
if child:
    os.waitpid(child, 0)
"""
KILLED = """
import os, signal, sys
from dpselect.budget import Budget, connection
connection.MANY = 1
budget = Budget(1.0, neighbours="edge", path=sys.argv[1])
for _ in range(3):
    budget.spend(0.05, neighbours="edge")
os.kill(os.getpid(), signal.SIGKILL)
"""


def run(script, path):
    return subprocess.run([sys.executable, "-c", script, str(path)], check=False).returncode


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_both_sides_of_a_fork_go_on_spending(path):
    assert run(FORKED, path) == 0
    entries = Budget.open(path).entries

    assert [entry.sequence for entry in entries] == list(range(1, 14))
    assert sorted(entry.note for entry in entries[3:]) == ["child"] * 5 + ["parent"] * 5
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
def test_a_spend_that_was_written_ahead_survives_a_kill(path):
    assert run(KILLED, path) == -signal.SIGKILL
    assert journal(path) == "wal"
    assert len(Budget.open(path).entries) == 3
    assert Budget.open(path).spend(0.85, neighbours=EDGE).sequence == 4


def test_a_file_that_is_no_database_leaves_no_connection_open(tmp_path, monkeypatch):
    opened, connect = [], sqlite3.connect

    def remembered(*arguments, **options):
        opened.append(connect(*arguments, **options))
        return opened[-1]

    monkeypatch.setattr(sqlite3, "connect", remembered)
    path = tmp_path / "notes.db"
    path.write_text("notes " * 1000, "utf-8")

    with pytest.raises(LedgerError):
        Budget.open(path)
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        opened[0].execute("SELECT 1")
