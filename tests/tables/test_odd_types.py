"""Values that a container holds and Python does not: each is missing, and no other changes."""

from datetime import datetime, timedelta

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

import dpselect as dp
import dpselect_pooling as pooling
from dpselect.errors import ColumnError
from dpselect.tables import values
from dpselect.trees import ID3Classifier
from dpselect.tuning import PrivateSearchCV
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


def test_each_value_that_python_does_not_have_is_missing():
    import narwhals as nw

    days = nw.from_native(pl.Series([10**8, 0, None]).cast(pl.Date), series_only=True)

    assert [str(one) for one in values.listed(days)] == ["None", "1970-01-01", "None"]


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


def test_a_search_reads_categories_of_arrow():
    rows = {"f": ["a", "b", None] * 20, "y": ["u", "v", "u"] * 20}
    coded = {name: pa.array(column).dictionary_encode() for name, column in rows.items()}
    public = {"domains": {"f": ["a", "b"]}, "classes": ["u", "v"], "max_records": 99}
    tree = ID3Classifier(1.0, **public, neighbours="add-remove")
    asked = {"epsilon": 50.0, "method": "all", "random_state": 1}
    search = PrivateSearchCV(tree, {"max_depth": [0, 1]}, **asked)
    with observed() as seen:
        search.fit(pa.table({"f": coded["f"]}), coded["y"])

    assert seen.error is None
    assert search.best_params_ == {"max_depth": 1}


@pytest.mark.parametrize("lazy", [False, True])
def test_persons_of_128_bits_are_counted_and_larger_ones_are_missing(lazy):
    who = [*range(300), 2**100, None]
    made = pl.DataFrame({"f": [3.0] * 300 + [9.0] * 2, "y": pl.Series(who, dtype=pl.Int128)})
    asked = {"candidates": range(10), "user": "y", "max_per_user": 1, **AR}
    query = dp.Percentiles(column="f", p=50, **asked)

    assert query.release(made.lazy() if lazy else made).answer == (3,)
    assert dp.HeavyCells(
        x="f", y="f", bounds=(0, 0, 10, 10), grid=2, k=1, user="y", max_per_user=1, **AR
    ).release(made.lazy() if lazy else made)


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


def test_times_of_arrow_that_no_clock_shows_are_refused_by_type():
    """Python has no hour 400: whether there is one decides nothing."""
    query = dp.Percentiles(
        p=50, lower=datetime(2020, 1, 1), upper=datetime(2020, 1, 9),  # noqa: DTZ001 -- local
        step=timedelta(days=1), **AR,
    )  # fmt: skip
    for hours in ([1], [1, 400]):
        times = pa.array([3_600_000_000 * one for one in hours]).cast(pa.time64("us"))
        with pytest.raises(ColumnError, match="is of type Time"):
            query.release(times)


def test_outcomes_that_python_does_not_have_are_no_outcomes():
    query = pooling.PooledOutcomes(matrix=np.eye(2), flip=0.1, neighbours="substitute")
    for days in ([0, 0], [0, 10**8]):
        with pytest.raises(ColumnError, match="is of type Date"):
            query.release(pl.Series(days).cast(pl.Date))
