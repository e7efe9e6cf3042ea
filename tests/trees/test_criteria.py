"""Information gain's sensitivity against its definition, over tables of counts."""

from functools import cache, partial
from itertools import product
from math import log2

import numpy as np
import pytest

from dpselect.scaling import by_global, pairwise
from dpselect.trees import InformationGainSensitivity
from dpselect.trees.criteria import objective_of
from support.trees_definitions import add_remove, by_definition, gini, majority


def score(table):
    """The count-weighted entropy of a table of rows, written out from its definition."""
    entropy = 0.0
    for row in table:
        total = sum(row)
        entropy += sum(n * log2(total / n) for n in row if n)
    return -entropy


@cache
def scored(cells, classes=2, u=score):
    return u([cells[k : k + classes] for k in range(0, len(cells), classes)])


SMALL = [
    (classes, cells)
    for values, classes, most in [(1, 2, 6), (2, 2, 3), (1, 3, 3), (3, 2, 1)]
    for cells in product(range(most + 1), repeat=values * classes)
]


@pytest.mark.parametrize(("classes", "cells"), SMALL[::3])
def test_equals_the_definition_under_add_remove(classes, cells):
    table = np.array(cells).reshape(-1, classes)
    sensitivity = InformationGainSensitivity([table], 10**6)

    found = [float(sensitivity.at(t)[0]) for t in range(5)]

    assert found == pytest.approx(
        by_definition(cells, 4, add_remove, partial(scored, classes=classes)), abs=1e-9
    )


@pytest.mark.parametrize(("a", "b"), [(40, 7), (40, 20), (41, 0), (30, 1), (25, 12)])
def test_equals_the_definition_far_away(a, b):
    sensitivity = InformationGainSensitivity([np.array([[a - b, b]])], 10**6)
    found = [float(sensitivity.at(t)[0]) for t in range(46)]

    assert found == pytest.approx(by_definition((a - b, b), 45, add_remove, scored), abs=1e-8)


@pytest.mark.parametrize("most", [2, 3, 5])
@pytest.mark.parametrize(
    ("criterion", "u"), [("information-gain", score), ("gini", gini), ("majority", majority)]
)
def test_the_bound_is_the_global_sensitivity(criterion, u, most):
    worst = 0.0
    for cells in product(range(most + 1), repeat=4):
        if sum(cells) <= most:
            worst = max(
                [worst]
                + [
                    abs(scored(cells, 2, u) - scored(y, 2, u))
                    for y in add_remove(cells)
                    if sum(y) <= most
                ]
            )

    bound = objective_of(
        criterion, [np.zeros((2, 2), int)], "a", max_records=most
    ).sensitivity.bound

    assert bound == pytest.approx(worst, abs=1e-12)


@pytest.mark.parametrize(
    ("criterion", "u"), [("information-gain", score), ("gini", gini), ("majority", majority)]
)
def test_scores_equal_the_definition_and_move_one_way(criterion, u):
    sign = 1 if criterion == "majority" else -1
    for cells in product(range(4), repeat=4):
        table = np.array(cells).reshape(2, 2)
        objective = objective_of(criterion, [table], ["a"], max_records=20)

        assert objective.scores[0] == pytest.approx(scored(cells, 2, u), abs=1e-9)
        assert objective.monotone
        assert objective.scores[0] <= objective.highest
        for i in range(4):
            more = (*cells[:i], cells[i] + 1, *cells[i + 1 :])
            assert sign * (scored(more, 2, u) - scored(cells, 2, u)) >= -1e-12


@pytest.mark.parametrize(
    ("criterion", "scaling", "off"),
    [("gini", by_global, 0.03), ("majority", by_global, 0), ("information-gain", pairwise, 0)],
)
def test_precision_does_not_depend_on_a_generous_bound(criterion, scaling, off):
    """The unit scores of a tight bound and of one 100 times as large."""
    rng = np.random.default_rng(0)
    for _ in range(10):
        tables = [rng.integers(0, 40, (size, 3)) for size in rng.integers(2, 13, 4)]
        scores = [
            scaling(objective_of(criterion, tables, "abcd", max_records=most))
            for most in (2_000, 200_000)
        ]
        assert scores[0] == pytest.approx(scores[1], rel=max(off, 1e-9))
