"""Laws of the outcomes of pooled tests, by enumeration."""

from itertools import combinations
from math import comb

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
