"""The optimal scheme, against linear programs over all mechanisms."""

from itertools import combinations, product
from math import exp

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
