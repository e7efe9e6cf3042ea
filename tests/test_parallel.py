"""Parallel composition, over all databases of a small universe."""

from itertools import combinations_with_replacement, product
from math import exp

import numpy as np
import pytest

import dpselect as dp
from dpselect.errors import NeighboursError, ParameterError
from dpselect.plan import Plan, Spend

VALUES = range(4)
DATABASES = [x for n in range(4) for x in combinations_with_replacement(VALUES, n)]
EPSILONS = (0.5, 1.0)
BOUND = dp.GlobalSensitivity(1, dp.Neighbours.ADD_REMOVE)


def law(records):
    """The joint law of two draws: one by the even values' counts, one by the odd ones'."""
    laws = []
    for part, epsilon in enumerate(EPSILONS):
        counts = [records.count(value) for value in VALUES if value % 2 == part]
        objective = dp.Objective(counts, BOUND)
        laws.append(dp.ExponentialMechanism(epsilon=epsilon).probabilities(objective))
    return np.outer(*laws).ravel()


def worst_loss(pairs):
    return max(np.abs(np.log(law(x) / law(y))).max() for x, y in pairs)


def loss_of_part(part):
    values = [value for value in VALUES if value % 2 == part]
    return worst_loss([(x, (*x, value)) for x in DATABASES for value in values])


def plans(relation="add-remove"):
    return [dp.ExponentialMechanism(epsilon=one).plan(neighbours=relation) for one in EPSILONS]


def test_under_add_remove_the_dearest_part_is_the_whole_loss():
    pairs = [(x, (*x, value)) for x in DATABASES for value in VALUES]
    plan = dp.parallel_plan(plans(), neighbours="add-remove")

    assert worst_loss(pairs) <= plan.epsilon == 1.0
    assert worst_loss(pairs) == pytest.approx(max(map(loss_of_part, (0, 1))))
    assert plan.rho == max(part.rho for part in plans())


def test_under_substitution_two_parts_change():
    pairs = [
        ((*x, one), (*x, other))
        for x in DATABASES
        if len(x) < 3
        for one, other in product(VALUES, repeat=2)
    ]
    plan = dp.parallel_plan(plans(), neighbours="substitute")
    across = worst_loss([(x, y) for x, y in pairs if x[-1] % 2 != y[-1] % 2])

    assert worst_loss(pairs) <= plan.epsilon == 2.0
    assert plan.rho == 4 * max(part.rho for part in plans())
    # The two parts' losses add up: the dearest alone would not do.
    assert across > max(map(loss_of_part, (0, 1)))


def test_the_delta_of_two_steps_is_that_of_group_privacy():
    part = Plan(
        name="f",
        mechanism="m",
        spends=(Spend("s", 1.0, delta=1e-6),),
        epsilon=1.0,
        delta=1e-6,
        neighbours=dp.Neighbours.ADD_REMOVE,
    )

    assert dp.parallel_plan([part], neighbours="add-remove").delta == 1e-6
    found = dp.parallel_plan([part], neighbours="substitute").delta
    assert found == pytest.approx((1 + exp(1)) * 1e-6)


def test_it_is_charged_once_and_says_what_is_claimed():
    budget = dp.Budget(1.0, neighbours="add-remove")
    plan = dp.parallel_plan(plans(), neighbours="add-remove")
    plan.charge(budget)

    assert [entry.epsilon for entry in budget.entries] == [1.0]
    assert any("disjoint" in claim for claim in plan.public)
    assert plan.composition.startswith("parallel")


def test_what_is_no_partition_of_records_is_refused():
    with pytest.raises(ParameterError, match="at least one"):
        dp.parallel_plan([], neighbours="add-remove")
    with pytest.raises(NeighboursError, match="must be for add-remove"):
        dp.parallel_plan(plans("substitute"), neighbours="substitute")
    with pytest.raises(NeighboursError, match="neighbours of tables"):
        dp.parallel_plan(plans(), neighbours="edge")
