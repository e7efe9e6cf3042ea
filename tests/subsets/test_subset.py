"""Subset retrieval against the definition of (epsilon, delta)-DP on every pair of subsets."""

from collections import Counter
from itertools import combinations, product
from math import comb, exp

import numpy as np
import pytest
from scipy import stats

import dpselect as dp
from dpselect.draws.subset_distance import DistanceDistribution, Part
from dpselect.subsets import Subset, schemes
from support.refusals import refused
from support.subset_definitions import least_delta

CASES = [
    (n, d, beta)
    for n in range(2, 9)
    for d in range(1, n)
    for beta in range(min(d, n - d) + 1)
    if n <= 6 or (d, beta) in {(3, 1), (4, 2), (2, 2), (6, 1)}
]
EPSILONS = (0.0, 0.5, 1.0)
SCHEMES = ("pure", "optimal", "ball", "union")


def retrieval(*, beta=None, scheme="optimal", **asked):
    """A query, of the pure scheme without a beta."""
    return Subset(beta=None if scheme == "pure" else beta, scheme=scheme, **asked)


def kernel(mechanism):
    """P[output | subset] for every pair: rows are subsets, columns are outputs."""
    n, d, beta = mechanism.n, mechanism.d, mechanism.beta
    inputs = [frozenset(s) for s in combinations(range(n), d)]
    if mechanism.scheme == "union":
        rows = []
        for e in inputs:
            drawn = Counter(e | set(s) for s in combinations(range(n), beta))
            rows.append({o: count / comb(n, beta) for o, count in drawn.items()})
        outputs = sorted(set().union(*rows), key=sorted)
        return inputs, np.array([[row.get(o, 0.0) for o in outputs] for row in rows])
    weights = np.exp(mechanism.retrieval().distribution().log_weights())
    return inputs, np.array([[weights[len(e - o)] for o in inputs] for e in inputs])


def delta_by_definition(inputs, table, epsilon):
    pairs = (
        (i, j)
        for i, j in product(range(len(inputs)), repeat=2)
        if len(inputs[i] - inputs[j]) == 1
    )
    return max(
        (np.maximum(table[i] - exp(epsilon) * table[j], 0).sum() for i, j in pairs), default=0
    )


@pytest.mark.parametrize(("n", "d", "beta"), CASES)
@pytest.mark.parametrize("scheme", SCHEMES)
def test_delta_is_the_least_over_all_neighbours_and_events(n, d, beta, scheme):
    failure = 0.2 if scheme == "optimal" else 0.0
    for own in EPSILONS:
        mechanism = retrieval(n=n, d=d, beta=beta, epsilon=own, failure=failure, scheme=scheme)
        inputs, table = kernel(mechanism)

        assert table.sum(axis=1) == pytest.approx(1)
        for epsilon in EPSILONS:
            exact = delta_by_definition(inputs, table, epsilon)
            assert mechanism.delta_at(epsilon) == pytest.approx(exact, abs=1e-12)


@pytest.mark.parametrize(
    ("n", "d", "beta"),
    [(5, 2, 1), (8, 3, 1), (8, 4, 3), (10, 4, 2), (12, 5, 3), (13, 4, 2), (20, 5, 2)],
)
def test_the_optimum_is_that_of_the_linear_program(n, d, beta):
    """Over all mechanisms."""
    for epsilon, failure in product((0.0, 0.3, 1.0, 3.0), (0.0, 0.02, 0.3, 0.9)):
        asked = {"epsilon": epsilon, "failure": failure, "scheme": "optimal"}
        ours = Subset(n=n, d=d, beta=beta, **asked).delta_at()

        assert ours == pytest.approx(least_delta(n, d, beta, epsilon, failure), abs=1e-6)


@pytest.mark.parametrize("parts", [((1, 1, 1.0),), ((0, 1, 0.1), (2, 2, 0.9)), ((1, 2, 1.0),)])
def test_delta_holds_for_laws_that_rise_with_the_distance(parts):
    law = DistanceDistribution(6, 3, tuple(Part(*part, 0.25) for part in parts))
    weights = np.exp(law.log_weights())
    inputs = [frozenset(s) for s in combinations(range(6), 3)]
    table = np.array([[weights[len(e - o)] for o in inputs] for e in inputs])

    assert table.sum(axis=1) == pytest.approx(1)
    for epsilon in EPSILONS:
        exact = delta_by_definition(inputs, table, epsilon)
        assert schemes.delta_of(law, epsilon) == pytest.approx(exact, abs=1e-12)
        assert exact <= schemes.delta_of(law, epsilon, schemes.RELATIVE_ERROR) <= exact + 1e-6


