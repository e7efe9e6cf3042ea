"""Plans: prices that add up, one place that spends, nothing private."""

import json

import numpy as np
import pytest

import dpselect as dp
from dpselect.budget.zcdp import rho_of_pure
from dpselect.errors import InsufficientBudgetError, NeighboursError, ParameterError
from dpselect.plan import ErrorBound, Plan, Spend, shown

AR = dp.Neighbours.ADD_REMOVE


def plan(epsilon=1.0, *spends, **options):
    return Plan(
        function="release",
        mechanism="mine",
        spends=spends or (Spend("all", epsilon),),
        epsilon=epsilon,
        neighbours=AR,
        **options,
    )


def test_the_price_is_charged_once_with_its_rho():
    budget = dp.Budget(2.0, delta=1e-6, neighbours=AR)
    made = plan(1.0, Spend("tune", 0.2, times=2), Spend("count", 0.6, rho=0.1))

    made.charge(budget)

    [entry] = budget.entries
    assert (entry.epsilon, entry.delta) == (1.0, 0.0)
    assert entry.rho == pytest.approx(2 * rho_of_pure(0.2) + 0.1)
    assert entry.mechanism == "release: mine"


def test_what_would_remain_is_what_remains():
    budget = dp.Budget(1.0, neighbours=AR)

    left = plan(0.25).remaining_after(budget)
    plan(0.25).charge(budget)

    assert left == budget.remaining == 0.75


def test_without_a_budget_or_a_price_nothing_is_recorded():
    budget = dp.Budget(1.0, neighbours=AR)
    free = plan(0.0, Spend("nothing", 0.0))

    plan().charge(None)
    free.charge(budget)

    assert not budget.entries
    assert free.remaining_after(budget) == 1.0


@pytest.mark.parametrize("ask", ["charge", "remaining_after"])
def test_a_refusal_is_the_same_beforehand(ask):
    with pytest.raises(InsufficientBudgetError):
        getattr(plan(2.0), ask)(dp.Budget(1.0, neighbours=AR))
    with pytest.raises(NeighboursError, match="add-remove"):
        getattr(plan(1.0), ask)(dp.Budget(1.0, neighbours=dp.Neighbours.EDGE))


def test_steps_dearer_than_the_whole_are_refused():
    with pytest.raises(ParameterError, match="epsilon"):
        plan(1.0, Spend("tune", 0.6, times=2))
    with pytest.raises(ParameterError, match="delta"):
        plan(1.0, Spend("tune", 0.6, delta=1e-6))


def test_a_plan_is_plain_values_and_long_arguments_are_summarised():
    made = plan(
        arguments={"candidates": np.linspace(0, 60, 61), "k": np.int64(3), "on": AR},
        error=ErrorBound(3.0, "days"),
    )

    read = json.loads(json.dumps(made.to_dict()))

    assert read["arguments"] == {
        "candidates": "61 values from 0.0 to 60.0",
        "k": 3,
        "on": "add-remove",
    }
    assert read["error_bound"] == {"value": 3.0, "unit": "days", "probability": 0.95}


def test_a_bound_that_says_nothing_says_so():
    assert str(ErrorBound(float("inf"), "days")) == "no bound that holds on all data"


def test_short_sequences_are_shown_whole():
    assert shown({"a": (1, [2.0, None])}) == {"a": [1, [2.0, None]]}
