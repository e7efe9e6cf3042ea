"""A ledger among many processes, some of which are killed."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

from dpselect.budget import Budget
from dpselect.neighbours import Neighbours

EDGE = Neighbours.EDGE

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")

CROWD = """
import os, signal, sys, time
from dpselect.budget import Budget
from dpselect.errors import InsufficientBudgetError
from dpselect.neighbours import Neighbours

def spend(name):
    try:
        Budget(1.0, neighbours=Neighbours.EDGE, path=sys.argv[1]).spend(
            0.01, neighbours=Neighbours.EDGE, note=name
        )
    except InsufficientBudgetError:
        return "refused"
    return "spent"

gate, opener = os.pipe()
children = []
for name in map(str, range(200)):
    children.append(os.fork())
    if children[-1] == 0:
        os.close(opener)
        os.read(gate, 1)
        os.write(1, f"{spend(name)} {name}\\n".encode())
        # Those that are to be killed are alive until then, however busy the machine is.
        signal.pause() if int(name) % 5 == 0 else os._exit(0)
os.close(opener)
for child in children[::5]:
    time.sleep(0.02)
    os.kill(child, signal.SIGKILL)
for name, child in enumerate(children):
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    os.write(1, f"code{code} {name}\\n".encode())
"""

TORN = """
import sqlite3, sys, time

connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("PRAGMA cache_size = 1")
connection.execute("BEGIN IMMEDIATE")
connection.execute("CREATE TABLE torn (filler TEXT)")
for _ in range(200):
    connection.execute("INSERT INTO torn VALUES (?)", ("x" * 3000,))
print("writing", flush=True)
time.sleep(600)
"""


def run(script, *arguments):
    return subprocess.run(
        [sys.executable, "-c", script, *map(str, arguments)],
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )


def tear(path):
    """Leave a half-written file and the journal to undo it, as a kill in a commit does."""
    with subprocess.Popen(
        [sys.executable, "-c", TORN, str(path)], stdout=subprocess.PIPE
    ) as process:
        process.stdout.readline()
        process.kill()

    assert path.stat().st_size > 2**16
    assert path.with_name(f"{path.name}-journal").stat().st_size > 0


@pytest.mark.slow
def test_two_hundred_processes_never_overspend_and_lose_no_spend(tmp_path):
    """All wait for one pipe to close, then make and spend from one ledger at once."""
    path = tmp_path / "budget.db"
    outcomes = {}
    for line in run(CROWD, path).stdout.splitlines():
        outcome, name = line.split()
        outcomes.setdefault(outcome, set()).add(name)
    recorded = [entry.note for entry in Budget.open(path).entries]

    assert [len(outcomes[code]) for code in ("code0", "code-9")] == [160, 40]
    assert outcomes["code0"] <= outcomes["spent"] | outcomes["refused"]
    assert outcomes["spent"] <= set(recorded)
    assert outcomes["refused"].isdisjoint(recorded)
    assert len(recorded) == len(set(recorded)) == 100
    assert Budget.open(path).spent == 1.0


def test_a_process_killed_while_it_writes_leaves_the_ledger_as_it_was(tmp_path):
    path = tmp_path / "budget.db"
    before = Budget(1.0, neighbours=EDGE, path=path).spend(0.25, neighbours=EDGE)
    tear(path)
    budget = Budget.open(path)

    assert budget.entries == (before,)
    assert budget.spend(0.75, neighbours=EDGE).sequence == 2
    assert budget.remaining == 0.0


DIE_MAKING = """
import os, signal, sys
from dpselect.budget import Budget
from dpselect.neighbours import Neighbours

os.link = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
Budget(1.0, neighbours=Neighbours.EDGE, path=sys.argv[1])
"""


def test_a_process_killed_while_it_makes_a_ledger_can_be_followed_by_another(tmp_path):
    path = tmp_path / "budget.db"
    done = run(DIE_MAKING, path)

    assert done.returncode == -signal.SIGKILL
    assert not path.exists()
    assert Budget(1.0, neighbours=EDGE, path=path).remaining == 1.0


DIE_WORKING = """
import os, signal, sys
import dpselect as dp
from dpselect.percentiles.intervals import Intervals
from dpselect.percentiles.percentiles import PercentilesDesign

keep = dp.budget.Budget.record_draw
def record(self, *drawn):
    keep(self, *drawn)
    os.kill(os.getpid(), signal.SIGKILL)
dp.budget.Budget.record_draw = record
budget = dp.Budget(9.0, neighbours="add-remove", path=sys.argv[1])
dp.Percentiles(
    p=50, candidates=range(9), interval=0.9, epsilon=9.0, neighbours="add-remove"
).release([3] * 99, budget=budget)
"""


def test_what_was_drawn_is_in_the_ledger_before_its_interval_is_worked_out(tmp_path):
    """A process that was killed meanwhile had paid, and lost its answer."""
    path = tmp_path / "budget.db"
    done = run(DIE_WORKING, path)

    assert done.returncode == -signal.SIGKILL
    [entry] = Budget.open(path).entries
    assert (entry.epsilon, entry.answer["answer"]) == (9.0, [3])
    assert "interval" not in entry.answer
    assert entry.release is None
