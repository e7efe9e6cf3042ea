"""Long lists of a question, beside the ledger."""

from __future__ import annotations

import hashlib
import json
import os
import stat

import polars as pl
import pytest

import dpselect as dp
from dpselect.budget import lists
from dpselect.errors import LedgerError

LONG = [f"ward {n}" for n in range(1000)]


def digest_of(value):
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()


def test_a_short_list_stays_and_a_long_one_is_its_ends_and_its_hash():
    files = {}
    question = {"k": 3, "candidates": LONG, "few": LONG[:5], "domains": {"ward": LONG[::-1]}}

    made = lists.folded(question, files)

    assert made["candidates"] == {
        "count": 1000,
        "first": "ward 0",
        "last": "ward 999",
        "sha256": digest_of(LONG),
    }
    assert (made["k"], made["few"]) == (3, LONG[:5])
    assert made["domains"]["ward"]["first"] == "ward 999"
    assert {digest: json.loads(text) for digest, text in files.items()} == {
        digest_of(LONG): LONG,
        digest_of(LONG[::-1]): LONG[::-1],
    }


def test_the_longest_list_that_stays_has_exactly_so_many_characters():
    stays = ["x" * (lists.LONGEST - len('[""]'))]

    assert lists.folded(stays, {}) == stays
    assert lists.is_folded(lists.folded([stays[0] + "x"], {}))


def test_a_list_comes_back_whole_unless_its_file_is_another(tmp_path):
    files = {}
    made = lists.folded(LONG, files)
    folder = tmp_path / "lists"
    lists.keep(folder, files)
    lists.keep(folder, files)
    [file] = folder.iterdir()

    assert lists.whole(made, folder) == LONG
    assert lists.whole(made, tmp_path / "none") is lists.whole(made, None) is None
    for other in ("[1]", "no JSON", "\udcff"):
        file.write_bytes(other.encode(errors="surrogateescape"))
        assert lists.whole(made, folder) is None


def test_a_folder_that_cannot_be_written_is_a_ledger_error(tmp_path):
    (tmp_path / "file").touch()

    with pytest.raises(LedgerError):
        lists.keep(tmp_path / "file" / "lists", {"0" * 64: "[]"})


@pytest.mark.skipif(os.name != "posix", reason="rights of other systems are of other kinds")
@pytest.mark.parametrize(
    ("rights", "of_folder"), [(0o660, 0o770), (0o644, 0o755), (0o600, 0o700)]
)
def test_who_may_read_a_ledger_may_read_its_lists(tmp_path, rights, of_folder):
    """Whoever cannot pays again for what was answered."""
    ledger = tmp_path / "clinic.budget"
    dp.Budget(1.0, neighbours="add-remove", path=ledger)
    ledger.chmod(rights)
    before = os.umask(0o077)
    try:
        table = pl.DataFrame({"ward": ["ward 3"]})
        asked().release(table, budget=dp.Budget.open(ledger))
    finally:
        os.umask(before)
    folder = tmp_path / "clinic.budget.lists"

    assert stat.S_IMODE(folder.stat().st_mode) == of_folder
    assert {stat.S_IMODE(one.stat().st_mode) for one in folder.iterdir()} == {rights}


def asked(**fields):
    given = {"column": "ward", "k": 1, "candidates": LONG, "epsilon": 0.25, **fields}
    return dp.TopKeys(**given, neighbours="add-remove")


def test_a_ledger_keeps_the_question_whole(tmp_path):
    budget = dp.Budget(1.0, neighbours="add-remove", path=tmp_path / "budget")
    asked().release(pl.DataFrame({"ward": ["ward 3"] * 99}), budget=budget)
    [entry] = dp.Budget.open(budget.path).entries
    written = dict(entry.question["written"])

    assert budget.lists == tmp_path / "budget.lists"
    written["candidates"] = lists.whole(written["candidates"], budget.lists)
    assert dp.Query.from_dict(written) == asked()
    assert len(budget.path.read_bytes()) < 100_000
    assert [file.name for file in budget.lists.iterdir()] == [f"{digest_of(LONG)}.json"]


def test_what_is_refused_leaves_no_list(tmp_path):
    budget = dp.Budget(0.1, neighbours="add-remove", path=tmp_path / "budget")

    with pytest.raises(dp.errors.InsufficientBudgetError):
        asked().plan.reserve(budget)()
    assert not budget.lists.exists()


def test_a_budget_in_memory_keeps_lists_in_its_entries():
    budget = dp.Budget(1.0, neighbours="add-remove")
    asked().plan.reserve(budget)()

    assert budget.lists is None
    assert dp.Query.from_dict(budget.entries[0].question["written"]) == asked()
