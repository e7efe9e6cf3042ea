"""What identifies a record of a search: its own digits, and nothing of any other one."""

from datetime import datetime
from decimal import Decimal
from types import NoneType

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given

from dpselect_applications.tuning.train_validation import Records, plain
from support.odd_records import ODDEST, examples, held_by, odd_tables

LARGE = 2**53 + 1
CONTAINERS = ("rows", "tuples", "objects", "pandas objects", "array", "polars", "pandas",
              "pyarrow")  # fmt: skip


def read(odd, data):
    """Return the records of a table whose labels are a list: all values and themselves."""
    labels = [*range(len(odd.rows))]
    if len(data) > len(labels):
        labels.insert(odd.place, odd.odd[0] if type(odd.odd) is tuple and odd.odd else None)
    return Records.read(data, labels, 2)


@given(
    odd_tables(
        ("x0", "x1"),
        ("integer", "text"),
        ("number", "unsigned"),
        ("text", "number"),
        containers=CONTAINERS,
    )
)
@examples
def test_no_record_is_identified_otherwise_because_of_another(odd):
    here, there = read(odd, odd.without()), read(odd, odd.with_it())
    rest = [one for place, one in enumerate(there.identities) if place != odd.place]

    assert rest == here.identities
    assert [*there.labels[: odd.place], *there.labels[odd.place + 1 :]] == here.labels


def identities(x, y=None, fields=0):
    return Records.read(x, [0] * len(x) if y is None else y, fields).identities


WIDE = np.zeros((2, 2000))
WIDE[1, 1000] = 1.0
DIFFERENT = {
    "wide": WIDE,
    "tenth digit": np.array([[0.1], [0.1 + 1e-12]]),
    "large integers": [[LARGE], [LARGE - 1]],
    "types": [[1], [1.0], [True], ["1"], [b"1"], [None]],
    "zeros": np.array([[0.0], [-0.0]]),
    "texts": np.array([["ab", "c"], ["a", "bc"]]),
    "null and NaN": pl.DataFrame({"x0": [None, float("nan"), 0.0]}),
    "null and zero": pd.DataFrame({"x0": pd.array([None, 0], dtype="Int64")}),
    "decimals": pa.table({"x0": pa.array([1, 2], pa.int64()).cast(pa.decimal128(38, 0))}),
    "categories": pd.DataFrame({"x0": pd.Categorical([LARGE, float(LARGE), "a"])}),
}


@pytest.mark.parametrize("table", DIFFERENT.values(), ids=DIFFERENT)
def test_different_records_are_different(table):
    found = identities(table, fields=1)

    assert len(set(found)) == len(found) > 1


def test_a_longer_text_in_an_array_changes_no_other_record():
    long, short = (identities(np.array([[first], ["b"]])) for first in ("a long text", "a"))

    assert long[1] == short[1]


def test_candidates_see_what_identifies_a_record_and_nothing_else():
    """A value that is no number, text or date has no bytes of its own, so it is missing."""
    for value in ODDEST:
        found = plain(value)
        assert found is None or found == value
        assert isinstance(found, NoneType | int | float | bytes | Decimal | str | datetime)
    held = Records.read([["a", object()], [1j, (1, 2)]], [object(), pd.NA], 2)

    assert held.x.tolist() == [["a", None], [None, None]]
    assert held.labels == held.y == [None, None]
    for container in ("pandas objects", "objects"):
        table = held_by(container, ("x0",), ("text",), [(object(),), ("a",)])
        values = Records.read(table, ["n", "y"]).x
        assert np.asarray(values).ravel().tolist() == [None, "a"]


def test_labels_keep_their_digits_beside_a_missing_one():
    for labels in (
        pd.DataFrame({"y": pd.array([LARGE, None], dtype="Int64")}),
        pl.DataFrame({"y": [LARGE, None]}),
        pl.Series([LARGE, None]),
        [LARGE, None],
        [LARGE, pd.NA],
    ):
        assert Records.read(np.zeros((2, 1)), labels).labels == [LARGE, None]
