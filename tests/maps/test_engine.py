"""Points that stay in their engine: the same counts, so the same law of every map."""

import numpy as np
import polars as pl
import pytest

from dpselect.maps.box import Box
from dpselect.maps.counting import StreamedPoints
from dpselect.maps.partition import nested, uniform_grid
from dpselect.maps.points import PointRows

RNG = np.random.default_rng(2)
SQUARES = np.array([[i, j, 1, 1 + i + 3 * j] for i in (0, 1) for j in (0, 1)])


@pytest.mark.parametrize("outside", ["drop", "clip"])
def test_points_that_come_in_parts_are_counted_as_those_in_memory(outside, crossing):
    """Some of them are missing or outside; polars gives away some at once, never all."""
    x, y = RNG.uniform(-0.1, 1.1, (2, 400_000))
    x[::7], y[::11] = np.nan, np.inf
    frame, queries = pl.DataFrame({"x": x, "y": y}), RNG.integers(0, 2**31, (9, 4))
    queries[:, 2:] += 2**31
    rows = PointRows(Box(0, 0, 1, 1), "x", "y", outside=outside)
    here, there = rows.read(frame), rows.read(frame.lazy())
    crossing.clear()

    assert isinstance(there, StreamedPoints)
    heights = []
    there.points.to_native().sink_batches(lambda part: heights.append(part.height))
    assert len(heights) > 1
    for partition in (uniform_grid(5), nested("mixed", 2, SQUARES)):
        assert here.in_cells(partition).tolist() == there.in_cells(partition).tolist()
    assert here.in_rectangles(queries).tolist() == there.in_rectangles(queries).tolist()
    assert crossing == []
    kept = ~np.isnan(x) if outside == "clip" else (x >= 0) & (x <= 1) & (y >= 0) & (y <= 1)
    assert here.in_cells(uniform_grid(5)).sum() == kept.sum()
