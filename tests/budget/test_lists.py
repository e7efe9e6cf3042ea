"""Long lists of questions and answers: once in the ledger, by their hash."""

from __future__ import annotations

import copy
import hashlib
import json
import sqlite3

import polars as pl
import pytest

import dpselect as dp
from dpselect.budget import lists
from dpselect.errors import ParameterError

LONG = [f"ward {n}" for n in range(1000)]
WARD = pl.DataFrame({"ward": ["ward 3"] * 99})


def digest_of(value):
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()


def test_a_short_list_stays_and_a_long_one_is_its_ends_and_its_hash():
    found = {}
    question = {"k": 3, "candidates": LONG, "few": LONG[:5], "domains": {"ward": LONG[::-1]}}

    made = lists.folded(question, found)

    assert made["candidates"] == {
        "count": 1000,
        "first": "ward 0",
        "last": "ward 999",
        "sha256": digest_of(LONG),
    }
    assert (made["k"], made["few"]) == (3, LONG[:5])
    assert made["domains"]["ward"]["first"] == "ward 999"
    assert {digest: json.loads(text) for digest, text in found.items()} == {
        digest_of(LONG): LONG,
        digest_of(LONG[::-1]): LONG[::-1],
    }
    assert lists.unfolded(made, found.get) == question
    assert lists.is_whole(question)
    assert not lists.is_whole(made)
    # One that is not there, or another, stays as it is.
    for other in ({}, {digest_of(LONG): "[1]"}):
        assert lists.unfolded(made, other.get)["candidates"] == made["candidates"]


def test_the_longest_list_that_stays_has_exactly_so_many_characters():
    stays = ["x" * (lists.LONGEST - len('[""]'))]

    assert lists.folded(stays, {}) == stays
    assert lists.is_folded(lists.folded([stays[0] + "x"], {}))
    assert lists.folded([stays[0] + "x"], {}, most=1) == [stays[0] + "x"]


def asked(**fields):
    given = {"column": "ward", "k": 1, "candidates": LONG, "epsilon": 0.25, **fields}
    return dp.TopKeys(**given, neighbours="add-remove")


@pytest.fixture
def budget(tmp_path):
    return dp.Budget(1.0, neighbours="add-remove", path=tmp_path / "budget")


def stored(budget):
    with sqlite3.connect(budget.path) as connection:
        return dict(connection.execute("SELECT sha256, json FROM lists").fetchall())


def test_a_ledger_keeps_the_question_whole_and_a_list_once(budget):
    for _ in range(2):
        asked().release(WARD, budget=budget)
    first, second = dp.Budget.open(budget.path).entries

    for entry in (first, second, copy.deepcopy(first)):
        assert dp.Query.from_dict(entry.question["written"]) == asked()
    assert {digest: json.loads(text) for digest, text in stored(budget).items()} == {
        digest_of(LONG): LONG
    }
    assert [one.name for one in budget.path.parent.iterdir()] == ["budget"]


def test_a_list_cannot_be_changed(budget):
    asked().release(WARD, budget=budget)
    with sqlite3.connect(budget.path) as connection:
        for change in ("UPDATE lists SET json = '[]'", "DELETE FROM lists"):
            with pytest.raises(sqlite3.IntegrityError, match="only grows"):
                connection.execute(change)
        connection.execute("INSERT OR REPLACE INTO lists VALUES (?, '[]')", (digest_of(LONG),))
    assert json.loads(stored(budget)[digest_of(LONG)]) == LONG


def test_what_is_refused_leaves_no_list(tmp_path):
    budget = dp.Budget(0.1, neighbours="add-remove", path=tmp_path / "budget")

    with pytest.raises(dp.errors.InsufficientBudgetError):
        asked().plan.reserve(budget)()
    assert stored(budget) == {}


def test_a_budget_in_memory_keeps_lists_in_its_entries():
    budget = dp.Budget(1.0, neighbours="add-remove")
    asked().plan.reserve(budget)()

    assert dp.Query.from_dict(budget.entries[0].question["written"]) == asked()


@pytest.mark.parametrize("sha256", ["../../secret", "3", digest_of([1])])
def test_a_mapping_of_ones_own_is_no_list_of_the_ledger(budget, sha256):
    """Its names are those by which a list is found again; no file elsewhere is read."""
    tree = {"count": "a", "first": "a", "last": "b", "sha256": "b"}
    question = {"query": "mine", "written": {"tree": {**tree, "sha256": sha256}}}
    spend = {"epsilon": 0.1, "neighbours": "add-remove", "question": question}
    budget.spend_all([spend])

    [entry] = dp.Budget.open(budget.path).entries
    assert entry.question["written"]["tree"]["sha256"] == sha256


def test_a_note_does_not_fill_the_disk(budget):
    for name in ("note", "source", "version", "analyst"):
        with pytest.raises(ParameterError, match=name):
            budget.for_request(**{name: "x" * 10_001})
