"""Ledgers on the command line: files that are known again, and pages to sign."""

import re

import pytest

import dpselect as dp

TOP = (
    "top", "stays.csv", "--k", 1, "--epsilon", 0.5, "--neighbours", "add-remove", "--column",
    "kind", "--json", "--candidates",
)  # fmt: skip


LISTED = (
    "max_per_user = 1", "kind 0, kind 1, kind 2", "kind 498, kind 499", "none was kept",
    "3000 values from kind 0 to kind 2999",
)  # fmt: skip


@pytest.mark.usefixtures("stays")
def test_a_page_holds_all_that_is_signed_for_and_no_address(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    terms = {"neighbours": "add-remove", "protects": "name", "shares": {"Ann": 1.0}}
    period = dp.budget.Period("year", "each-period")
    dp.Budget(3.0, **terms, period=period, path="clinic.budget").spend(
        0.5, neighbours="add-remove", user="name", mechanism="by hand"
    )
    page = tmp_path / "report.html"
    for number in (500, 3000):
        kinds = tmp_path / f"{number}.txt"
        kinds.write_text("\n".join(f"kind {n}" for n in range(number)), encoding="utf-8")
        persons = ("--user", "name", "--max-per-user", 1, "--analyst", "Ann")
        assert run(*TOP, kinds, *persons, "--ledger", "clinic.budget").code == 0
    run("report", "clinic.budget", "--out", page)
    text = page.read_text(encoding="utf-8")

    assert [one for one in LISTED if one not in text] == []
    assert text.count('<section class="release">') == 3
    assert not re.search(r"<script|https?:|src=|@import|url\(", text)
