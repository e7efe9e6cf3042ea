from functools import partial

import numpy as np
import polars as pl
import pytest

import dpselect as dp
from dpselect.errors import ColumnError, DataError, DPSelectError, ParameterError
from dpselect.mechanisms import MECHANISMS
from dpselect.percentiles import (
    plan_percentile_record,
    plan_percentiles,
    release_percentile_record,
    release_percentiles,
)

TABLE = pl.DataFrame({"pay": [10, 20, 30, None], "who": ["ada", "bob", "cy", "di"]})
LABEL = {"p": 50, "upper": 100, "epsilon": 1.0}
VALUE = {
    "p": 50,
    "candidates": range(101),
    "epsilon": 1.0,
    "neighbours": dp.Neighbours.ADD_REMOVE,
}


class Purse:
    """A budget that lists its spends."""

    def __init__(self):
        self.spent = []
        self.neighbours = dp.Neighbours.ADD_REMOVE

    def spend(self, epsilon, *, neighbours, **_):
        self.spent.append((epsilon, neighbours))

    def remaining_after(self, *_, **__):
        """Allow everything."""


@pytest.mark.parametrize("name", MECHANISMS)
def test_every_mechanism_releases_by_its_short_name(name):
    row = release_percentile_record([1, 2, 3], **LABEL, mechanism=name)
    value = release_percentiles([1, 2, 3], **VALUE, mechanism=name)

    assert row.candidate in range(3)
    assert value.candidate in range(101)
    assert row.exact
    assert row.neighbours is dp.Neighbours.SUBSTITUTE
    assert value.neighbours is dp.Neighbours.ADD_REMOVE


def test_a_mechanism_can_be_a_function_of_epsilon():
    shifted = partial(dp.ShiftedLocalDampening, direction="non-increasing")
    release = release_percentile_record([1, 2], **LABEL, mechanism=shifted)

    assert "non-increasing" in release.mechanism
    assert release.epsilon == 1.0


def test_a_label_column_is_what_is_released(tmp_path):
    TABLE.write_parquet(tmp_path / "staff.parquet")
    TABLE.write_csv(tmp_path / "staff.csv")

    for data in (TABLE, TABLE.lazy(), tmp_path / "staff.parquet", str(tmp_path / "staff.csv")):
        release = release_percentile_record(data, column="pay", label_column="who", **LABEL)
        assert release.candidate in {"ada", "bob", "cy", "di"}


def test_a_large_epsilon_finds_the_percentile():
    values = np.arange(100.0)

    assert release_percentile_record(values, p=90, upper=100, epsilon=1e4).candidate == 90
    assert release_percentiles(values, **(VALUE | {"p": 90, "epsilon": 1e3})).candidate == 90.0


def test_the_budget_is_spent_once():
    purse = Purse()
    release_percentile_record(TABLE, column="pay", **LABEL, budget=purse)
    release_percentiles(TABLE, column="pay", **VALUE, budget=purse)

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
        ([1], {"p": "50"}, ParameterError, "p must be"),
        ([1], {"epsilon": "1"}, ParameterError, "epsilon must be"),
        ([1], {"on_invalid": "drop"}, ParameterError, "on_invalid must be"),
        ([1], {"epsilon": 0}, ParameterError, "epsilon must be"),
        ([1], {"mechanism": "median"}, ParameterError, "mechanism must be one of exponential"),
        ([1], {"mechanism": lambda epsilon: epsilon}, ParameterError, "must be a Mechanism"),
        ("no.parquet", {"column": "pay"}, DataError, "there is no file no.parquet"),
    ],
)
@pytest.mark.parametrize(
    ("release", "usual"),
    [(release_percentile_record, LABEL), (release_percentiles, VALUE)],
    ids=["label", "value"],
)
def test_bad_input_raises_before_anything_is_spent(
    release, usual, data, arguments, error, message
):
    purse = Purse()

    with pytest.raises(error, match=message):
        release(data, **(usual | arguments), budget=purse)
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
        release_percentile_record(TABLE, **(LABEL | arguments), budget=purse)
    assert purse.spent == []


def test_no_records_raise_before_anything_is_spent():
    purse = Purse()

    with pytest.raises(DataError, match="at least one record"):
        release_percentile_record([], **LABEL, budget=purse)
    assert purse.spent == []


