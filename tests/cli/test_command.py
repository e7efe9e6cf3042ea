"""Commands made of queries and of functions: their options, help, and what is typed."""

from dataclasses import fields
from typing import get_type_hints

import pytest

import dpselect as dp
from dpselect.cli.command import _typed, _value
from dpselect.cli.help import flag
from dpselect.writing import documented


def test_the_first_sentence_of_every_attribute_is_plain_text():
    found = documented(dp.Percentiles, flag)

    assert {one.name for one in fields(dp.Percentiles)} <= set(found)
    assert found["lower"] == "The smallest candidate, by default 0; -inf if none is known."
    assert found["groups"].startswith(
        "The public groups, or a list of values for each column of"
    )
    assert "--by" in found["groups"]
    assert not any("`" in one for one in found.values())


def test_an_option_has_name_type_default_and_words_of_its_field(run):
    shown = run("keys", "--help", columns=200).out
    rows = [line.replace("│ *", "│").split() for line in shown.splitlines()]
    lines = {row[1]: " ".join(row[2:-1]) for row in rows if row[1:] and row[1][:2] == "--"}
    said = documented(dp.Keys, flag)

    assert lines["--min-people"] == f"<int> {said['min_people']} [default: 1]"
    assert lines["--other"] == said["other"]
    assert lines["--by"].startswith("<list[str]> Column of groups, or several, as ward,month")
    assert lines["--missing-keys"].endswith("[default: drop]")
    assert "One of optimal, laplace, gaussian, rounds." in " ".join(shown.split())
    assert lines["--epsilon"].startswith("<float> Privacy loss of the whole answer")
    assert {"--where", "--engine", "--ledger", "--again", "--dry-run", "--json"} < set(lines)
    assert "--plot" not in lines


TYPED = [
    (dp.Percentiles, "p", ("25,50", "75"), [25.0, 50.0, 75.0]),
    (dp.Percentiles, "p", "90", 90.0),
    (dp.Map, "bounds", "0,0,1,1", [0.0, 0.0, 1.0, 1.0]),
    (dp.Map, "grids", "8", [8]),
    (dp.HeavyCells, "grid", "8", 8),
    (dp.HeavyCells, "grid", "8,4", [8, 4]),
    (dp.Map, "method", "uniform, quadtree", ["uniform", "quadtree"]),
    (dp.Keys, "column", ("a,b", "c"), ("a,b", "c")),
    (dp.TopKeys, "k", 3, 3),
]


@pytest.mark.parametrize(("kind", "name", "given", "value"), TYPED)
def test_what_is_typed_is_read_by_the_type_of_the_field(kind, name, given, value):
    annotation = get_type_hints(kind)[name]

    assert _value(name, annotation, given) == value
    assert _typed(annotation) in {int, list[str]}


def test_candidates_of_percentiles_are_typed_or_listed_in_a_file(tmp_path):
    annotation, path = get_type_hints(dp.Percentiles)["candidates"], tmp_path / "days.txt"
    path.write_text("\ufeff0\r\n7 \r\n\r\n14\r\n", encoding="utf-8")

    assert _value("candidates", annotation, "0, 7,14") == [0, 7, 14]
    assert _value("candidates", annotation, str(path)) == [0, 7, 14]
