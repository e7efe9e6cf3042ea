"""Domains files: what a table's fields mean, and what is proposed for a table."""

import json
from datetime import date
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest

from dpselect.errors import DataError
from dpselect.tables import Source
from dpselect.tables.values import of_objects, of_values
from dpselect.trees import (
    Bins,
    Categories,
    ID3Tree,
    domains_template,
    read_domains,
    records,
)
from dpselect.trees.domains import OUTSIDE, Schema
from dpselect.trees.engine import EngineCounts

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
    for given in ([field], np.array([field], dtype=object), np.array([field.encode()])):
        [found] = Categories(values).codes(of_values(given, ""))

        assert found == (OUTSIDE if meant is None else values.index(meant))


ODD = [
    *("1", 1, 1.0, True, "True", "true ", "1.0", "01", "1e0", b"1", Decimal(1), np.int64(1)),
    *("1_0", "0", 0, False, "no", "", None, float("nan"), pd.NA, pd.NaT, 10**5000, "\ud800"),
    *(object(), [1], np.arange(3), date(2020, 1, 1), "2020-01-01", 1 + 0j),
    *(2**53 + 1, str(2**53 + 1), Decimal(2**53 + 1)),
]
DECLARED = [
    [0, 1],
    ["0", "1"],
    ["no", 1, "2020-01-01"],
    [False, True],
    [2**53, 2**53 + 1],
    [1.0],
]


@pytest.mark.parametrize("values", DECLARED, ids=str)
@pytest.mark.parametrize("other", [None, "other"])
def test_no_value_of_a_list_decides_how_another_one_is_read(values, other):
    """Whatever the last record holds; and before, "1" was dropped where 1 was declared."""
    domain = Categories(values, other=other)
    alone = [int(domain.codes(of_objects([one]))[0]) for one in ODD]

    assert domain.codes(of_objects(ODD)).tolist() == alone
    for last in ODD:
        assert domain.codes(of_objects([*ODD, last])).tolist()[:-1] == alone
    strict = domain.codes(of_objects(ODD), repaired=False).tolist()
    assert strict == [code if code < len(values) else OUTSIDE for code in alone]


@pytest.mark.parametrize("dtype", [pl.Float64, pl.Float32])
@pytest.mark.parametrize(
    ("domain", "lower"),
    [
        (Bins(0, 1, bins=10), [k / 10 for k in range(10)]),
        (Bins(0.1, 2.2, bins=7), [0.1, 0.4, 0.7, 1.0, 1.3, 1.6, 1.9]),
        (Bins(edges=[0, 0.7, 1.4, 2.1]), [0.0, 0.7, 1.4]),
    ],
)
def test_a_bin_holds_its_lower_edge_in_memory_and_in_an_engine(domain, lower, dtype):
    """Before, 0.3 of ten bins from 0 to 1 was in [0.2, 0.3)."""
    assert_coded(domain, lower, dtype)


@pytest.mark.parametrize("held", ["object", "str", "category", "Arrow", "polars"])
def test_texts_have_their_codes_in_every_container(held):
    frame = pl.DataFrame({"x": ["a", "b", None, "c", "a"], "y": ["u", "v", "u", "v", "w"]})
    made = {"polars": frame, "Arrow": frame.to_arrow()}
    table = made[held] if held in made else frame.to_pandas().astype(held)
    for domain, codes in (
        (Categories(["b", "a"]), [1, 0, OUTSIDE, OUTSIDE, 1]),
        (Categories(["b", "a"], other="else"), [1, 0, 2, 2, 1]),
    ):
        rows = records.Rows(Schema.of({"x": domain}, ["v", "u"], ["x"]), "y", None, "repair")
        coded = rows.coded(table)
        assert coded.codes[:, 0].tolist() == codes
        assert coded.labels.tolist() == [1, 0, 1, 0, OUTSIDE]


def assert_coded(domain, lower, dtype):
    """Assert that each value has its place as its code, in memory and in an engine."""
    frame = pl.DataFrame({"x": lower, "y": [0] * len(lower)}, {"x": dtype, "y": pl.Int64})
    public = Schema.of({"x": domain}, [0, 1], ["x"])
    [table] = next(iter(EngineCounts(frame.lazy(), "y", public, None, 99).tables(0, 1)))

    assert records.codes(records.read(frame), public)[:, 0].tolist() == list(range(len(lower)))
    assert table[:, 0].tolist() == [1] * len(lower)
    if dtype is pl.Float64:
        assert domain.codes(of_objects(lower)).tolist() == list(range(len(lower)))


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


def test_a_key_that_stands_twice_is_refused(tmp_path):
    path = tmp_path / "domains.json"
    path.write_text('{"columns": {"a": {"values": [0, 1]}, "a": {"values": [2]}}}')

    with pytest.raises(DataError, match="'a' stands twice"):
        read_domains(path)


def test_domains_are_of_the_dialect_that_is_stated_and_of_no_times(tmp_path):
    day, (text, parquet) = date(2020, 1, 1), (tmp_path / "a.csv", tmp_path / "a.parquet")
    text.write_text("size;label\n1,5;a\n9;b\n", encoding="utf-8")
    pl.DataFrame({"size": [1.5, 9], "born": [day, day], "label": ["a", "b"]}).write_parquet(
        parquet
    )
    german = Source(text, separator=";", decimal=",")

    for data in (german, parquet):
        assert list(domains_template(data, "label")["columns"]) == ["size"]
