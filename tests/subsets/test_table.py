"""Subsets that are read off a table with one row for each person."""

from decimal import Decimal

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest

import dpselect as dp
from support.refusals import refused

SURE = {"epsilon": 200.0, "column": "result"}
NAMES = ["ann", "bob", "cyd", "dan", "eve"]


HELD = {
    "booleans": [True, False, None, True],
    "integers": [1, 0, None, 1],
    "floats": [1.0, 0.0, None, 1.0],
    "decimals": [Decimal("1.00"), Decimal(0), None, Decimal(1)],
    "texts": ["1", "0", None, "1"],
    "texts of floats": ["1.0", "0.0", None, "1.0"],
    "texts of truth values": ["True", "FALSE", None, " true"],
}
OBJECTS = [
    pl.DataFrame,
    pd.DataFrame,
    lambda columns: pd.DataFrame(columns, dtype=object),
    lambda columns: pd.DataFrame(columns).convert_dtypes(dtype_backend="pyarrow"),
    lambda columns: duckdb.from_arrow(pl.DataFrame(columns).to_arrow()),
]


@pytest.mark.parametrize("frame", OBJECTS)
@pytest.mark.parametrize("name", HELD)
def test_one_and_true_are_one_status_however_they_are_stored(name, frame):
    table = frame({"who": [*"abcd"], "result": HELD[name]})
    for positive, found in ((1, "ad"), (True, "ad"), ("1", "ad"), ("true", "ad"), (False, "b")):
        query = dp.Subset(n=4, positive=positive, label="who", **SURE)
        assert query.release(table).answer == tuple(found)


def test_one_changed_row_is_one_changed_member():
    """What a row says decides about this row alone, whatever it holds."""
    query = dp.Subset(n=5, positive=["positive", 1], **SURE)
    statuses = ["positive", "negative", "positive", "negative", "negative"]
    for odd in ("positive", "", None, "1", "\x00", "é" * 1000):
        table = pl.DataFrame({"result": [*statuses[:4], odd]})

        found = query.release(table).answer

        assert set(found) - {4} == {0, 2}
        assert (4 in found) == (odd in {"positive", "1"})


def test_values_that_are_no_status_are_no_member():
    odd = ["1.5", "10", "1.0.0", ".0", "v1.0", Decimal("sNaN"), Decimal("1.5"), np.inf]
    odd += [float("nan"), 10**5000, -(10**400), object(), [1], b"1"]
    table = pd.DataFrame({"result": pd.Series([*odd, 1.0, np.True_], dtype=object)})
    query = dp.Subset(n=len(odd) + 2, positive=1, **SURE)

    assert query.release(table).answer == (len(odd), len(odd) + 1)


@pytest.mark.parametrize(
    ("positive", "found"),
    [("< 38", "ad"), ("<= 38", "abd"), (">38.0", "c"), (" >= 38 ", "bc")],
)
@pytest.mark.parametrize("frame", [pl.DataFrame, pd.DataFrame, None], ids=["pl", "pd", "csv"])
def test_a_status_can_be_a_bound_of_numbers(positive, found, frame, tmp_path):
    columns = {"who": [*"abcde"], "ct": [30.5, 38.0, 45.0, 12.0, None]}
    data = tmp_path / "ct.csv"
    if frame is None:
        pl.DataFrame(columns).write_csv(data)
    else:
        data = frame(columns)
    query = dp.Subset(n=5, column="ct", positive=positive, label="who", epsilon=200.0)

    assert query.release(data).answer == tuple(found)


@pytest.mark.parametrize(("positive", "found"), [(0.1, "a"), ("0.1", "a"), ("<= .1", "a")])
@pytest.mark.parametrize("kind", [pl.Float32, pl.Float16, pl.Float64])
def test_short_floats_are_what_is_written(positive, found, kind, tmp_path):
    table = pl.DataFrame({"who": [*"abc"], "result": pl.Series([0.1, 0.2, None], dtype=kind)})
    table.write_parquet(tmp_path / "rows.parquet")
    query = dp.Subset(n=3, positive=positive, label="who", **SURE)

    for data in (table, tmp_path / "rows.parquet"):
        assert query.release(data).answer == (*found,)


def test_a_status_of_numbers_is_no_word_and_has_64_bits():
    ids = pl.DataFrame({"result": pl.Series([2**63 + 1, 5], dtype=pl.UInt64)})

    assert dp.Subset(n=2, positive=2**63 + 1, **SURE).release(ids).answer == (0,)
    with refused("positive"):
        dp.Subset(n=2, positive="yes", **SURE).check(ids)


def test_people_are_kept_by_what_is_public_of_them():
    table = pl.DataFrame({"who": NAMES, "result": [1, 1, 0, 0, 1], "ward": [*"aabba"]})
    ward = dp.tables.Source(frame=table, where=["ward = 'a'"])
    query = dp.Subset(n=3, positive=1, label="who", **SURE)

    assert query.release(ward).answer == ("ann", "bob", "eve")
