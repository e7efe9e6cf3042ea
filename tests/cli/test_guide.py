"""A question that is not whole is answered by the next line to type."""

import shlex

import polars as pl
import pytest

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
