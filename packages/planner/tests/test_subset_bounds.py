"""Bounds of the theorems on delta, against linear programs over all mechanisms."""

from itertools import combinations, product
from math import comb, exp

import numpy as np
import pytest
from scipy.optimize import linprog

from dpselect import subsets
from support.refusals import refused


@pytest.mark.parametrize(("n", "d"), [(n, d) for n in range(2, 9) for d in range(1, n)])
def test_the_lower_bound_is_the_least_that_its_argument_can_give(n, d):
    """By definition: for one output at a time, a random member i and stranger j are drawn.

    Renamed, the output holds j and not i exactly as often on the other side. The program
    over all laws of the output, by the members and strangers that it holds, has as its least
    value what the bound states.
    """
    members, strangers = np.indices((d + 1, n - d + 1)).reshape(2, -1)
    kept = members / d * (1 - strangers / (n - d))
    exchanged = (1 - members / d) * strangers / (n - d)
    for beta in range(min(d, n - d) + 1):
        far = np.maximum(d - members, strangers) > beta
        for epsilon, failure in product((0.0, 0.4), (0.0, 0.05)):
            least = linprog(
                kept - exp(epsilon) * exchanged,
                A_ub=[far],
                b_ub=[failure],
                A_eq=[np.ones(far.size)],
                b_eq=[1],
            ).fun

            lower = subsets.theorem_1_lower(n, d, beta, epsilon=epsilon, failure=failure)
            assert lower == pytest.approx(max(0.0, least), abs=1e-9)


def test_the_lower_bound_of_theorem_2_is_for_less_than_everybody():
    assert subsets.theorem_2_lower(10, 4, 2, epsilon=0.0) == pytest.approx(1 - 2 / 6)
    assert subsets.theorem_2_lower(10, 4, 2, epsilon=1.0) == 0
    with refused("beta"):
        subsets.theorem_2_lower(10, 4, 6, epsilon=0.0)


@pytest.mark.parametrize(("n", "d", "beta"), [(4, 2, 1), (5, 2, 2), (5, 1, 3), (9, 4, 3)])
@pytest.mark.parametrize("epsilon", [0.0, 0.1, 0.4])
def test_no_people_drawn_blindly_are_below_the_bound_of_theorem_2(n, d, beta, epsilon):
    """The linear program over all laws of at most ``beta`` people that are added.

    Delta is convex in the law and the same for renamed people: some best law has every set of
    a size equally often, and for it all neighbours are alike.
    """
    e, f = frozenset(range(d)), frozenset(range(1, d + 1))
    drawn = [frozenset(b) for size in range(beta + 1) for b in combinations(range(n), size)]
    outputs = sorted({one | b for one in (e, f) for b in drawn}, key=sorted)
    here, there = np.zeros((2, len(outputs), beta + 1))
    for b in drawn:
        here[outputs.index(e | b), len(b)] += 1 / comb(n, len(b))
        there[outputs.index(f | b), len(b)] += 1 / comb(n, len(b))
    # Variables: how often each size is drawn, and the excess of each output.
    least = linprog(
        [*np.zeros(beta + 1), *np.ones(len(outputs))],
        A_ub=np.hstack([here - exp(epsilon) * there, -np.eye(len(outputs))]),
        b_ub=np.zeros(len(outputs)),
        A_eq=[[*np.ones(beta + 1), *np.zeros(len(outputs))]],
        b_eq=[1.0],
    ).fun

    assert subsets.theorem_2_lower(n, d, beta, epsilon=epsilon) <= least + 1e-9
    assert least == pytest.approx(1 - beta / n)


def test_upper_bounds_are_those_of_the_paper_and_refuse_what_is_out_of_range():
    assert subsets.theorem_1_upper(10, 4, 2) == pytest.approx((1 - 2 / 4) * (1 - 2 / 6))
    assert subsets.theorem_2_upper(10, 4, 2) == pytest.approx(1 - 1 / 6)
    for bound, arguments, name in (
        (subsets.theorem_1_upper, (4, 0, 0), "d"),
        (subsets.theorem_1_upper, (4, 2, 3), "beta"),
        (subsets.theorem_2_upper, (4, 2, 0), "beta"),
        (subsets.theorem_2_upper, (1, 1, 1), "n"),
    ):
        with refused(name):
            bound(*arguments)
