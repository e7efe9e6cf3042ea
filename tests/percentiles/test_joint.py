"""The joint exponential mechanism: its law by definition, its privacy, and its draw."""

from collections import Counter
from fractions import Fraction
from itertools import combinations_with_replacement, pairwise

import numpy as np
import pytest
from scipy import stats

import dpselect as dp
from dpselect.draws import path_exponential
from dpselect.errors import ParameterError
from dpselect.percentiles.joint import Joint
from dpselect.percentiles.reading import Records
from support.neighbours import are_neighbours

POINTS, EPSILON = np.array([0.0, 1.0, 2.0]), 1.5
BOTH = [dp.Neighbours.ADD_REMOVE, dp.Neighbours.SUBSTITUTE]
UNIVERSE = [x for n in range(7) for x in combinations_with_replacement(range(4), n)]


def joint(percents, relation, epsilon=EPSILON):
    return Joint(percents, POINTS, Records(relation), epsilon)


def source(database, relation=BOTH[0]):
    return Records(relation).of(np.array(database, dtype=float))


def score(database, path, percents):
    """Return minus the distances of counts from wanted ones, record by record."""
    ends = [-np.inf, *(POINTS[place] for place in path), np.inf]
    shares = np.diff([0, *percents, 100]) / 100
    counts = [sum(a < x <= b for x in database) for a, b in pairwise(ends)]
    return -np.abs(counts - shares * len(database)).sum()


def paths(m):
    return list(combinations_with_replacement(range(POINTS.size), m))


def law(database, by, decay=None):
    chain = by.chain(source(database, by.records.neighbours))
    decay = float(by.decay if decay is None else decay)
    return np.exp(
        [
            path_exponential.log_probability(chain, decay, path)
            for path in paths(len(by.percents))
        ]
    )


@pytest.mark.parametrize("percents", [(50,), (25, 75), (10, 50, 90)], ids=str)
@pytest.mark.parametrize("database", [(), (0, 1, 1, 3), (2, 2, 2, 2, 2)], ids=str)
def test_the_law_is_that_of_the_definition(percents, database):
    by = joint(percents, BOTH[0])
    weights = np.exp(
        [float(by.decay) * score(database, p, percents) for p in paths(len(percents))]
    )
    expected = weights / weights.sum()
    chain = by.chain(source(database))

    assert law(database, by) == pytest.approx(expected)
    for j, marginal in enumerate(path_exponential.marginals(chain, float(by.decay))):
        places = [path[j] for path in paths(len(percents))]
        assert marginal == pytest.approx(np.bincount(places, expected, POINTS.size))
    for j in range(len(percents) - 1):
        pairs = np.zeros((3, 3))
        for path, chance in zip(paths(len(percents)), expected, strict=True):
            pairs[path[j], path[j + 1]] += chance
        assert path_exponential.joint_probabilities(chain, float(by.decay), j) == pytest.approx(
            pairs
        )


@pytest.mark.slow
@pytest.mark.parametrize("relation", BOTH, ids=str)
@pytest.mark.parametrize(
    ("percents", "most", "pairs"),
    [((25, 75), 6, (504, 756)), ((50,), 4, (140, 210)), ((10, 50, 90), 4, (140, 210))],
    ids=str,
)
def test_it_is_private_on_every_small_database_and_its_sensitivity_is_attained(
    percents, most, pairs, relation
):
    by = joint(percents, relation)
    near = are_neighbours(relation)
    universe = [x for x in UNIVERSE if len(x) <= most and (x or relation is BOTH[0])]
    report = dp.audit.check_private(lambda x: law(x, by), universe, near, EPSILON)
    small = [x for x in universe if len(x) < 4]
    moved = max(
        abs(score(x, path, percents) - score(y, path, percents))
        for x in small
        for y in small
        if near(x, y)
        for path in paths(len(percents))
    )

    assert report.ok, str(report)
    assert report.pairs == pairs[BOTH.index(relation)]
    assert moved == pytest.approx(float(Fraction(EPSILON) / (2 * by.decay)))


def test_half_of_the_sensitivity_is_caught():
    by = joint((25, 75), BOTH[1])
    report = dp.audit.check_private(
        lambda x: law(x, by, 2 * by.decay), UNIVERSE[1:40], are_neighbours(BOTH[1]), EPSILON
    )

    assert not report.ok


def test_releases_follow_the_law():
    """Unseeded: false alarm 1 in 10^6."""
    database, by, repeats = (0, 1, 1, 2, 3), joint((25, 75), BOTH[0]), 400
    draw = by.prepare(source(database))
    found = Counter(draw() for _ in range(repeats))
    counts = [found[tuple(POINTS[list(path)])] for path in paths(2)]

    assert stats.chisquare(counts, repeats * law(database, by)).pvalue > 1e-6


def test_a_grid_far_from_all_records_is_drawn_from():
    query = dp.Percentiles(
        p=[25, 50, 75], candidates=[0, 1, 2], method="joint", epsilon=1.0,
        neighbours="substitute",
    )  # fmt: skip
    release = query.release([0.5] * 10**6)

    assert set(release.answer) <= {0.0, 1.0, 2.0}
    assert release.exact


@pytest.mark.parametrize("epsilon", [1e-17, 1e-300])
def test_a_tiny_epsilon_is_drawn_with(epsilon):
    budget = dp.Budget(epsilon=1.0, neighbours="add-remove")
    query = dp.Percentiles(
        p=[25, 50, 75], candidates=range(10), method="joint", epsilon=epsilon,
        neighbours="add-remove",
    )  # fmt: skip
    release = query.release([1, 2, 3.0], budget=budget)

    assert list(release.answer) == sorted(release.answer)
    assert [entry.epsilon for entry in budget.entries] == [epsilon]


def test_percentiles_of_many_digits_keep_the_costs_in_64_bits():
    """The least common denominator of the fractions nearest to them would have 75 bits."""
    percents = (12.347, 23.459, 37.123, 49.777, 60.001, 71.239, 83.777)
    by = Joint(percents, np.arange(100.0), Records(BOTH[0]), 200.0)
    chain = by.chain(source(range(100)))

    assert chain.parts == 10**5
    assert chain.costs(0).tolist() == [abs(10**5 * (i + 1) - 1_234_700) for i in range(100)]


def test_laws_of_percentiles_are_the_marginals():
    asked = {"p": [25, 75], "candidates": POINTS, "method": "joint", "epsilon": EPSILON}
    laws = dp.Percentiles(neighbours="add-remove", **asked).probabilities([0, 1, 1, 3])
    chain = joint((25, 75), BOTH[0]).chain(source((0, 1, 1, 3)))

    assert laws == pytest.approx(
        path_exponential.marginals(chain, float(joint((25, 75), BOTH[0]).decay))
    )


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"candidates": range(2000)}, "is for few candidates"),
        ({"candidates": [2, 1]}, "candidates must increase"),
        ({"candidates": None, "upper": 9, "step": 1e-6}, "needs fewer values"),
        ({"mechanism": "noisy-max"}, "has no other mechanism"),
    ],
    ids=str,
)
def test_bad_arguments_are_named(asked, message):
    usual = {"p": [50], "candidates": range(9), "epsilon": 1.0, "neighbours": "add-remove"}

    with pytest.raises(ParameterError, match=message):
        dp.Percentiles(**usual | asked, method="joint")
