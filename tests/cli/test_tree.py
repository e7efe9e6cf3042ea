"""The commands that train private trees."""

import json

import polars as pl
import pytest

from support.commands import DECLARED, table, written

ASKED = ("--domains", "domains.json", "--epsilon", 50, "--neighbours", "add-remove")


@pytest.fixture(params=["csv", "parquet"])
def rows(request, tmp_path, monkeypatch):
    """The table and its declarations in the current folder."""
    monkeypatch.chdir(tmp_path)
    return written(tmp_path, request.param)


@pytest.mark.parametrize(
    ("values", "classes"), [([0, 1], [False, True]), ([True, False], ["no", "yes"])]
)
def test_truth_values_are_numbers_and_labels(run, rows, values, classes):
    sun = table()["month"] > 1
    held = pl.DataFrame({"sky": sun, "out": [classes[one] for one in sun]})
    getattr(held, f"write{rows.suffix.replace('.', '_')}")(rows)
    declared = {**DECLARED, "classes": classes, "columns": {"sky": {"values": values}}}
    rows.with_name("domains.json").write_text(json.dumps(declared), encoding="utf-8")
    ran = run("tree", rows, *ASKED, "--test", rows, "--test-is-public", "--on-invalid", "raise")

    assert ran.code == 0, ran.error
    assert ran.out.split("test accuracy")[1].split()[0] == "1"


def test_a_tree_is_saved_as_its_json(run, rows):
    ran = run("tree", rows, *ASKED, "--save", "tree.json", "--json")

    assert json.loads(rows.with_name("tree.json").read_text())["tree"] == ran.json["tree"]
