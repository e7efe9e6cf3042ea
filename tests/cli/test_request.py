"""``dpselect run`` and ``schema``."""

import hashlib
import json
import re

import polars as pl
import pytest

import dpselect as dp


@pytest.fixture
def ledger(clinic):
    """The folder, with the ledger of its policy."""
    dp.Policy.read(clinic / "policy.toml").budget()
    return clinic


def test_a_check_reads_neither_data_nor_a_ledger(run, clinic):
    (clinic / "stays.parquet").unlink()
    ran = run("run", clinic / "hospital.toml", "--check")

    assert ran.code == 0, ran.error
    assert "epsilon 100 (add-remove neighbours)" in ran.out
    assert "one patient with all rows" in ran.out


def test_a_dry_run_says_what_would_remain_and_spends_nothing(run, ledger):
    ran = run("run", ledger / "hospital.toml", "--dry-run")
    as_json = run("run", ledger / "hospital.toml", "--dry-run", "--json").json

    assert ran.code == 0, ran.error
    assert "error: at most" in ran.out
    assert "would remain  200" in ran.out
    assert (as_json["epsilon"], as_json["remaining_budget"]) == (100.0, 200.0)
    assert list(as_json["queries"]) == ["median", "TopKeys"]
    assert dp.Budget.open(ledger / "clinic.budget").entries == ()


def test_answers_are_written_with_a_report_that_begins_with_the_file(run, ledger):
    text, out = (ledger / "hospital.toml").read_text(encoding="utf-8"), ledger / "answers"
    digest = hashlib.sha256(text.encode()).hexdigest()

    ran = run("run", ledger / "hospital.toml", "--out", out)

    assert ran.code == 0, ran.error
    assert "remaining budget  200" in ran.out
    assert pl.read_parquet(out / "median.parquet")["days"].to_list() == [7.0]
    assert (out / "TopKeys.csv").read_text(encoding="utf-8") == "ward\nheart\n"
    written = json.loads((out / "answers.json").read_text(encoding="utf-8"))
    assert written["sha256"] == digest
    assert written["answers"]["TopKeys"]["answer"] == ["heart"]
    first, _, rest = (out / "report.html").read_text(encoding="utf-8").partition("</section>")
    assert digest in first
    assert "p = 50" in first
    assert "Privacy report: clinic.budget" in rest


def test_a_run_without_a_ledger_is_printed(run, ledger):
    text = (ledger / "hospital.toml").read_text(encoding="utf-8")
    policy = (ledger / "policy.toml").read_text(encoding="utf-8")
    # A sum for each person needs a ledger that keeps it.
    free = re.sub(r"\[person\][^\[]*", "", policy.replace('ledger = "clinic.budget"\n', ""))
    (ledger / "free.toml").write_text(free, "utf-8")
    (ledger / "hospital.toml").write_text(text.replace("policy.toml", "free.toml"), "utf-8")

    shown = run("run", ledger / "hospital.toml").out
    ran = run("run", ledger / "hospital.toml", "--json").json

    assert "heart" in shown
    assert "remaining" not in shown
    assert ran["answers"]["median"]["answer"] == [7.0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--check", "--dry-run"), "--check or --dry-run"),
        (("--out", "."), "has files: give a new folder"),
        (("--out", "hospital.toml"), "cannot make the folder"),
        (("--policy", "absent.toml"), "policy is another one"),
    ],
)
def test_what_is_wrong_is_one_line_before_anything_is_spent(
    run, ledger, monkeypatch, options, message
):
    monkeypatch.chdir(ledger)
    ran = run("run", "hospital.toml", *options)

    assert (ran.code, ran.out) == (2, "")
    assert message in ran.error
    assert ran.error.count("\n") == 1
    assert dp.Budget.open("clinic.budget").entries == ()


def test_a_policy_is_named_by_an_option(run, ledger):
    (ledger / "short.toml").write_text(
        '[[queries]]\nquery = "TopKeys"\ncolumn = "ward"\nk = 1\nepsilon = 51.0\n', "utf-8"
    )
    ran = run("run", ledger / "short.toml", "--policy", ledger / "policy.toml", "--check")

    assert ran.code == 2
    assert "short.toml:5: epsilon 51 is more than 50 (policy [release] epsilon" in ran.error


def test_the_schema_is_json(run):
    assert run("schema").json == dp.requests.schema()
