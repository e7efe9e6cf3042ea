"""True positive rates: PrivPareto's Lemma 6.1 in print, and what holds instead.

A positive record is a hit or a miss of the tree; the rate is hits / positives.
"""

from itertools import combinations_with_replacement, product

import numpy as np
import pytest

import dpselect as dp

pytestmark = pytest.mark.slow

MOST = 9
EMPTY_RATES = (0.0, 0.5, 1.0)
POSITIVES = [
    ("hit",) * hits + ("miss",) * misses
    for hits in range(MOST + 1)
    for misses in range(MOST + 1 - hits)
]


def rate(hits, misses, empty=0.0):
    return hits / (hits + misses) if hits + misses else empty


def objective_by(delta, *, relation=dp.Neighbours.ADD_REMOVE, empty=0.0, bound=1.0):
    def objective_of(x):
        hits, misses = x.count("hit"), x.count("miss")
        sensitivity = dp.ElementSensitivity(
            lambda t: [delta(hits, misses, t, empty)], bound, 30, relation
        )
        return dp.Objective([rate(hits, misses, empty)], sensitivity)

    return objective_of


def in_print(hits, misses, t, _):
    left = hits + misses - t
    if left < 2 or hits > left:
        return 1.0
    return (left - hits) / (left * (left - 1))


def in_print_with_maximum(hits, misses, t, _):
    left = hits + misses - t
    if left < 2:
        return 1.0
    return min(1.0, max(left - hits, hits) / (left * (left - 1)))


def safe(hits, misses, t, _):
    return 1 / max(hits + misses - t, 1)


def exact_add_remove(hits, misses, t, empty):
    most, least, left = max(hits, misses), min(hits, misses), hits + misses - t
    if left >= 2:
        if t <= least - 1:
            return most / (left * (left - 1))
        return 1 / left if least >= 1 else 1 / (left + 1)
    if empty == 0.5:
        return 0.5
    hot = hits if empty == 0 else misses
    return 1.0 if t >= hits + misses or (left == 1 and hot >= 1) else 0.5


def exact_substitute(hits, misses, t, empty):
    if hits + misses == t == 0:
        return max(empty, 1 - empty)
    return safe(hits, misses, t, empty)


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

    assert in_print(*x, 0, 0.0) == pytest.approx(delta)
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

    assert in_print_with_maximum(2, 3, 1, 0.0) == pytest.approx(1 / 6)
    assert pair.finding("condition (ii)").excess == pytest.approx(4 / 30 - 3 / 30)
    assert move(moving) == pytest.approx(1.58, abs=0.005)


@pytest.mark.parametrize("empty", EMPTY_RATES)
def test_the_exact_form_is_the_local_sensitivity_under_add_remove(empty):
    report = dp.audit.check_admissible(
        objective_by(exact_add_remove, empty=empty, bound=0.5 if empty == 0.5 else 1.0),
        POSITIVES,
        dp.Neighbours.ADD_REMOVE,
        complete=lambda x: len(x) < MOST,
    )

    report.raise_if_failed()
    assert report.tight


@pytest.mark.parametrize("empty", EMPTY_RATES)
def test_the_exact_form_is_the_local_sensitivity_under_substitution(empty):
    report = dp.audit.check_admissible(
        objective_by(exact_substitute, relation=dp.Neighbours.SUBSTITUTE, empty=empty),
        product(("hit", "miss", "negative"), repeat=4),
        dp.Neighbours.SUBSTITUTE,
    )

    report.raise_if_failed()
    assert report.tight


@pytest.mark.parametrize("empty", EMPTY_RATES)
def test_the_simple_form_is_safe_and_at_most_twice_too_large(empty):
    report = dp.audit.check_admissible(
        objective_by(safe, empty=empty), POSITIVES, dp.Neighbours.ADD_REMOVE
    )

    report.raise_if_failed()
    assert not report.tight
    assert all(
        safe(hits, misses, t, empty) <= 2 * exact_add_remove(hits, misses, t, empty)
        for hits, misses, t in product(range(6), range(6), range(13))
    )


def two_trees(delta):
    def objective_of(x):
        counts = np.array(
            [
                [sum(record[i] for record in x), sum(not record[i] for record in x)]
                for i in (0, 1)
            ]
        )
        sensitivity = dp.ElementSensitivity(
            lambda t: [delta(*row, t, 0.0) for row in counts],
            1.0,
            6,
            dp.Neighbours.ADD_REMOVE,
        )
        return dp.Objective([rate(*row) for row in counts], sensitivity)

    return objective_of


def test_trees_that_share_their_records_keep_unit_scores():
    records = list(product((True, False), repeat=2))
    databases = [x for n in range(5) for x in combinations_with_replacement(records, n)]
    good = dp.audit.check_admissible(
        two_trees(exact_add_remove), databases, dp.Neighbours.ADD_REMOVE
    )
    printed = dp.audit.check_admissible(
        two_trees(in_print), databases, dp.Neighbours.ADD_REMOVE
    )

    good.raise_if_failed()
    assert "unit scores: pairwise" in printed.failed
