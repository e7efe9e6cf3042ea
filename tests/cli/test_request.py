"""``dpselect run`` and ``schema``."""

import hashlib
import json

import polars as pl
import pytest

import dpselect as dp


@pytest.fixture
def ledger(clinic):
    """The folder, with the ledger of its policy."""
    dp.Policy.read(clinic / "policy.toml").budget()
    return clinic


def within(folder):
    """Return the option by which whoever runs a request limits it."""
    return "--policy", folder / "policy.toml"


def test_answers_are_written_with_a_report_that_begins_with_the_file(run, ledger):
    text, out = (ledger / "hospital.toml").read_text(encoding="utf-8"), ledger / "answers"
    digest = hashlib.sha256(text.encode()).hexdigest()

    ran = run("run", ledger / "hospital.toml", *within(ledger), "--out", out)

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


def test_a_contradiction_is_told_to_the_curator_alone(run, ledger):
    claims = "\n[claims]\non_invalid = 'raise'\n"
    policy = (ledger / "policy.toml").read_text("utf-8") + claims
    (ledger / "policy.toml").write_text(policy, "utf-8")
    odd = pl.read_parquet(ledger / "stays.parquet").with_columns(days=None)
    odd.with_columns(pl.col("days").cast(pl.Float64)).write_parquet(ledger / "stays.parquet")
    before = run("budget", ledger / "clinic.budget").out

    ran = [run("run", ledger / "hospital.toml", *within(ledger)) for _ in range(2)]
    after = run("budget", ledger / "clinic.budget").out

    assert [(one.code, one.out) for one in ran] == [(2, "")] * 2
    assert ran[0].error == ran[1].error
    assert "the data contradict a claim of the policy" in ran[0].error
    assert "beware" not in before
    assert "clinic.budget.contradicted" in "".join(after.split())


def test_a_terminal_and_a_spreadsheet_get_no_orders(run, tmp_path, monkeypatch):
    """Neither from values of a table, nor from a candidate of a request or its mistakes."""
    monkeypatch.chdir(tmp_path)
    orders = ["=cmd|' /C calc'!A0", "\x1b]0;title\x07\x1b[2J", "a\u202eb"]
    pl.DataFrame({"key": [one for one in orders for _ in range(99)]}).write_parquet("t.parquet")
    query = {"query": "TopKeys", "name": "top", "column": "key", "k": 3}
    query |= {"candidates": orders, "epsilon": 9.0}
    lines = ["[data]", 'path = "t.parquet"', "[unit]", 'neighbours = "add-remove"']
    lines += ["[[queries]]", *(f"{name} = {json.dumps(one)}" for name, one in query.items())]
    (tmp_path / "asked.toml").write_text("\n".join(lines), "utf-8")
    price = ("--epsilon", 9, "--delta", 1e-6, "--neighbours", "add-remove")

    ran = [
        run("run", "asked.toml", "--no-policy", "--out", "answers"),
        run("run", "asked.toml", "--dry-run"),
        run("keys", "t.parquet", "--column", "key", *price),
        run("keys", "t.parquet", "--column", "key", *price, "--out", "keys.csv"),
        run("keys", "t.parquet", "--column", "\x1b[2J\u202e", *price),
    ]

    assert [one.code for one in ran] == [0, 0, 0, 0, 2]
    for one in ran:
        assert not {"\x1b", "\x07", "\u202e"} & set(one.out + one.error)
    assert r"\x1b[2J\u202e" in ran[4].error
    for table in ("answers/top.csv", "keys.csv"):
        text = (tmp_path / table).read_text("utf-8")
        assert not {"\x1b", "\x07", "\u202e"} & set(text)
        assert "\n'=cmd" in text
    whole = pl.read_parquet(tmp_path / "answers" / "top.parquet")
    assert sorted(whole["key"]) == sorted(orders)


def test_the_schema_is_json(run):
    assert run("schema").json == dp.requests.schema()
