"""The Pareto score: Definition 4.5 of PrivPareto in print.

A record votes for one candidate in each of two elections; the objectives are the counts, and
the score of a candidate is minus the number of others that dominate it.
"""

from itertools import combinations_with_replacement, product

import numpy as np
import pytest

import dpselect as dp

pytestmark = pytest.mark.slow

CANDIDATES = range(3)
VOTES = list(product(CANDIDATES, repeat=2))
DATABASES = [x for n in range(4) for x in combinations_with_replacement(VOTES, n)]
OTHERS = len(CANDIDATES) - 1


def tally(x):
    return [[sum(vote[i] == r for vote in x) for r in CANDIDATES] for i in (0, 1)]


def weakly(a, b):
    """At least as good in every objective: the printed dominance, up to its own reading."""
    return all(left >= right for left, right in zip(a, b, strict=True))


def standard(a, b):
    return weakly(a, b) and tuple(a) != tuple(b)


def score(x, dominates):
    rows = list(zip(*tally(x), strict=True))
    return [-sum(dominates(rows[s], rows[r]) for s in CANDIDATES if s != r) for r in CANDIDATES]


def flips(x, t, r, dominates, *, surely_by=None, itself=False):
    """Counts of those that may come to dominate r, and of those that may cease to."""
    if t < 0:
        return 0, 0
    rows = np.array(tally(x)).T
    change = t + 1  # of one count within t steps and the one after, at most
    ceases = begins = 0
    for s in CANDIDATES:
        if s == r and not itself:
            continue
        now = dominates(rows[s], rows[r])
        surely = (surely_by or dominates)(rows[s] - change, rows[r] + change)
        ceases += now and not surely
        begins += not now and dominates(rows[s] + change, rows[r] - change)
    return int(ceases), int(begins)


def printed(x, t, r, dominates):
    return sum(flips(x, t, r, dominates, itself=True))


def corrected(x, t, r, dominates):
    return sum(flips(x, t, r, dominates))


def with_ties_sure(x, t, r, dominates):
    """A worst case in which both are equal is taken for dominance."""
    return sum(flips(x, t, r, dominates, surely_by=weakly))


class Uncut(dp.ElementSensitivity):
    """Values as the function gives them, also above the bound."""

    def at(self, distance):
        if distance >= self.horizon:
            return np.asarray(self.bound)
        return np.asarray(self._local(distance), dtype=float)


def check(
    delta,
    dominates=weakly,
    kind=dp.ElementSensitivity,
    databases=DATABASES,
    relation=dp.Neighbours.ADD_REMOVE,
):
    def objective_of(x):
        table = [[delta(x, t, r, dominates) for r in CANDIDATES] for t in range(5)]
        sensitivity = kind(lambda t: table[min(t, 4)], OTHERS, relation, horizon=9)
        return dp.Objective(score(x, dominates), sensitivity)

    return dp.audit.check_admissible(objective_of, databases, relation, max_distance=4)


def test_row_4_a_candidate_that_counts_itself_goes_above_the_bound():
    report = check(printed, kind=Uncut)

    assert report.failed == ("bounded",)
    assert report.finding("bounded").excess == 1


def test_row_4_counting_only_the_others_it_holds():
    check(corrected, kind=Uncut).raise_if_failed()


def test_with_standard_dominance_a_tie_in_the_worst_case_is_no_dominance():
    before, after = ((0, 0), (0, 0), (1, 1)), ((0, 0), (2, 2), (1, 1))
    report = check(
        with_ties_sure,
        standard,
        databases=[before, after],
        relation=dp.Neighbours.SUBSTITUTE,
    )

    assert report.finding("condition (i)").excess == 1
    assert report.finding("condition (i)").worst.candidate == 2
