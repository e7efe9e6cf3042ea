from functools import partial

import numpy as np
import polars as pl
import pytest

import dpselect as dp
from dpselect.errors import ColumnError, DataError, DPSelectError, ParameterError
from dpselect.percentiles import select_percentile, select_percentile_value

TABLE = pl.DataFrame({"pay": [10, 20, 30, None], "who": ["ada", "bob", "cy", "di"]})
LABEL = {"p": 50, "upper": 100, "epsilon": 1.0}
VALUE = {
    "p": 50,
    "candidates": range(101),
    "epsilon": 1.0,
    "neighbours": dp.Neighbours.ADD_REMOVE,
}
NAMES = [
    "exponential",
    "permute-and-flip",
    "noisy-max",
    "local-dampening",
    "shifted",
    "anchored",
    "pairwise",
    "generalized",
]


class Purse:
    """Counts what it is asked for."""

    def __init__(self):
        self.spent = []

    def spend(self, epsilon, *, neighbours, **_):
        self.spent.append((epsilon, neighbours))


@pytest.mark.parametrize("name", NAMES)
def test_every_mechanism_releases_by_its_short_name(name):
    row = select_percentile([1, 2, 3], **LABEL, mechanism=name)
    value = select_percentile_value([1, 2, 3], **VALUE, mechanism=name)

    assert row.candidate in range(3)
    assert value.candidate in range(101)
    assert row.exact
    assert row.neighbours is dp.Neighbours.SUBSTITUTE
    assert value.neighbours is dp.Neighbours.ADD_REMOVE


def test_a_mechanism_can_be_a_function_of_epsilon():
    shifted = partial(dp.ShiftedLocalDampening, direction="non-increasing")
    release = select_percentile([1, 2], **LABEL, mechanism=shifted)

    assert "non-increasing" in release.mechanism
    assert release.epsilon == 1.0


def test_a_label_column_is_what_is_released(tmp_path):
    TABLE.write_parquet(tmp_path / "staff.parquet")
    TABLE.write_csv(tmp_path / "staff.csv")

    for data in (TABLE, TABLE.lazy(), tmp_path / "staff.parquet", str(tmp_path / "staff.csv")):
        release = select_percentile(data, column="pay", label_column="who", **LABEL)
        assert release.candidate in {"ada", "bob", "cy", "di"}


def test_a_large_epsilon_finds_the_percentile():
    values = np.arange(100.0)

    assert select_percentile(values, p=90, upper=100, epsilon=1e4).candidate == 90
    assert (
        select_percentile_value(values, **(VALUE | {"p": 90, "epsilon": 1e3})).candidate == 90.0
    )


def test_the_budget_is_spent_once():
    purse = Purse()
    select_percentile(TABLE, column="pay", **LABEL, budget=purse)
    select_percentile_value(TABLE, column="pay", **VALUE, budget=purse)

    assert purse.spent == [(1.0, dp.Neighbours.SUBSTITUTE), (1.0, dp.Neighbours.ADD_REMOVE)]


@pytest.mark.parametrize(
    ("data", "arguments", "error", "message"),
    [
        (TABLE, {}, ColumnError, "name the column; the numeric columns are: pay"),
        (TABLE, {"column": "salary"}, ColumnError, "no column 'salary'"),
        (TABLE, {"column": "who"}, ColumnError, "'who' is of type String"),
        ([1], {"column": "pay"}, ParameterError, "column is for tables"),
        ([1], {"p": 0}, ParameterError, "p must be"),
        ([1], {"p": 101}, ParameterError, "p must be"),
        ([1], {"epsilon": 0}, ParameterError, "epsilon must be"),
        ([1], {"mechanism": "median"}, ParameterError, "mechanism must be one of exponential"),
        ([1], {"mechanism": lambda epsilon: epsilon}, ParameterError, "must be a Mechanism"),
        ("no.parquet", {"column": "pay"}, DataError, "there is no file no.parquet"),
    ],
)
@pytest.mark.parametrize(
    ("select", "usual"),
    [(select_percentile, LABEL), (select_percentile_value, VALUE)],
    ids=["label", "value"],
)
def test_bad_input_raises_before_anything_is_spent(
    select, usual, data, arguments, error, message
):
    purse = Purse()

    with pytest.raises(error, match=message):
        select(data, **(usual | arguments), budget=purse)
    assert purse.spent == []


@pytest.mark.parametrize(
    "arguments",
    [
        {"upper": 0, "column": "pay"},
        {"label_column": "who"},
        {"label_column": "nobody", "column": "pay"},
    ],
    ids=str,
)
def test_bad_label_arguments_raise_before_anything_is_spent(arguments):
    purse = Purse()

    with pytest.raises(DPSelectError):
        select_percentile(TABLE, **(LABEL | arguments), budget=purse)
    assert purse.spent == []


def test_no_records_raise_before_anything_is_spent():
    purse = Purse()

    with pytest.raises(DataError, match="at least one record"):
        select_percentile([], **LABEL, budget=purse)
    assert purse.spent == []
