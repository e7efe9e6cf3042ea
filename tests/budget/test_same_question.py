"""The same question of the same source, answered by the ledger."""

import json
from dataclasses import replace
from functools import partial

import polars as pl
import pytest

import dpselect as dp
from dpselect.tables import Source

AR = "add-remove"
WARDS = dp.TopKeys(column="ward", k=1, candidates=["heart", "lung"], epsilon=0.5, neighbours=AR)
DATA = pl.DataFrame({"ward": ["heart", "lung"] * 9, "who": range(18)})


@pytest.fixture
def budget(make):
    return make()


def test_it_is_answered_once_more_for_nothing_without_reading_data(budget):
    board = budget.for_request(source="stays.csv", version="May")
    first = WARDS.release(DATA, budget=board)

    # From another process, by another analyst, with data that cannot be read.
    again = budget if budget.path is None else dp.Budget.open(budget.path)
    other = again.for_request(source="stays.csv", version="May", analyst="Bob", note="more")
    second = WARDS.release("no.parquet", budget=other)

    assert (first.repeated, second.repeated) == (False, True)
    assert replace(second, repeated=False, answered=None) == first
    assert (second.entry, second.to_dict()["repeated"]) == (1, True)
    assert f"entry 1, which answered {second.answered}: nothing was spent" in str(second)
    assert (
        second.answered == f"at {budget.entries[0].time[:16]} UTC, of version May of the data"
    )
    assert (len(budget.entries), budget.remaining) == (1, 0.5)


OF_REQUEST = [{"source": "other.csv"}, {"version": "June"}, {"user": "who"}, {"again": True}]
OF_REQUEST += [{"arguments": {"where": ["year = 2024"]}}, {"source": ""}]
OF_QUERY = [{"epsilon": 0.25}, {"k": 2}, {"candidates": ["heart", "lung", "eye"]}]
OF_QUERY += [{"user": "who", "max_per_user": 1}]


@pytest.mark.parametrize(
    ("request_", "fields"),
    [*((one, {}) for one in OF_REQUEST), *(({}, one) for one in OF_QUERY)],
    ids=str,
)
def test_another_source_question_or_the_wish_draws_anew_and_pays(request_, fields):
    budget = dp.Budget(1.0, neighbours=AR, protects=dp.budget.Persons("who", 1))
    asked = {"source": "stays.csv", "version": "May"}
    WARDS.release(DATA, budget=budget.for_request(**asked))
    other = budget.for_request(**{**asked, **request_})

    assert not replace(WARDS, **fields).release(DATA, budget=other).repeated
    assert len(budget.entries) == 2


def test_other_rows_of_a_source_are_another_question(budget):
    board, top = budget.for_request(source="stays.csv"), WARDS
    rows = [Source(frame=DATA, where=[where]) for where in ("who < 9", "who >= 9")]
    found = [top.release(data, budget=board).repeated for data in (*rows, rows[0])]

    assert found == [False, False, True]
    stated = [entry.question["arguments"]["where"] for entry in budget.entries]
    assert stated == [["who < 9"], ["who >= 9"]]


def test_the_last_answer_is_given_after_a_new_one_was_drawn(budget):
    board = budget.for_request(source="stays.csv")
    WARDS.release(DATA, budget=board)
    second = WARDS.release(DATA, budget=budget.for_request(source="stays.csv", again=True))

    assert WARDS.release(DATA, budget=board).entry == second.entry == 2


def test_a_spend_without_an_answer_answers_nothing(budget):
    board = budget.for_request(source="stays.csv")
    WARDS.plan.reserve(board)()

    assert WARDS.plan.answered(board) is None
    assert not WARDS.release(DATA, budget=board).repeated


def test_a_function_is_no_question_that_a_ledger_knows():
    shifted = partial(dp.ShiftedLocalDampening, direction="non-increasing")
    query = dp.PercentileRecord(column="days", p=50, upper=8, mechanism=shifted, epsilon=0.2)
    custom = replace(query, mechanism=lambda epsilon: dp.PermuteAndFlip(epsilon=epsilon))

    assert query.is_repeatable
    assert not custom.is_repeatable
    assert not replace(query, column=None).is_repeatable


def test_a_run_draws_only_what_was_not_answered(budget):
    board = budget.for_request(source="stays.csv")
    first = WARDS.release(DATA, budget=board)
    other = replace(WARDS, k=2, epsilon=0.25)

    twice = dp.run([WARDS, other, WARDS], DATA, budget=board)

    assert [one.repeated for one in twice] == [True, False, True]
    assert [one.entry for one in twice] == [1, 2, 1]
    assert twice[0].answer == first.answer
    assert budget.remaining == 0.25


def test_what_the_ledger_knows_of_a_question_tells_nothing_of_the_data(tmp_path):
    """The key is of public words alone: of two data sets it is the same."""
    keys = set()
    for name, data in (("one", DATA), ("two", DATA.head(3))):
        budget = dp.Budget(1.0, neighbours=AR, path=tmp_path / name)
        WARDS.release(data, budget=budget.for_request(source="stays.csv", version="May"))
        keys.add(budget.entries[0].key)

    assert len(keys) == 1
    assert len(keys.pop()) == 64
    assert "release" not in json.loads(budget.to_json())["entries"][0]
