"""The variants most associated with a disease: distances against brute force, and privacy."""

from itertools import product

import numpy as np
import pandas as pd
import pytest

import dpselect as dp
from dpselect_applications.variants import genotype_counts

PEOPLE = [(1, 1), (2, 3), (3, 3), (5, 7), (6, 6), (9, 3), (2, 6)]
"""Cases and controls: all tables of up to 12 people."""

P_VALUES = [0.5, 0.05, 0.01, 0.001]


def every_group(people):
    """Return all numbers of people with no copy, one and two."""
    return [
        (people - one - two, one, two)
        for one in range(people + 1)
        for two in range(people + 1 - one)
    ]


def steps(groups):
    """Return how many people must change between any two groups."""
    table = np.array(groups)
    return np.abs(table[:, None] - table[None]).sum(axis=2) // 2


def chi_square(case, control):
    """Return the allelic chi-square, negative where cases have fewer copies."""
    table = np.array(
        [[2 * one[0] + one[1], one[1] + 2 * one[2]] for one in (case, control)], dtype=float
    )
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    if 0 in columns:
        return 0.0
    expected = np.outer(rows, columns) / table.sum()
    side = np.sign(table[0, 1] / rows[0] - table[1, 1] / rows[1])
    return float(side * ((table - expected) ** 2 / expected).sum())


def by_definition(statistic, near, least):
    """Return signed distances to the border, the larger of both sides, by all tables."""
    best = np.full(statistic.size, -(10**9))
    for significant in (statistic >= least, -statistic >= least):
        inside = np.array([near[i][~significant].min() for i in range(statistic.size)])
        if significant.any():
            outside = np.array([near[i][significant].min() for i in range(statistic.size)])
        else:
            outside = np.full(statistic.size, near.max() + 1)
        best = np.maximum(best, np.where(significant, inside - 1, -outside))
    return best


def universe(cases, controls):
    """Return all tables as rows of counts, their distances and their statistics."""
    groups = every_group(cases), every_group(controls)
    tables = list(product(*groups))
    far = [steps(group) for group in groups]
    near = (far[0][:, None, :, None] + far[1][None, :, None, :]).reshape(
        len(tables), len(tables)
    )
    rows = np.array([[*case[1:], *control[1:]] for case, control in tables])
    return rows, near, np.array([chi_square(*table) for table in tables])


def asked(cases, controls, variants, p):
    people = {"variants": variants, "cases": cases, "controls": controls}
    return dp.TopVariants(**people, significance=p, k=1, epsilon=1.0)


@pytest.mark.parametrize(("cases", "controls"), PEOPLE)
def test_every_table_scores_its_distance_from_significance(cases, controls):
    """One person moves it by one at most, and by one somewhere."""
    rows, near, statistic = universe(cases, controls)
    moved = 0
    for p in P_VALUES:
        query = asked(cases, controls, len(rows), p)
        least = query.design().statistic
        # No table lies on the border, where rounding of this test's statistic would decide.
        assert np.abs(np.abs(statistic) - least).min() > 1e-9
        scores = query.objective(rows).scores
        assert scores.tolist() == by_definition(statistic, near, least).tolist()
        changes = np.abs(scores[:, None] - scores[None])
        assert (changes <= near).all()
        moved = max(moved, changes[near == 1].max())
    assert moved == 1


def test_counts_of_no_possible_people_move_scores_by_one_at_most_too():
    """Counts beyond the declared people are read, not refused: an error would tell of one."""
    cases, controls, beyond = 2, 2, range(-1, 5)
    rows = [[*case, 1, 0] for case in product(beyond, beyond)]
    scores = asked(cases, controls, len(rows), 0.3).objective(rows).scores
    for one, row in enumerate(rows):
        for other, changed in enumerate(rows):
            a, b = changed[0] - row[0], changed[1] - row[1]
            if max(abs(a), abs(b), abs(a + b)) == 1:
                assert abs(scores[one] - scores[other]) <= 1


ODD = {
    None: 0,
    float("nan"): 0,
    -3.0: 0,
    2.5: 2,
    float("inf"): 5,
    pd.NA: 0,
    "two": 0,
    object(): 0,
}


@pytest.mark.parametrize("odd", ODD, ids=range(len(ODD)))
def test_an_odd_call_or_count_is_the_nearest_possible_one_and_changes_that_one_alone(odd):
    columns = ["case_one", "case_two", "control_one", "control_two"]
    counts, plain = [[odd, 0, 1, 0], [3, 9, 0, 0]], [[ODD[odd], 0, 1, 0], [0, 5, 0, 0]]
    scores = asked(5, 5, 2, 0.5).objective(plain).scores.tolist()
    frame = pd.DataFrame(counts, columns=columns, dtype=object).assign(variant=["a", "b"])

    for one in (counts, frame):
        assert asked(5, 5, 2, 0.5).objective(one).scores.tolist() == scores
    calls, plain = ([[0, 1], [one, 2], [1, 1]] for one in (odd, 0))
    is_case = np.array([True, True, False])
    assert (genotype_counts(calls, is_case) == genotype_counts(plain, is_case)).all()
