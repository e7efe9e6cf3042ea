"""Values that a container holds and Python does not: each is missing, and no other changes."""

import contextlib
from datetime import datetime, timedelta

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import dpselect as dp
from support.odd_input import TEXT, observed

AR = {"epsilon": 50.0, "neighbours": "add-remove"}
INVALID = pa.array([b"a"] * 60 + [b"\xff"])


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.string_view()], ids=str)
@pytest.mark.parametrize("container", ["array", "dictionary", "table"])
def test_text_of_arrow_that_is_no_text_is_missing(kind, container):
    keys = INVALID.cast(kind, safe=False)
    if container == "dictionary":
        keys = keys.dictionary_encode()
    column = {"column": "f"} if container == "table" else {}
    query = dp.Keys(**column, delta=1e-6, **AR)

    assert query.release(pa.table({"f": keys}) if column else keys).answer == ("a",)


def test_the_categories_of_an_enum_are_in_no_message():
    made = pl.DataFrame({"f": pl.Series(["a"], dtype=pl.Enum(["a", TEXT])), "g": [1]})
    record = dp.PercentileRecord(column="f", p=50, upper=9, epsilon=1.0)
    nodes = {"nodes": 9, "source": "f", "target": "g", "k": 1, "metric": "degree"}
    for query in (record, dp.TopNodes(**nodes, epsilon=1.0)):
        for data in (made, made.lazy(), made.with_columns(pl.struct("f").alias("f"))):
            with observed() as seen:
                query.release(data)

            assert seen.error is not None
            seen.assert_nothing_private()


@pytest.mark.parametrize("minus", [None, "from"])
def test_arrow_integers_that_floats_round_end_no_release(minus):
    """One old point in time, or one number beyond 2^53, raised and was in the message."""
    values = [2**53 + 1, *[3] * 99]
    held = pa.array(values) if minus else pa.array([-(2**55), *[0] * 99]).cast("timestamp[us]")
    rows = pa.table({"f": held, "from": pa.array([0] * 100)})
    ends = (0, 9, 1) if minus else (datetime(1970, 1, 1), datetime(1970, 1, 9), timedelta(1))  # noqa: DTZ001
    lower, upper, step = ends
    query = dp.Percentiles(
        column="f",
        minus=minus,
        p=50,
        lower=lower,
        upper=upper,
        step=step,
        epsilon=50.0,
        neighbours="add-remove",
    )

    assert query.release(rows).candidate == (3 if minus else lower)


def of_arrow(column, kind):
    """Return a column of pandas whose values are Arrow's."""
    return pd.Series(pa.array(column, kind), dtype=pd.ArrowDtype(kind))


@pytest.mark.parametrize("day", [None, 10**8], ids=["missing", "beyond all years"])
def test_persons_that_are_dates_of_pandas_and_one_that_is_none(day):
    """A null among them raised: pandas makes objects of Arrow's dates."""
    who = of_arrow([*range(300), day], pa.date32())
    rows = pd.DataFrame({"f": [3.0] * 300 + [9.0], "g": [3] * 301, "h": [4] * 301, "y": who})
    persons = {"user": "y", "max_per_user": 1, **AR}
    box = {"bounds": (0, 0, 10, 10), "x": "f", "y": "g"}
    nodes = {"nodes": 10, "source": "g", "target": "h", "metric": "degree"}

    assert dp.Percentiles(column="f", p=50, candidates=range(10), **persons).release(
        rows
    ).answer == (3,)
    assert dp.Keys(column="g", delta=1e-6, **persons).release(rows).answer == (3,)
    assert dp.HeavyCells(grid=2, k=1, **box, **persons).release(rows)
    assert dp.TopNodes(k=1, **nodes, user="y", max_per_user=1, epsilon=50.0).release(rows)


ENDS = {
    "DATE": ("5874897-12-31", "290307-01-01 (BC)"),
    "TIMESTAMP": ("294247-01-01", "290307-01-01 (BC)"),
}
"""The last and the first ones of DuckDB, about."""


