from __future__ import annotations

import json
from dataclasses import asdict

import dp_accounting
import pytest
from dp_accounting import NeighboringRelation
from dp_accounting.pld import PLDAccountant
from dp_accounting.rdp import RdpAccountant

import dpselect as dp
from dpselect.budget import Budget
from dpselect.errors import BudgetError
from dpselect.neighbours import Neighbours

EDGE = Neighbours.EDGE


def spent(epsilons, delta=0.0, rho=None, **kind):
    budget = Budget(50.0, delta, neighbours=EDGE, composition="zcdp")
    for epsilon in epsilons:
        budget.spend(epsilon, neighbours=EDGE, rho=rho, **kind)
    return budget


def without_release(entry):
    made = asdict(entry) | {"neighbours": "edge"}
    del made["release"], made["shown"], made["token"]
    return made


def refuse_constant(name):
    raise AssertionError(name)


def test_json_holds_all_that_the_budget_knows():
    budget = spent([0.1, 0.2], mechanism="médian", note='"quoted"\n')
    document = json.loads(budget.to_json(), parse_constant=refuse_constant)

    assert document == {
        "epsilon": 50.0,
        "delta": 0.0,
        "neighbours": "edge",
        "persons": None,
        "composition": "sum",
        "shares": [],
        "period": None,
        "spent": 0.3,
        "pots": [{"share": "", "epsilon": 50.0, "delta": 0.0, "spent": 0.3, "remaining": 49.7}],
        "entries": [without_release(entry) for entry in budget.entries],
    }
    assert {*document["entries"][0]} == {
        *("sequence", "time", "epsilon", "delta", "rho", "laplace_rounds", "refunded", "steps"),
        *("neighbours", "mechanism", "note", "version", "source", "source_version", "analyst"),
        *("share", "period", "key", "question", "answer"),
    }


@pytest.mark.parametrize("epsilons", [[0.1], [0.5, 0.25], [2.0], [0.01] * 20])
def test_the_pld_accountant_finds_the_pure_sum(epsilons):
    accountant = PLDAccountant(NeighboringRelation.REPLACE_ONE)
    accountant.compose(spent(epsilons).to_dp_events())

    # Losses are rounded up to multiples of 1e-4.
    assert accountant.get_epsilon(0) == pytest.approx(sum(epsilons), abs=2.1e-3)
    assert accountant.get_epsilon(0) >= sum(epsilons) * (1 - 1e-9)


@pytest.mark.slow
def test_numerical_composition_confirms_what_is_spent():
    budget = spent([0.1] * 100, 1e-6)
    pld = PLDAccountant(NeighboringRelation.REPLACE_ONE)
    rdp = RdpAccountant(neighboring_relation=NeighboringRelation.REPLACE_ONE)
    for accountant in (pld, rdp):
        accountant.compose(budget.to_dp_events())

    assert 0.8 < pld.get_epsilon(1e-6) / budget.spent < 1
    assert 0.95 < rdp.get_epsilon(1e-6) / budget.spent < 1.001


def test_a_better_rho_reaches_the_rdp_accountant():
    budget = spent([0.1] * 200, 1e-6, rho=0.1**2 / 8)
    accountant = RdpAccountant(neighboring_relation=NeighboringRelation.REPLACE_ONE)
    accountant.compose(budget.to_dp_events())

    assert accountant.get_epsilon(1e-6) == pytest.approx(budget.spent, rel=1e-3)


@pytest.mark.slow
def test_permute_and_flip_is_exported_as_laplace_noise():
    """50 draws of two candidates each: 100 rounds, of which numerical composition knows."""
    budget = Budget(50.0, 1e-6, neighbours=EDGE)
    objective = dp.Objective([3.0, 1.0, 2.0], dp.GlobalSensitivity(1, EDGE))
    for _ in range(50):
        dp.PermuteAndFlip(epsilon=0.2).release(objective, k=2, budget=budget)
    events = budget.to_dp_events()
    pld = PLDAccountant(NeighboringRelation.ADD_OR_REMOVE_ONE)
    rdp = RdpAccountant(neighboring_relation=NeighboringRelation.REPLACE_ONE)
    for accountant in (pld, rdp):
        accountant.compose(events)

    assert {entry.laplace_rounds for entry in budget.entries} == {2}
    assert len(events.events) == 100
    assert 1 / events.events[0].noise_multiplier == pytest.approx(0.1)
    assert 1 / events.events[0].noise_multiplier > 0.1
    assert 0.8 < pld.get_epsilon(1e-6) / budget.spent < 1
    assert 0.95 < rdp.get_epsilon(1e-6) / budget.spent < 1.001


def test_a_plan_of_unequal_steps_states_no_laplace_rounds():
    equal = [dp.Spend("a", 0.1, times=2, laplace=True), dp.Spend("b", 0.1, laplace=True)]
    for spends, rounds in (
        (equal, 3),
        ([*equal, dp.Spend("counts", 0.1)], 0),
        ([*equal, dp.Spend("c", 0.2, laplace=True)], 0),
        ([], 0),
    ):
        plan = dp.Plan(
            name="f", mechanism="m", spends=tuple(spends), epsilon=1.0, neighbours=EDGE
        )
        assert plan.laplace_rounds == rounds


def test_a_spend_has_its_rho_where_that_says_more_and_a_delta_can_use_it():
    pure, better = dp_accounting.RandomizedResponseDpEvent, {"rho": 0.1**2 / 8}
    for budget, kind in (
        (spent([0.1], **better), pure),
        (spent([0.1], 1e-6), pure),
        (spent([0.1], 1e-6, **better), dp_accounting.ZCDpEvent),
    ):
        assert [type(event) for event in budget.to_dp_events().events] == [kind]


@pytest.mark.parametrize("epsilon", [1e-300, 1e-17, 1e-9, 40.0, 800.0])
def test_rounding_never_makes_an_event_more_private(epsilon):
    """With p the chance of a random bucket, 2/p - 1 are the odds of the true one."""
    budget = Budget(1e3, neighbours=EDGE)
    budget.spend(epsilon, neighbours=EDGE)
    ((event,),) = [budget.to_dp_events().events]

    assert 0 <= event.noise_parameter < 1
    assert event.num_buckets == 2
    assert epsilon > 700 or 2 / event.noise_parameter - 1 >= 1 + epsilon


def test_a_spend_with_a_delta_has_no_event():
    budget = Budget(1.0, 1e-6, neighbours=EDGE)
    budget.spend(0.1, delta=1e-7, neighbours=EDGE)

    with pytest.raises(BudgetError):
        budget.to_dp_events()
