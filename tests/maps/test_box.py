"""Half-open cells, records repaired one by one, bounds that are refused."""

import numpy as np
from hypothesis import given, settings, strategies as st

from dpselect.maps.box import Box

UNIT = Box(0, 0, 1, 1)
awkward = st.floats(allow_nan=True, allow_infinity=True, width=64)


def test_points_on_the_edges_of_the_box_are_inside():
    x, _ = UNIT.locate([0.0, -5e-324, 1.0, np.nextafter(1, 2)], [0.5] * 4)

    assert x.tolist() == [0, 1]


def test_points_outside_are_moved_inside_on_request_but_missing_ones_dropped():
    x, y = UNIT.locate([np.nan, np.inf, -np.inf, 7], [0.5, 0.5, -2, 9], outside="clip")

    assert x.tolist() == [1, 0, 1]
    assert y.tolist() == [0.5, 0, 1]


@settings(deadline=None)  # the first example compiles
@given(st.lists(st.tuples(awkward, awkward), max_size=8), st.sampled_from(["drop", "clip"]))
def test_a_record_is_repaired_whatever_the_others_are(records, outside):
    def located(some):
        x, y = np.array(some, dtype=float).reshape(-1, 2).T
        return np.column_stack(UNIT.locate(x, y, outside=outside)).tolist()

    assert located(records) == [point for record in records for point in located([record])]
