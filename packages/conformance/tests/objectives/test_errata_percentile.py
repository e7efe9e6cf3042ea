"""The percentile: Lemmas 10 and 11 of Local Dampening in print, and the exact form.

A database is one value per label, the candidates are the labels, and the score of a label is
minus the distance of its value from the k-th smallest one.
"""

from functools import cache
from itertools import product

import numpy as np
import pytest

import dpselect as dp
from dpselect.percentiles.record import PercentileSensitivity

pytestmark = pytest.mark.slow

TOP = 4


def score(x, k, r):
    return -abs(sorted(x)[k - 1] - x[r])


@cache
def exact(x, k, r, t):
    """The library's, which `percentiles/test_sensitivity.py` holds against the definition."""
    found = PercentileSensitivity(np.array(x, dtype=float), k, TOP, 99).at(t)
    return int(np.broadcast_to(found, len(x))[r])


def with_a_case_wrong(x, k, r, t):
    """Row 15: for a label below the percentile, a sum in place of a difference."""
    ordered = sorted(x)
    if t == 0 and 1 < k < len(x) and x[r] < ordered[k - 1]:
        return max(ordered[k] + ordered[k - 1] - x[r], TOP - ordered[k - 1])
    return exact(x, k, r, t)


def with_the_sign_of_the_appendix(x, k, r, t):
    """Row 16: v(p) - v(p-) where it must be v(p) + v(p-)."""
    ordered = sorted(x)
    if t == 0 and 1 < k < len(x) and x[r] > ordered[k - 1]:
        return abs(ordered[k - 1] - ordered[k - 2] - x[r])
    return exact(x, k, r, t)


def by_one_list_of_databases(x, k, r, t):
    """Row 17: the worst databases at distance t raise the other values, so it is said."""
    moved = list(x)
    for label in sorted((i for i in range(len(x)) if i != r), key=lambda i: x[i])[:t]:
        moved[label] = TOP
    return exact(tuple(moved), k, r, 0)


def check(delta, k, n=3, top=TOP, **options):
    def objective_of(x):
        sensitivity = dp.ElementSensitivity(
            lambda t: [delta(x, k, r, t) for r in range(n)],
            2 * top,
            dp.Neighbours.SUBSTITUTE,
            horizon=8,
        )
        return dp.Objective([score(x, k, r) for r in range(n)], sensitivity)

    return dp.audit.check_admissible(
        objective_of, product(range(top + 1), repeat=n), dp.Neighbours.SUBSTITUTE, **options
    )


@pytest.mark.parametrize(("x", "wrong", "right"), [((0, 1, 1), 3, 2), ((0, 1, 4), 5, 3)])
def test_row_15_the_case_below_the_percentile_is_too_large(x, wrong, right):
    report = check(with_a_case_wrong, 2)

    assert (with_a_case_wrong(x, 2, 0, 0), exact(x, 2, 0, 0)) == (wrong, right)
    assert report.finding("condition (i)").ok
    assert not report.finding("condition (ii)").ok
    assert not report.tight


def test_row_16_the_sign_of_the_appendix_is_wrong():
    report = check(with_the_sign_of_the_appendix, 2)

    assert (with_the_sign_of_the_appendix((3, 1, 1), 2, 0, 0), exact((3, 1, 1), 2, 0, 0)) == (
        3,
        2,
    )
    assert not report.ok
    assert not report.tight


def test_row_17_one_list_of_worst_databases_is_not_admissible():
    x = (0, 0, 1)
    report = check(by_one_list_of_databases, 2)

    assert (by_one_list_of_databases(x, 2, 0, 1), exact(x, 2, 0, 1)) == (3, 4)
    assert report.finding("condition (i)").ok
    assert not report.finding("condition (ii)").ok
