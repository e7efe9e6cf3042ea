"""Refusals of percentiles."""

from datetime import date, timedelta
from math import inf, nan

import numpy as np
import polars as pl

import dpselect as dp
from dpselect.errors import ColumnError, DataError, NeighboursError
from dpselect.percentiles import percentile, percentile_rank
from dpselect.percentiles.candidates import Range
from support.refusals import Each, both, refusing, releasing


def rank_of(values, **asked):
    return percentile_rank(values, **asked)


AR = {"epsilon": 1.0, "neighbours": "add-remove"}
TABLE = pl.DataFrame({"pay": [10, 20, 30, None], "who": ["ada", "bob", "cy", "di"]})
ROWS_OF_GROUPS = pl.DataFrame(
    {"g": ["a"], "v": [None], "x": [1.5]}, schema_overrides={"v": pl.Int64}
)
NO_GROUP = ROWS_OF_GROUPS.with_columns(g=pl.lit(None, pl.String))
PERSONS = pl.DataFrame(
    {"who": ["a"], "v": [None], "weight": [0.5]}, schema_overrides={"v": pl.Float64}
)
DAY = timedelta(days=1)
IN = [date(2023, 12, 20)]
FLOATS = pl.DataFrame({"v": [1.0], "g": ["a"]}, schema_overrides={"v": pl.Float32})
LAZY, ONES = FLOATS.lazy(), np.ones(3, dtype=np.float32)

VALUE = releasing(dp.Percentiles, data=[1], p=50, candidates=range(101), **AR)
LABEL = releasing(dp.PercentileRecord, data=[1], p=50, upper=100, epsilon=1.0)
EITHER = both(VALUE, LABEL)
LABELS = releasing(dp.PercentileRecord, data=TABLE, column="pay", p=50, upper=100, epsilon=1.0)
RANGE = releasing(dp.Percentiles, p=50, upper=3, step=1e-6, **AR)
GROUPED = releasing(
    dp.Percentiles, data=ROWS_OF_GROUPS, column="v", by="g", p=60, candidates=(0, 1),
    **AR,
)  # fmt: skip
OF_PERSONS = releasing(
    dp.Percentiles, data=PERSONS, column="v", user="who", max_per_user=2, p=50,
    candidates=range(3), **AR,
)  # fmt: skip
INTERVAL = releasing(dp.Percentiles, p=50, upper=20, step=1, interval=0.95, **AR)
UNITS = releasing(dp.Percentiles, p=[50, 90], **AR)
SHORT = releasing(dp.Percentiles, data=FLOATS, column="v", p=50, **AR)
RECORDS = refusing(percentile, values=[1, 2, 3], p=50, upper=10)
RANK = refusing(rank_of, values=[1], p=50, candidates=[1], neighbours="add-remove")
ONLY_RANGE = refusing(Range, 0, 1)

