"""Prices of what was drawn: outcomes above their price are no more probable than delta."""

from functools import cache, partial
from itertools import product

import numpy as np
import polars as pl
import pytest

import dpselect as dp
from dpselect.keys import STOP
from dpselect.keys.columns import KeyColumns
from dpselect.keys.counts import Counted
from dpselect.keys.objectives import of_most_common
from support.key_definitions import add_person, neighbouring, peeled, top_counted

AS_THEY_ARE = KeyColumns(("v",), ("integer",), encoded=False)
ADDED, REPLACED = dp.Neighbours.ADD_REMOVE, dp.Neighbours.SUBSTITUTE


def design_of(*, groups=None, per_user=1, counts_share=0.0, **asked):
    return dp.TopKeys(
        **asked,
        column="key",
        user="person",
        max_per_user=per_user,
        by=None if groups is None else "ward",
        groups=groups,
        counts_share=counts_share,
        mechanism="exponential",
    ).design()


def law_of(design):
    """Return the exact law of one group's sequence of draws, with the stop at its end."""

    def law(counts):
        counted = Counted(*top_counted(counts, design.limit + 1), AS_THEY_ARE)
        objective = of_most_common(
            counted,
            limit=design.limit,
            offset=design.offset,
            neighbours=design.neighbours,
        )
        exponent = design.draw.mechanism.epsilon / design.draw.k / 2
        weights = np.exp(design.draw.mechanism.unit_scores(objective) * exponent)
        return peeled(weights.tolist(), objective.candidates, design.draw.k)

    return law


def price_of(design, outcome, *, unpaid=0):
    """Return the net price of the draws of an outcome, a sequence for each group."""
    made = [len(one) - unpaid * (STOP in one) for one in outcome]
    return design.epsilon - design.refund(made, 0)


def above_price(pairs, law, price):
    """Return the largest probability of the outcomes that are above their price.

    They are the smallest set outside of which the price holds, which the theorem on refunds
    asks to be no more probable than delta. More than the hockey-stick divergence.
    """
    worst, law = 0.0, cache(law)
    for a, b in pairs:
        first, second = law(a), law(b)
        for one, other in ((first, second), (second, first)):
            worst = max(
                worst,
                sum(
                    p
                    for outcome, p in one.items()
                    if p > np.exp(price(outcome)) * other.get(outcome, 0.0) * (1 + 1e-12)
                ),
            )
    return worst


@pytest.mark.slow
@pytest.mark.parametrize("per_user", [1, 2, 4])
@pytest.mark.parametrize(("k", "limit"), [(1, 1), (2, 2), (2, 3), (3, 4)])
def test_outcomes_above_their_price_are_no_more_probable_than_delta(k, limit, per_user):
    pairs = list(neighbouring(2 + (per_user < 4), 4, per_user))
    design = design_of(
        k=k, limit=limit, per_user=per_user, epsilon=0.3 * k, delta=0.01, neighbours=ADDED
    )
    law, net = law_of(design), lambda outcome: price_of(design, [outcome])

    worst = above_price(pairs, law, net)

    assert worst <= 0.01
    if limit < 4 and per_user >= limit:
        assert worst >= 0.01 * (1 - 1e-4)


def test_a_stop_that_is_not_paid_is_caught():
    design = design_of(k=2, limit=2, per_user=1, epsilon=0.6, delta=0.01, neighbours=ADDED)
    unpaid = lambda outcome: price_of(design, [outcome], unpaid=1)  # noqa: E731

    assert above_price(neighbouring(3, 4, 1), law_of(design), unpaid) > 0.5


def test_a_person_who_is_replaced_pays_the_same():
    design = design_of(k=2, limit=2, per_user=1, epsilon=0.6, delta=0.02, neighbours=REPLACED)
    bases = {small for small, _ in neighbouring(2, 4, 1)}
    pairs = [
        (add_person(base, [one]), add_person(base, [other]))
        for base, one, other in product(bases, range(4), range(4))
        if one < other
    ]

    assert above_price(pairs, law_of(design), lambda o: price_of(design, [o])) <= 0.02


@pytest.mark.parametrize("per_user", [1, 2])
def test_with_groups_those_of_most_draws_are_paid(per_user):
    """Two groups of two keys: the law of both, the price of as many as one person has."""
    design = design_of(
        k=2,
        limit=2,
        per_user=per_user,
        groups=["a", "b"],
        epsilon=0.8,
        delta=0.02,
        neighbours=ADDED,
    )
    one = law_of(design)

    def law(counts):
        both = product(one(counts[:2]).items(), one(counts[2:]).items())
        return {(first, second): p * q for (first, p), (second, q) in both}

    pairs = list(neighbouring(3, 4, per_user))

    assert above_price(pairs, law, partial(price_of, design)) <= 0.02
    less = lambda outcome: price_of(design, outcome, unpaid=1)  # noqa: E731
    assert above_price(pairs, law, less) > 0.1


def test_noise_on_few_counts_costs_what_it_changes():
    design = design_of(
        k=4, per_user=2, counts_share=0.5, epsilon=1.0, delta=1e-6, neighbours=ADDED
    )

    refunds = [design.refund([4], released) for released in range(5)]

    assert refunds == pytest.approx([0.5, 0.25, 0, 0, 0])
    assert design.refund([1], 0) == pytest.approx(0.5 + 0.375)
    assert 1 / design.count_scale == pytest.approx(0.25)


def test_a_release_refunds_what_it_did_not_draw():
    rows = pl.DataFrame({"key": ["a"] * 900 + ["b"] * 700})
    budget = dp.Budget(1.0, delta=1e-5, neighbours=ADDED)
    asked = {"column": "key", "k": 10, "epsilon": 1.0, "delta": 1e-6, "neighbours": ADDED}
    asked["mechanism"] = "exponential"

    first = dp.TopKeys(**asked).release(rows, budget=budget)
    [entry] = budget.entries

    assert first.answer == ("a", "b")
    assert first.refunded == pytest.approx(0.7)  # three of ten draws, the third was the stop
    assert (entry.epsilon, entry.refunded) == (1.0, first.refunded)
    assert entry.answer["answer"] == ["a", "b"]
    assert dp.TopKeys(**asked).plan.epsilon == 1.0
    assert dp.TopKeys(**{**asked, "epsilon": 0.7}).release(rows, budget=budget).answer
