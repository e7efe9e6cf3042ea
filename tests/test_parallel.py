"""Parallel composition, over all databases of a small universe."""

from itertools import combinations, combinations_with_replacement, product
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


def plan_of(epsilon, delta, rho=None, **more):
    said = {"name": "f", "mechanism": "m", "neighbours": dp.Neighbours.ADD_REMOVE, **more}
    spends = (Spend("s", epsilon, delta=delta, rho=rho),)
    return Plan(**said, spends=spends, epsilon=epsilon, delta=delta)


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
    part = plan_of(1.0, 1e-6)

    assert dp.parallel_plan([part], neighbours="add-remove").delta == 1e-6
    found = dp.parallel_plan([part], neighbours="substitute").delta
    assert found == pytest.approx((1 + exp(1)) * 1e-6)


def test_it_is_charged_once_and_says_what_is_claimed():
    budget = dp.Budget(1.0, neighbours="add-remove")
    plan = dp.parallel_plan(plans(), neighbours="add-remove")
    plan.reserve(budget)()

    assert [entry.epsilon for entry in budget.entries] == [1.0]
    assert any("disjoint" in claim for claim in plan.public)
    assert plan.composition.startswith("parallel")


PARTS = (0, 1, 2)
PRICES = ((0.5, 0.01), (1.0, 0.0), (0.25, 0.03))
SETS = [rows for n in range(4) for rows in combinations(PARTS, n)]
"""Where a person can have rows."""


def reply(part, persons):
    """The law of a part: by delta the number of persons, else a coin for whether it is 0."""
    epsilon, delta = PRICES[part]
    heads = 1 / (1 + exp(epsilon if persons == 0 else -epsilon))
    told = [delta if number == persons else 0.0 for number in PARTS]
    return np.array([*told, (1 - delta) * heads, (1 - delta) * (1 - heads)])


def joint(database):
    laws = [reply(part, sum(part in rows for rows in database)) for part in PARTS]
    return np.einsum("i,j,k", *laws).ravel()


def delta_between(x, y, epsilon):
    here, there = joint(x), joint(y)
    gains = (
        np.maximum(p - exp(epsilon) * q, 0).sum() for p, q in ((here, there), (there, here))
    )
    return max(gains)


def plans_for_persons():
    return [plan_of(*price, rho=price[0] ** 2 / 2, user="who") for price in PRICES]


@pytest.mark.parametrize("most", [1, 2, 3])
@pytest.mark.parametrize("relation", ["add-remove", "substitute"])
def test_a_person_who_is_in_several_parts_pays_for_all_of_them(relation, most):
    """All databases of two persons with rows in at most so many of three parts."""
    plan = dp.parallel_plan(plans_for_persons(), neighbours=relation, parts_per_user=most)
    rows = [one for one in SETS if len(one) <= most]
    both = [*product(rows, repeat=2)]
    if relation == "substitute":
        pairs = [((x, other), (y, other)) for x, other in both for y in rows]
    else:
        pairs = [((x, other), (other,)) for x, other in both]

    assert max(delta_between(x, y, plan.epsilon) for x, y in pairs) <= plan.delta * (1 + 1e-12)
    if relation == "add-remove":
        assert max(delta_between(x, y, 0.9 * plan.epsilon) for x, y in pairs) > plan.delta
    if most == len(PARTS):
        every = dp.parallel_plan(plans_for_persons(), neighbours=relation)
        assert every.epsilon == plan.epsilon == (1.75 if relation == "add-remove" else 3.5)


def test_thirty_days_of_the_same_persons_cost_thirty_times_as_much():
    days = [
        dp.TopKeys(
            column="key", k=1, candidates=["a"], user="who", max_per_user=1, epsilon=0.5,
            neighbours="add-remove",
        ).plan
    ] * 30  # fmt: skip

    assert dp.parallel_plan(days, neighbours="add-remove").epsilon == 15.0
    at_home = dp.parallel_plan(days, neighbours="add-remove", parts_per_user=1)
    assert at_home.epsilon == 0.5
    assert "a person has rows in at most 1 of them" in at_home.public


@pytest.mark.parametrize(
    ("parts", "asked"),
    [
        (plans(), {"parts_per_user": 2}),
        (plans_for_persons(), {"parts_per_user": 0}),
        ([], {}),
        (plans("substitute"), {"neighbours": "substitute"}),
        (plans(), {"neighbours": "edge"}),
    ],
)
def test_what_is_no_partition_of_records_is_refused(parts, asked):
    with pytest.raises((ParameterError, NeighboursError)):
        dp.parallel_plan(parts, **{"neighbours": "add-remove", **asked})
