"""Subset retrieval of private size, against its definition."""

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, product
from math import log

import numpy as np
import pytest

from dpselect.draws.exact import noisy_counts
from dpselect.subsets import Subset
from dpselect.subsets.subset import SMALLEST_SIZE_EPSILON
from support.subset_definitions import chances_of_sizes, trimmed


def law_of_release(subset, query):
    """The exact law of a release, summed over the noisy sizes, by output."""
    design, n = query.design(), query.n
    chances = chances_of_sizes(len(subset), n, design.plan.spends[0].epsilon)
    law = Counter()
    for size, chance in enumerate(chances):
        retrieval = replace(design.retrieval, d=size)
        weights = np.exp(retrieval.distribution().log_weights())
        starts = trimmed(subset, size, n)
        for start, output in product(starts, map(frozenset, combinations(range(n), size))):
            law[output] += chance / len(starts) * weights[len(start - output)]
    return law


def test_the_whole_release_is_private_for_every_changed_status():
    n, epsilon = 4, 1.25
    query = Subset(n=n, size_share=0.4, epsilon=epsilon)
    subsets = [frozenset(s) for k in range(n + 1) for s in combinations(range(n), k)]
    laws = {s: law_of_release(s, query) for s in subsets}

    for law in laws.values():
        assert sum(law.values()) == pytest.approx(1)
    for e, f in product(subsets, repeat=2):
        if len(e ^ f) == 1:
            assert max(log(p / laws[f][o]) for o, p in laws[e].items()) <= epsilon + 1e-12


def test_the_parts_of_epsilon_never_exceed_the_whole():
    for part in (0.1, 0.2, 0.3, 0.7):
        spends = Subset(n=9, size_share=part, epsilon=0.9).plan.spends

        assert sum(Fraction(spend.epsilon) for spend in spends) <= Fraction(0.9)


def test_the_smallest_size_epsilon_keeps_the_noise_within_64_bits():
    assert noisy_counts.scale_for(SMALLEST_SIZE_EPSILON) <= noisy_counts.LARGEST_SCALE
