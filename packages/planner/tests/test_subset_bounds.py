"""Bounds of the theorems on delta, against linear programs over all mechanisms."""

from itertools import product
from math import exp

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


def test_upper_bounds_are_those_of_the_paper_and_refuse_what_is_out_of_range():
    assert subsets.theorem_1_upper(10, 4, 2) == pytest.approx((1 - 2 / 4) * (1 - 2 / 6))
    for bound, arguments, name in (
        (subsets.theorem_1_upper, (4, 0, 0), "d"),
        (subsets.theorem_1_upper, (4, 2, 3), "beta"),
        (subsets.theorem_2_upper, (4, 2, 0), "beta"),
        (subsets.theorem_2_upper, (1, 1, 1), "n"),
    ):
        with refused(name):
            bound(*arguments)
