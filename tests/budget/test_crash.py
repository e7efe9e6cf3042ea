"""A ledger among many processes, some of which are killed."""

import signal
import sqlite3
import subprocess
import sys
from collections import Counter
from contextlib import closing
from itertools import pairwise
from shutil import copyfile

import pytest

from dpselect.budget import Budget, accountant
from dpselect.budget.totals import Period
from dpselect.errors import InsufficientBudgetError
from dpselect.neighbours import Neighbours

EDGE = Neighbours.EDGE

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")


def run(script, *arguments):
    return subprocess.run(
        [sys.executable, "-c", script, *map(str, arguments)],
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )


CROWD = """
import os, random, signal, sys, time
from dpselect.budget import Budget, accountant
from dpselect.budget.totals import Period
from dpselect.errors import InsufficientBudgetError

path, turned, published, number = *sys.argv[1:4], int(sys.argv[4])
terms = {"neighbours": "add-remove", "period": Period("month", "each-period")}
terms |= {"shares": {"Ann": 0.5, "Bob": 0.25}, "path": path}

def now():
    # Each process sees the turn of the month when the file is there, one in three too late.
    late = os.getpid() % 3 == 0
    day = "2026-02-01" if os.path.exists(turned) and not late else "2026-01-31"
    return f"{day}T00:00:00+00:00"

accountant.now = now
answers = os.open(published, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
gate, opener = os.pipe()
children = []
for name in range(number):
    children.append(os.fork())
    if children[-1] == 0:
        os.close(opener)
        os.read(gate, 1)
        budget = Budget(1.0, **terms).for_request(analyst=["Ann", "Bob", "Carl"][name % 3])
        for at in range(12):
            while at == 6 and not os.path.exists(turned):
                time.sleep(0.001)  # so that each month has spends, however busy the machine is
            try:
                entry = budget.spend(1 / 64, neighbours="add-remove", note=f"{name} {at}")
            except InsufficientBudgetError:
                continue
            # Up to four draws at 1/256, each of which ends it with probability 1/2.
            drawn = next((n for n in range(1, 4) if os.urandom(1)[0] % 2), 4)
            os.write(answers, f"{entry.sequence} {drawn} {name} {at}\\n".encode())
            if drawn < 4:
                budget.refund(entry, (4 - drawn) / 256)
        os._exit(0)
os.close(opener)
while not os.path.getsize(published):
    time.sleep(0.001)
for at, child in enumerate(random.sample(children, number // 2)):
    time.sleep(random.expovariate(number))
    if at == number // 6:
        open(turned, "w").close()
    os.kill(child, signal.SIGKILL)
print(sum(os.waitstatus_to_exitcode(os.waitpid(c, 0)[1]) == -9 for c in children))
"""


@pytest.mark.slow
def test_processes_that_are_killed_lose_no_spend_and_never_pay_too_little(
    tmp_path, monkeypatch
):
    """60 processes make one ledger at once, and half are killed while the month turns.

    Each spends from its analyst's share, tells an answer, and gets back what that did not cost.
    """
    path, turned, published = (tmp_path / name for name in ("budget.db", "turned", "answers"))
    killed = int(run(CROWD, path, turned, published, 60).stdout)
    entries = Budget.open(path).entries
    told = [line.split(" ", 2) for line in published.read_text().splitlines()]
    net = Counter()
    for entry in entries:
        net[entry.period, entry.share] += round(256 * (entry.epsilon - entry.refunded))

    assert killed
    assert {entry.period for entry in entries} == {"2026-01", "2026-02"}
    assert all(one.period <= other.period for one, other in pairwise(entries))
    for number, drawn, note in told:
        entry = entries[int(number) - 1]
        assert entry.note == note
        assert 256 * (entry.epsilon - entry.refunded) >= int(drawn)
    assert {one.note for one in entries if one.refunded} <= {note for *_, note in told}
    assert all(
        some <= {"Ann": 128, "Bob": 64, "": 64}[share] for (_, share), some in net.items()
    )
    # What is left of the second month fits to the last bit, and no more.
    monkeypatch.setattr(accountant, "now", lambda: "2026-02-01T00:00:00+00:00")
    for name, share, granted in (("Ann", "Ann", 128), ("Bob", "Bob", 64), ("Carl", "", 64)):
        budget = Budget.open(path).for_request(analyst=name)
        left = (granted - net["2026-02", share]) / 256
        assert budget.remaining == left
        if left:
            budget.spend(left, neighbours="add-remove")
        with pytest.raises(InsufficientBudgetError):
            budget.spend(1e-9, neighbours="add-remove")


