"""Refusals of subsets, levels, series and variants, and of rows that comparisons select."""

from math import inf

import pandas as pd
import polars as pl

import dpselect as dp
from dpselect.errors import ColumnError, DataError, PublicClaimError
from dpselect.subsets import Statuses, Subset
from dpselect.tables import open_table
from dpselect.tables.where import Comparison, filtered
from dpselect_applications.levels import path_tree, prefix_tree
from dpselect_applications.variants import genotype_counts
from support.refusals import Each, refusing, releasing

AR = {"epsilon": 1.0, "neighbours": "add-remove"}
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
PAIR = {"a": "x", "b": "x"}
PERSON = {"user": "p", "max_per_user": 1}


def retrieved(subset=(1, 2, 3, 4), **changed):
    asked = {"n": 10, "d": 4, "beta": 2, "epsilon": 1.0, "scheme": "optimal", **changed}
    Subset(**asked).release(subset)


def of_names(names):
    table = pd.DataFrame({"who": pd.Series(names, dtype=object), "result": [1, 0, 0]})
    dp.Subset(n=3, positive=1, label="who", column="result", epsilon=200.0).release(table)


def compared(text):
    filtered(open_table(pl.LazyFrame(schema=TYPES)), [Comparison.read(text)])


RETRIEVED = refusing(retrieved)
PRIVATE = releasing(Subset, data=[77], n=9, beta=1, scheme="optimal", epsilon=1.0, delta=0.5)
STATUSES = releasing(Statuses, data=[77], n=9, epsilon=2.0)
OF_TABLE = releasing(dp.Subset, data=TABLE, n=5, epsilon=1.0, column="result")
LABELLED = releasing(
    dp.Subset, data=TABLE, n=5, positive=1, epsilon=1.0, column="result", label="who"
)
OF_NAMES = refusing(of_names)
LEVELS = releasing(
    dp.Levels, data=pl.DataFrame({"code": ["a"]}), column="code", tree=PAIR, **AR
)
SERIES = releasing(
    dp.Series, data=pl.DataFrame({"code": ["a"]}), column="code", period="month",
    periods=[1, 2, 3], k=1, candidates=["a", "b"], epsilon=2.0, neighbours="add-remove",
)  # fmt: skip
VARIANTS = releasing(
    dp.TopVariants, data=[[1, 0, 1, 0]], variants=1, cases=5, controls=5, significance=0.1, k=1,
    epsilon=1.0,
)  # fmt: skip
COMPARISON = refusing(Comparison.read)
COMPARED = refusing(compared)
PREFIXES = refusing(prefix_tree, ["ABC"])

