from dataclasses import replace
from functools import partial

import numpy as np
import polars as pl
import pytest

import dpselect as dp
from dpselect.errors import (
    ColumnError,
    DataError,
    DPSelectError,
    ParameterError,
    PublicClaimError,
)
from dpselect.mechanisms import MECHANISMS

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

    def __init__(self, neighbours=dp.Neighbours.ADD_REMOVE):
        self.spent = []
        self.neighbours = neighbours

    def reserve(self, spends):
        return lambda: self.recorded(spends)

    def recorded(self, spends):
        self.spent += [(one["epsilon"], one["neighbours"]) for one in spends]
        return spends

    def remaining_after_all(self, _spends):
        """Allow everything."""

    def answered(self, _question):
        """Know no answer."""


@pytest.mark.parametrize("name", MECHANISMS)
def test_every_mechanism_releases_by_its_short_name(name):
    row = dp.PercentileRecord(**LABEL, mechanism=name).release([1, 2, 3])
    value = dp.Percentiles(**VALUE, mechanism=name).release([1, 2, 3])

    assert row.candidate in range(3)
    assert value.candidate in range(101)
    assert row.exact
    assert row.neighbours is dp.Neighbours.SUBSTITUTE
    assert value.neighbours is dp.Neighbours.ADD_REMOVE


def test_a_mechanism_can_be_a_function_of_epsilon():
    shifted = partial(dp.ShiftedLocalDampening, direction="non-increasing")
    release = dp.PercentileRecord(**LABEL, mechanism=shifted).release([1, 2])

    assert "non-increasing" in release.mechanism
    assert release.epsilon == 1.0


def test_a_label_column_is_what_is_released(tmp_path):
    TABLE.write_parquet(tmp_path / "staff.parquet")
    TABLE.write_csv(tmp_path / "staff.csv")

    for data in (TABLE, TABLE.lazy(), tmp_path / "staff.parquet", str(tmp_path / "staff.csv")):
        release = dp.PercentileRecord(column="pay", label="who", **LABEL).release(data)
        assert release.candidate in {"ada", "bob", "cy", "di"}


def test_a_large_epsilon_finds_the_percentile():
    values = np.arange(100.0)

    assert dp.PercentileRecord(p=90, upper=100, epsilon=1e4).release(values).candidate == 90
    assert dp.Percentiles(**VALUE | {"p": 90, "epsilon": 1e3}).release(values).candidate == 89.0


@pytest.mark.parametrize("p", [1, 25, 50, 90, 100])
@pytest.mark.parametrize(
    "values", [[7], [3, 4, 5], [0, 0, 1], [2, 30, 30, 90], list(range(11))], ids=str
)
def test_the_percentile_is_that_of_numpy(values, p):
    """By rank to the nearest candidate, else to the nearest record."""
    low, high = (np.percentile(values, p, method=way) for way in ("lower", "higher"))
    off = np.percentile(np.arange(len(values)), p) % 1

    def found(method):
        query = dp.Percentiles(**VALUE | {"p": p, "epsilon": 1e4, "method": method})
        return query.release(values).candidate

    assert abs(found("one-by-one") - np.percentile(values, p)) <= 0.5
    for method in ("above-threshold", "recursive"):
        answer = found(method)
        assert low <= answer <= high
        assert off == 0.5 or answer == (low if off < 0.5 else high)


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
    ("query", "usual"),
    [(dp.PercentileRecord, LABEL), (dp.Percentiles, VALUE)],
    ids=["label", "value"],
)
def test_bad_input_raises_before_anything_is_spent(
    query, usual, data, arguments, error, message
):
    purse = Purse(query(**usual).plan.neighbours)

    with pytest.raises(error, match=message):
        query(**usual | arguments).release(data, budget=purse)
    assert purse.spent == []


@pytest.mark.parametrize(
    "arguments",
    [
        {"upper": 0, "column": "pay"},
        {"label": "who"},
        {"label": "nobody", "column": "pay"},
        {"records": 0, "column": "pay"},
    ],
    ids=str,
)
def test_bad_label_arguments_raise_before_anything_is_spent(arguments):
    purse = Purse(dp.Neighbours.SUBSTITUTE)

    with pytest.raises(DPSelectError):
        dp.PercentileRecord(**LABEL | arguments).release(TABLE, budget=purse)
    assert purse.spent == []


