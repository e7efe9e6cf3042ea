"""Domains files: what a table's fields mean, and what is proposed for a table."""

import json

import polars as pl
import pytest

from dpselect.errors import ColumnError, DataError
from dpselect.trees import (
    Bins,
    Categories,
    ID3Tree,
    domains_of_public_data,
    domains_template,
    read_domains,
)
from dpselect.trees.domains import OUTSIDE
from dpselect.trees.reading import labelled

TEXT = """flag,answer,level,mixed,degrees,label
1,yes,1,1,20.5,true
true, no ,2.0,many,-300,FALSE
False,YES,02,TRUE,,True
0.0,,3,2,warm,maybe
perhaps,no,1_0,few,1e1,false
,no,one,,12,
"""
COLUMNS = {
    "flag": {"values": [0, 1]},
    "answer": {"values": ["yes", "no"], "other": "not said"},
    "level": {"values": [1, 2, 10], "other": 0},
    "mixed": {"values": [True, 2, "many"]},
    "degrees": {"low": 0, "high": 40, "bins": 4},
}
CODES = {
    "flag": [1, 1, 0, 0, OUTSIDE, OUTSIDE],
    "answer": [0, 1, 2, 2, 1, 1],
    "level": [0, 1, 1, 3, 3, 3],
    "mixed": [0, 2, 0, 1, OUTSIDE, OUTSIDE],
    "degrees": [2, 0, OUTSIDE, OUTSIDE, 1, 1],
}


@pytest.fixture
def query(tmp_path):
    path = tmp_path / "domains.json"
    given = {"label": "label", "classes": [False, True], "max_records": 10, "columns": COLUMNS}
    path.write_text(json.dumps(given), encoding="utf-8")
    return ID3Tree(**read_domains(path), epsilon=1.0, neighbours="add-remove")


def read(query, path):
    """Return the columns and the labels of a file."""
    return labelled(path, query.design().rows.schema, query.label)


def test_a_field_of_a_csv_file_is_the_declared_value_that_it_writes(query, tmp_path):
    (tmp_path / "data.csv").write_text(TEXT, encoding="utf-8")
    rows = query.design().rows
    coded = rows.coded(tmp_path / "data.csv")

    assert dict(zip(rows.schema.names, coded.codes.T.tolist(), strict=True)) == CODES
    assert coded.labels.tolist() == [1, 0, 1, OUTSIDE, 0, OUTSIDE]


@pytest.mark.parametrize(
    ("values", "field", "meant"),
    [
        (["1", 2], "1", "1"),
        (["1", 2], "1.0", None),
        (["true"], "True", None),
        (["true"], " true ", "true"),
        ([True, False], "1", True),
        ([0, 1], "FALSE", 0),
        ([1.5], "15e-1", 1.5),
        ([1], "nan", None),
        ([" yes"], " yes", " yes"),
    ],
)
def test_the_most_literal_reading_counts(values, field, meant):
    [found] = Categories(values).of_text([field])

    assert found == meant
    assert type(found) is type(meant)


def test_columns_of_other_files_keep_their_type(query, tmp_path):
    frame = pl.DataFrame(
        {
            "flag": [True, None],
            "answer": ["yes", " no"],
            "level": [1.0, 2.5],
            "mixed": [True, False],
            "degrees": [1, 2],
            "label": [True, False],
        }
    )
    frame.write_parquet(tmp_path / "data.parquet")
    x, y = read(query, tmp_path / "data.parquet")

    assert x.to_native().equals(frame.drop("label"))
    assert y.to_list() == [True, False]


@pytest.mark.parametrize(
    ("name", "header", "error", "message"),
    [
        ("data.csv", "flag,answer,level,mixed,label", ColumnError, "no column 'degrees'"),
        ("data.csv", "flag,answer,level,mixed,degrees", ColumnError, "no column 'label'"),
        ("data.txt", "flag", DataError, "must be a .parquet, .csv or .tsv file"),
    ],
)
def test_a_table_without_a_declared_column_is_refused(
    query, tmp_path, name, header, error, message
):
    (tmp_path / name).write_text(header + "\n", encoding="utf-8")

    for step in (query.check, query.release):
        with pytest.raises(error, match=message):
            step(tmp_path / name)


@pytest.mark.parametrize(
    ("domain", "kept"),
    [
        (Bins(0, 30, 3, other="none"), {"low": 0, "high": 30, "bins": 3, "other": "none"}),
        (Bins(edges=[0, 18, 65]), {"edges": (0, 18, 65)}),
        (Categories(["a", 1], other=1), {"values": ("a", 1), "other": 1}),
        ((0, 1), (0, 1)),
    ],
)
def test_a_query_keeps_domains_as_the_plain_values_of_a_file(domain, kept):
    """So it can be written down, and a domains file is a part of it."""
    public = {"classes": ["no", "yes"], "max_records": 9, "epsilon": 1.0}
    query = ID3Tree(domains={"x0": domain}, **public, neighbours="add-remove")
    again = ID3Tree.from_json(query.to_json())

    assert query.domains == {"x0": kept}
    assert again == query
    assert again.design().rows == query.design().rows


def test_a_template_of_a_csv_file_reads_no_value(tmp_path):
    (tmp_path / "data.csv").write_text(TEXT, encoding="utf-8")
    template = domains_template(tmp_path / "data.csv", "label")

    assert list(template["columns"]) == ["flag", "answer", "level", "mixed", "degrees"]
    assert template["columns"]["flag"] == {"values": [], "other": "other"}


def test_public_columns_of_a_csv_file_hold_numbers_if_all_their_fields_do(tmp_path):
    rows = [f"{k % 2},{k / 2},{k},{'x' if k == 7 else k},{k % 3 == 0}" for k in range(30)]
    text = "\n".join(["bit,half,whole,text,label", *rows, ",,,,"])
    (tmp_path / "data.csv").write_text(text, encoding="utf-8")
    found = domains_of_public_data(tmp_path / "data.csv", "label")

    assert found["columns"]["bit"] == {"values": [0, 1]}
    assert found["columns"]["half"] == {"low": 0.0, "high": 14.5, "bins": 8}
    assert found["columns"]["whole"] == {"low": 0.0, "high": 29.0, "bins": 8}
    assert "x" in found["columns"]["text"]["values"]
    assert found["classes"] == ["False", "True"]
