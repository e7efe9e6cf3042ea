"""Kinds of values: one value decides nothing about another, and none ends a release."""

import warnings
from datetime import date, datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest

import dpselect as dp
from dpselect.errors import ParameterError
from dpselect.tables import numeric_column
from dpselect.tables.kinds import Kind

SURROGATE = "\ud800"


class Unprintable:
    def __str__(self):
        raise RuntimeError("secret")


class Incomparable:
    def __eq__(self, other):
        raise RuntimeError("secret")

    __hash__ = None

    def __str__(self):
        return "a"


class Warns:
    def __str__(self):
        warnings.warn("secret", stacklevel=1)
        return "a"


ODD = {
    "lone surrogate": SURROGATE,
    "digits": 10**5000,
    "unprintable": Unprintable(),
    "incomparable": Incomparable(),
    "warns": Warns(),
    "none": None,
    "nan": float("nan"),
    "NA": pd.NA,
    "NaT": pd.NaT,
    "signalling": Decimal("sNaN"),
    "bytes": b"\xff",
    "array": np.arange(3),
    "list": [SURROGATE],
    "datetime": datetime(1, 1, 1),  # noqa: DTZ001
    "class": object,
    "zero": "a\0",
}
every_odd = pytest.mark.parametrize("odd", ODD.values(), ids=ODD)


def objects(values):
    held = np.empty(len(values), dtype=object)
    held[:] = values
    return held


CONTAINERS = {
    "list": list,
    "tuple": tuple,
    "array": objects,
    "series": lambda values: pd.Series(objects(values), dtype=object),
    "polars": lambda values: pl.Series(values, dtype=pl.Object),
}
every_container = pytest.mark.parametrize("container", CONTAINERS.values(), ids=CONTAINERS)


def keys(data, **asked):
    """Return the release of everything that has a key; surely, with so much epsilon."""
    sure = {"epsilon": 2000.0, "delta": 1e-9, "neighbours": "add-remove"}
    return dp.Keys(**sure, **asked).release(data)


@every_odd
@every_container
def test_no_value_ends_a_release_of_keys(container, odd):
    assert set(keys(container(["b"] * 60 + [odd])).answer) >= {"b"}
    assert set(keys(container([odd] + ["b"] * 60)).answer) >= {"b"}


@every_odd
@pytest.mark.parametrize("column", ["key", "user", "group"])
def test_no_value_of_a_column_of_objects_ends_a_release(column, odd):
    columns = {name: ["b"] * 60 for name in ("key", "group")}
    columns["user"] = [f"u{place}" for place in range(60)]
    frame = pd.DataFrame({n: objects([*held, held[0]]) for n, held in columns.items()})
    frame[column] = pd.Series(objects([*columns[column], odd]), dtype=object)
    people = {"user": "user", "max_per_user": 1}
    known = dp.TopKeys(
        column="key", k=1, candidates=["b", "c"], by="group", groups=["b"], **people,
        epsilon=2000.0, neighbours="add-remove",
    )  # fmt: skip

    assert keys(frame, column="key", **people).answer == ("b",) or column == "key"
    assert known.release(frame).to_dict()["answer"] is not None


def test_values_that_do_not_code_are_no_key():
    """All are missing: sixty of a kind would be a key."""
    for odd in (SURROGATE, 10**5000, Unprintable()):
        assert keys(["b"] * 60 + [odd] * 60).answer == ("b",)


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


def test_numbers_in_lists_are_those_of_text_files():
    found = numeric_column(["1_000", "\u0661", "1e3", " 7 ", "x"])

    np.testing.assert_array_equal(found, [np.nan, np.nan, 1000, 7, np.nan])
