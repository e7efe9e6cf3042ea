"""``--column-type``: what columns of text files are declared to hold."""

import polars as pl
import pytest

ADMITTED, LEFT = ["2024-01-31"] * 200, ["2024-02-05"] * 200
QUESTION = ("--p", 50, "--epsilon", 3, "--neighbours", "add-remove")
DAYS = ("--column", "days", "--upper", 60, "--step", 1, *QUESTION)
STAYS = ("--column", "left", "--minus", "admitted", "--upper", "60d", "--step", "1d", *QUESTION)
DATES = ("--column-type", "left=date", "--column-type", "admitted=date")


@pytest.fixture
def path(tmp_path):
    file = tmp_path / "stays.csv"
    pl.DataFrame({"days": [40] * 200, "admitted": ADMITTED, "left": LEFT}).write_csv(file)
    return file


@pytest.mark.parametrize("text", ["days", "days=day", "=date", "days:date"])
def test_a_type_that_cannot_be_read_is_an_error(run, path, text):
    ran = run("percentile", path, *DAYS, "--column-type", text)

    assert ran.code == 2
    assert "--column-type must be such as admitted=date" in " ".join(ran.error.split())


def test_types_of_columns_are_of_the_question_in_a_ledger(run, path):
    ledger = path.with_name("clinic.budget")
    run("budget", ledger, "--create", "--epsilon", 9, "--neighbours", "add-remove")
    first, again, other = (
        run("percentile", path, *STAYS, *types, "--ledger", ledger, "--json").json
        for types in (DATES, DATES[2:] + DATES[:2], ())
    )

    assert first["entry"] == again["entry"] == 1
    assert other["entry"] == 2
    assert first["column_type"] == {"admitted": "date", "left": "date"}


def test_a_line_says_how_fields_are_read_of_whatever_type(run, path):
    for more in ((), ("--column-type", "days=integer")):
        said = " ".join(run("percentile", path, *DAYS, *more).out.split())
        assert "numbers as 1200.5; other fields are missing" in said
    typed = run("percentile", path, *DAYS, "--column-type", "days=text")
    assert typed.code == 2


def test_a_number_less_a_date_is_refused(run, path):
    asked = ("--column", "days", "--minus", "admitted", *DAYS[2:])
    for types, said in (
        ((), "say by --column-type days=number"),
        (("days=number",), "say by --column-type admitted=number"),
        (("days=number", "admitted=date"), "'admitted' is of type Date, which is not numeric"),
    ):
        more = [part for one in types for part in ("--column-type", one)]
        ran = run("percentile", path, *asked, *more)

        assert ran.code == 2
        assert said in " ".join(ran.error.split())


@pytest.mark.parametrize("engine", ["memory", "polars"])
def test_declared_dates_are_subtracted_in_every_engine(run, path, engine):
    ran = run("percentile", path, *STAYS, *DATES, "--engine", engine, "--json")

    assert ran.json["answer"] == ["5 days, 0:00:00"]
    assert "0:00:00" not in run("percentile", path, *STAYS, *DATES, "--engine", engine).out


def test_other_commands_read_declared_columns_too(run, path):
    asked = ("--column", "admitted", "--k", 1, *QUESTION[2:])
    ran = run("top", path, *asked, *DATES, "--candidates", "2024-01-30,2024-01-31", "--json")

    assert ran.json["answer"] == ["2024-01-31"]