def test_no_records_raise_before_anything_is_spent():
    purse = Purse(dp.Neighbours.SUBSTITUTE)

    with pytest.raises(DataError, match="at least one record"):
        dp.PercentileRecord(**LABEL).release([], budget=purse)
    assert purse.spent == []


SEVERAL = VALUE | {"p": [25, 50, 75], "epsilon": 3.0, "method": "one-by-one"}


def test_several_percentiles_are_released_in_order():
    release = dp.Percentiles(**SEVERAL | {"epsilon": 3e3}).release(range(100))

    # The ranks from the first are 24.75, 49.5 and 74.25.
    assert release.answer in {(25.0, 49.0, 74.0), (25.0, 50.0, 74.0)}
    for _ in range(20):
        answer = dp.Percentiles(**SEVERAL | {"epsilon": 1e-6}).release([50] * 3).answer
        assert list(answer) == sorted(answer)


def test_each_of_several_percentiles_costs_its_part():
    purse = Purse()
    release = dp.Percentiles(**SEVERAL).release(range(100), budget=purse)

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
        dp.Percentiles(**VALUE | {"p": p})


def test_a_release_carries_the_plan_of_the_same_arguments():
    row = dp.PercentileRecord(**LABEL).release([1, 2, 3])
    values = dp.Percentiles(**SEVERAL).release([1, 2, 3])

    assert row.plan == dp.PercentileRecord(**LABEL).plan
    assert values.plan == dp.Percentiles(**SEVERAL).plan
    assert values.p == (25.0, 50.0, 75.0)
    assert values.table() == {"p": [25, 50, 75], "value": list(values.answer)}


def test_a_plan_states_the_public_facts_of_the_mechanism():
    assert "direction='non-decreasing'" in dp.PercentileRecord(**LABEL).plan.mechanism
    anchored = dp.Percentiles(**VALUE, mechanism="anchored").plan
    assert "anchor=0.0" in anchored.mechanism


def test_what_is_public_depends_on_the_relation():
    by_name = VALUE | {"neighbours": "substitute"}

    assert "the number of records" in dp.Percentiles(**by_name).plan.public
    assert "the number of records" not in dp.Percentiles(**VALUE).plan.public


def test_another_number_of_records_than_is_declared_is_refused():
    purse = Purse(dp.Neighbours.SUBSTITUTE)
    query = dp.PercentileRecord(column="pay", **LABEL, records=3)

    for ask in (query.check, partial(query.release, budget=purse)):
        with pytest.raises(PublicClaimError, match="another number of records"):
            ask(TABLE)
    assert purse.spent == []
    assert replace(query, records=4).release(TABLE, budget=purse).candidate in range(4)


def test_values_are_listed_in_one_way():
    with pytest.raises(ParameterError, match="candidates replace the range"):
        dp.Percentiles(**VALUE, step=1)
    with pytest.raises(ParameterError, match="give step"):
        dp.Percentiles(**VALUE | {"candidates": None})


def test_the_column_names_the_values():
    release = dp.Percentiles(column="pay", **VALUE).release(TABLE)

    assert release.table() == {"p": [50.0], "pay": [release.candidate]}


@pytest.mark.parametrize("p", [50, [10, 50, 90]], ids=str)
@pytest.mark.parametrize("name", ["exponential", "permute-and-flip", "noisy-max"])
def test_the_error_bound_holds_on_the_exact_law(name, p):
    values = np.arange(60.0)
    asked = VALUE | {"p": p, "epsilon": 9.0, "method": "one-by-one"}
    plan = dp.Percentiles(**asked, mechanism=name).plan
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
    nothing_said = dp.PercentileRecord(**LABEL, records=3).plan.error
    assert (nothing_said.value, nothing_said.largest) == (float("inf"), 100)
    certain = LABEL | {"epsilon": 1e3, "mechanism": "local-dampening"}
    assert dp.PercentileRecord(**certain, records=3).plan.error.value < 1


def test_the_horizon_reaches_the_sensitivity():
    plan = dp.PercentileRecord(**LABEL, records=3, horizon=4).plan

    assert plan.arguments["horizon"] == 4
    with pytest.raises(ParameterError, match="horizon must be at least 0"):
        dp.PercentileRecord(**LABEL, horizon=-1)
