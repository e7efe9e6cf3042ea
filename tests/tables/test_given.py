"""Frames as they are given: names of columns, and zones of points in time."""

from datetime import UTC, date, datetime, timedelta

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import dpselect as dp
from dpselect.errors import ColumnError

MEDIAN = {"p": 50, "upper": 9, "step": 1, "epsilon": 900.0, "neighbours": "add-remove"}
TWICE = pd.DataFrame([[1, 2]] * 3, columns=["n", "n"])
HOLD = [pl.DataFrame.clone, pl.DataFrame.lazy, pl.DataFrame.to_pandas, pl.DataFrame.to_arrow]


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (TWICE, "two columns are named 'n'"),
        (TWICE.assign(m=3), "two columns are named 'n'"),
        (pa.table([[1], [2]], names=["n", "n"]), "two columns are named 'n'"),
        (duckdb.sql("select 1 as n, 2 as n"), "two columns are named 'n'"),
        (pd.DataFrame([[1]], columns=pd.MultiIndex.from_tuples([("n", "m")])), "several level"),
        (pd.DataFrame([[1, 2]]), "no column 'n'; the numeric columns are: 0, 1"),
    ],
)
def test_names_that_are_no_names_are_refused(data, said):
    for column in ("n", "m"):
        if said.startswith("no column") and column == "m":
            continue
        with pytest.raises(ColumnError, match=said):
            dp.Percentiles(column=column, **MEDIAN).release(data)


@pytest.mark.parametrize("name", ["a.b", "`", "a`b", 'a"b', "count(*)", "%", "[a]", "a b"])
@pytest.mark.parametrize("hold", HOLD)
def test_a_column_has_any_other_name(name, hold):
    data = hold(pl.DataFrame({name: [1, 2, 3], "b": ["x", "y", "z"]}))

    assert dp.Percentiles(column=name, **MEDIAN).release(data).answer == (2,)


@pytest.mark.parametrize("hold", HOLD)
@pytest.mark.parametrize("name", ["*", "^a.*$"])
def test_a_name_that_engines_read_as_a_pattern_is_refused(name, hold):
    data = hold(pl.DataFrame({name: [1, 2, 3], "ab": [9, 9, 9]}))

    with pytest.raises(ColumnError):
        dp.Percentiles(column=name, **MEDIAN).release(data)


@pytest.mark.parametrize("zone", ["America/New_York", "Europe/Berlin", "UTC"])
def test_points_in_time_of_pandas_have_any_zone(zone):
    begin = pd.Series(pd.to_datetime(["2026-01-01T10:00"] * 9)).dt.tz_localize(zone)
    frame = pd.DataFrame({"a": begin, "b": begin + timedelta(days=5)})
    days = {**MEDIAN, "upper": timedelta(days=30), "step": timedelta(days=1)}
    span = {
        "lower": datetime(2026, 1, 1, tzinfo=UTC),
        "upper": datetime(2026, 1, 9, tzinfo=UTC),
    }
    hours = {**MEDIAN, **span, "step": timedelta(hours=1)}

    stay = dp.Percentiles(column="b", minus="a", **days)
    assert stay.release(frame).candidate == timedelta(days=5)
    arrow = frame.convert_dtypes(dtype_backend="pyarrow")
    for data, asked in ((frame, {"column": "a"}), (begin, {}), (arrow, {"column": "a"})):
        found = dp.Percentiles(**asked, **hours).release(data).candidate
        assert found == begin[0].to_pydatetime()


SEVENS = pa.array([7, 8, 7, None, 7]).dictionary_encode()


@pytest.mark.parametrize(
    "data",
    [pd.DataFrame({"n": pd.Categorical([7, 8, 7, None, 7])}), pa.table({"n": SEVENS})],
    ids=["pandas", "arrow"],
)
def test_categories_that_are_no_texts_are_values_of_their_type(data):
    top = dp.TopKeys(column="n", k=1, candidates=[7, 8], epsilon=900.0, neighbours="add-remove")

    assert dp.Percentiles(column="n", **MEDIAN).release(data).answer == (7,)
    assert top.release(data).answer == (7,)


def test_a_day_of_64_bits_that_is_no_midnight_ends_no_release():
    """Arrow refused to cast all of them."""
    days = pa.array([0] * 60 + [5], pa.int64()).cast(pa.date64(), safe=False)
    for data in (
        pa.table({"day": days}),
        pd.DataFrame({"day": pd.Series(days, dtype=pd.ArrowDtype(days.type))}),
    ):
        keys = dp.Keys(column="day", epsilon=900.0, delta=1e-6, neighbours="add-remove")
        assert keys.release(data).answer == (date(1970, 1, 1),)