ROWS = [
    RETRIEVED("d", d=Each([11, -1])),
    RETRIEVED("n", n=0),
    RETRIEVED("beta", beta=Each([-1, 5, 1.5])),
    RETRIEVED("beta", beta=11, scheme="union"),
    RETRIEVED("epsilon", epsilon=Each([-0.1, float("nan")])),
    RETRIEVED("failure", failure=1.0),
    RETRIEVED("scheme", failure=0.1, scheme=Each(["ball", "pure"])),
    RETRIEVED("scheme", beta=None),
    RETRIEVED("delta", delta=0.5),
    RETRIEVED("delta", d=None),
    RETRIEVED("scheme", d=None, scheme="ball"),
    RETRIEVED("scheme", scheme="sphere"),
    RETRIEVED("does not exist", DataError, subset=Each([[1, 2, 77], [1, 2, -1]])),
    RETRIEVED("person twice", DataError, subset=[1, 2, 2]),
    RETRIEVED("people: integers", DataError, subset=Each([[1, 2, 3.5], ["a", "b", "c"]])),
    RETRIEVED("an integer", DataError, subset=Each([[[1], [2, 3], 4], 7])),
    RETRIEVED("not as many members as", PublicClaimError, subset=[1, 2]),
    PRIVATE("delta", delta=1.0),
    PRIVATE("size_share", size_share=Each([0.0, 1.5])),
    PRIVATE("epsilon", epsilon=2000.0),
    PRIVATE("failure", failure=1.0),
    PRIVATE("beta", beta=-1),
    PRIVATE("n", n=0),
    PRIVATE("does not exist", DataError),
    STATUSES("does not exist", DataError),
    refusing(Subset(n=9, beta=1, scheme="optimal", epsilon=1.0, delta=0.5).distribution)("d"),
    OF_TABLE("label", column=None, label="who"),
    OF_TABLE("label", column=None, positive="yes"),
    OF_TABLE("column"),
    OF_TABLE("column", positive=Each([[], float("nan")])),
    LABELLED("another number of rows than", PublicClaimError, n=4),
    LABELLED("label", DataError, label="twice"),
    LABELLED("there is no column 'name'", ColumnError, label="name"),
    LABELLED("not by their status", data=SELECTED),
    LABELLED("label", DataError, data=TABLE.with_columns(who=pl.lit(None))),
    OF_NAMES(
        "must name every person", DataError, names=Each([["a", None, "c"], ["a", "", "c"]])
    ),
    OF_NAMES("must name every person", DataError, names=["a", pd.NA, "c"]),
    OF_NAMES("name each person once", DataError, names=["a", "a", "c"]),
    OF_NAMES("must hold names", DataError, names=[["a"], ["b"], ["c"]]),
    LEVELS(
        "tree", tree=Each([{}, {"a": "x"}, {"a": "b", "b": "a", "c": "x", "d": "x"}, ["a"]])
    ),
    LEVELS("tree", tree=Each([{"a": "a", "b": "a"}, {"a": "x", "b": "x", "c": "(all)"}, None])),
    LEVELS("tree", tree={"a": "x", "b": None}),
    LEVELS("tuning_share", tuning_share=Each([0, 1, None])),
    LEVELS("epsilon", epsilon=Each([0, inf, 1e-13])),
    LEVELS("inner", inner="all"),
    LEVELS("column", column=Each([3, ["a", "b"]])),
    LEVELS("column 'a' cannot be a", column="a", user="a", max_per_user=1),
    LEVELS("user", column="a", user="p"),
    LEVELS("there is no column 'p'", ColumnError, user="p", max_per_user=1),
    LEVELS("no column 'code'", ColumnError, data=pl.DataFrame({"other": ["a"]})),
    LEVELS("is of type Float64", ColumnError, data=pl.DataFrame({"code": [1.5]})),
    LEVELS("there is no file", DataError, data="nowhere.csv"),
    LEVELS("holds integer", data=pl.DataFrame({"code": [1]})),
    LEVELS("one value of a", data=pl.DataFrame({"code": [1]}), tree={"01": "x", "1": "x"}),
    refusing(path_tree, [("x", "a"), ("y", "a")])("two parents"),
    PREFIXES("lengths", lengths=Each([[], [0], [3, 1], [1, 1]])),
    SERIES("periods", periods=Each([[], [1, 1]])),
    SERIES("k", k=Each([3, 0])),
    SERIES("candidates", candidates=[]),
    SERIES("user", user="person"),
    SERIES("cannot be a part of the key", period="code"),
    SERIES("epsilon", epsilon=1e-16),
    SERIES("delta", delta=-1.0),
    SERIES("no column 'month'", ColumnError),
    VARIANTS("significance", significance=Each([1.0, 5e-324])),
    VARIANTS("cases", cases=0),
    VARIANTS("four columns", counts=("a", "b")),
    VARIANTS("1 rows", PublicClaimError, variants=2),
    VARIANTS("of shape", DataError, data=[[1, 2, 3]]),
    refusing(genotype_counts, [[0, 1]])("variants), is_case", DataError, is_case=[1]),
    COMPARISON("did you mean year = 2024", text="year == 2024"),
    COMPARISON("did you mean ward = 'A'", text="ward = A"),
    COMPARISON("did you mean home ward = 'A B'", text='home ward = "A B"'),
    COMPARISON("once for each comparison", text="year = 2024 and ward = 'A'"),
    COMPARISON("a column, one of", text="year"),
    COMPARISON("where", text="year < 1e999"),
    COMPARISON("by = or !=", text="ok < true"),
    COMPARED("did you mean 'year'", ColumnError, text="yeer = 1"),
    COMPARED("of type Int64, with a number", ColumnError, text="year = '2024'"),
    COMPARED("of type String, with a text in quotes", ColumnError, text="ward = 1"),
    COMPARED("a day such as", ColumnError, text="day > '2024-1-1'"),
    COMPARED("a time such as", ColumnError, text="time > '31.1.2024'"),
    COMPARED("a time such as", ColumnError, text="time > '2024-01-01T12:00Z'"),
    COMPARED("time such as '2024-01-31T12:00Z'", ColumnError, text="there > '2024-01-01'"),
    COMPARED("with a time such as", ColumnError, text="time > 3"),
]
