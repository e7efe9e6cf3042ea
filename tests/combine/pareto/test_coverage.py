"""The coverage metric, by its definition."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from dpselect.combine import coverage
from dpselect.errors import ParameterError


@st.composite
def two_sets(draw):
    m = draw(st.integers(1, 4))
    points = st.integers(0, 3).map(float)
    shapes = [(draw(st.integers(1, 6)), m) for _ in range(2)]
    return [draw(hnp.arrays(float, shape, elements=points)) for shape in shapes]


COVERS = {
    "weak": lambda a, b: (a >= b).all(),
    "pareto": lambda a, b: (a >= b).all() and (a > b).any(),
    "strict": lambda a, b: (a > b).all(),
}


@given(two_sets(), st.sampled_from(sorted(COVERS)))
def test_coverage_is_the_share_that_some_point_dominates(sets, dominance):
    ours, theirs = sets
    covered = [any(COVERS[dominance](a, b) for a in ours) for b in theirs]

    assert coverage(ours, theirs, dominance=dominance) == np.mean(covered)


def test_a_set_covers_itself_only_in_the_weak_sense():
    front = [[3, 0], [1, 1], [0, 3]]

    assert coverage(front, front) == 1
    assert coverage(front, front, dominance="pareto") == 0


@pytest.mark.parametrize(
    ("a", "b", "message"),
    [
        ([], [[1, 2]], "a must hold a finite score"),
        ([[1, 2]], [1, 2], r"b must hold a finite score .*; the shape is \(2,\)"),
        ([[1, np.nan]], [[1, 2]], "a must hold a finite score"),
        ([["x", "y"]], [[1, 2]], "a must be a table of numbers"),
        ([[1, 2]], [[1, 2, 3]], "a has 2 objectives and b has 3"),
    ],
)
def test_sets_are_tables_of_finite_scores(a, b, message):
    with pytest.raises(ParameterError, match=message):
        coverage(a, b)


def test_an_unknown_dominance_is_refused():
    with pytest.raises(ParameterError, match="'weak', 'pareto' or 'strict', not 'mild'"):
        coverage([[1]], [[1]], dominance="mild")
