"""Privacy of outcomes, against the definition over all syndromes."""

from fractions import Fraction
from itertools import combinations
from math import exp

import numpy as np
import pytest
from hypothesis import given, strategies as st

import dpselect as dp
from dpselect.draws.exact.inversion import exp_minus
from dpselect_pooling import (
    ReplacedSamples,
    array_2d,
    doubly_balanced,
    flip_delta,
    flip_epsilon,
    flip_for,
    outcome_privacy,
)
from support.pooling_definitions import neighbours, syndrome_law, union_law

DESIGNS = {
    "array": array_2d(4, rows=2, columns=2),
    "balanced": doubly_balanced(5, 4, weight=2, rng=np.random.default_rng(0)),
    "uneven": np.array([[1, 1, 0, 0], [1, 0, 1, 0], [1, 0, 0, 1]], dtype=bool),
}
every_design = pytest.mark.parametrize("design", DESIGNS.values(), ids=DESIGNS)


def union_delta(design, *, d, beta, epsilon):
    """Return the exact delta of the outcomes after Algorithm A2."""
    n = design.shape[1]
    laws = {
        members: syndrome_law(design, union_law(n, members, beta))
        for members in map(frozenset, combinations(range(n), d))
    }
    return max(
        (
            float(np.maximum(laws[e] - exp(epsilon) * laws[f], 0).sum())
            for e in laws
            for f in laws
            if len(e - f) == 1
        ),
        default=0.0,
    )


def worst_loss(design, flip, relation):
    pairs = neighbours(design.shape[1], relation)
    laws = (
        (
            syndrome_law(design, {e: 1.0}, flip=flip),
            syndrome_law(design, {f: 1.0}, flip=flip),
        )
        for e, f in pairs
    )
    return max(np.abs(np.log(p / q)).max() for p, q in laws)


@every_design
@pytest.mark.parametrize("relation", [dp.Neighbours.SUBSTITUTE, dp.Neighbours.SWAP])
def test_flip_epsilon_is_the_worst_loss_over_all_syndromes(design, relation):
    epsilon = flip_epsilon(design, flip=0.2, neighbours=relation)

    assert epsilon == pytest.approx(worst_loss(design, 0.2, relation))
    assert flip_for(design, epsilon=epsilon, neighbours=relation) == pytest.approx(0.2)


@every_design
@pytest.mark.parametrize("relation", [dp.Neighbours.SUBSTITUTE, dp.Neighbours.SWAP])
@pytest.mark.parametrize("epsilon", [0.0, 0.7, 2.0])
def test_flip_delta_is_that_of_the_definition(design, relation, epsilon):
    exact = max(
        np.maximum(
            syndrome_law(design, {e: 1.0}, flip=0.2)
            - exp(epsilon) * syndrome_law(design, {f: 1.0}, flip=0.2),
            0,
        ).sum()
        for e, f in neighbours(design.shape[1], relation)
    )

    ours = flip_delta(design, flip=0.2, epsilon=epsilon, neighbours=relation)
    assert ours == pytest.approx(exact, abs=1e-12)


@given(
    epsilon=st.one_of(st.floats(1e-9, 60), st.floats(1e-300, 1e-9), st.floats(60, 1e6)),
    relation=st.sampled_from(["substitute", "swap"]),
)
def test_a_flip_for_an_epsilon_costs_at_most_that(epsilon, relation):
    design = DESIGNS["uneven"]
    flip = flip_for(design, epsilon=epsilon, neighbours=relation)
    price = flip_epsilon(design, flip=flip, neighbours=relation)

    assert price <= epsilon
    if 1e-9 < epsilon < 2000:
        assert price == pytest.approx(epsilon, rel=1e-6)


@given(flip=st.fractions(Fraction(1, 10**40), Fraction(1, 2), max_denominator=10**40))
def test_the_price_of_an_outcome_is_rounded_up(flip):
    """e^price, enclosed by integer bounds, is at least the odds of no flip."""
    price = outcome_privacy.outcome_epsilon(flip)
    low, high = exp_minus(Fraction(price), 2000)

    assert Fraction(low, 1 << 2000) <= flip / (1 - flip)
    if flip < Fraction(1, 2):
        _, most = exp_minus(Fraction(price) * (1 - Fraction(1, 2**39)), 2000)
        assert Fraction(most, 1 << 2000) >= flip / (1 - flip)
    assert high >= low


def test_a_delta_allows_fewer_flips():
    design = array_2d(9, rows=3, columns=3)
    relation = dp.Neighbours.SUBSTITUTE
    flip = flip_for(design, epsilon=1.0, delta=0.05, neighbours=relation)

    assert flip < flip_for(design, epsilon=1.0, neighbours=relation)
    assert flip_delta(design, flip=flip, epsilon=1.0, neighbours=relation) == pytest.approx(
        0.05
    )


@every_design
@pytest.mark.parametrize("beta", [0, 1, 2])
@pytest.mark.parametrize("epsilon", [0.0, 1.0])
def test_pooling_never_loses_more_than_the_subset_it_pools(design, beta, epsilon):
    plan = ReplacedSamples(people=design.shape[1], beta=beta).plan

    assert union_delta(design, d=2, beta=beta, epsilon=epsilon) <= plan.delta + 1e-12


def test_testing_everybody_alone_loses_exactly_that():
    design = np.eye(5, dtype=bool)
    for beta in range(3):
        exact = union_delta(design, d=2, beta=beta, epsilon=0.5)
        assert exact == pytest.approx(1 - beta / 5)
        assert exact == pytest.approx(ReplacedSamples(people=5, beta=beta).plan.delta)
