"""Queries in OpenDP: the map is the price, and the answers are those of the query."""

from math import exp

import opendp.prelude as opendp
import polars as pl
import pytest
from scipy import stats

import dpselect as dp
from dpselect.exchange import to_opendp

AR = {"neighbours": "add-remove"}
VOTES = dp.Objective([2, 1, 0], dp.GlobalSensitivity(1, "add-remove"), monotone=True)


def selection(epsilon):
    return dp.Selection(mechanism=dp.PermuteAndFlip(epsilon=epsilon), k=1, **AR)


@pytest.mark.parametrize("epsilon", [0.1, 0.7, 3.0])
def test_the_map_at_one_step_is_the_price(epsilon):
    measurement = to_opendp(selection(epsilon))

    assert [measurement.map(steps) for steps in (0, 1, 2)] == [0, epsilon, 2 * epsilon]
    assert measurement.check(1, epsilon)
    assert not measurement.check(1, 0.999 * epsilon)


def test_a_delta_is_that_of_group_privacy():
    keys = dp.Keys(epsilon=0.5, delta=1e-6, **AR)
    measurement = to_opendp(keys)

    assert measurement.map(1) == (0.5, 1e-6)
    epsilon, delta = measurement.map(3)
    assert epsilon == 1.5
    assert delta == pytest.approx(1e-6 * (1 + exp(0.5) + exp(1.0)))
    assert measurement(["home"] * 1000) == ("home",)


def test_the_law_is_that_of_the_query():
    """Unseeded: false alarm 1 in 10^6."""
    measurement, draws = to_opendp(selection(1.0)), 500
    found = [measurement(VOTES)[0] for _ in range(draws)]

    law = dp.PermuteAndFlip(epsilon=1.0).probabilities(VOTES)
    observed = [found.count(at) for at in range(3)]
    assert stats.chisquare(observed, draws * law).pvalue > 1e-6


def test_it_composes_with_others_of_opendp():
    first, second = to_opendp(selection(0.25)), to_opendp(selection(0.5))
    both = opendp.c.make_composition([first, second])

    assert both.map(1) == 0.75
    assert len(both(VOTES)) == 2


def test_a_table_is_read_as_ever():
    median = dp.Percentiles(column="days", p=50, upper=9, step=1, epsilon=50.0, **AR)

    assert to_opendp(median)(pl.DataFrame({"days": [3.0] * 99})) == (3.0,)
