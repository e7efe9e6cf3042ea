"""The command that releases running counts again after every period."""

import polars as pl
import pytest

ASKED = ("--column", "code", "--candidates", "a,b,c", "--period", "month", "--periods", "1,2,3")
PRICE = ("--k", 2, "--epsilon", 50, "--neighbours", "add-remove")


@pytest.fixture
def visits(tmp_path):
    path = tmp_path / "visits.csv"
    rows = [(p % 50, 1 + p % 3, "aabac"[p % 5]) for p in range(150)]
    pl.DataFrame(rows, schema=["person", "month", "code"], orient="row").write_csv(path)
    return path


def test_all_periods_are_released_at_once(run, visits):
    ran = run("series", visits, *ASKED, *PRICE, "--json")

    assert ran.code == 0
    assert ran.json["answer"] == ["a", "b"]
    assert ran.json["noisy_scores"] == pytest.approx([90, 30], abs=2)


def test_periods_are_released_one_by_one_for_one_price(run, visits, tmp_path):
    ledger, file = tmp_path / "ledger", tmp_path / "codes.series"
    totals = ("--epsilon", 50, "--neighbours", "add-remove")
    run("budget", ledger, "--create", *totals)
    rest = (*ASKED, *PRICE, "--file", file, "--ledger", ledger, "--json")
    made = [run("series", visits, *rest, "--through", month) for month in (1, 2, 2, 3)]

    assert [one.code for one in made] == [0] * 4
    assert [len(one.json["sums"]) for one in made] == [1, 2, 2, 3]
    assert made[1].json["sums"] == made[2].json["sums"]
    assert made[3].json["remaining_budget"] == 0.0
    assert "3 of 3 periods" in made[3].json["kept in"]


def test_a_release_and_a_dry_run_are_read_by_people(run, visits, tmp_path):
    file = tmp_path / "codes.series"
    rest = (*ASKED, *PRICE, "--through", 2, "--file", file)
    dry = run("series", visits, *rest, "--dry-run")
    exists = file.exists()
    ran = run("series", visits, *rest)

    assert dry.code == ran.code == 0
    assert not exists
    assert "standard error" in dry.out
    assert "2 of 3 periods" in " ".join(ran.out.split())
    assert "month  code  people, noisy  standard error" in ran.out
