"""Subsets that are read off a table with one row for each person."""

from decimal import Decimal

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest

import dpselect as dp

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


def test_a_number_that_is_no_whole_one_or_none_is_no_other_status():
    odd = ["1.5", "10", "1.0.0", ".0", "v1.0", Decimal("sNaN"), Decimal("1.5"), 1.0]
    table = pd.DataFrame({"result": pd.Series(odd, dtype=object)})

    assert dp.Subset(n=8, positive=1, **SURE).release(table).answer == (7,)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_file_and_a_lazy_frame_are_the_same_people(ending, tmp_path):
    path = tmp_path / f"results.{ending}"
    table = pl.DataFrame({"who": NAMES, "result": [0, 1, 0, 0, 1]})
    getattr(table, "write_csv" if ending == "csv" else "write_parquet")(path)
    query = dp.Subset(n=5, positive=1, label="who", **SURE)

    assert query.release(path).answer == query.release(table.lazy()).answer == ("bob", "eve")


def test_one_changed_row_is_one_changed_member():
    """What a row says decides about this row alone, whatever it holds."""
    query = dp.Subset(n=5, positive=["positive", 1], **SURE)
    statuses = ["positive", "negative", "positive", "negative", "negative"]
    for odd in ("positive", "", None, "1", "\x00", "é" * 1000):
        table = pl.DataFrame({"result": [*statuses[:4], odd]})

        found = query.release(table).answer

        assert set(found) - {4} == {0, 2}
        assert (4 in found) == (odd in {"positive", "1"})


def test_objects_that_are_no_status_are_no_member():
    odd = [np.float64("inf"), float("nan"), 10**5000, -(10**400), object(), [1], b"positive"]
    table = pd.DataFrame({"result": pd.Series([*odd, np.True_], dtype=object)})

    assert dp.Subset(n=8, positive=True, **SURE).release(table).answer == (7,)


def test_the_law_of_a_table_is_that_of_its_positions():
    """Unseeded: false alarm 1 in 10^6 for each of the six subsets."""
    table = pl.DataFrame({"who": list("abcd"), "result": [1, 1, 0, 0]})
    query = dp.Subset(n=4, d=2, epsilon=1.0, column="result", positive=1, label="who")
    draws = 1000
    found = [query.release(table).answer for _ in range(draws)]
    weights = {pair: np.exp(-len({*pair} - {"a", "b"})) for pair in set(found)}

    assert len(weights) == 6
    total = 1 + 4 * np.exp(-1) + np.exp(-2)
    for pair, weight in weights.items():
        expected = draws * weight / total
        assert abs(found.count(pair) - expected) < 5 * np.sqrt(expected)


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


def test_people_are_kept_by_what_is_public_of_them():
    table = pl.DataFrame({"who": NAMES, "result": [1, 1, 0, 0, 1], "ward": [*"aabba"]})
    ward = dp.tables.Source(frame=table, where=["ward = 'a'"])
    query = dp.Subset(n=3, positive=1, label="who", **SURE)

    assert query.release(ward).answer == ("ann", "bob", "eve")
