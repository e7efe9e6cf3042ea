"""The page of a budget: what it calls each release, and that names of others are no HTML."""

import re

import polars as pl

import dpselect as dp
from dpselect.budget import words


def test_an_answer_is_the_table_that_was_printed_and_a_long_one_is_in_a_file(tmp_path):
    budget = dp.Budget(9.0, neighbours="add-remove", path=tmp_path / "a.budget")
    asked = {"p": 50, "candidates": range(5), "epsilon": 4.0, "neighbours": "add-remove"}
    rows = pl.DataFrame({"ward": ["a", "b"] * 500, "days": [1, 2] * 500})
    found = dp.Percentiles(column="days", by="ward", groups=["a", "b"], **asked)
    found = found.release(rows, budget=budget)
    keys = dp.TopKeys(k=300, candidates=range(300), epsilon=1.0, neighbours="add-remove")
    keys.release([1], budget=budget)
    budget.spend(0.5, neighbours="add-remove", mechanism="by hand")
    page = words.html(budget, name="a", whole={2: "all.csv"})

    assert budget.entries[0].shown == found.shown()
    assert {*words.long_tables(budget)} == {2}
    assert "<td>a</td><td>1</td>" in page.replace(' class="number"', "")
    assert "100 more rows are in all.csv" in page
    assert page.count("<tr>") < 250
    assert "none was kept" in page
    assert "0 to 299" in page
    assert page.count('<section class="release">') == 3
    assert not re.search(r"<script|https?:|src=|@import|url\(", page)


def test_names_of_others_are_no_html(tmp_path):
    name = "<b>Bob"
    terms = {"neighbours": "add-remove", "protects": "<b>who", "shares": {name: 1.0}}
    budget = dp.Budget(2.0, **terms, path=tmp_path / name).for_request(
        note=name, source=name, version=name, analyst=name, arguments={name: name}
    )
    top = dp.TopKeys(
        column=name, by="<b>by", groups=[name], k=1, candidates=[name, f"{name}2"], epsilon=0.5,
        neighbours="add-remove", user="<b>who", max_per_user=1, mechanism="permute-and-flip",
    )  # fmt: skip
    found = top.release(
        pl.DataFrame({name: [name], "<b>by": [name], "<b>who": [1]}), budget=budget
    )

    for page in (budget.to_html(), *(one._repr_html_() for one in (budget, found, found.plan))):
        assert "<b>Bob" not in page
        assert "<b>by" not in page
        assert "<b>who" not in page
