"""Bounds on delta, against linear programs over all mechanisms."""

from fractions import Fraction
from itertools import combinations, product
from math import comb, exp

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from dpselect.errors import ParameterError
from dpselect.subsets import (
    Subset,
    theorem_1_lower,
    theorem_1_upper,
    theorem_2_lower,
    theorem_2_upper,
)
from dpselect_studies.gonen_2025 import bounds
from support.refusals import refused
from support.subset_definitions import optimal_delta


@settings(max_examples=60, deadline=None)
@given(
    n=st.integers(2, 200),
    share=st.floats(0, 1),
    part=st.floats(0, 1),
    epsilon=st.floats(0, 20),
    failure=st.floats(0, 0.5, allow_subnormal=False),
)
def test_bounds_keep_their_order(n, share, part, epsilon, failure):
    d = 1 + int(share * (n - 2))
    beta = int(part * min(d, n - d))
    optimum = optimal_delta(n, d, beta, epsilon=epsilon, failure=failure)
    ball = Subset(n=n, d=d, beta=beta, epsilon=0, scheme="ball").delta_at(epsilon)
    lower = theorem_1_lower(n, d, beta, epsilon=epsilon, failure=failure)

    assert lower <= optimum + 1e-9
    assert optimum <= ball + 1e-9
    assert ball <= theorem_1_upper(n, d, beta) + 1e-9
    assert theorem_1_upper(n, d, beta) <= bounds.sphere_delta(n, d, beta)


def test_the_sphere_of_the_paper_breaks_its_bound():
    assert theorem_1_upper(2, 1, 1) == 0
    assert bounds.sphere_delta(2, 1, 1) == 1


@pytest.mark.parametrize(
    ("case", "failure", "epsilon", "expected"),
    [
        ((10, 4, 2), 0, 0, (0.2609, 0.2609, 0.3333, 0.5, 0.1667)),
        ((10, 4, 2), 0, 1, (0.1845, 0.2609, 0.3333, 0.5, None)),
        ((20, 5, 2), 0, 0, (0.4849, 0.4849, 0.52, 0.5733, 0.4667)),
        ((20, 5, 2), 0, 0.5, (0.4641, 0.4849, 0.52, 0.5733, None)),
        ((50, 10, 4), 0, 0, (0.5077, 0.5077, 0.54, 0.58, 0.5)),
        ((100, 10, 5), 0, 0, (0.4498, 0.4498, 0.4722, 0.5, 0.4444)),
        ((100, 10, 5), 0.05, 0.5, (0.4140, 0.4498, 0.4722, 0.5, None)),
    ],
)
def test_the_table_of_deltas(case, failure, epsilon, expected):
    n, d, beta = case
    *deltas, lower = expected
    ball = Subset(n=n, d=d, beta=beta, epsilon=0, scheme="ball")

    assert [
        optimal_delta(*case, epsilon=epsilon, failure=failure),
        ball.delta_at(epsilon),
        theorem_1_upper(*case),
        bounds.sphere_delta(*case),
    ] == pytest.approx(deltas, abs=5e-5)
    if lower is not None:
        assert theorem_1_lower(*case, epsilon=0.0) == pytest.approx(lower, abs=5e-5)


@pytest.mark.parametrize(("n", "d", "beta"), [(6, 2, 1), (7, 3, 2), (8, 4, 1)])
def test_the_sphere_delta_is_that_of_the_definition(n, d, beta):
    inputs = [frozenset(s) for s in combinations(range(n), d)]
    table = np.array([[len(e - o) == beta for o in inputs] for e in inputs], dtype=float)
    table /= table.sum(axis=1, keepdims=True)

    assert bounds.sphere_delta(n, d, beta) == pytest.approx(
        least_for_any_epsilon(inputs, table, 0.0)
    )


def never_missing(n, d, beta, drawn_from):
    """P[output | subset] of the subset and ``beta`` people of some: rows are subsets."""
    inputs = [frozenset(s) for s in combinations(range(n), d)]
    outputs = [frozenset(s) for k in range(n + 1) for s in combinations(range(n), k)]
    table = np.zeros((len(inputs), len(outputs)))
    for row, subset in enumerate(inputs):
        choices = list(combinations(sorted(drawn_from(subset)), beta))
        for choice in choices:
            table[row, outputs.index(subset | set(choice))] += 1 / len(choices)
    return inputs, table


def least_for_any_epsilon(inputs, table, epsilon):
    return max(
        np.maximum(table[i] - exp(epsilon) * table[j], 0).sum()
        for i, j in product(range(len(inputs)), repeat=2)
        if len(inputs[i] - inputs[j]) == 1
    )


