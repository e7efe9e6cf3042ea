"""The coverage metric, by its definition."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
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
    "standard": lambda a, b: (a >= b).all() and (a > b).any(),
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
    assert coverage(front, front, dominance="standard") == 0


@pytest.mark.parametrize(
    ("a", "b", "kind"),
    [
        ([], [[1, 2]], "weak"),
        ([[1, 2]], [1, 2], "weak"),
        ([[1, 2]], [[1, 2, 3]], "weak"),
        ([[1, 2]], [["x", 2]], "weak"),
        ([[1, 2]], [[1, 2]], "mild"),
    ],
)
def test_sets_are_checked(a, b, kind):
    with pytest.raises(ParameterError):
        coverage(a, b, dominance=kind)
