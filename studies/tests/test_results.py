"""The stored full runs, the page that shows them, and the comparison with the papers."""

from pathlib import Path

import polars as pl
import pytest

import dpselect_studies as studies
from dpselect_studies.report import page

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize("name", studies.STUDIES)
def test_a_full_run_is_stored_and_has_every_row_that_is_printed(name):
    study = studies.load(name)
    stored = pl.read_parquet(DOCS / "results" / f"{name}.parquet")

    beside = studies.compare(study, stored)

    assert beside.height == len(study.printed)
    assert beside["ours"].is_finite().all()
    assert (beside["agrees"] | (beside["why"] != "")).all()


def test_the_page_shows_what_is_stored():
    assert (DOCS / "results.md").read_text(encoding="utf-8") == page(DOCS / "results")


def test_numbers_agree_within_their_tolerance_and_absent_rows_are_left_out():
    study = studies.load("farias-2024/figure-3")
    first, second, *_ = study.printed
    near = {**first.where, first.column: first.value + 0.9 * first.tolerance}

    agreeing = studies.compare(study, pl.DataFrame([near]))
    off = studies.compare(
        study, pl.DataFrame([{**near, first.column: first.value - 1.1 * first.tolerance}])
    )

    assert agreeing["agrees"].to_list() == [True]
    assert off["agrees"].to_list() == [False]
    assert second.where["graph"] not in agreeing["where"][0]


def test_an_upper_bound_agrees_with_all_that_is_below_it():
    bound = studies.Printed({}, "x", 0.5, 0.0, "a theorem", at_most=True)

    assert [bound.agrees(value) for value in (0.1, 0.5, 0.6)] == [True, True, False]


def test_the_list_counts_what_is_printed_and_what_agrees():
    rows = {row["name"]: row for row in studies.listed(DOCS / "results")}
    nothing = studies.listed(DOCS)

    assert list(rows) == list(studies.STUDIES)
    assert rows["farias-2023/examples"] | {"title": ""} == {
        "name": "farias-2023/examples", "title": "", "printed": 29, "compared": 29, "agree": 22
    }  # fmt: skip
    assert rows["farias-2024/table-1"]["printed"] == 42
    assert rows["farias-2024/table-2"]["printed"] == 48
    assert all(row["compared"] == 0 for row in nothing)
