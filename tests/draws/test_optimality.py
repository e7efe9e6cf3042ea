"""Theorems of docs/report on what no mechanism can do better, by linear programmes."""

import csv
from itertools import combinations, product
from math import comb, exp, inf, log
from pathlib import Path

import numpy as np
import pytest

import dpselect as dp
from support.optimum import ONE_MORE, UNIVERSES, least_and_found, least_mean, one_apart

COUNTS = list(product(range(5), repeat=2))


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 2.5])
def test_pairwise_is_optimal_for_two_counts_on_every_database(epsilon):
    """Theorem 53: the least error on each database, for any law that is fair at ties."""
    ties = [(i, (0.5, 0.5)) for i, (a, b) in enumerate(COUNTS) if a == b]
    steps = one_apart(COUNTS)
    mechanism = dp.PairwiseLocalDampening(epsilon=epsilon, draw=dp.draws.PermuteAndFlip())
    wrong = np.array([[float(a < b), float(b < a)] for a, b in COUNTS])
    ours = np.array(
        [
            law @ bad
            for bad, law in zip(
                wrong,
                (
                    mechanism.probabilities(dp.Objective(list(x), ONE_MORE, monotone=True))
                    for x in COUNTS
                ),
                strict=True,
            )
        ]
    )
    for i, (a, b) in enumerate(COUNTS):
        if a == b:
            continue
        assert ours[i] == pytest.approx(exp(-epsilon * abs(a - b)) / 2, rel=1e-12)
        alone = np.zeros_like(wrong)
        alone[i] = wrong[i] * len(COUNTS)
        least, _ = least_mean(alone, steps, epsilon, ties)
        assert ours[i] == pytest.approx(least, rel=1e-6)


@pytest.mark.parametrize("epsilon", [0.5, 1.5])
def test_no_mechanism_resolves_a_smaller_lead(epsilon):
    """Theorem 51: the least probability of an error, of any mechanism, at a lead of q."""
    n, q = 3, 3
    databases = [x for x in product(range(q + 1), repeat=n) if np.count_nonzero(x) <= 1]
    places = {x: i for i, x in enumerate(databases)}
    heights = [places[(0,) * i + (q,) + (0,) * (n - 1 - i)] for i in range(n)]
    losses = np.zeros((len(databases), n))
    for i, height in enumerate(heights):
        losses[height] = len(databases) / n
        losses[height, i] = 0.0
    beta, _ = least_mean(losses, one_apart(databases), epsilon)
    bound = max(log(n * (1 - beta)), log((n - 1) / (n * beta)) if beta > 0 else -inf)

    assert q >= bound / epsilon * (1 - 1e-9)


def test_a_common_translation_is_not_monotone():
    """Theorem 1: doubled scores must move in one direction without a translation."""
    before, after = (
        dp.draws.Exponential().probabilities(2 * np.array(scores), 1.0)
        for scores in ([2.0, 0.0], [0.0, 0.0])
    )

    assert np.abs(np.log(before / after)).max() == pytest.approx(1.434, abs=1e-3)


RESULTS = Path(__file__).parents[2] / "benchmarks" / "results" / "optimum.csv"
STORED = list(csv.DictReader(RESULTS.read_text(encoding="utf-8").splitlines()))


LARGE = "median record of four, values 0 to 3"


@pytest.mark.parametrize(
    "name", [pytest.param(one, marks=[pytest.mark.slow] * (one == LARGE)) for one in UNIVERSES]
)
def test_the_stored_table_of_least_shortfalls(name):
    """At epsilon 1; no mechanism is below the programme."""
    [row] = [one for one in STORED if one["universe"] == name and one["epsilon"] == "1.0"]
    found = least_and_found(UNIVERSES[name], 1.0)

    assert found == pytest.approx({key: float(row[key]) for key in found}, abs=2e-6)
    assert min(found.values()) >= found["least"] - 1e-7


def weights_of_sets(scores, k, epsilon):
    """e^(epsilon / 2 (least score of a set - largest of the rest)) over its sum."""
    sets = list(combinations(range(len(scores)), k))
    leads = [
        min(scores[i] for i in one) - max(scores[j] for j in range(len(scores)) if j not in one)
        for one in sets
    ]
    weights = np.exp(epsilon / 2 * np.array(leads))
    return sets, weights / weights.sum()


@pytest.mark.parametrize(("n", "k"), [(4, 1), (5, 2), (6, 3), (7, 5)])
@pytest.mark.parametrize("epsilon", [0.4, 2.0])
def test_a_set_is_drawn_by_a_table_and_is_private(n, k, epsilon):
    """Theorem 15: the cells of its proof, and every step that moves scores up by 0 or 1."""
    rng = np.random.default_rng(n)
    scores = np.sort(rng.integers(0, 6, n))[::-1].astype(float)
    sets, law = weights_of_sets(scores, k, epsilon)
    cells = {(k + 1, k): exp(epsilon / 2 * (scores[k - 1] - scores[k]))}
    for o in range(1, k + 1):
        for t in range(k + 1, n + 1):
            ways = comb(t - o - 1, k - o)
            cells[o, t] = ways * exp(epsilon / 2 * (scores[t - 1] - scores[o - 1]))
    total = sum(cells.values())
    for cell, weight in cells.items():
        of_cell = [
            chance
            for one, chance in zip(sets, law, strict=True)
            if (min({*range(n)} - {*one}) + 1, max(one) + 1) == cell
        ]
        assert sum(of_cell) == pytest.approx(weight / total, rel=1e-12)
        assert np.ptp(of_cell) <= 1e-12
    for moves in product((0.0, 0.5, 1.0), repeat=n):
        _, after = weights_of_sets(scores + moves, k, epsilon)
        loss = np.log(law / after)
        assert np.abs(loss).max() <= epsilon * (1 + 1e-12)
        assert np.ptp(loss) <= epsilon * (1 + 1e-12)
