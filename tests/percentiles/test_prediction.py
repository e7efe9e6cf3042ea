"""Predicted errors in units: the same every time, exact laws, and held by the assumed data."""

from datetime import timedelta

import numpy as np
import polars as pl
import pytest

import dpselect as dp
from dpselect.percentiles.prediction import (
    AWAY,
    FEW,
    _in_words,
    predicted,
    shaped_as,
    shapes,
)
from dpselect.percentiles.reading import counts_of

ASKED = {"upper": 1000, "step": 1, "neighbours": "add-remove", "assumed_records": 2000}
DECILES = tuple(range(10, 100, 10))


def design_of(p, epsilon=1.0, **more):
    return dp.Percentiles(p=p, epsilon=epsilon, **ASKED | more).design()


def stated_by(design, records=2000):
    return predicted(design, records)[0]


def shares_of(records):
    return (np.arange(records) + 0.5) / records


def drawn(design, values, times):
    """Return exact draws of values, shape ``(times, m)``."""
    counted = design.method.records.counted(values, design.points)
    return np.array([design.answers(counted)[0].values for _ in range(times)])


def test_shapes_ascend_within_the_range_and_have_heavy_ends():
    found = shapes(shares_of(1000))

    assert all((np.diff(one) >= 0).all() for one in found.values())
    assert all(0 <= one.min() <= one.max() <= 1 for one in found.values())
    for name in ("lognormal", "Pareto"):
        assert found[name][-5] > 10 * found[name][500]


@pytest.mark.parametrize(
    "p", [50, 99, (25, 50, 75), pytest.param(DECILES, marks=pytest.mark.slow)]
)
def test_it_is_the_same_every_time_and_falls_with_epsilon(p):
    first, again = (stated_by(design_of(p)) for _ in range(2))

    assert first.tolist() == again.tolist()
    assert first.size == np.size(p)
    assert (stated_by(design_of(p, 20.0)) <= first + 1).all()


@pytest.mark.parametrize("records", [300, 5000])
def test_a_shape_has_as_many_records_with_those_at_each_percentile_apart(records):
    design = design_of((25, 50))
    exact = counts_of(1000 * shapes(shares_of(records))["normal"], design.points)

    for away in (AWAY, FEW):
        counted = shaped_as(design, records, away)
        assert counted.numbers.tolist() == [records] * 5
        _, normal, *_ = counted.parts()
        for rank in (round(p / 100 * (records - 1)) + i for p in (25, 50) for i in (-9, 0, 9)):
            found = (one.place[one.held.cumsum().searchsorted(rank)] for one in (normal, exact))
            assert len({*found}) == 1


@pytest.mark.parametrize("p", [50, 90, (50, 90), (50, 90, 99), (25, 50, 75)], ids=str)
@pytest.mark.parametrize(
    ("upper", "records"),
    [
        (100, 200),
        pytest.param(100, 2000, marks=pytest.mark.slow),
        pytest.param(1000, 2000, marks=pytest.mark.slow),
    ],
)
def test_the_stated_error_is_met_and_not_much_too_wide(p, upper, records):
    """Of the worst shape: in 95 of 100 releases, less 2.5 deviations; and 1.5 times at most."""
    design = design_of(p, upper=upper, assumed_records=records)
    stated = stated_by(design, records)
    met = np.zeros_like(stated)
    for shares in shapes(shares_of(records)).values():
        values = np.rint(upper * shares)
        low, high = (np.percentile(values, p, method=end) for end in ("lower", "higher"))
        answers = drawn(design, values, 60)
        far = np.maximum(np.maximum(low - answers, answers - high), 0)
        met = np.maximum(met, np.quantile(far, 0.95, axis=0, method="higher"))

        assert (far <= stated).mean(axis=0).min() >= 0.88

    assert (stated <= 1.5 * met + 1).all()


def test_groups_have_it_for_the_least_and_the_largest_that_are_more_than_noise():
    values, ward = np.arange(2_200) % 1000, ["a"] * 200 + ["b"] * 2000
    asked = ASKED | {"by": "ward", "groups": ["a", "b", "nobody"], "epsilon": 1000}
    del asked["assumed_records"]

    release = dp.Percentiles(column="days", p=50, **asked).release(
        pl.DataFrame({"days": values, "ward": ward})
    )

    assert release.facts["likely error"].splitlines()[0] == "p   200 rows  2,000 rows"


def test_an_error_and_the_width_of_its_interval_have_one_unit():
    """With two of them a table was wider than 80 columns."""
    hours = {"upper": timedelta(days=10_000), "step": timedelta(hours=1), "interval": 0.95}
    said = [
        _in_words(design_of(50, **hours), 3.6e9 * np.array(far))
        for far in ([74_640, 264_000], [0, 720], [5, 48], [0, 0])
    ]

    assert said == ["3,100 (11,000) days", "0 (30) days", "5 (48) hours", "0 (0) days"]
