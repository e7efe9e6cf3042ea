"""Subset retrieval of private size, and released statuses, against their definitions."""

from collections import Counter
from fractions import Fraction
from itertools import combinations, product
from math import exp

import numpy as np
import pytest
from scipy import stats

import dpselect as dp
from dpselect.draws import noisy_counts
from dpselect.errors import DataError, ParameterError
from dpselect.retrieval import (
    SubsetRetrieval,
    plan_statuses,
    plan_subset,
    private_size,
    release_statuses,
    release_subset,
)


@pytest.mark.slow
def test_released_statuses_follow_their_law():
    """Unseeded: false alarm 1 in 10^6."""
    drawn = [release_statuses([0], n=2, epsilon=1.0).answer for _ in range(6000)]
    kept = sum(0 in members for members in drawn)
    added = sum(1 in members for members in drawn)
    flip = 1 / (1 + exp(1))

    assert stats.binomtest(kept, 6000, 1 - flip).pvalue > 1e-6
    assert stats.binomtest(added, 6000, flip).pvalue > 1e-6


def trimmed_law(subset, size, n):
    """The law of a subset brought to a size at random, over subsets of that size."""
    if size <= len(subset):
        results = [frozenset(s) for s in combinations(sorted(subset), size)]
    else:
        others = sorted(set(range(n)) - subset)
        results = [subset | set(extra) for extra in combinations(others, size - len(subset))]
    return {result: 1 / len(results) for result in results}


@pytest.mark.parametrize("size", range(6))
def test_a_status_changed_costs_no_more_than_a_swap_once_the_size_is_fixed(size):
    n = 5
    mechanism = SubsetRetrieval(
        n=n, d=size, beta=min(1, size, n - size), epsilon=0.5, failure=0.1
    )
    weights = np.exp(mechanism.law().log_weights())
    outputs = [frozenset(s) for s in combinations(range(n), size)]

    def law(subset):
        return np.array(
            [
                sum(p * weights[len(t - o)] for t, p in trimmed_law(subset, size, n).items())
                for o in outputs
            ]
        )

    for k in range(n):
        for subset in map(frozenset, combinations(range(n), k)):
            for person in set(range(n)) - subset:
                p, q = law(subset), law(subset | {person})
                worst = max(
                    np.maximum(p - exp(0.5) * q, 0).sum(), np.maximum(q - exp(0.5) * p, 0).sum()
                )
                assert worst <= mechanism.delta() + 1e-12


def test_a_subset_of_private_size_is_drawn_and_charged():
    budget = dp.Budget(3.0, delta=0.9, neighbours=dp.Neighbours.SUBSTITUTE)
    release = release_subset(
        [3, 4, 5], n=30, beta=2, size_epsilon=1.0, epsilon=1.5, delta=0.8, budget=budget
    )

    (entry,) = budget.entries
    assert (release.epsilon, release.delta) == (entry.epsilon, entry.delta) == (1.5, 0.8)
    assert set(release.answer) <= set(range(30))
    assert list(release.answer) == sorted(release.answer)


def law_of_release(subset, n, beta, size_epsilon, epsilon, delta):
    """The exact law of a release, summed over the noisy sizes, by output."""
    q = exp(-size_epsilon)
    law = Counter()
    for size in range(n + 1):
        below = size == 0
        above = size == n
        shift = size - len(subset)
        if below:
            mass = q ** len(subset) / (1 + q)
        elif above:
            mass = q ** (n - len(subset)) / (1 + q)
        else:
            mass = (1 - q) / (1 + q) * q ** abs(shift)
        retrieval = private_size._Terms.checked(
            n, beta, 0.0, size_epsilon, size_epsilon + epsilon
        ).retrieval(size, delta)
        weights = np.exp(retrieval.law().log_weights())
        for trimmed, p in trimmed_law(subset, size, n).items():
            for output in map(frozenset, combinations(range(n), size)):
                law[output] += mass * p * weights[len(trimmed - output)]
    return law


@pytest.mark.parametrize("delta", [0.0, 0.3])
def test_the_whole_release_is_private_for_every_changed_status(delta):
    n, size_epsilon, epsilon = 4, 0.5, 0.75
    subsets = [frozenset(s) for k in range(n + 1) for s in combinations(range(n), k)]
    laws = {s: law_of_release(s, n, 1, size_epsilon, epsilon, delta) for s in subsets}

    for law in laws.values():
        assert sum(law.values()) == pytest.approx(1)
    for e, f in product(subsets, repeat=2):
        if len(e ^ f) == 1:
            excess = sum(
                max(0.0, p - exp(size_epsilon + epsilon) * laws[f][o])
                for o, p in laws[e].items()
            )
            assert excess <= delta + 1e-12


def test_the_parts_of_epsilon_never_exceed_the_whole():
    for part in (0.1, 0.2, 0.3, 0.7):
        spends = plan_subset(n=9, beta=1, size_epsilon=part, epsilon=0.9, delta=0.5).spends

        assert sum(Fraction(spend.epsilon) for spend in spends) <= Fraction(0.9)


def test_the_smallest_size_epsilon_keeps_the_noise_within_64_bits():
    assert (
        noisy_counts.scale_for(private_size.SMALLEST_SIZE_EPSILON) <= noisy_counts.LARGEST_SCALE
    )


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"delta": 1.0}, "delta"),
        ({"size_epsilon": 0.0}, "size_epsilon"),
        ({"size_epsilon": 1.5}, "size_epsilon"),
        ({"epsilon": 2000.0}, "epsilon"),
        ({"failure": 1.0}, "failure"),
        ({"beta": -1}, "beta"),
        ({"n": 0}, "n must be"),
    ],
)
def test_private_sizes_need_sound_arguments(wrong, says):
    arguments = {"n": 9, "beta": 1, "size_epsilon": 0.5, "epsilon": 1.0, "delta": 0.5}
    with pytest.raises(ParameterError, match=says):
        release_subset([1], **{**arguments, **wrong})


def test_a_large_epsilon_still_flips_by_an_exact_fraction():
    plan = plan_statuses(n=3, epsilon=1e6)

    assert plan.epsilon == 1e6
    assert release_statuses([1], n=3, epsilon=1e6).answer == (1,)


@pytest.mark.parametrize("release", [release_statuses, release_subset])
def test_a_wrong_member_costs_nothing_and_is_not_repeated(release):
    budget = dp.Budget(9.0, delta=0.9, neighbours=dp.Neighbours.SUBSTITUTE)
    more = {} if release is release_statuses else {"beta": 1, "size_epsilon": 1, "delta": 0.5}

    with pytest.raises(DataError, match="not there") as refused:
        release([77], n=9, epsilon=2.0, budget=budget, **more)
    assert "77" not in str(refused.value)
    assert budget.entries == ()
