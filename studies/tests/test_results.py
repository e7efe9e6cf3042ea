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


def test_the_page_shows_what_is_stored():
    assert (DOCS / "results.md").read_text(encoding="utf-8") == page(DOCS / "results")


def test_numbers_agree_within_their_tolerance_and_absent_rows_are_left_out():
    study = studies.load("farias-2024/figure-3")
    first, second = study.printed
    near = {**first.where, first.column: first.value + 0.9 * first.tolerance}

    agreeing = studies.compare(study, pl.DataFrame([near]))
    off = studies.compare(
        study, pl.DataFrame([{**near, first.column: first.value - 1.1 * first.tolerance}])
    )

    assert agreeing["agrees"].to_list() == [True]
    assert off["agrees"].to_list() == [False]
    assert second.where["graph"] not in agreeing["where"][0]