@pytest.mark.parametrize("lazy", [True, False])
@pytest.mark.parametrize("kind", ENDS)
def test_days_further_apart_than_integers_count_end_no_release(kind, lazy):
    last, first = ENDS[kind]
    rows = duckdb.sql(  # of constants
        f"SELECT CASE WHEN i = 0 THEN {kind} '{last}' ELSE {kind} '2024-01-05' END AS f, "  # noqa: S608
        f"CASE WHEN i = 0 THEN {kind} '{first}' ELSE {kind} '2024-01-01' END AS g "
        "FROM range(100) AS t(i)"
    )
    query = dp.Percentiles(
        column="f", minus="g", p=50, candidates=[timedelta(4), timedelta(9)], **AR
    )

    assert query.release(rows if lazy else rows.to_arrow_table()).candidate == timedelta(4)


ALONE = [5, 5.5, True, None, "\ud800", b"a", object(), [1], {"a": 1}, 10**400, np.nan, pd.NaT]


@pytest.mark.parametrize("where", ["c = 'a'", "c != 'b'", "c = 1", "c < 9", "c = true"])
@pytest.mark.parametrize("at", [0, 299])
def test_where_reads_objects_one_by_one(where, at):
    """Their type was found from the first hundred."""
    value = True if "true" in where else "a" if "'" in where else 1
    query = dp.TopKeys(column="k", k=1, candidates=["x"], epsilon=1.0, neighbours="add-remove")
    for odd in ALONE:
        column = [value] * 300
        column[at] = odd
        for dtype in ("object", "category"):
            with contextlib.suppress(TypeError, UnicodeEncodeError):  # not all are categories
                held = pd.Series(pd.Series(column, dtype=object), dtype=dtype)
                rows = pd.DataFrame({"c": held, "k": ["x"] * 300})
                source = dp.tables.Source(frame=rows, where=[where])

                assert dp.tables.count_records(source) in {299, 300}, odd
                query.release(source)


@pytest.mark.parametrize("engine", ["polars", "polars lazy", "duckdb"])
def test_unsigned_integers_of_128_bits_end_no_release(engine):
    """One from 2**127 on did, wherever it stood."""
    many = [1, 2, 3] * 100
    for odd in (2**127, 2**128 - 1, None):
        rows = pl.DataFrame({"v": pl.Series([*many, odd], dtype=pl.UInt128)})
        if engine == "duckdb":
            text = rows.cast(pl.String).to_arrow()  # noqa: F841 -- DuckDB reads it
            held = duckdb.sql("SELECT v::UHUGEINT AS v, 1 AS one FROM text")
        else:
            held = rows.with_columns(one=1)
            held = held.lazy() if engine == "polars lazy" else held
        persons = {"user": "v", "max_per_user": 200, **AR}
        asked = {
            "keys": dp.Keys(column="v", delta=1e-6, **AR),
            "persons": dp.Percentiles(column="one", p=50, upper=9, step=1, **persons),
            "numbers": dp.Percentiles(column="v", p=50, upper=9, step=1, **AR),
            "groups": dp.Percentiles(
                column="one", by="v", p=50, upper=9, step=1, delta=1e-6, **AR
            ),
            "known groups": dp.TopKeys(
                column="one", by="v", groups=[1, 2], k=1, candidates=[1, 2], **AR
            ),
            "nodes": dp.TopNodes(
                source="v", target="one", nodes=9, k=1, metric="degree", epsilon=50.0
            ),
        }
        found = {name: query.release(held).answer for name, query in asked.items()}
        assert set(found["keys"]) == {1, 2, 3}
        assert found["numbers"] == (2,)
        assert found["nodes"] == (1,)
        kept = dp.tables.count_records(dp.tables.Source(frame=held, where=["v >= 2"]))
        assert kept == 200 + (odd is not None)
