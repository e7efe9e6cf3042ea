"""Refusals of keys."""

import numpy as np
import polars as pl

import dpselect as dp
from dpselect.errors import ColumnError, DataError, NeighboursError
from dpselect.keys.rows import KeyRows
from dpselect.tables.people import PeopleCap
from support.refusals import Each, refusing, releasing

AR = {"epsilon": 1.0, "neighbours": "add-remove"}
PERSONS = {"user": "who", "max_per_user": 2}
WARDS = pl.DataFrame({"ward": ["east"]})
ROWS_OF_WORDS = pl.DataFrame({"person": [1], "x": [0.5], "word": ["a"], "code": [1]})


def counted(columns, data=ROWS_OF_WORDS, **asked):
    cap = PeopleCap("person", 2) if columns else None
    KeyRows(columns=columns, cap=cap, **asked).read(data)


TOP = releasing(dp.TopKeys, data=["apple"], k=1, **AR)
OF_CODES = releasing(dp.TopKeys, data=ROWS_OF_WORDS, column="code", k=1, **AR)
KEYS = releasing(dp.Keys, data=["apple"], delta=1e-6, **AR)
GROUPED = releasing(dp.Keys, column="k", by="g", delta=0.1, **AR)
TOPS = releasing(dp.TopKeys, column="k", by="g", k=1, **AR)
COUNTED = refusing(counted)

ROWS = [
    TOP("delta"),
    TOP("delta", delta=1.0),
    TOP("delta", delta=1e-6, candidates=["apple"], mechanism="exponential"),
    TOP("k", candidates=["apple"], above=2),
    TOP("above", delta=1e-6, k=None, above=2),
    TOP("above", delta=1e-6, above=0.0),
    TOP("candidates", delta=1e-6, k=None),
    TOP("above", candidates=["a"], k=None, above=2, mechanism="exponential"),
    TOP("k", candidates=["apple"], k=2),
    OF_CODES("64 bits", candidates=Each([[2**64], [-(2**63) - 1]])),
    TOP("candidates", candidates=Each([["apple", "apple"], []])),
    TOP("mechanism", delta=1e-6, mechanism="exponential"),
    TOP("anchor", candidates=["apple"], mechanism="anchored"),
    TOP("counts_share", candidates=["apple"], counts_share=1.0),
    TOP("missing_keys", delta=1e-6, missing_keys="keep"),
    TOP("user", delta=1e-6, user="who"),
    TOP("below one over the assumed people, 0.001", delta=1e-3, assumed_people=1000),
    TOP("groups", delta=1e-6, groups=["a"]),
    TOP("delta", candidates=["a"], column="c", by="g"),
    TOP("counts_share", delta=1e-6, counts_share=0.1),
    TOP("groups_share", candidates=["a"], groups_share=0.1),
    TOP("groups_share", delta=1e-6, column="c", by="g", groups_share=1, candidates=["a"]),
    TOP("column", delta=1e-6, user="who", max_per_user=1),
    TOP("several different ones", delta=1e-6, column=["a", "a"]),
    TOP("epsilon", delta=1e-6, epsilon=0),
    KEYS("method", method="best"),
    KEYS("neighbours", NeighboursError, neighbours="edge"),
    KEYS("there is no column 'who'", ColumnError, data=WARDS, column="ward", **PERSONS),
    KEYS("delta is too small", delta=1e-40, method="optimal"),
    KEYS("min_people", method="rounds", min_people=2, neighbours="substitute"),
    GROUPED("other_share", other_share=0.5),
    GROUPED("other_share", other=True, other_share=1.0),
    GROUPED("other", other=True, missing_keys="key"),
    GROUPED("method", other=True, method="optimal"),
    GROUPED("'rounds' has no groups", method="rounds", **PERSONS),
    GROUPED("groups", groups=[]),
    GROUPED("must be 2 values", by=["g", "h"], groups=["east"]),
    GROUPED("must be one value, no tuple", by=["g"], groups=[("east",)]),
    GROUPED("list the values of each column", by=["g", "h"], groups={"g": ["east"]}),
    GROUPED("by", by=Each([["g", "g"], [], 7])),
    GROUPED("groups", groups=["A", "A"]),
    TOPS("counts_share", other=True, candidates=[1], groups=[1], mechanism="permute-and-flip"),
    COUNTED("'x' is of type Float64: keys and users must be", ColumnError, columns=("x",)),
    COUNTED("there is no column 'nothing'", ColumnError, columns=("nothing",)),
    COUNTED("data is a table", ColumnError, columns=()),
    COUNTED("a candidate is a str, and the column holds", columns=("code",), candidates=("1",)),
    COUNTED("must be 2 values", columns=("code", "word"), candidates=(1,)),
    COUNTED("keys and users must be", DataError, columns=(), data=np.zeros(3)),
    COUNTED("data must be a table, or", DataError, columns=(), data=7),
    TOP("missing_keys", column="k", candidates=["x", None]),
    TOP("missing_keys", column="k", groups=[None], by="g", delta=0.1),
    TOP("missing_keys", column=["g", "k"], candidates=[("east", None)]),
]
