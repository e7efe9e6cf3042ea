"""Laws of rivals: by their definitions on every small database, and beside ours in compare."""

from collections import Counter
from itertools import combinations_with_replacement, product

import numpy as np
import pytest

import dpselect as dp
from dpselect.errors import ParameterError
from dpselect.percentiles import percentile, percentile_rank, rank_of
from dpselect_studies import rivals

LOWER, UPPER, EPSILON = 0.0, 4.0, 1.2
POINTS = np.arange(5.0)
SMALL = [x for n in range(1, 5) for x in combinations_with_replacement((0, 1, 3, 4), n)]
OF_NUMBERS = [rivals.InverseSensitivity, rivals.PiecewiseLaplace, rivals.SmoothSensitivity]


def rival(kind, database, p=50, epsilon=EPSILON):
    values = np.array(database, dtype=float)
    return kind(values=values, p=p, lower=LOWER, upper=UPPER, epsilon=epsilon)


def replaced(x, y):
    return len(x) - sum((Counter(x) & Counter(y)).values())


def are_neighbours(x, y):
    return len(x) == len(y) and replaced(x, y) == 1


@pytest.mark.parametrize("kind", OF_NUMBERS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("p", [25, 50, 90])
def test_laws_are_private_on_every_small_database(kind, p):
    report = dp.audit.check_private(
        lambda x: rival(kind, x, p).probabilities_at(POINTS), SMALL, are_neighbours, EPSILON
    )

    assert report.ok, str(report)
    assert report.pairs > 100


def test_a_twentieth_of_the_noise_is_caught():
    for kind in OF_NUMBERS:
        report = dp.audit.check_private(
            lambda x, kind=kind: rival(kind, x, epsilon=20 * EPSILON).probabilities_at(POINTS),
            SMALL, are_neighbours, EPSILON,
        )  # fmt: skip
        assert not report.ok


@pytest.mark.parametrize("p", [25, 50, 90])
def test_inverse_sensitivity_counts_replacements(p):
    universe = list(combinations_with_replacement(range(5), 4))
    for x in SMALL:
        if len(x) != 4:
            continue
        least = [
            min(replaced(x, y) for y in universe if y[rank_of(p, 4) - 1] == c) for c in POINTS
        ]
        weights = np.exp(-EPSILON / 2 * np.array(least))
        law = rival(rivals.InverseSensitivity, x, p).probabilities_at(POINTS)

        assert law == pytest.approx(weights / weights.sum())


@pytest.mark.parametrize("p", [25, 50, 90])
def test_smooth_sensitivity_is_that_of_the_definition(p):
    universe = list(combinations_with_replacement(range(5), 3))
    k = rank_of(p, 3)
    local = {
        x: max(abs(x[k - 1] - y[k - 1]) for y in universe if replaced(x, y) <= 1)
        for x in universe
    }
    for x in universe:
        expected = max(np.exp(-EPSILON / 6 * replaced(x, y)) * local[y] for y in universe)
        found = rival(rivals.SmoothSensitivity, x, p).smooth

        assert found == pytest.approx(max(expected, np.exp(-EPSILON / 2) * (UPPER - LOWER)))


def test_the_piecewise_laplace_law_is_the_integral_of_its_density():
    values, fine = np.array([0.5, 1.0, 1.0, 3.7]), np.linspace(0, 4, 400_001)
    fine = (fine[1:] + fine[:-1]) / 2
    ends = np.array([0, *values, 4])
    # Linear between the last of equal numbers and the first of the next.
    places = np.searchsorted(ends, fine) - 1
    share = (fine - ends[places]) / (ends[places + 1] - ends[places])
    density = np.exp(-EPSILON / 2 * np.abs(places + share - rank_of(50, 4)))
    cells = np.bincount(np.rint(fine).astype(int), density)
    law = rival(rivals.PiecewiseLaplace, values).probabilities_at(POINTS)

    assert law == pytest.approx(cells / cells.sum(), rel=1e-4)


def test_the_noisy_maximum_follows_its_definition():
    objective = percentile([0.0, 1, 3, 4], p=50, upper=4, horizon=40)
    mechanism = rivals.ElementSmoothNoisyMax(epsilon=3.0)
    beta, s = 3 / 8, 3 * 3**0.5 / 4
    smooth = np.max(
        [np.exp(-beta * t) * objective.sensitivity.at(t) for t in range(60)], axis=0
    )
    scales = np.array(
        [(smooth[r] + np.delete(smooth, r).max()) / s for r in range(smooth.size)]
    )
    noise = np.random.default_rng(0).standard_t(3, (200_000, 4))
    drawn = np.bincount((objective.scores + scales * noise).argmax(axis=1), minlength=4)

    assert mechanism.probabilities(objective) == pytest.approx(drawn / 200_000, abs=5e-3)


def test_the_noisy_maximum_is_private_on_databases_of_two():
    def law(x):
        objective = percentile(x, p=50, upper=4, horizon=40)
        return rivals.ElementSmoothNoisyMax(epsilon=EPSILON).probabilities(objective)

    pairs = list(product((0.0, 1.0, 4.0), repeat=2))
    report = dp.audit.check_private(law, pairs, dp.Neighbours.SUBSTITUTE, EPSILON)

    assert report.ok, str(report)
    assert report.pairs == 18


def test_rivals_are_compared_and_not_drawn():
    values = np.random.default_rng(0).lognormal(1, 1, 200)
    objective = percentile_rank(
        values, p=90, candidates=np.linspace(0, 40, 81), neighbours="substitute"
    )
    asked = {"values": values, "p": 90, "lower": 0, "upper": 40, "epsilon": 1.0}
    table = dp.compare(
        objective, [dp.PermuteAndFlip(epsilon=1.0), *(kind(**asked) for kind in OF_NUMBERS)]
    )

    assert [row.mechanism for row in table.rows][1:] == [kind.name for kind in OF_NUMBERS]
    assert all(0 < row.expected_error < 200 for row in table.rows)
    with pytest.raises(ParameterError):
        OF_NUMBERS[0](**asked).release(objective)
