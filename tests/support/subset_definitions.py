"""The least delta of subset retrieval by linear programs, and the law of a private size."""

from itertools import combinations, product
from math import comb, exp

import numpy as np
from scipy.optimize import linprog

from support.noise import laplace


def chances_of_sizes(d, n, epsilon):
    """Return the law of a size with discrete Laplace noise that is clipped to 0 and n."""
    sizes = d + np.arange(-99, 100)
    return np.bincount(sizes.clip(0, n), laplace(1 / epsilon, 99), n + 1)


def trimmed(subset, size, n):
    """Return all subsets of a size that one is brought to, each as likely as the others."""
    if size <= len(subset):
        return [frozenset(some) for some in combinations(sorted(subset), size)]
    others = sorted(set(range(n)) - subset)
    return [subset | set(more) for more in combinations(others, size - len(subset))]


def least_delta(n, d, beta, epsilon, failure):
    """The linear program over all mechanisms, with outputs of any size.

    Averaged over all renamings of people no mechanism loses more. So the probability of an
    output depends only on how many members it misses and how many strangers it adds, and two
    neighbours exchange one (missed, added) for the next along a diagonal.
    """
    kinds = list(product(range(d + 1), range(n - d + 1)))
    steps = [kind for kind in kinds if (kind[0] + 1, kind[1] + 1) in kinds]
    width = len(kinds) + 2 * len(steps)
    rows = np.zeros((2 * len(steps) + 1, width))
    for number, (missed, added) in enumerate(steps):
        moved = comb(d - 1, missed) * comb(n - d - 1, added)
        step = [kinds.index((missed, added)), kinds.index((missed + 1, added + 1))]
        shares = [moved / comb(d, kinds[k][0]) / comb(n - d, kinds[k][1]) for k in step]
        for row in (2 * number, 2 * number + 1):
            rows[row, step] = shares[0], -exp(epsilon) * shares[1]
            rows[row, len(kinds) + row] = -1
            step.reverse()
            shares.reverse()
    rows[-1, : len(kinds)] = [max(kind) > beta for kind in kinds]
    limits = np.append(np.zeros(2 * len(steps)), failure)
    excess = np.append(np.zeros(len(kinds)), np.ones(2 * len(steps)))
    return linprog(excess, A_ub=rows, b_ub=limits, A_eq=[1 - excess], b_eq=[1]).fun
