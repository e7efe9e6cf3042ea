"""Values and types that are odd: none decides about another one, and none ends a release."""

from dataclasses import replace
from datetime import date, datetime, timedelta
from functools import partial
from itertools import product

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import dpselect as dp
from dpselect.errors import ColumnError, ParameterError
from dpselect.tables.kinds import Kind
from support.engines import held_by
from support.odd_input import TEXT, observed

AR = {"epsilon": 50.0, "neighbours": "add-remove"}
ENDS = {"lower": date(1960, 1, 1), "upper": date(1980, 1, 1), "step": timedelta(1)}
DAYS = dp.Percentiles(p=50, **ENDS, **AR)
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
    made = pl.DataFrame({"f": pl.Series([TEXT], dtype=pl.Enum(["a", TEXT])), "g": [1]})
    record = dp.PercentileRecord(column="f", p=50, upper=9, epsilon=1.0)
    nodes = {"nodes": 9, "source": "f", "target": "g", "k": 1, "metric": "degree"}
    days = replace(DAYS, column="f")
    for query in (record, days, dp.TopNodes(**nodes, epsilon=1.0)):
        for data in (made, made.lazy(), made.with_columns(pl.struct("f").alias("f"))):
            with observed() as seen:
                query.release(data)

            assert seen.error is not None
            seen.assert_nothing_private()


OF_ARROW = [pa.table, lambda table: table.to_pandas(types_mapper=pd.ArrowDtype)]
TIMES = [datetime.fromisoformat(f"1970-01-0{day}") for day in range(1, 5)]
MOMENT = dp.Percentiles(column="f", p=50, candidates=TIMES, **AR)


@pytest.mark.parametrize(
    ("kind", "hold"),
    [
        *product([pa.timestamp("s"), pa.timestamp("ms")], [*OF_ARROW, duckdb.from_arrow]),
        *product([pa.date64()], OF_ARROW),
    ],
)
def test_a_moment_that_no_library_has_says_nothing_of_others(kind, hold):
    """Date64 has milliseconds that are no whole days, and some have no microseconds."""
    day = 86_400 if kind == pa.timestamp("s") else 86_400_000
    held = pa.array([day] * 9 + [5, 2**62, -(2**62)], pa.int64()).view(kind)

    assert MOMENT.release(hold(pa.table({"f": held}))).answer == (TIMES[1],)


@pytest.mark.parametrize("kind", [pd.Timestamp, np.datetime64])
def test_times_among_objects_are_days_where_days_are_asked_for(kind):
    assert DAYS.release([kind(TIMES[1]), pd.NaT] * 50).answer == (TIMES[1].date(),)


@pytest.mark.parametrize("odd", [pd.NaT, np.datetime64("NaT"), float("nan"), None, 10**30])
@pytest.mark.parametrize("hold", [list, pl.DataFrame, pl.LazyFrame])
def test_no_odd_moment_of_objects_decides_whether_others_are_read(odd, hold):
    """A query of one row of objects made polars panic."""
    query = replace(MOMENT, column=None if hold is list else "f")
    for moments, likely in (([TIMES[1]] * 50 + [odd], TIMES[1:2]), ([], TIMES)):
        data = moments if hold is list else hold({"f": pl.Series(moments, dtype=pl.Object)})

        assert query.release(data).candidate in likely


@pytest.mark.parametrize("lazy", [True, False])
@pytest.mark.parametrize(
    ("kind", "last"), [("DATE", "5874897-12-31"), ("TIMESTAMP", "294247-01-01")]
)
def test_days_further_apart_than_integers_count_end_no_release(kind, last, lazy):
    """These are about the last and the first ones of DuckDB."""
    first = "290307-01-01 (BC)"
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
    for odd in ALONE:
        column = [value] * 300
        column[at] = odd
        for dtype in ("object", "category"):
            try:
                held = pd.Series(pd.Series(column, dtype=object), dtype=dtype)
            except (TypeError, ValueError, OverflowError):
                continue  # not all are categories
            rows = pd.DataFrame({"c": held, "k": ["x"] * 300})
            source = dp.tables.Source(frame=rows, where=[where])

            assert dp.tables.count_records(source) in {299, 300}, odd


# Frames as they are given: names of columns.

SURE = {"epsilon": 900.0, "neighbours": "add-remove"}
MEDIAN = {"p": 50, "upper": 9, "step": 1, **SURE}


on_spark = partial(held_by, "spark")
HOLD = [pl.DataFrame.clone, pl.DataFrame.lazy, pl.DataFrame.to_pandas, pl.DataFrame.to_arrow]