DIE = """
import os, signal, sys
from dpselect.budget import Budget, accountant, ledger

accountant.now = lambda: "2026-02-01T00:00:00+00:00"
steps = int(sys.argv[2])

class Dying:
    # Dies at the so-manieth statement of the first spends of a month.
    def __init__(self, real):
        self.real = real

    def __getattr__(self, name):
        return getattr(self.real, name)

    def execute(self, *statement):
        global steps
        steps -= 1
        if steps == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return self.real.execute(*statement)

budget = Budget.open(sys.argv[1])
opened = ledger.sqlite3.connect
ledger.sqlite3.connect = lambda *args, **kwargs: Dying(opened(*args, **kwargs))
budget.reserve([{"epsilon": 0.5, "neighbours": "add-remove"}] * 2)()
"""


def test_a_kill_at_any_statement_of_two_spends_at_once_is_all_or_nothing(tmp_path, monkeypatch):
    path, ended = tmp_path / "budget.db", []
    terms = {"neighbours": "add-remove", "period": Period("month", "each-period")}
    monkeypatch.setattr(accountant, "now", lambda: "2026-01-31T00:00:00+00:00")
    Budget(1.0, **terms, path=path).spend(1.0, neighbours="add-remove")
    monkeypatch.setattr(accountant, "now", lambda: "2026-02-01T00:00:00+00:00")
    for steps in range(1, 60):
        ended.append(run(DIE, path, steps).returncode)
        entries = Budget.open(path).entries
        if len(entries) > 1:
            break
        assert Budget.open(path).remaining == 1.0

    assert set(ended[:-1]) == {-signal.SIGKILL}
    assert len(ended) > 5
    assert [entry.period for entry in entries] == ["2026-01", "2026-02", "2026-02"]
    assert Budget.open(path).remaining == 0.0


def test_a_process_killed_while_it_writes_leaves_the_ledger_as_it_was(tmp_path):
    """What it leaves is a file that is half written and the journal to undo it."""
    path, torn = tmp_path / "budget.db", tmp_path / "torn.db"
    before = Budget(1.0, neighbours=EDGE, path=path).spend(0.25, neighbours=EDGE)
    with closing(sqlite3.connect(path, isolation_level=None)) as writing:
        for statement in (
            "PRAGMA cache_size = 1",
            "BEGIN IMMEDIATE",
            "CREATE TABLE t (filler)",
        ):
            writing.execute(statement)
        for _ in range(200):
            writing.execute("INSERT INTO t VALUES (?)", ("x" * 3000,))
        for end in ("-journal", ""):
            copyfile(f"{path}{end}", f"{torn}{end}")
    assert torn.stat().st_size > 2**16
    budget = Budget.open(torn)

    assert budget.entries == (before,)
    assert budget.spend(0.75, neighbours=EDGE).sequence == 2
    assert budget.remaining == 0.0


DIE_WORKING = """
import os, signal, sys
import dpselect as dp
from dpselect.percentiles.intervals import Intervals
from dpselect.percentiles.percentiles import PercentilesDesign

keep = dp.budget.Budget.record_answer
def record(self, *drawn, **kept):
    keep(self, *drawn, **kept)
    os.kill(os.getpid(), signal.SIGKILL)
dp.budget.Budget.record_answer = record
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
