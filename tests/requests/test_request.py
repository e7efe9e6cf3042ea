"""Requests: what a file says, what it leaves out, and errors that name its lines."""

from datetime import timedelta
from pathlib import Path

import duckdb
import polars as pl
import pytest

import dpselect as dp
from dpselect.errors import DataError, LedgerError, ParameterError

AR = {"neighbours": "add-remove"}
WARDS = ["heart", "lung", "skin"]
TOP = {"query": "TopKeys", "column": "ward", "k": 1, "candidates": WARDS, "epsilon": 0.5}
MEDIAN = {"query": "Percentiles", "column": "days", "p": 50, "upper": 60, "step": 1}
MEDIAN |= {"epsilon": 1.0}
OF_DAYS = {"lower": "0d", "upper": "30d", "step": "12h"}


def asked(*queries, unit=AR, **data):
    return {"data": {"path": "stays.parquet", **data}, "unit": unit, "queries": [*queries]}


def test_a_file_says_what_python_says(clinic):
    request = dp.Request.read(clinic / "hospital.toml")
    unit = {"user": "patient", **AR}

    assert dict(request.queries) == {
        "median": dp.Percentiles(
            column="days", p=50, lower=0, upper=60, step=1, max_per_user=5, epsilon=50.0, **unit
        ),
        "TopKeys": dp.TopKeys(
            column="ward", k=1, candidates=WARDS, max_per_user=2, epsilon=50.0, **unit
        ),
    }
    assert Path(request.source.path).samefile(clinic / "stays.parquet")
    assert request.source.where == ("year >= 2024", "year = 2025")
    assert (request.plan.epsilon, request.plan.user) == (100.0, "patient")


def test_a_run_is_right_and_recorded(clinic):
    dp.Policy.read(clinic / "policy.toml").budget()
    request = dp.Request.read(clinic / "hospital.toml")

    request.check()
    found = request.release()

    assert (found["median"].answer, found["TopKeys"].answer) == ((7.0,), ("heart",))
    ledger = dp.Budget.open(clinic / "clinic.budget")
    assert [entry.epsilon for entry in ledger.entries] == [50.0, 50.0]
    assert ledger.entries[0].note == f"hospital.toml, SHA-256 {request.sha256}"
    assert ledger.entries[0].question["arguments"]["where"] == ["year >= 2024", "year = 2025"]


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_a_table_of_another_folder_is_not_answered_by_the_first(engine, tmp_path, monkeypatch):
    """Nor is one of the same folder that is read from elsewhere drawn anew."""
    ledger, repeated = tmp_path / "clinic.budget", []
    dp.Budget(99.0, path=ledger, **AR)
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        frame = pl.DataFrame({"ward": ["heart" if name == "one" else "lung"] * 60})
        frame.write_parquet(tmp_path / name / "stays.parquet")
        with duckdb.connect(str(tmp_path / name / "stays.duckdb")) as connection:
            connection.execute("create table stays as select * from frame")
    query = {**TOP, "epsilon": 20.0}
    path = "stays.duckdb::stays" if engine == "duckdb" else "stays.parquet"
    for folder, where in (("one", path), ("two", path), ("", f"two/{path}")):
        monkeypatch.chdir(tmp_path / folder)
        tables = {"ledger": str(ledger), **asked(query, path=where, engine=engine)}
        [found] = dp.Request.from_dict(tables).release().values()
        repeated.append((found.candidate, found.repeated))

    assert repeated == [("heart", False), ("lung", False), ("lung", True)]


@pytest.mark.parametrize("engine", ["memory", "polars"])
@pytest.mark.parametrize("values", [OF_DAYS, {"candidates": ["1d", "5d", "216h"]}])
def test_a_text_file_is_read_as_it_is_declared(tmp_path, engine, values):
    path = tmp_path / "stays.csv"
    path.write_text("in;out;cost\n" + "2024-01-30;2024-02-04;2,5\n" * 300, encoding="utf-8")
    stays = {"query": "Percentiles", "column": "out", "minus": "in", "p": 50, "epsilon": 9.0}
    stays |= values
    costs = {"query": "Percentiles", "column": "cost", "p": 50, "upper": 9, "step": 0.5}
    data = {"separator": ";", "decimal": ",", "column_type": {"in": "date", "out": "date"}}
    tables = asked(stays, {**costs, "epsilon": 9.0}, path=str(path), engine=engine, **data)

    found = dp.Request.from_dict(tables).release().values()

    assert [one.candidate for one in found] == [timedelta(days=5), 2.5]


def test_without_a_ledger_the_budget_is_the_price(clinic):
    request = dp.Request.from_dict(asked(MEDIAN, TOP, path=str(clinic / "stays.parquet")))
    budget = request.budget()
    request.release(budget=budget)

    assert (budget.epsilon, budget.remaining, budget.path) == (1.5, 0.0, None)


@pytest.mark.parametrize(
    ("old", "new", "line", "said"),
    [
        ("[data]", "path = 'a'\n[data]", "3:", "the file has no key 'path'; it belongs in"),
        ("[data]", "[data]\nnote = 'a'", "4:", "[data] has no key 'note'; it belongs in"),
        ("k = 1", "k = 1\nwhere = ['a = 1']", "17:", "where is no field of a TopKeys"),
        ("year = 2025", "year ~ 2025", "4:", "where must be such as"),
        ("epsilon = 50.0", "epsilon = -1.0", "11:", "epsilon must be finite and > 0"),
        ('"median"', '"a/b"', "8:", "a name has at most 60 letters"),
        ("k = 1", "k =", "16:", "Invalid value"),
        ("k = 1", "k = 1\nk = 2", "17:", "Cannot overwrite a value: this key is given twice"),
    ],
)
def test_an_error_is_one_line_with_that_of_its_key(clinic, old, new, line, said):
    text = (clinic / "hospital.toml").read_text(encoding="utf-8")
    (clinic / "wrong.toml").write_text(text.replace(old, new, 1), encoding="utf-8")

    with pytest.raises(ParameterError) as raised:
        dp.Request.read(clinic / "wrong.toml")

    assert str(raised.value).startswith(f"{clinic / 'wrong.toml'}:{line} {said}")
    assert "\n" not in str(raised.value)


def test_answers_without_a_name_are_numbered():
    """Names differ by more than case."""
    named = [{**TOP, "name": one} for one in ("topkeys", "TopKeys-4")]
    request = dp.Request.from_dict(asked(named[0], TOP, TOP, named[1], TOP))

    assert [*request.queries] == ["topkeys", "TopKeys-2", "TopKeys-3", "TopKeys-4", "TopKeys-5"]


def test_a_table_that_is_not_there_has_the_line_of_the_data(clinic):
    request = dp.Request.read(clinic / "hospital.toml")
    with pytest.raises(LedgerError):
        request.release()

    (clinic / "stays.parquet").unlink()
    with pytest.raises(DataError, match=r"hospital\.toml:[0-9]+:"):
        request.check()