@pytest.mark.parametrize("name", ["a.b", "`", "a`b", 'a"b', "count(*)", "%", "[a]", "a b"])
@pytest.mark.parametrize("hold", HOLD)
def test_a_column_has_any_other_name(name, hold):
    data = hold(pl.DataFrame({name: [1, 2, 3], "b": ["x", "y", "z"]}))

    assert dp.Percentiles(column=name, **MEDIAN).release(data).answer == (2,)


@pytest.mark.parametrize("hold", [pd.DataFrame.copy, pd.DataFrame.convert_dtypes])
def test_columns_of_pandas_may_be_named_by_numbers(hold):
    """As those of a file without a header are."""
    data = hold(pd.DataFrame([["x", 1.5]] * 50))

    assert dp.Keys(column="0", delta=1e-6, **AR).release(data).answer == ("x",)
    assert dp.Keys(delta=1e-6, **AR).release(data[0]).answer == ("x",)
    median = dp.Percentiles(column="1", p=50, candidates=[1, 1.5], **AR)
    assert median.release(data).candidate == 1.5


UNUSUAL = [pa.string_view(), pa.binary_view(), pa.run_end_encoded(pa.int32(), pa.int64())]
UNUSUAL += [pa.list_(pa.string_view()), pa.struct([("a", pa.string_view())])]


@pytest.mark.parametrize("where", ["v > 0", "v > 9"])
@pytest.mark.parametrize("kind", UNUSUAL, ids=str)
def test_a_column_of_arrow_that_cannot_be_selected_decides_nothing(kind, where):
    """It raised as soon as one row was kept."""
    rows = pa.table({"v": [5, 5], "more": pa.nulls(2, kind)})
    kept = dp.tables.Source(frame=rows, where=where)

    assert dp.Percentiles(column="v", **MEDIAN).release(kept).answer


@pytest.mark.parametrize(
    ("hold", "name"),
    [
        *product(HOLD, ["*", "^a.*$"]),
        *(pytest.param(on_spark, one, marks=pytest.mark.spark) for one in ("a.b", "a`b", "*")),
    ],
)
def test_a_name_that_engines_read_as_a_pattern_is_refused(name, hold):
    data = hold(pl.DataFrame({name: [1, 2, 3], "ab": [9, 9, 9]}))

    with pytest.raises(ColumnError):
        dp.Percentiles(column=name, **MEDIAN).release(data)


def test_categories_that_are_no_texts_are_values_of_their_type():
    sevens = [7, 8, 7, None, 7]
    top = dp.TopKeys(k=1, candidates=[7, 8], **SURE)

    for held in (pd.Series(pd.Categorical(sevens)), pa.array(sevens).dictionary_encode()):
        assert dp.Percentiles(**MEDIAN).release(held).answer == (7,)
        assert top.release(held).answer == (7,)


# Values of columns of objects, and of lists.


def keys(data, **asked):
    """Return the release of everything that has a key; surely, with so much epsilon."""
    return dp.Keys(delta=1e-9, **asked, **SURE | {"epsilon": 2000.0}).release(data)


def test_days_that_python_does_not_have_are_missing():
    """An engine's day may lie beyond the year 9999."""
    days = pl.Series("day", [18_000] * 60 + [10**7, -(10**7)] * 60, dtype=pl.Int32)
    frame = days.cast(pl.Date).to_frame()

    for data in (frame, frame.lazy(), frame.to_arrow()):
        assert keys(data, column="day").answer == (date(2019, 4, 14),)


@pytest.mark.parametrize("text", ["1_000", "1.0", "\u0661", "1e3", " 1", ""])
def test_integers_as_text_are_digits(text):
    with pytest.raises(ParameterError):
        Kind.INTEGER.decode(text)
    assert Kind.INTEGER.decode("+01") == 1


def test_values_that_an_array_masks_are_missing():
    """They were read: a mask is no part of what NumPy makes of it."""
    held = np.ma.array([1] * 60 + [9] * 180, mask=[0] * 60 + [1] * 180)
    median = dp.Percentiles(p=50, candidates=[1, 9], **SURE)
    pairs = np.ma.column_stack([held, held * 0])
    nodes = dp.TopNodes(nodes=10, k=1, metric="degree", epsilon=900.0)

    assert median.release(held).answer == (1,)
    assert keys(held).answer == ("1",)
    assert nodes.release(pairs).answer in {(0,), (1,)}