@pytest.mark.parametrize(("n", "d"), [(3, 1), (5, 2), (5, 3), (6, 1), (6, 4)])
@pytest.mark.parametrize("epsilon", [0.0, 0.3, 2.0])
def test_the_union_of_more_people_than_there_are_members_is_private_too(n, d, epsilon):
    for beta in range(n + 1):
        drawn = never_missing(n, d, beta, lambda _: range(n))
        union = Subset(n=n, d=d, beta=beta, epsilon=0, scheme="union")

        assert union.delta_at(epsilon) == pytest.approx(
            least_for_any_epsilon(*drawn, epsilon), abs=1e-12
        )
        assert union.delta_at(epsilon) == pytest.approx(1 - beta / n, abs=1e-12)
        if beta < n - d:
            lower = theorem_2_lower(n, d, beta, epsilon=epsilon)
            assert lower <= union.delta_at(epsilon) + 1e-12


def test_the_printed_bound_of_theorem_2_holds_from_beta_d_people_on_and_no_earlier():
    """1 - (beta - 1)/(n - d), for the exact 1 - beta/n of A2."""
    for n in range(2, 13):
        for d, beta in product(range(1, n), range(1, n + 1)):
            printed = 1 - Fraction(beta - 1, n - d)
            exact = 1 - Fraction(beta, n)

            assert (exact <= printed) == (n >= beta * d)
            assert bounds.union_delta(n, d, beta) == pytest.approx(float(exact))
            if beta <= n - d:
                assert theorem_2_upper(n, d, beta) == pytest.approx(float(printed))
    assert theorem_2_upper(5, 3, 2) == 0.5  # the exact one is .6
    with refused("beta"):
        theorem_2_upper(5, 3, 3)


def uniform(n, sizes):
    """Return a law that draws a size first, by its probability, and then a set of it."""
    return {
        frozenset(drawn): probability / comb(n, size)
        for size, probability in sizes.items()
        for drawn in combinations(range(n), size)
    }


@pytest.mark.parametrize("epsilon", [0.0, 0.7, 3.0])
@pytest.mark.parametrize(("n", "d"), [(4, 1), (5, 2), (6, 3)])
def test_a_law_by_size_costs_what_its_mean_size_does(n, d, epsilon):
    for sizes in ({2: 1.0}, {0: 0.5, 3: 0.5}, {1: 0.2, 2: 0.3, n: 0.5}):
        mean = sum(size * probability for size, probability in sizes.items())

        found = bounds.blind_delta(uniform(n, sizes), n, d, epsilon=epsilon)

        assert found == pytest.approx(1 - mean / n)


def test_any_law_is_as_bad_as_who_is_drawn_most_rarely_says():
    """And no law of the same mean size is better than the uniform one."""
    rng = np.random.default_rng(0)
    sets = [frozenset(drawn) for size in range(5) for drawn in combinations(range(4), size)]
    for _ in range(20):
        law = dict(zip(sets, rng.dirichlet(np.full(len(sets), 0.3)), strict=True))
        rarest = min(sum(p for drawn, p in law.items() if i in drawn) for i in range(4))
        mean = sum(len(drawn) * p for drawn, p in law.items())

        deltas = [bounds.blind_delta(law, 4, 2, epsilon=epsilon) for epsilon in (0.0, 1.0, 9.0)]

        assert deltas == sorted(deltas, reverse=True)
        assert deltas[-1] >= 1 - rarest - 1e-12
        assert deltas[-1] >= 1 - mean / 4 - 1e-12


@pytest.mark.parametrize(
    ("law", "n"),
    [
        ({frozenset(): 0.9}, 4),
        ({frozenset(): 2.0, frozenset({1}): -1.0}, 4),
        ({frozenset({4}): 1.0}, 4),
        ({frozenset(): 1.0}, 30),
    ],
)
def test_a_law_must_be_one_of_few_sets_of_people(law, n):
    with pytest.raises(ParameterError):
        bounds.blind_delta(law, n, n // 2, epsilon=0.0)


@pytest.mark.parametrize(("n", "d", "beta"), [(4, 2, 1), (6, 2, 2), (6, 3, 1), (3, 2, 1)])
@pytest.mark.parametrize("epsilon", [0.0, 1.0])
def test_drawing_blindly_costs_more_than_drawing_from_strangers(n, d, beta, epsilon):
    everybody = frozenset(range(n))
    blind = never_missing(n, d, beta, lambda _: everybody)
    seeing = never_missing(n, d, beta, lambda subset: everybody - subset)

    def delta(inputs, table):
        return max(
            np.maximum(table[i] - exp(epsilon) * table[j], 0).sum()
            for i, j in product(range(len(inputs)), repeat=2)
            if len(inputs[i] - inputs[j]) == 1
        )

    assert delta(*blind) == pytest.approx(bounds.union_delta(n, d, beta))
    assert delta(*seeing) == pytest.approx(1 - beta / (n - d))
