"""The optimal scheme, against linear programs over all mechanisms."""

from fractions import Fraction
from itertools import combinations, product
from math import comb, exp

import numpy as np
import pytest
from scipy.optimize import linprog

from support.subset_definitions import least_delta, optimal_delta


@pytest.mark.parametrize(
    ("n", "d", "beta"),
    [(5, 2, 1), (8, 3, 1), (8, 4, 3), (10, 4, 2), (12, 5, 3), (13, 4, 2), (20, 5, 2)],
)
def test_the_optimum_is_that_of_the_linear_program(n, d, beta):
    for epsilon, failure in product((0.0, 0.3, 1.0, 3.0), (0.0, 0.02, 0.3, 0.9)):
        ours = optimal_delta(n, d, beta, epsilon=epsilon, failure=failure)

        assert ours == pytest.approx(least_delta(n, d, beta, epsilon, failure), abs=1e-6)


def sizes(d, strangers, beta, surplus, tilt):
    """Numbers of outputs with ``surplus`` more added than missed, weighted; see the docs."""
    last = min(d, strangers - surplus)
    count = [comb(d, a) * comb(strangers, a + surplus) for a in range(last + 1)]
    moved = [comb(d - 1, a) * comb(strangers - 1, a + surplus) for a in range(last)]
    edge = beta - surplus
    within = [sum(count[k] * tilt ** (a - k) for k in range(a + 1)) for a in range(last + 1)]
    beyond = [
        sum(count[k] / tilt ** (k - a) for k in range(a + 1, last + 1)) for a in range(last)
    ]
    return moved, within, beyond, edge


@pytest.mark.parametrize("tilt", [Fraction(1), Fraction(3, 2), Fraction(40)])
def test_the_certificate_of_the_optimum_is_feasible(tilt):
    """In fractions, with e^epsilon = tilt, for outputs of every size; n <= 12."""
    for n in range(2, 13):
        for d in range(1, n):
            for beta in range(min(d, n - d)):
                equal = sizes(d, n - d, beta, 0, tilt)
                price = equal[0][beta] / equal[1][beta]
                for surplus in range(beta + 1):
                    moved, within, beyond, edge = sizes(d, n - d, beta, surplus, tilt)
                    steps = range(edge + 1)
                    inner = [within[a] / moved[a] * moved[edge] / within[edge] for a in steps]
                    outer = [
                        beyond[a] / moved[a] * moved[edge] / beyond[edge]
                        for a in range(edge, len(moved))
                    ]
                    assert max(inner) == max(outer) == 1
                    assert moved[edge] / within[edge] >= price
                    assert within[edge] / beyond[edge] <= equal[1][beta] / equal[2][beta]


def test_no_mechanism_at_all_is_better_than_the_optimum():
    """The full program over every kernel from pairs of 4 people to subsets of 4."""
    n, d, beta, epsilon, failure = 4, 2, 1, 0.4, 0.1
    inputs = [frozenset(s) for s in combinations(range(n), d)]
    outputs = [frozenset(s) for k in range(n + 1) for s in combinations(range(n), k)]
    pairs = [(i, j) for i, j in product(range(6), repeat=2) if len(inputs[i] - inputs[j]) == 1]
    many, cells = len(outputs), len(inputs) * len(outputs)
    width = cells + len(pairs) * many + 1
    rows, limits = [], []
    for number, (i, j) in enumerate(pairs):
        total = np.zeros(width)
        total[-1] = -1
        for o in range(many):
            row = np.zeros(width)
            slack = cells + number * many + o
            row[[i * many + o, slack]] = 1, -1
            row[j * many + o] = -exp(epsilon)
            total[slack] = 1
            rows.append(row)
            limits.append(0)
        rows.append(total)
        limits.append(0)
    sums = np.zeros((len(inputs), width))
    for i, e in enumerate(inputs):
        sums[i, i * many : (i + 1) * many] = 1
        far = np.zeros(width)
        for o, output in enumerate(outputs):
            far[i * many + o] = len(e - output) > beta or len(output - e) > beta
        rows.append(far)
        limits.append(failure)
    cost = np.zeros(width)
    cost[-1] = 1
    best = linprog(cost, A_ub=rows, b_ub=limits, A_eq=sums, b_eq=np.ones(len(inputs))).fun

    assert optimal_delta(n, d, beta, epsilon=epsilon, failure=failure) == pytest.approx(
        best, abs=1e-9
    )