SEVERAL = VALUE | {"p": [25, 50, 75], "epsilon": 3.0, "method": "one-by-one"}


def test_several_percentiles_are_released_in_order():
    release = release_percentiles(range(100), **(SEVERAL | {"epsilon": 3e3}))

    assert release.answer == (25.0, 50.0, 75.0)
    for _ in range(20):
        answer = release_percentiles([50] * 3, **(SEVERAL | {"epsilon": 1e-6})).answer
        assert list(answer) == sorted(answer)


def test_each_of_several_percentiles_costs_its_part():
    purse = Purse()
    release = release_percentiles(range(100), **SEVERAL, budget=purse)

    assert purse.spent == [(3.0, dp.Neighbours.ADD_REMOVE)]
    assert [spend.purpose for spend in release.plan.spends] == [
        "percentile 25",
        "percentile 50",
        "percentile 75",
    ]
    assert [spend.epsilon for spend in release.plan.spends] == [1.0] * 3
    assert "epsilon=1.0" in release.plan.mechanism


@pytest.mark.parametrize("p", [[], [50, 50], [75, 25], [[25], [50]], [0, 50]], ids=str)
def test_several_percentiles_are_distinct_and_increase(p):
    with pytest.raises(ParameterError, match="p must be"):
        plan_percentiles(**(VALUE | {"p": p}))


def test_a_release_carries_the_plan_of_the_same_arguments():
    row = release_percentile_record([1, 2, 3], **LABEL)
    values = release_percentiles([1, 2, 3], **SEVERAL)

    assert row.plan == plan_percentile_record(**LABEL, records=3)
    assert values.plan == plan_percentiles(**SEVERAL)
    assert row.asked["records"] == 3
    assert values.asked["p"] == (25.0, 50.0, 75.0)


def test_a_plan_states_the_public_facts_of_the_mechanism():
    assert "direction='non-decreasing'" in plan_percentile_record(**LABEL, records=3).mechanism
    anchored = plan_percentiles(**VALUE, mechanism="anchored")
    assert "anchor=0.0" in anchored.mechanism


def test_what_is_public_depends_on_the_relation():
    by_name = VALUE | {"neighbours": "substitute"}

    assert "the number of records" in plan_percentiles(**by_name).public
    assert "the number of records" not in plan_percentiles(**VALUE).public


def test_a_plan_for_no_records_is_refused():
    with pytest.raises(DataError, match="at least one record"):
        plan_percentile_record(**LABEL, records=0)


@pytest.mark.parametrize("p", [50, [10, 50, 90]], ids=str)
@pytest.mark.parametrize("name", ["exponential", "permute-and-flip", "noisy-max"])
def test_the_error_bound_holds_on_the_exact_law(name, p):
    values = np.arange(60.0)
    asked = VALUE | {"p": p, "epsilon": 9.0, "method": "one-by-one"}
    plan = plan_percentiles(**asked, mechanism=name)
    percents = p if isinstance(p, list) else [p]
    each = dp.mechanisms.by_name(name, 9.0 / len(percents))

    failure = 0.0
    for one in percents:
        objective = dp.percentiles.percentile_rank(
            values, p=one, candidates=range(101), form="signed",
            neighbours=dp.Neighbours.ADD_REMOVE,
        )  # fmt: skip
        far = objective.scores < objective.scores.max() - plan.error.value
        failure += each.probabilities(objective)[far].sum()

    assert plan.error.unit == "ranks"
    assert 0 <= failure <= 1 - plan.error.probability + 1e-12


def test_no_error_of_a_record_is_above_the_declared_end():
    nothing_said = plan_percentile_record(**LABEL, records=3).error
    assert (nothing_said.value, nothing_said.largest) == (float("inf"), 100)
    certain = LABEL | {"epsilon": 1e3, "mechanism": "local-dampening"}
    assert plan_percentile_record(**certain, records=3).error.value < 1


def test_the_horizon_reaches_the_sensitivity():
    plan = plan_percentile_record(**LABEL, records=3, horizon=4)

    assert plan.arguments["horizon"] == 4
    with pytest.raises(ParameterError, match="horizon must be at least 0"):
        release_percentile_record([1, 2], **LABEL, horizon=-1)
