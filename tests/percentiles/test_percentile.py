from functools import cache
from itertools import product
from math import inf, nan

import numpy as np
import polars as pl
import pytest

import dpselect as dp
from dpselect.errors import DataError
from dpselect.percentiles import percentile, rank_of, record
from support.engines import held_by
from support.refusals import refused


@pytest.mark.parametrize(
    "values",
    [[-3.0, None, 20.0, 5.0], [-inf, nan, inf, 5.0], np.array([-3.0, nan, 20.0, 5.0])],
    ids=["list", "infinite", "numpy"],
)
def test_each_record_is_repaired_by_itself(values):
    repaired = percentile(values, p=50, upper=10, missing_as=4.5)
    expected = percentile([0, 4.5, 10, 5], p=50, upper=10)

    assert repaired.scores.tolist() == expected.scores.tolist()
    assert repaired.sensitivity.at(0).tolist() == expected.sensitivity.at(0).tolist()


@pytest.mark.parametrize("bad", [-1.0, 11.0, nan, inf, None])
def test_a_curator_who_declares_the_range_public_gets_an_error(bad):
    with refused("on_invalid", error=DataError) as caught:
        percentile([5.0, bad], p=50, upper=10, on_invalid="raise")

    assert "11" not in str(caught.value)
    assert percentile([0.0, 10.0], p=50, upper=10, on_invalid="raise").scores.size == 2


@pytest.mark.parametrize("p", [1, pytest.param(50, marks=pytest.mark.slow), 100])
def test_the_default_finds_the_record_and_loses_its_epsilon_at_most(p):
    """On all databases of up to three records of 0 to 3; a tie with the farthest is planted."""
    query, upper = dp.PercentileRecord(p=p, upper=3, epsilon=1.5), 3

    @cache
    def law(values, epsilon, *, apart=True):
        made = record._objective(query, np.array(values, dtype=float))
        if not apart:
            made = percentile(values, p=p, upper=upper)
        mechanism = dp.ShiftedLocalDampening(epsilon=epsilon, direction="non-decreasing")
        return mechanism.probabilities(made)

    worst, least = 0.0, 1.0
    for n in (1, 2, 3):
        for values in product(range(4), repeat=n):
            at = np.sort(values)[rank_of(p, n) - 1]
            found = law(values, 1e4)[np.equal(values, at)].sum()
            least = min(least, found)
            for other, to in product(range(n), range(4)):
                changed = (*values[:other], to, *values[other + 1 :])
                worst = max(worst, np.abs(np.log(law(values, 1.5) / law(changed, 1.5))).max())

    assert least > 1 - 1e-9
    assert 0.5 < worst <= 1.5 + 1e-9
    if p == 100:
        assert law((3, 0), 1e4, apart=False)[0] == pytest.approx(0.5)


@pytest.mark.spark
def test_rows_of_spark_have_no_numbers_to_release():
    held = held_by("spark", pl.DataFrame({"v": [1.0, 2.0], "who": ["ann", "bob"]}))
    asked = {"column": "v", "p": 50, "upper": 3, "epsilon": 1.0}

    with refused("label"):
        dp.PercentileRecord(**asked).release(held)
    chosen = dp.PercentileRecord(label="who", **asked).release(held)
    assert chosen.answer[0] in {"ann", "bob"}
