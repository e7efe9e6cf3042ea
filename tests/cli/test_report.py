"""What a ledger shows: a table in a terminal, and a page to sign."""

import re

import polars as pl
import pytest

import dpselect as dp

NOTE = "application <7> & more"


@pytest.fixture
def ledger(run, stays, tmp_path):
    """A ledger with a percentile of a file, and a spend without an answer."""
    path = tmp_path / "clinic.budget"
    budget = dp.Budget(3.0, neighbours="add-remove", path=path)
    ran = run(
        "percentile", stays, "--column", "days", "--p", 50, "--upper", 20, "--step", 1,
        "--neighbours", "add-remove", "--epsilon", 1, "--ledger", path, "--note", NOTE,
        "--analyst", "Ann", "--json",
    )  # fmt: skip
    assert ran.json["recorded"] == f"{path}#1"
    assert ran.json["source"] == str(stays)
    budget.spend(0.5, neighbours="add-remove", mechanism="by hand")
    return path


def test_the_table_fits_80_columns_and_holds_question_answer_and_price(run, ledger):
    out = run("budget", ledger, columns=80).out
    cells = " ".join(re.findall(r"[^\s│]+", out))

    assert max(map(len, out.splitlines())) <= 80
    assert "column = days, p = 50" in cells
    for word in (NOTE, "Ann", "none was kept", "20.1"):
        assert word in cells


SIGNED = (
    "application &lt;7&gt; &amp; more", "the candidates; p", "left</dt><dd>epsilon 1.5",
    "whether one row is in the data at all (add-remove)", "none was kept",
    "epsilon 1, for one row: odds change by a factor of at most 2.72",
    "odds of two of its values change by a factor of at most <b>403</b>",
    "from 10% to at most 69.1%",
)  # fmt: skip


def test_the_page_holds_all_that_is_signed_for_and_no_address(run, ledger, tmp_path):
    page = tmp_path / "report.html"
    ran = run("report", ledger, "--out", page)
    text = page.read_text(encoding="utf-8")
    [first, _] = dp.Budget.open(ledger).entries
    answer = f"{first.answer['answer'][0]:g}"

    assert ran.code == 0
    assert text.count('<section class="release">') == 2
    assert [one for one in SIGNED if one not in text] == []
    assert f'<span class="answer">{answer}</span>' in text
    assert not re.search(r"<script|https?:|src=|@import|url\(", text)


def test_a_report_names_the_person_whose_rows_are_limited(run, tmp_path):
    ledger, page = tmp_path / "budget", tmp_path / "report.html"
    budget = dp.Budget(1.0, neighbours="add-remove", protects="who", path=ledger)
    query = dp.Percentiles(
        column="days", user="who", max_per_user=1, p=50, candidates=range(5), epsilon=1.0,
        neighbours="add-remove",
    )  # fmt: skip
    query.release(pl.DataFrame({"days": [1, 2, 3], "who": [1, 1, 2]}), budget=budget)

    assert run("report", ledger, "--out", page).code == 0
    assert "whether one who with all rows is in the data at all" in page.read_text(
        encoding="utf-8"
    )


def test_a_release_without_a_ledger_says_that_nothing_was_recorded(run, stays):
    ask = ("percentile", stays, "--column", "days", "--p", 50, "--upper", 20, "--step", 1,
           "--neighbours", "add-remove", "--epsilon", 1)  # fmt: skip

    assert "not recorded: pass --ledger" in run(*ask).out
    assert run(*ask, "--json").json["recorded"] is None


def test_a_report_into_no_folder_is_refused(run, ledger, tmp_path):
    assert "cannot write" in run("report", ledger, "--out", tmp_path / "no" / "a.html").error


def test_an_entry_of_the_registry_of_deployments(run, ledger, tmp_path):
    out = tmp_path / "clinic_stays.yaml"
    ran = run("report", ledger, "--registry", "--out", out)

    assert ran.code == 0, ran.error
    assert 'url_slug: "clinic_stays"' in out.read_text(encoding="utf-8")
    assert (
        "--policy goes with --registry"
        in run("report", ledger, "--policy", out, "--out", out).error
    )
