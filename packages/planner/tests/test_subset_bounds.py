"""Bounds of the theorems on delta, against linear programs over all mechanisms."""

from itertools import combinations, product
from math import exp

import numpy as np
import pytest
from scipy.optimize import linprog

from dpselect import subsets
from support.refusals import refused


@pytest.mark.slow
@pytest.mark.parametrize(("n", "d"), [(n, d) for n in range(2, 9) for d in range(1, n)])
def test_the_lower_bound_is_the_least_that_its_argument_can_give(n, d):
    """By definition: for one output at a time, a random member i and stranger j are drawn.

    Renamed, the output holds j and not i exactly as often on the other side. The program
    over all laws of the output has as its least value what the bound states.
    """
    members, outputs = set(range(d)), list(product([False, True], repeat=n))
    pairs = list(product(range(d), range(d, n)))
    kept = np.array([np.mean([o[i] and not o[j] for i, j in pairs]) for o in outputs])
    exchanged = np.array([np.mean([o[j] and not o[i] for i, j in pairs]) for o in outputs])
    errors = [
        max(len(members - set(np.flatnonzero(o))), len(set(np.flatnonzero(o)) - members))
        for o in outputs
    ]
    for beta in range(min(d, n - d) + 1):
        far = np.array(errors) > beta
        for epsilon, failure in product((0.0, 0.4), (0.0, 0.05)):
            least = linprog(
                kept - exp(epsilon) * exchanged,
                A_ub=[far],
                b_ub=[failure],
                A_eq=[np.ones(len(outputs))],
                b_eq=[1],
            ).fun

            lower = subsets.theorem_1_lower(n, d, beta, epsilon=epsilon, failure=failure)
            assert lower == pytest.approx(max(0.0, least), abs=1e-9)


def test_the_lower_bound_of_theorem_2_is_for_less_than_everybody():
    assert subsets.theorem_2_lower(10, 4, 2, epsilon=0.0) == pytest.approx(1 - 2 / 6)
    assert subsets.theorem_2_lower(10, 4, 2, epsilon=1.0) == 0
    with refused("beta"):
        subsets.theorem_2_lower(10, 4, 6, epsilon=0.0)


@pytest.mark.parametrize(("n", "d", "beta"), [(4, 2, 1), (5, 2, 2), (5, 1, 3)])
@pytest.mark.parametrize("epsilon", [0.0, 0.1, 0.4])
def test_no_people_drawn_blindly_are_below_the_bound_of_theorem_2(n, d, beta, epsilon):
    """The linear program over all laws of at most ``beta`` people that are added."""
    every = [frozenset(one) for one in combinations(range(n), d)]
    drawn = [frozenset(b) for size in range(beta + 1) for b in combinations(range(n), size)]
    outputs = sorted({e | b for e in every for b in drawn}, key=sorted)
    laws = np.array([[[e | b == out for b in drawn] for out in outputs] for e in every])
    pairs = [(e, f) for e, f in product(range(len(every)), repeat=2)
             if len(every[e] - every[f]) == 1]  # fmt: skip
    # Variables: the law, the excess of each pair and output, delta.
    many, size = len(drawn), len(pairs) * len(outputs)
    rows = [
        np.hstack([laws[e].astype(float) - exp(epsilon) * laws[f],
                   -np.eye(size)[at * len(outputs) : (at + 1) * len(outputs)],
                   np.zeros((len(outputs), 1))])
        for at, (e, f) in enumerate(pairs)
    ]  # fmt: skip
    sums = np.hstack([np.zeros((len(pairs), many)),
                      np.kron(np.eye(len(pairs)), np.ones(len(outputs))),
                      -np.ones((len(pairs), 1))])  # fmt: skip
    least = linprog(
        [*np.zeros(many + size), 1.0],
        A_ub=np.vstack([*rows, sums]),
        b_ub=np.zeros(len(pairs) * (len(outputs) + 1)),
        A_eq=[[*np.ones(many), *np.zeros(size + 1)]],
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
