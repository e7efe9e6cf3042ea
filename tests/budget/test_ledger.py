import os
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from dpselect.budget import Budget, ledger
from dpselect.budget.totals import Period, Persons
from dpselect.errors import LedgerError
from dpselect.neighbours import Neighbours

EDGE, SWAP = Neighbours.EDGE, Neighbours.SWAP


@pytest.fixture
def path(tmp_path):
    return tmp_path / "budget.db"


@pytest.fixture
def budget(path):
    return Budget(1.0, 1e-6, neighbours=EDGE, path=path)


def tamper(path, *statements):
    with closing(sqlite3.connect(path)) as connection, connection:
        for statement in statements:
            connection.execute(statement)


@pytest.mark.parametrize(
    "other",
    [
        {"epsilon": 2.0},
        {"delta": 0.0},
        {"neighbours": SWAP, "protects": None},
        {"protects": "row"},
        {"protects": Persons("who", 3)},
        {"period": Period("month", "each-period")},
    ],
)
def test_other_totals_are_refused(path, other):
    terms = {"epsilon": 1.0, "delta": 1e-6, "neighbours": "add-remove"}
    terms |= {"protects": Persons("who"), "path": path}
    budget = Budget(**terms)

    with pytest.raises(LedgerError):
        Budget(**terms | other)
    assert Budget.open(path).totals == budget.totals


ANSWER = {"answer": ["a", 2], "noisy_scores": [0.5]}


def test_an_answer_is_kept_beside_its_spend(path, budget):
    top = {"query": "TopNodes", "arguments": {"k": 2}}
    request = budget.for_request(note="board 7", source="a.csv", version="May", analyst="Ann")
    [spent] = request.reserve([{"epsilon": 0.1, "neighbours": EDGE, "question": lambda: top}])()
    before = Budget.open(path).entries
    budget.record_answer(spent, {"answer": ("a", 2), "noisy_scores": [0.5]})

    assert before == (spent,)
    [entry] = Budget.open(path).entries
    assert entry == replace(spent, answer=ANSWER)
    said = entry.note, entry.source, entry.source_version, entry.analyst
    assert said == ("board 7", "a.csv", "May", "Ann")
    assert entry.question == {"query": "TopNodes", "arguments": {"k": 2}}


@pytest.mark.parametrize("text", ["no JSON", "[1]", "1"])
def test_an_answer_that_is_not_one_is_a_ledger_error(path, budget, text):
    budget.spend(0.1, neighbours=EDGE)
    tamper(path, f"INSERT INTO answers SELECT 1, 1, token, '{text}', NULL, NULL FROM entries")  # noqa: S608

    with pytest.raises(LedgerError):
        dict(budget.entries[0].answer)


NOT_LEDGERS = {
    "text": lambda path: path.write_bytes(b"epsilon = 1.0\n"),
    "one byte": lambda path: path.write_bytes(b"\0"),
    "long": lambda path: path.write_bytes(b"budget " * 5000),
    "torn": lambda path: path.write_bytes(b"SQLite format 3\0" + b"\xff" * 84),
    "emptied, which would grant everything again": lambda path: path.write_bytes(b""),
    "of another program": lambda path: tamper(path, "CREATE TABLE totals (epsilon, delta)"),
}


@pytest.mark.parametrize("make", NOT_LEDGERS.values(), ids=NOT_LEDGERS)
def test_a_file_that_is_not_a_ledger_is_left_untouched(path, make):
    make(path)
    content = path.read_bytes()

    for opened in (lambda: Budget(1.0, neighbours=EDGE, path=path), lambda: Budget.open(path)):
        with pytest.raises(LedgerError):
            opened()
    assert path.read_bytes() == content
    assert list(path.parent.iterdir()) == [path]


def anew(path, before):  # noqa: ARG001 -- as others
    path.unlink()
    Budget(1.0, 1e-6, neighbours=EDGE, path=path).spend(0.1, neighbours=EDGE)


def spent_by_others(path, before):
    """As many entries as were seen, and other ones."""
    path.write_bytes(before)
    other = Budget.open(path)
    for _ in range(2):
        other.spend(0.1, neighbours=EDGE)