ROWS = [
    EITHER("name the column", ColumnError, data=TABLE),
    EITHER("no column 'salary'", ColumnError, data=TABLE, column="salary"),
    EITHER("'who' is of type String", ColumnError, data=TABLE, column="who"),
    EITHER("data must be a frame", DataError, column="pay"),
    EITHER("p", p=Each([0, 101, "50", 0.9])),
    VALUE("give 90 for the share 0.9", p=0.9),
    EITHER("epsilon", epsilon=Each(["1", 0])),
    EITHER("on_invalid", on_invalid="drop"),
    LABEL("mechanism", mechanism="median"),
    LABEL("must be a Mechanism", mechanism=lambda epsilon: epsilon),
    EITHER("there is no file no.parquet", DataError, data="no.parquet", column="pay"),
    LABELS("upper", upper=0),
    LABELS("column", column=None, label="who"),
    LABELS("no column 'nobody'", ColumnError, label="nobody"),
    LABEL("there must be at least", DataError, data=[]),
    VALUE("p", p=Each([[], [50, 50], [75, 25], [[25], [50]], [0, 50], [0.5, 0.9]])),
    VALUE("candidates", step=1),
    VALUE("step", candidates=None),
    VALUE("step", candidates=None, upper=60, step=61),
    LABEL("horizon", horizon=-1),
    VALUE("epsilon is too small", epsilon=1e-300),
    VALUE("assumed_records", assumed_records=0),
    GROUPED("groups", groups=["a"], by=None),
    GROUPED("other", other=True, by=None),
    GROUPED("delta", delta=0.1, by=None),
    GROUPED("other", groups=["a"], other=True),
    GROUPED("delta", groups=["a"], delta=0.1),
    GROUPED("groups", groups=Each([["a", "a"], []])),
    GROUPED("delta"),
    GROUPED("groups_share", delta=0.1, groups_share=1),
    GROUPED("column", groups=["a"], column=None),
    GROUPED("must be different columns", groups=["a"], by="v"),
    GROUPED("must be different columns", groups=["a"], user="g", max_per_user=1),
    GROUPED("the column holds integer values", groups=["a"], by="v", column="x"),
    GROUPED("no column 'ward'", ColumnError, groups=["a"], by="ward"),
    GROUPED("is of type Float64", ColumnError, groups=["a"], by="x"),
    GROUPED("a value is missing", DataError, groups=["a"], on_invalid="raise"),
    GROUPED("a value is", DataError, data=NO_GROUP, delta=0.1, other=True, on_invalid="raise"),
    INTERVAL("interval_share", interval_share=Each([0, 1, -1])),
    INTERVAL("interval_share", interval=None, interval_share=0.5),
    INTERVAL("interval", interval=Each([1.0, 1 - 1e-8, 0.0, 95])),
    OF_PERSONS("go together", user=None),
    OF_PERSONS("max_per_user", max_per_user=0),
    OF_PERSONS("user", column=None),
    OF_PERSONS("must be different columns", user="v"),
    OF_PERSONS("no column 'nobody'", ColumnError, user="nobody"),
    OF_PERSONS("users must be text", ColumnError, user="weight"),
    OF_PERSONS("a value is missing", DataError, on_invalid="raise"),
    UNITS("lower", lower=date(2024, 1, 1), upper=Each([60, date(2024, 2, 1)]), step=1),
    UNITS("step", lower=date(2024, 1, 1), upper=date(2024, 2, 1), step=timedelta(hours=1)),
    UNITS("lower", upper=date(2024, 2, 1), step=DAY),
    UNITS("lower", lower=date(2024, 1, 1), step=DAY),
    UNITS("step", upper=60, step=DAY),
    UNITS("such as timedelta(days=1)", upper=Each([60, DAY]), step="1d"),
    UNITS("lower", step=DAY),
    UNITS("minus", column="in", minus="out", lower=IN[0], upper=IN[0] + DAY, step=DAY),
    UNITS("", DataError, data=np.arange(3), lower=IN[0], upper=IN[0] + 9 * DAY, step=DAY),
    SHORT("'v' is of float32", ColumnError, upper=2**25, step=1),
    SHORT("'v' is of", ColumnError, candidates=[2**24, 2**24 + 1], by="g", groups=["a"]),
    SHORT("'v' is of float32", ColumnError, data=LAZY, upper=2**25, step=1, by="g", delta=1e-6),
    SHORT("values are of float32", DataError, data=ONES, column=None, upper=2**25, step=1),
    RANGE("at least one record", DataError, data=[], neighbours="substitute"),
    RANGE("a value is missing", DataError, data=[nan], on_invalid="raise"),
    VALUE("epsilon", p=99, epsilon=1e-15),
    VALUE("epsilon", p=99, epsilon=1e-15, neighbours="substitute"),
    RECORDS("p", p=Each([0, -5, 100.1, nan, "50"])),
    RECORDS("missing_as", missing_as=10.5),
    RECORDS("upper", upper=Each([0, inf])),
    RECORDS("horizon", horizon=-1),
    RECORDS("labels", labels=["one"]),
    RECORDS("on_invalid", on_invalid="drop"),
    RECORDS("at least one record", DataError, values=[]),
    RECORDS("must be numbers", DataError, values=np.array(["secret"])),
    RECORDS("not of 2 dimensions", DataError, values=np.array([[1, 2]])),
    RECORDS(
        "must hold numbers or text", DataError, values=np.array(["2020-01-01"], dtype="M8[D]")
    ),
    RECORDS("name the column", DataError, values="stays.xls"),
    RECORDS("must be a frame", DataError, values={"secret": 1}),
    RECORDS("of type text", DataError, values=pl.Series(["secret"])),
    RANK("form", form="smooth"),
    RANK("candidates", candidates=Each([[], [nan], [inf, 1], [[1, 2]], ["a"], [2**53 + 1]])),
    RANK("neighbours", NeighboursError, neighbours=Each([dp.Neighbours.EDGE, None, "nobody"])),
    RANK("a value is missing", DataError, values=[nan], on_invalid="raise"),
    RANK("at least one record", DataError, values=[], neighbours="substitute"),
    refusing(Range, 1e12, 1e12 + 1)("are further", step=1e-4),
    refusing(Range, 1, 1)("upper", step=0.1),
    refusing(Range, 0, nan)("upper", step=1),
    ONLY_RANGE("step", step=0),
    ONLY_RANGE("more than", step=1e-16),
]
