"""Refusals of tables, and of values that queries cannot count."""

from datetime import date, time

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

import dpselect as dp
from dpselect import tables
from dpselect.errors import ColumnError, DataError, DPSelectError, ScoresError
from dpselect.tables import values
from dpselect.tables.opening import held
from dpselect.tables.people import PeopleCap
from dpselect.tables.text import Dialect
from dpselect.trees import records
from support.refusals import Each, refusing, releasing

AR = {"epsilon": 1.0, "neighbours": "add-remove"}
DAY = pl.lit("2026-01-03").str.to_date()
EDGE = dp.GlobalSensitivity(1.0, "edge")
STAYS = pl.DataFrame({"who": ["ada"], "at": [time(12)]})
STAYS = STAYS.with_columns(admitted=DAY, stay=DAY - DAY)
DATE = {"v": "date"}
USERS = pl.DataFrame({"user": [1.5], "v": [1]})
SECOND = np.timedelta64(1, "s")
NO_QUERIES = [([1], 2), np.array([], dtype="M8[s]"), pl.Series([2**70], dtype=pl.Int128)]
NO_QUERIES += [np.array([1j]), [1, SECOND]]
"""Durations of NumPy are under its signed integers."""


def kept_by(user):
    PeopleCap(user, 1).check(USERS)


def times(kind):
    frame = pd.DataFrame({"v": pd.Series([1], dtype="int64").astype(kind)})
    records.read(frame).values("v")


def ends_of(kind):
    ends = pa.table({"f": pa.nulls(2, kind), "g": pa.array([1, 2])})
    query = dp.TopNodes(nodes=9, source="f", target="g", k=1, metric="degree", epsilon=1.0)
    query.release(ends)


PAIRS = pd.DataFrame([[1, 2]] * 3, columns=["n", "n"])
TWICE = [PAIRS, PAIRS.assign(m=3), pa.table([[1], [2]], names=["n", "n"])]
TWICE += [duckdb.sql("select 1 as n, 2 as n")]
LEVELS = pd.MultiIndex.from_tuples([("n", "m")])


NO_TEXT = [tables.Source(path, separator=";") for path in ("a.parquet", "a.duckdb::b")]
NAMED = releasing(dp.Percentiles, column="n", p=50, upper=9, step=1, **AR)
HALF = releasing(dp.Percentiles, column="days", p=50, upper=9, step=1, **AR)
DAYS = releasing(dp.Percentiles, p=50, candidates=[date(2024, 1, 2)], **AR)
KEYS = releasing(dp.Keys, data=STAYS, delta=1e-6, **AR)
ABOVE = releasing(dp.AboveThreshold, threshold=5, sensitivity=1, **AR)
NO_ENDS = [pa.month_day_nano_interval(), pa.decimal256(50)]
TOP = releasing(dp.TopKeys, k=1, candidates=["a"], **AR)
DIALECT = refusing(Dialect)
CHECKED = refusing(tables.check_columns, STAYS)
KEPT = refusing(kept_by)

ROWS = [
    refusing(values.labels)("", DataError, y=np.zeros((77, 2))),
    refusing(values.check_rows, range(77))("", DataError, y=[0] * 76),
    refusing(dp.Objective, np.zeros((77, 2)))("", ScoresError, sensitivity=EDGE),
    refusing(held, "a.parquet")("master", engine=Each(["memory", "duckdb"]), master="local"),
    refusing(held, "a.parquet")("engine", engine="pandas"),
    refusing(held, engine="duckdb")("separator", path=Each(NO_TEXT)),
    refusing(tables.numeric_column, [1, 2])("data must be a frame", DataError, column="pay"),
    refusing(tables.open_table)("", DataError, data=Each([None, 3, [1, 2], {"pay": [1]}])),
    NAMED("two columns are named 'n'", ColumnError, data=Each(TWICE)),
    NAMED("several level", ColumnError, data=pd.DataFrame([[1]], columns=LEVELS)),
    NAMED("the numeric columns are: 0, 1", ColumnError, data=pd.DataFrame([[1, 2]])),
    HALF("not a DuckDBPyConnection", DataError, data=duckdb.connect()),
    DAYS("must be a frame", DataError, data={"a": date(2024, 1, 2)}),
    DAYS("must be dates", DataError, data={date(2024, 1, 2)}),
    CHECKED("in commands 2024-01-01", ColumnError, numeric=Each([["stay"], ["admitted"]])),
    CHECKED("hours or seconds as a number", ColumnError, numeric=["at"]),
    CHECKED("TRY_CAST in SQL", ColumnError, numeric=["who"]),
    KEPT("users must be text, integers", ColumnError, user="user"),
    KEYS("times: .dt.hour()", ColumnError, column="at"),
    KEPT("there is no column", ColumnError, user="person"),
    refusing(times)("", DataError, kind=Each(["datetime64[ns]", "timedelta64[ns]"])),
    refusing(ends_of)("must name nodes", DPSelectError, kind=Each(NO_ENDS)),
    ABOVE("must be integers", data=Each(NO_QUERIES)),
    TOP("k must be an integer", k=SECOND),
    refusing(tables.Source, frame=USERS)("column_type", column_type=DATE),
    refusing(tables.open_table)("column_type", data=tables.Source("a.pq", column_type=DATE)),
    DIALECT("encoding", encoding=Each(["rot13", "iso2022_jp", "unicode_escape", "idna"])),
    DIALECT("quote", quote="ab"),
    refusing(Dialect(decimal=",").whole)("separator", kind=".csv"),
    DIALECT("", quote=",", separator=","),
    DIALECT("", thousands="."),
    DIALECT("date_format", date_format="dd/mm/yy"),
    DIALECT("date_format", date_format="%d/%m"),
    DIALECT("date_format", date_format="%d/%m/%Y %H"),
    DIALECT("time_zone", time_zone="Berlin"),
    DIALECT("header", header=("a", "a")),
    DIALECT("comment", comment=""),
    DIALECT("", skip_lines=-1),
    DIALECT("missing", missing=Each([999, ["NA", 999]])),
    DIALECT("must be a text", format=3),
    DIALECT("must be a text", comment=b"#"),
    DIALECT("column_type", column_type=Each([["v"], {"v": "day"}])),
]
