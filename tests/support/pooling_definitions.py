"""Laws of the outcomes of pooled tests, by enumeration."""

from itertools import combinations
from math import comb, exp

import numpy as np


def syndrome_law(design, law, *, flip=0.0):
    """Return the law of the outcomes, over all ``2 ** pools`` syndromes.

    ``law`` has the probabilities of the subsets that are pooled, after any noise before
    pooling; bit ``t`` of a position is the outcome of pool ``t``.
    """
    chances = np.zeros(1 << len(design))
    bits = 1 << np.arange(len(design))
    for subset, chance in law.items():
        chances[int(bits @ design[:, sorted(subset)].any(axis=1))] += chance
    for bit in bits:
        other = np.arange(chances.size) ^ bit
        chances = (1 - flip) * chances + flip * chances[other]
    return chances


def union_law(n, members, beta):
    """Return the law of Algorithm A2's output: the members and ``beta`` of all people."""
    law = {}
    for extra in combinations(range(n), beta):
        output = members | frozenset(extra)
        law[output] = law.get(output, 0.0) + 1 / comb(n, beta)
    return law


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
