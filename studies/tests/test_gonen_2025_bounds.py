"""Bounds on delta, against linear programs over all mechanisms."""

from collections import Counter
from fractions import Fraction
from itertools import combinations, product
from math import exp

import pytest
from hypothesis import given, settings, strategies as st

from dpselect import subsets
from dpselect_studies.gonen_2025 import bounds
from support.refusals import refused


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
    asked = {"epsilon": epsilon, "failure": failure, "scheme": "optimal"}
    optimum = subsets.Subset(n=n, d=d, beta=beta, **asked).delta_at()
    ball = subsets.Subset(n=n, d=d, beta=beta, epsilon=0, scheme="ball").delta_at(epsilon)
    lower = subsets.theorem_1_lower(n, d, beta, epsilon=epsilon, failure=failure)

    assert lower <= optimum + 1e-9
    assert optimum <= ball + 1e-9
    assert ball <= subsets.theorem_1_upper(n, d, beta) + 1e-9
    assert subsets.theorem_1_upper(n, d, beta) <= bounds.sphere_delta(n, d, beta)


def test_the_sphere_of_the_paper_breaks_its_bound():
    assert subsets.theorem_1_upper(2, 1, 1) == 0
    assert bounds.sphere_delta(2, 1, 1) == 1


@pytest.mark.parametrize(("n", "d"), [(3, 1), (5, 2), (5, 3), (6, 1), (6, 4)])
@pytest.mark.parametrize("epsilon", [0.0, 0.3, 2.0])
def test_the_union_of_more_people_than_there_are_members_is_private_too(n, d, epsilon):
    """By definition, for two neighbours: all are alike, as people may be renamed."""
    neighbours = frozenset(range(d)), frozenset(range(1, d + 1))
    for beta in range(n + 1):
        drawn = [frozenset(one) for one in combinations(range(n), beta)]
        here, there = (Counter(members | one for one in drawn) for members in neighbours)
        excess = sum(max(here[o] - exp(epsilon) * there[o], 0) for o in here)
        found = subsets.Subset(n=n, d=d, beta=beta, epsilon=0, scheme="union").delta_at(epsilon)

        assert found == pytest.approx(excess / len(drawn), abs=1e-12)
        assert found == pytest.approx(1 - beta / n, abs=1e-12)
        if beta < n - d:
            assert subsets.theorem_2_lower(n, d, beta, epsilon=epsilon) <= found + 1e-12


def test_the_printed_bound_of_theorem_2_holds_from_beta_d_people_on_and_no_earlier():
    """1 - (beta - 1)/(n - d), for the exact 1 - beta/n of A2."""
    for n in range(2, 13):
        for d, beta in product(range(1, n), range(1, n + 1)):
            printed = 1 - Fraction(beta - 1, n - d)
            exact = 1 - Fraction(beta, n)

            assert (exact <= printed) == (n >= beta * d)
            assert bounds.union_delta(n, d, beta) == pytest.approx(float(exact))
            if beta <= n - d:
                assert subsets.theorem_2_upper(n, d, beta) == pytest.approx(float(printed))
    assert subsets.theorem_2_upper(5, 3, 2) == 0.5  # the exact one is .6
    with refused("beta"):
        subsets.theorem_2_upper(5, 3, 3)
