from dataclasses import replace
from functools import partial

import numpy as np
import polars as pl
import pytest

import dpselect as dp
from dpselect.errors import PublicClaimError
from support.refusals import refused

TABLE = pl.DataFrame({"pay": [10, 20, 30, None], "who": ["ada", "bob", "cy", "di"]})
LABEL = {"p": 50, "upper": 100, "epsilon": 1.0}
VALUE = {
    "p": 50,
    "candidates": range(101),
    "epsilon": 1.0,
    "neighbours": dp.Neighbours.ADD_REMOVE,
}


def test_a_label_column_is_what_is_released(tmp_path):
    TABLE.write_parquet(tmp_path / "staff.parquet")
    TABLE.write_csv(tmp_path / "staff.csv")

    for data in (TABLE, TABLE.lazy(), tmp_path / "staff.parquet", str(tmp_path / "staff.csv")):
        release = dp.PercentileRecord(column="pay", label="who", **LABEL).release(data)
        assert release.candidate in {"ada", "bob", "cy", "di"}


def test_a_plan_states_the_public_facts_of_the_mechanism():
    assert "direction='non-decreasing'" in dp.PercentileRecord(**LABEL).plan.mechanism
    anchored = dp.Percentiles(**VALUE, mechanism="anchored").plan
    assert "anchor=0.0" in anchored.mechanism


def test_what_is_public_depends_on_the_relation():
    by_name = VALUE | {"neighbours": "substitute"}

    assert "the number of records" in dp.Percentiles(**by_name).plan.public
    assert "the number of records" not in dp.Percentiles(**VALUE).plan.public


def test_another_number_of_records_than_is_declared_is_refused():
    budget = dp.Budget(9.0, neighbours="substitute")
    query = dp.PercentileRecord(column="pay", **LABEL, records=3)

    for ask in (query.check, partial(query.release, budget=budget)):
        with refused("records", error=PublicClaimError):
            ask(TABLE)
    assert budget.entries == ()
    assert replace(query, records=4).release(TABLE, budget=budget).candidate in range(4)


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


def test_one_by_one_sorts_independent_draws():
    """Of two percentiles, against the sum over all pairs."""
    values = np.array([1.0, 1, 1, 2, 2, 3, 5, 5, 5.5, 8])
    asked = VALUE | {"candidates": range(7), "epsilon": 3.0, "mechanism": "permute-and-flip"}
    laws = dp.Percentiles(**asked | {"p": (40, 60)}).probabilities(values)
    alone = [
        dp.Percentiles(**asked | {"p": p, "epsilon": 1.5}).probabilities(values)[0]
        for p in (40, 60)
    ]
    pairs = np.outer(*alone)
    smaller = [pairs[i, i:].sum() + pairs[i + 1 :, i].sum() for i in range(7)]

    np.testing.assert_allclose(laws[0], smaller, atol=1e-14)
    np.testing.assert_allclose(laws.sum(axis=0), sum(alone), atol=1e-14)
