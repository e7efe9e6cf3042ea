"""Records are repaired one by one; query rectangles are spread evenly over a box."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from dpselect.maps import even_queries, lattice_rectangles
from dpselect.maps.box import Box

UNIT = Box(0, 0, 1, 1)
awkward = st.floats(allow_nan=True, allow_infinity=True, width=64)


@given(st.lists(st.tuples(awkward, awkward), max_size=8), st.sampled_from(["drop", "clip"]))
def test_a_record_is_repaired_whatever_the_others_are(records, outside):
    def located(some):
        x, y = np.array(some, dtype=float).reshape(-1, 2).T
        return np.column_stack(UNIT.locate(x, y, outside=outside)).tolist()

    assert located(records) == [point for record in records for point in located([record])]


numbers = st.floats(-1e9, 1e9)


@given(west=numbers, south=numbers, width=st.floats(8, 1e9), height=st.floats(8, 1e9))
def test_they_lie_inside_any_box(west, south, width, height):
    box = (west, south, west + width, south + height)

    assert len(lattice_rectangles(even_queries(box, each=40), bounds=box)) == 200


def test_they_are_the_same_every_time_and_of_the_sizes_asked_for():
    queries = even_queries((0, 0, 2, 1), sides=(0.1, 0.5), each=30)

    assert (queries == even_queries((0, 0, 2, 1), sides=(0.1, 0.5), each=30)).all()
    assert queries[:, 2] - queries[:, 0] == pytest.approx(np.repeat([0.2, 1.0], 30))
    assert queries[:, 3] - queries[:, 1] == pytest.approx(np.repeat([0.1, 0.5], 30))


def test_they_spread_over_the_box():
    queries = even_queries((0, 0, 1, 1), sides=(0.01,), each=400)
    counts, *_ = np.histogram2d(queries[:, 0], queries[:, 1], bins=5, range=[(0, 0.99)] * 2)

    assert counts.min() >= 12
    assert counts.max() <= 20
