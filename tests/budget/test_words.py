"""Budgets, questions and answers in words."""

from dataclasses import replace

import pytest

import dpselect as dp
from dpselect.budget import Budget, words
from dpselect.budget.entry import priced


@pytest.mark.parametrize(
    ("query", "title"),
    [
        ("TopKeys", "top keys of w"),
        ("ID3Tree", "ID3 tree of w"),
        ("PercentileRecord", "percentile record of w"),
        ("BestOf", "best of of w"),
    ],
)
def test_a_release_is_named_in_words(query, title):
    asked = {"column": "w", "p": [50, 90.0], "user": None, "where": ["year = 2024"]}
    entry = replace(priced(1, 0, None), question={"query": query, "arguments": asked})

    assert words.title(entry) == title
    assert [*words.asked(entry)] == ["column = w", "p = 50, 90"]
    assert words.title(replace(priced(1, 0, None), mechanism="by hand")) == "by hand"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.1 + 0.2, "0.3"),
        (float("-inf"), "-inf"),
        (["a", [1, 2.0]], "a, (1, 2)"),
        ({"name": "shifted", "bound": 3}, "shifted (bound: 3)"),
        ({"a": 1, "b": "x"}, "a: 1, b: x"),
        (range(10), "0 to 9"),
        (range(0, 10, 5), "0 to 5 in steps of 5"),
        (range(0), "none"),
    ],
)
def test_a_value_is_written_as_a_person_would(value, text):
    assert words.value_text(value) == text


@pytest.mark.parametrize("path", [None, "budget"])
def test_a_long_question_is_kept_whole_and_shown_by_its_ends(tmp_path, path):
    budget = Budget(1.0, neighbours="add-remove", path=path and tmp_path / path)
    wards = [f"ward {n}" for n in range(1001)]
    top = dp.TopKeys(column="w", k=1, candidates=wards, epsilon=0.5, neighbours="add-remove")
    top.plan.reserve(budget)()
    [entry] = budget.entries

    assert dp.Query.from_dict(entry.question["written"]) == top
    assert wards[1] in words.value_text(wards[1:])
    assert any("1001 values from ward 0" in line for line in words.asked(entry))
