"""Information gain: Lemmas 14 and 15 of Local Dampening, and the exact form.

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
        sensitivity = dp.ElementSensitivity(lambda t: [delta(table, t)], bound, 12, relation)
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


def test_the_exact_form_is_the_local_sensitivity():
    report = check(exact)

    report.raise_if_failed()
    assert report.tight


def test_the_exact_form_is_the_local_sensitivity_with_three_classes():
    cells = list(product("ab", "012"))
    databases = [x for n in range(5) for x in combinations_with_replacement(cells, n)]

    def objective_of(x):
        table = counts(x, classes="012")
        sensitivity = dp.ElementSensitivity(
            lambda t: [exact(table, t)], 100.0, 12, dp.Neighbours.ADD_REMOVE
        )
        return dp.Objective([score(table)], sensitivity)

    report = dp.audit.check_admissible(
        objective_of, databases, dp.Neighbours.ADD_REMOVE, complete=lambda x: len(x) < 4
    )

    report.raise_if_failed()
    assert report.tight


def test_with_at_most_n_records_the_bound_is_exact():
    report = check(exact, bound=f(MOST - 1))

    report.raise_if_failed()
    assert report.finding("global bound").excess == pytest.approx(0, abs=1e-12)


def test_under_substitution_twice_the_distance_is_safe():
    n = 3
    report = dp.audit.check_admissible(
        objective_by(lambda table, t: exact(table, 2 * t), f(n - 1), dp.Neighbours.SUBSTITUTE),
        product(CELLS, repeat=n),
        dp.Neighbours.SUBSTITUTE,
    )

    report.raise_if_failed()


def test_attributes_of_the_same_records_keep_unit_scores():
    records = list(product("ab", "xy", "01"))
    databases = [x for n in range(4) for x in combinations_with_replacement(records, n)]

    def objective_of(x):
        tables = [
            counts([(record[i], record[2]) for record in x], values)
            for i, values in enumerate(("ab", "xy"))
        ]
        sensitivity = dp.ElementSensitivity(
            lambda t: [exact(table, t) for table in tables], f(2), 4, dp.Neighbours.ADD_REMOVE
        )
        return dp.Objective([score(table) for table in tables], sensitivity, monotone=True)

    dp.audit.check_admissible(
        objective_of, databases, dp.Neighbours.ADD_REMOVE
    ).raise_if_failed()


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