@pytest.mark.slow
@pytest.mark.parametrize("scheme", SCHEMES)
def test_releases_follow_the_law(scheme):
    """Unseeded: false alarm 1 in 10^6; 3 % of mass moved is seen 99 times in 100."""
    mechanism = retrieval(
        n=5, d=2, beta=1, epsilon=0.7, failure=0.3 if scheme == "optimal" else 0, scheme=scheme
    )
    inputs, table = kernel(mechanism)
    subset, draws = inputs[3], 8000
    seen = Counter(mechanism.release(subset).answer for _ in range(draws))
    if scheme == "union":
        expected = Counter()
        for extra in range(5):
            expected[tuple(sorted(subset | {extra}))] += draws / 5
    else:
        expected = {
            tuple(sorted(o)): draws * p for o, p in zip(inputs, table[3], strict=True) if p > 0
        }

    assert set(seen) == set(expected)
    observed = [seen[o] for o in expected]
    assert stats.chisquare(observed, list(expected.values())).pvalue > 1e-6


def test_accuracy_sums_the_masses_by_definition():
    mechanism = retrieval(n=8, d=3, beta=1, epsilon=0.5, failure=0.1)
    inputs, table = kernel(mechanism)
    within = [
        sum(p for o, p in zip(inputs, table[0], strict=True) if len(inputs[0] - o) <= beta)
        for beta in range(4)
    ]

    assert [mechanism.accuracy(beta) for beta in range(4)] == pytest.approx(within)
    assert mechanism.accuracy() == pytest.approx(0.9)


def test_a_million_people_agree_with_the_ratio_of_integers():
    n, d, beta = 10**6, 300, 40
    up, ball, size = 1, 0, 1
    for a in range(beta + 1):
        ball += size
        up = size * (d - a) * (n - d - a)
        size = up // (a + 1) ** 2
    exact = up / (ball * d * (n - d))

    mechanism = retrieval(n=n, d=d, beta=beta, epsilon=0, scheme="ball")
    assert mechanism.delta_at() == pytest.approx(exact, rel=schemes.RELATIVE_ERROR)
    assert len(mechanism.release(range(d)).answer) == d


@pytest.mark.parametrize(
    "free",
    [
        retrieval(n=6, d=3, beta=3, epsilon=0),
        retrieval(n=6, d=2, beta=0, epsilon=0, scheme="pure"),
        retrieval(n=4, d=4, beta=0, epsilon=0, scheme="union"),
    ],
    ids=["whole ball", "no weight", "no neighbours"],
)
def test_a_release_that_ignores_the_subset_is_free(free):
    budget = dp.Budget(1.0, neighbours=dp.Neighbours.SWAP)

    assert free.release(range(free.d), budget=budget).delta == 0
    assert budget.entries == ()


@pytest.mark.parametrize("scheme", ["optimal", "ball", "union"])
def test_no_budget_allows_a_release_of_the_truth(scheme):
    budget = dp.Budget(1.0, delta=0.9, neighbours=dp.Neighbours.SWAP, composition="sum")
    mechanism = retrieval(n=10, d=3, beta=0, epsilon=0.5, scheme=scheme)

    assert mechanism.plan.delta == 1
    with refused("delta"):
        mechanism.release([0, 1, 2], budget=budget)
    assert budget.entries == ()


@pytest.mark.parametrize(
    ("scheme", "says"),
    [
        ("optimal", "at most 2 swaps with probability 0.9"),
        ("ball", "at most 2 swaps with probability 1"),
        ("union", "at most 2 strangers added with probability 1"),
        ("pure", "at most 1 swaps with probability 0.95"),
    ],
)
def test_a_plan_bounds_the_error(scheme, says):
    failure = 0.1 if scheme == "optimal" else 0.0
    mechanism = retrieval(n=20, d=5, beta=2, epsilon=6.0, failure=failure, scheme=scheme)
    bound = mechanism.plan.error

    assert says in str(bound)
    assert mechanism.accuracy(int(bound.value)) >= bound.probability - 1e-9
