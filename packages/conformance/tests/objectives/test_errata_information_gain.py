"""Information gain: Lemmas 14 and 15 of Local Dampening in print.

The score of an attribute is minus the conditional entropy of the class, times the number of
records. A table holds one row of class counts per value of the attribute.
"""

from collections import Counter
from itertools import combinations_with_replacement, product
from math import log2

import pytest

import dpselect as dp

pytestmark = pytest.mark.slow

MOST = 5
CELLS = list(product("ab", "01"))
TABLES = [x for n in range(MOST + 1) for x in combinations_with_replacement(CELLS, n)]


def f(x):
    return (x + 1) * log2(x + 1) - (x * log2(x) if x else 0)


def counts(x, values="ab", classes="01"):
    seen = Counter(x)
    return [[seen[value, label] for label in classes] for value in values]


def score(table):
    def entropy(n):
        return n * log2(n) if n else 0.0

    return sum(sum(map(entropy, row)) - entropy(sum(row)) for row in table)


def exact_cell(a, b, t):
    if b == 0:
        return f(a + t)
    steps = t + 1
    if a + steps > 2 * b:
        s = min(b, steps)
        return f(a + steps - 2 * s) - f(b - s)
    return f(a + steps - 2) - f(b - 1)


def over_cells(cell, *, empty=True):
    def delta(table, t):
        return max(
            (cell(sum(row), b, t) for row in table for b in row if empty or b), default=0.0
        )

    return delta


def removals_only(a, b, t):
    """Row 20: the test a < tau lets nothing grow beyond the present counts."""

    def now(a, b):
        return f(a) if b == 0 else f(a - 1) - f(b - 1)

    return max(
        now(a - own - other, b - own)
        for own in range(min(b, t) + 1)
        for other in range(min(a - b, t - own) + 1)
    )


exact = over_cells(exact_cell)
without_the_empty_class = over_cells(exact_cell, empty=False)
in_print = over_cells(removals_only)


def objective_by(delta, bound, relation=dp.Neighbours.ADD_REMOVE):
    def objective_of(x):
        table = counts(x)
        sensitivity = dp.ElementSensitivity(
            lambda t: [delta(table, t)], bound, relation, horizon=12
        )
        return dp.Objective([score(table)], sensitivity)

    return objective_of


def check(delta, bound=100.0, **options):
    return dp.audit.check_admissible(
        objective_by(delta, bound),
        TABLES,
        dp.Neighbours.ADD_REMOVE,
        complete=lambda x: len(x) < MOST,
        **options,
    )


def test_row_19_the_empty_class_counts_too():
    report = check(without_the_empty_class)
    five_of_one_class = [[5, 0], [0, 0]]

    assert without_the_empty_class(five_of_one_class, 0) == 0
    assert exact(five_of_one_class, 0) == pytest.approx(3.90, abs=0.005)
    assert not report.finding("condition (i)").ok
    assert report.finding("condition (i)").excess == pytest.approx(f(MOST - 1))


def test_row_20_without_additions_the_printed_algorithm_is_not_admissible():
    report = check(in_print)

    assert report.finding("condition (i)").ok
    assert not report.finding("condition (ii)").ok
    assert in_print([[0, 0], [0, 0]], 1) < exact([[0, 0], [0, 0]], 1) == 2


def test_row_20_stated_counterexample():
    x, y = (("a", "1"),) * 2, (("a", "1"),) * 3
    report = dp.audit.check_admissible(
        objective_by(in_print, 100.0), [x, y], dp.Neighbours.ADD_REMOVE, max_distance=1
    )

    assert report.finding("condition (ii)").excess == pytest.approx(3.245 - 2.755, abs=0.001)
