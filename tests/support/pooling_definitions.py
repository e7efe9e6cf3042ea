"""Laws of the outcomes of pooled tests, by enumeration."""

from itertools import combinations, product
from math import comb

import numpy as np

from dpselect.neighbours import Neighbours


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


def neighbours(people, relation):
    """Yield all pairs of subsets of people that one step leads from one to the other."""
    subsets = [frozenset(s) for k in range(people + 1) for s in combinations(range(people), k)]
    swaps = Neighbours(relation) is Neighbours.SWAP
    for e, f in product(subsets, repeat=2):
        one_more, swapped = len(e ^ f) == 1, len(e - f) == len(f - e) == 1
        if swapped if swaps else one_more:
            yield e, f


def union_law(n, members, beta):
    """Return the law of Algorithm A2's output: the members and ``beta`` of all people."""
    law = {}
    for extra in combinations(range(n), beta):
        output = members | frozenset(extra)
        law[output] = law.get(output, 0.0) + 1 / comb(n, beta)
    return law
