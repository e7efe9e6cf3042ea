"""True positive rates: PrivPareto's Lemma 6.1 in print.

A positive record is a hit or a miss of the tree; the rate is hits / positives.
"""

from itertools import combinations_with_replacement, product

import numpy as np
import pytest

import dpselect as dp

pytestmark = pytest.mark.slow

MOST = 9
POSITIVES = [
    ("hit",) * hits + ("miss",) * misses
    for hits in range(MOST + 1)
    for misses in range(MOST + 1 - hits)
]


def rate(hits, misses):
    return hits / (hits + misses) if hits + misses else 0.0


def objective_by(delta):
    def objective_of(x):
        hits, misses = x.count("hit"), x.count("miss")
        sensitivity = dp.ElementSensitivity(
            lambda t: [delta(hits, misses, t)],
            1.0,
            dp.Neighbours.ADD_REMOVE,
            horizon=30,
        )
        return dp.Objective([rate(hits, misses)], sensitivity)

    return objective_of


def in_print(hits, misses, t):
    left = hits + misses - t
    if left < 2 or hits > left:
        return 1.0
    return (left - hits) / (left * (left - 1))


def in_print_with_maximum(hits, misses, t):
    left = hits + misses - t
    if left < 2:
        return 1.0
    return min(1.0, max(left - hits, hits) / (left * (left - 1)))


def move(report):
    return report.finding("unit scores: dampened").excess + 1


def on(*databases):
    """A universe of those databases of hits and misses, given as counts."""
    return [("hit",) * hits + ("miss",) * misses for hits, misses in databases]


def test_row_1_the_printed_bound_is_below_the_local_sensitivity():
    report = dp.audit.check_admissible(
        objective_by(in_print), POSITIVES, dp.Neighbours.ADD_REMOVE
    )

    assert {"condition (i)", "condition (ii)", "unit scores: dampened"} <= set(report.failed)


@pytest.mark.parametrize(
    ("x", "y", "delta", "local"),
    [((2, 1), (2, 0), 1 / 6, 1 / 3), ((2, 0), (2, 1), 0, 1 / 3)],
)
def test_row_1_stated_counterexamples(x, y, delta, local):
    report = dp.audit.check_admissible(
        objective_by(in_print), on(x, y), dp.Neighbours.ADD_REMOVE, max_distance=1
    )

    assert in_print(*x, 0) == pytest.approx(delta)
    assert report.finding("condition (i)").excess >= local - delta - 1e-12


def test_row_1_a_dampened_score_moves_by_more_than_three():
    report = dp.audit.check_admissible(
        objective_by(in_print), on((4, 6), (3, 6)), dp.Neighbours.ADD_REMOVE
    )

    assert move(report) == pytest.approx(3.35, abs=0.005)


def test_row_1b_the_maximum_put_back_is_not_enough():
    report = dp.audit.check_admissible(
        objective_by(in_print_with_maximum), POSITIVES, dp.Neighbours.ADD_REMOVE
    )

    assert report.finding("condition (i)").ok
    assert not report.finding("condition (ii)").ok


def test_row_1b_stated_counterexamples():
    objective_of = objective_by(in_print_with_maximum)
    pair = dp.audit.check_admissible(
        objective_of, on((3, 4), (2, 4)), dp.Neighbours.ADD_REMOVE, max_distance=1
    )
    moving = dp.audit.check_admissible(
        objective_of, on((4, 8), (3, 8)), dp.Neighbours.ADD_REMOVE
    )

    assert in_print_with_maximum(2, 3, 1) == pytest.approx(1 / 6)
    assert pair.finding("condition (ii)").excess == pytest.approx(4 / 30 - 3 / 30)
    assert move(moving) == pytest.approx(1.58, abs=0.005)


def two_trees(delta):
    def objective_of(x):
        counts = np.array(
            [
                [sum(record[i] for record in x), sum(not record[i] for record in x)]
                for i in (0, 1)
            ]
        )
        sensitivity = dp.ElementSensitivity(
            lambda t: [delta(*row, t) for row in counts],
            1.0,
            dp.Neighbours.ADD_REMOVE,
            horizon=6,
        )
        return dp.Objective([rate(*row) for row in counts], sensitivity)

    return objective_of


def test_row_1_trees_that_share_their_records_do_not_keep_unit_scores():
    records = list(product((True, False), repeat=2))
    databases = [x for n in range(5) for x in combinations_with_replacement(records, n)]
    printed = dp.audit.check_admissible(
        two_trees(in_print), databases, dp.Neighbours.ADD_REMOVE
    )

    assert "unit scores: pairwise" in printed.failed
