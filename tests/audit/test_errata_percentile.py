"""The percentile: Lemmas 10 and 11 of Local Dampening in print, and the exact form.

A database is one value per label, the candidates are the labels, and the score of a label is
minus the distance of its value from the k-th smallest one.
"""

from itertools import product

import pytest

import dpselect as dp

pytestmark = pytest.mark.slow

TOP = 4


def score(x, k, r):
    return -abs(sorted(x)[k - 1] - x[r])


class Ends:
    """Where the two neighbours in rank of a label can be moved to by the other labels."""

    def __init__(self, x, k, r, top):
        self.others = sorted(x[:r] + x[r + 1 :])
        self.k, self.n, self.top = k, len(x), top

    def order(self, j):
        if j < 1:
            return 0
        return self.top if j > self.n - 1 else self.others[j - 1]

    def low(self, raised):
        return 0 if self.k == 1 else self.order(self.k - 1 + raised)

    def high(self, raised):
        return self.top if self.k == self.n else self.order(self.k + raised)


def exact(x, k, r, t, top=TOP):
    """Theorem 25 of docs/report, with the numbers of its lines."""
    if len(x) == 1:
        return 0
    s, ends = x[r], Ends(x, k, r, top)

    def distance(low, high):
        return max(low - s, s - high, 0)

    lines = [
        ends.low(t) - s,  # 7
        s - ends.high(-t),
        ends.low(t) - distance(ends.low(t), ends.high(t)),  # 8
        top - ends.high(-t) - distance(ends.low(-t), ends.high(-t)),
    ]
    if t >= 1:
        lines += [ends.low(t - 1), top - ends.high(1 - t)]  # 9
    if t == 1:
        lines.append(ends.order(k) - ends.order(k - 1))  # 10
    if t <= 1:
        lines.append(ends.low(t + 1) - max(s, ends.order(k - 1)))  # 11
        lines.append(min(s, ends.order(k)) - ends.high(-t - 1))
    return max(lines)


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
            8,
            dp.Neighbours.SUBSTITUTE,
        )
        return dp.Objective([score(x, k, r) for r in range(n)], sensitivity)

    return dp.audit.check_admissible(
        objective_of, product(range(top + 1), repeat=n), dp.Neighbours.SUBSTITUTE, **options
    )


@pytest.mark.parametrize(
    ("n", "top", "k"),
    [(n, top, k) for n, top in [(2, 5), (3, 4), (4, 2)] for k in range(1, n + 1)],
)
def test_the_exact_form_is_the_local_sensitivity_at_every_distance(n, top, k):
    report = check(lambda x, k, r, t: exact(x, k, r, t, top), k, n, top, max_distance=n + 1)

    report.raise_if_failed()
    assert report.tight


def test_one_person_alone_is_always_the_percentile():
    report = check(exact, 1, n=1)

    report.raise_if_failed()
    assert report.tight


def test_the_global_bound_is_the_public_maximum():
    assert max(exact(x, 2, r, 3) for x in product(range(5), repeat=3) for r in range(3)) == TOP


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
