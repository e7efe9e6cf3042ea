"""Refusals of subsets, and of rows that comparisons select."""

import pandas as pd
import polars as pl

import dpselect as dp
from dpselect.errors import ColumnError, DataError, PublicClaimError
from dpselect.subsets import Subset
from dpselect.tables import open_table
from dpselect.tables.where import Comparison, filtered
from support.refusals import Each, refusing, releasing

NAMES = ["ann", "bob", "cyd", "dan", "eve"]
TABLE = pl.DataFrame({"who": NAMES, "twice": [1, 1, 2, 3, 4], "result": [0, 1, 0, 0, 1]})
SELECTED = dp.tables.Source(frame=TABLE, where=["result = 1"])
TYPES = {
    "year": pl.Int64,
    "ward": pl.String,
    "day": pl.Date,
    "time": pl.Datetime,
    "there": pl.Datetime("us", "UTC"),
}


def retrieved(subset=(1, 2, 3, 4), **changed):
    asked = {"n": 10, "d": 4, "beta": 2, "epsilon": 1.0, "scheme": "optimal", **changed}
    Subset(**asked).release(subset)


def of_names(names):
    table = pd.DataFrame({"who": pd.Series(names, dtype=object), "result": [1, 0, 0]})
    dp.Subset(n=3, positive=1, label="who", column="result", epsilon=200.0).release(table)


def compared(text):
    filtered(open_table(pl.LazyFrame(schema=TYPES)), [Comparison.read(text)])


RETRIEVED = refusing(retrieved)
PRIVATE = releasing(Subset, data=[77], n=9, epsilon=1.0)
OF_TABLE = releasing(dp.Subset, data=TABLE, n=5, epsilon=1.0, column="result")
LABELLED = releasing(
    dp.Subset, data=TABLE, n=5, positive=1, epsilon=1.0, column="result", label="who"
)
OF_NAMES = refusing(of_names)
COMPARISON = refusing(Comparison.read)
COMPARED = refusing(compared)
MISMATCHED = ["year = '2024'", "ward = 1", "day > '2024-1-1'", "time > '31.1.2024'", "time > 3"]
MISMATCHED += ["time > '2024-01-01T12:00Z'", "there > '2024-01-01'"]

ROWS = [
    RETRIEVED("d", d=Each([11, -1])),
    RETRIEVED("n", n=0),
    RETRIEVED("beta", beta=Each([-1, 5, 1.5])),
    RETRIEVED("beta", beta=11, scheme="union"),
    RETRIEVED("epsilon", epsilon=Each([-0.1, float("nan")])),
    RETRIEVED("failure", failure=1.0),
    RETRIEVED("scheme", failure=0.1, scheme=Each(["ball", "pure"])),
    RETRIEVED("scheme", beta=None),
    RETRIEVED("scheme", d=None, scheme=Each(["ball", "optimal"])),
    RETRIEVED("scheme", scheme="sphere"),
    RETRIEVED("does not exist", DataError, subset=Each([[1, 2, 77], [1, 2, -1]])),
    RETRIEVED("person twice", DataError, subset=[1, 2, 2]),
    RETRIEVED("an integer", DataError, subset=Each([[1, 2, 3.5], ["a"], [[1], [2, 3], 4], 7])),
    RETRIEVED("not as many members as", PublicClaimError, subset=[1, 2]),
    PRIVATE("size_share", size_share=Each([0.0, 1.5])),
    PRIVATE("epsilon", epsilon=2000.0),
    PRIVATE("failure", failure=1.0),
    PRIVATE("beta", beta=-1),
    PRIVATE("n", n=0),
    PRIVATE("does not exist", DataError),
    PRIVATE("", DataError, data=[[1]] * 76 + [[1, 2]]),
    refusing(Subset(n=9, epsilon=1.0).retrieval)("d"),
    OF_TABLE("label", column=None, label="who"),
    OF_TABLE("label", column=None, positive="yes"),
    OF_TABLE("column"),
    OF_TABLE("column", positive=Each([[], float("nan")])),
    LABELLED("another number of rows than", PublicClaimError, n=4),
    LABELLED("label", DataError, label="twice"),
    LABELLED("there is no column 'name'", ColumnError, label="name"),
    LABELLED("not by their status", data=SELECTED),
    LABELLED("different columns", label="result"),
    LABELLED("label", DataError, data=TABLE.with_columns(who=pl.lit(None))),
    OF_NAMES("every person", DataError, names=Each([["a", None, "c"], ["a", "", "c"]])),
    OF_NAMES("name each person once", DataError, names=["a", "a", "c"]),
    OF_NAMES("must hold names", DataError, names=[["a"], ["b"], ["c"]]),
    COMPARISON("a text in single quotes", text="ward = A"),
    COMPARISON("one of = !=", text="year !== 2024"),
    COMPARISON("once for each comparison", text="year = 2024 and ward = 'A'"),
    COMPARISON("a column, one of", text="year"),
    COMPARISON("where", text="year < 1e999"),
    COMPARISON("by = or !=", text="ok < true"),
    COMPARED("did you mean 'year'", ColumnError, text="yeer = 1"),
    COMPARED("with a value of its type", ColumnError, text=Each(MISMATCHED)),
]
