"""A question that is not whole is answered by the next line to type."""

import shlex

import polars as pl
import pytest

from dpselect.cli import main

ROWS = {"smith": ["a", "b"] * 20, "days": list(range(40))}


def next_line(ran):
    """Return the words of the command that is proposed."""
    [line] = [one for one in ran.error.splitlines() if "for example: " in one]
    return shlex.split(line.partition("for example: ")[2])[1:]


@pytest.mark.parametrize(
    ("command", "column", "given"),
    [
        ("percentile", "days", ()),
        ("percentile", "days", ("--p", "25,75", "--lower", "5", "--epsilon", "2")),
        ("top", "smith", ("--user", "days")),
        ("keys", "smith", ("--user", "days")),
    ],
)
def test_the_next_line_is_a_dry_run_of_what_was_asked(run, tmp_path, command, column, given):
    file = tmp_path / "rows.parquet"
    pl.DataFrame(ROWS).write_parquet(file)
    asked = run(command, file, *given)
    line = next_line(asked)
    ran = run(*(one if one != "UPPER" else "60" for one in line), "--json")

    assert (asked.code, asked.out) == (2, "")
    assert "numbers: days" in asked.error
    assert (ran.code, ran.json["dry_run"]) == (0, True), ran.error
    assert line[line.index("--column") + 1] == column
    assert all(one in line for one in given if one.startswith("--"))


def test_names_of_a_text_file_are_not_shown(run, tmp_path):
    """Its first row may be a person's, where the header was forgotten."""
    file = tmp_path / "rows.csv"
    pl.DataFrame(ROWS).write_csv(file)
    ran = run("percentile", file)

    assert "smith" not in ran.error
    assert "dpselect look" in ran.error
    assert "COLUMN" in next_line(ran)


def test_an_option_with_one_value_is_taken_once(capsys, tmp_path):
    file = tmp_path / "rows.csv"
    pl.DataFrame(ROWS).write_csv(file)
    for twice, told in (("--epsilon", True), ("--where", False)):
        with pytest.raises(SystemExit):
            main(["percentile", str(file), twice, "1", twice, "2"])
        assert (f"{twice} is given twice" in capsys.readouterr().err) == told
