"""The coverage metric, by its definition."""

import numpy as np
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as hnp

from dpselect.combine import coverage


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