def without_totals(path, change):
    tamper(path, "DROP TRIGGER totals_no_DELETE", "DROP TRIGGER totals_no_UPDATE", change)


def moved_over(path, before):
    other = path.with_name("copy.db")
    other.write_bytes(before)
    other.replace(path)


DAMAGES = {
    "another one of the same totals": anew,
    "an older copy": lambda path, before: path.write_bytes(before),
    "an older copy moved over it": moved_over,
    "a copy that others spent from": spent_by_others,
    "emptied": lambda path, _: path.write_bytes(b""),
    "gone": lambda path, _: path.unlink(),
    "no totals": lambda path, _: without_totals(path, "DELETE FROM totals"),
    "odd totals": lambda path, _: without_totals(path, "UPDATE totals SET neighbours = 'x'"),
    "another version": lambda path, _: tamper(path, "PRAGMA user_version = 99"),
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_live_budget_notices_what_was_done_to_its_file(path, budget, damage):
    before = path.read_bytes()
    budget.spend(0.1, neighbours=EDGE)
    damage(path, before)
    content = path.read_bytes() if path.exists() else None

    with pytest.raises(LedgerError):
        budget.spend(0.1, neighbours=EDGE)
    for shown in ("remaining", "entries"):
        with pytest.raises(LedgerError):
            getattr(budget, shown)
    assert content == (path.read_bytes() if path.exists() else None)


def test_whatever_became_of_its_bytes_a_ledger_is_read_or_refused(path, budget):
    """Or it adds up: a byte of a note may be another, and no spend is lost."""
    for at in range(4):
        budget.spend(0.1, neighbours=EDGE, note=f"a note {at} " * 9)
    whole, rng = path.read_bytes(), Random(1)  # noqa: S311 -- damage, not noise
    refused = 0
    for _ in range(200):
        damaged = bytearray(whole)
        for _ in range(rng.choice([1, 30, 200])):
            damaged[rng.randrange(len(damaged))] = rng.randrange(256)
        path.write_bytes(damaged)
        try:
            opened = Budget.open(path)
            assert (len(opened.entries), opened.spent) == (4, 0.4)
        except LedgerError:
            refused += 1

    assert 100 < refused < 200


@pytest.mark.parametrize(
    "place", ["missing/budget.db", "file/budget.db", "/", "/proc/budget.db", "budget\0.db"]
)
def test_where_no_ledger_can_be_nothing_is_made(tmp_path, monkeypatch, place):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").touch()

    for make in (lambda: Budget(1.0, neighbours=EDGE, path=place), lambda: Budget.open(place)):
        with pytest.raises(LedgerError):
            make()
    assert [one.name for one in tmp_path.iterdir()] == ["file"]


def test_who_makes_a_ledger_while_another_does_opens_that_one(path, monkeypatch):
    link = os.link

    def slower(made, where):
        monkeypatch.setattr(os, "link", link)
        Budget(1.0, neighbours=EDGE, path=where).spend(0.25, neighbours=EDGE)
        link(made, where)

    monkeypatch.setattr(os, "link", slower)

    assert Budget(1.0, neighbours=EDGE, path=path).remaining == 0.75
    assert list(path.parent.iterdir()) == [path]


def test_a_ledger_that_cannot_be_made_leaves_nothing(path, monkeypatch):
    def refuse(*_):
        raise OSError(1, "no hard links here")

    monkeypatch.setattr(os, "link", refuse)
    with pytest.raises(LedgerError):
        Budget(1.0, neighbours=EDGE, path=path)
    assert list(path.parent.iterdir()) == []


COLUMNS = (
    "sequence, time, epsilon, delta, rho, mechanism, note, version, epsilons, deltas, rhos"
)


def entry(sequence, epsilon="1e-9", delta="0.0", rho="1e-9"):
    return f"({sequence}, '', {epsilon}, {delta}, {rho}, '', '', '', '0', '0', '0')"


AMOUNTS = [
    *(("'text'", 0, 1), ("x'00'", 0, 1), ("NULL", 0, 1), (-0.5, 0, 0.1), (0.1, -1e-9, 0.1)),
    *((0.1, 0, -0.1), (0, 0, 0), (0, 0, 0.1), (0.1, 0, 0)),
]
FORBIDDEN = [
    *("DELETE FROM entries", "UPDATE entries SET epsilon = 1e-9"),
    *("DELETE FROM totals", "UPDATE totals SET epsilon = 100"),
    *("DELETE FROM answers", "UPDATE answers SET answer = '{}'"),
    *(
        f"{verb} INTO {values}"
        for verb in ("INSERT", "INSERT OR REPLACE", "REPLACE", "INSERT OR IGNORE")
        for values in (
            "totals VALUES (100.0, 0.0, 'edge', 'x', 'y')",
            *(f"entries ({COLUMNS}) VALUES {entry(at)}" for at in (1, 2, 4, "NULL", 0)),
        )
    ),
    *(f"INSERT INTO answers VALUES ({at}, 1, 'x', '{{}}', 0, 0)" for at in (1, 2, 3)),  # noqa: S608
    *(
        f"INSERT INTO entries ({COLUMNS}) VALUES {entry(3, *amounts)}"  # noqa: S608
        for amounts in AMOUNTS
    ),
]


@pytest.mark.parametrize("statement", FORBIDDEN)
def test_the_file_itself_refuses_to_forget_and_what_is_no_entry(path, budget, statement):
    budget.record_answer(budget.spend(0.3, neighbours=EDGE), {"answer": [1]})
    budget.spend(0.1, neighbours=EDGE)
    before = budget.entries

    with pytest.raises(sqlite3.IntegrityError):
        tamper(path, statement)
    assert budget.entries == before


@pytest.mark.parametrize(
    ("column", "value"),
    [
        *(("epsilon", 9e999), ("rho", 9e999), ("rho", 5.0), ("time", b"x"), ("note", b"\xff")),
        *(("epsilons", "one"), ("rhos", "1/0"), ("deltas", b"0"), ("epsilons", "1/3")),
    ],
)
def test_an_entry_that_is_not_one_is_a_ledger_error(path, budget, column, value):
    right = (1, "", 0.1, 0.0, 0.004, "", "", "", "1/10", "0", "1/250")
    row = dict(zip(COLUMNS.split(", "), right, strict=True)) | {column: value}
    marks = ", ".join("?" * len(row))
    with closing(sqlite3.connect(path)) as file, file:
        file.execute(f"INSERT INTO entries ({COLUMNS}) VALUES ({marks})", [*row.values()])  # noqa: S608

    with pytest.raises(LedgerError):
        _ = budget.entries
    with pytest.raises(LedgerError):
        Budget.open(path)


def test_a_path_keeps_its_meaning_when_the_working_folder_changes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    budget = Budget(1.0, neighbours=EDGE, path="budget.db")
    monkeypatch.chdir("/")
    budget.spend(0.1, neighbours=EDGE)

    assert budget.path == tmp_path / "budget.db"


@pytest.mark.parametrize(
    "name", ["bud get?mode=memory#1.db", "%41.db", "büdget.db", ":memory:"]
)
def test_a_file_may_have_any_name(tmp_path, name):
    Budget(1.0, neighbours=EDGE, path=tmp_path / name).spend(0.1, neighbours=EDGE)

    assert [file.name for file in tmp_path.iterdir()] == [name]
    assert Budget.open(tmp_path / name).remaining == 0.9


def test_who_waits_too_long_spends_nothing(path, budget, monkeypatch):
    monkeypatch.setattr(ledger, "PATIENCE", 0.05)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(LedgerError, match="locked"):
            budget.spend(0.1, neighbours=EDGE)
        # Readers do not wait for a spend that is not committed.
        assert budget.remaining == 1.0

    assert budget.entries == ()


def test_the_journal_s_removal_is_synced_with_its_folder(path, budget):
    """Durability against power loss cannot be tried here; this is the setting behind it."""
    with ledger.connected(Path(path)) as opened:
        (level,) = opened.execute("PRAGMA synchronous").fetchone()

    assert (level, budget.remaining) == (3, 1.0)
