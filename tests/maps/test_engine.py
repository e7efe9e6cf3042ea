"""Points that stay in their engine: the same counts, so the same law of every map."""

import narwhals as nw
import numpy as np
import polars as pl
import pytest

from dpselect.maps.box import Box
from dpselect.maps.counting import StreamedPoints
from dpselect.maps.engine import EngineCounts
from dpselect.maps.partition import nested, uniform_grid
from dpselect.maps.points import PointRows
from support.engines import every_engine, held_by

RNG = np.random.default_rng(2)
SQUARES = np.array([[i, j, 1, 1 + i + 3 * j] for i in (0, 1) for j in (0, 1)])


@every_engine
def test_cells_and_many_rectangles_are_those_of_numpy(engine, crossing):
    lattice = pl.DataFrame({axis: RNG.integers(0, 2**32, 300).astype(float) for axis in "xy"})
    corners = np.sort(RNG.integers(0, 2**32 + 1, (130, 2, 2)), axis=1).reshape(-1, 4)
    x, y = lattice["x"].to_numpy(), lattice["y"].to_numpy()
    counts = EngineCounts(
        nw.from_native(held_by(engine, lattice)).lazy(), Box(0, 0, 2**32, 2**32)
    )

    cells = counts.in_cells(uniform_grid((3, 5)))
    held = counts.in_rectangles(corners)

    by_numpy = np.histogram2d(x, y, bins=[3, 5], range=[[0, 2**32]] * 2)[0]
    assert cells.tolist() == by_numpy.ravel().tolist()
    inside = [((x >= w) & (x < e) & (y >= s) & (y < n)).sum() for w, s, e, n in corners]
    assert held.tolist() == inside
    assert sum(crossing) <= 10 * len(lattice)  # groups that hold points, not 201 x 201


TENTHS = np.repeat(np.arange(11) / 10, np.arange(11) + 1)
"""On the lines of ten cells, and on the upper edge."""

HELD = {
    "polars": pl.DataFrame.clone,
    "Arrow": pl.DataFrame.to_arrow,
    "pandas": pl.DataFrame.to_pandas,
    "pandas of Arrow": lambda frame: frame.to_pandas(use_pyarrow_extension_array=True),
    "an array": pl.DataFrame.to_numpy,
}


def tenths_in_cells(places):
    counts = np.zeros((10, 10))
    np.add.at(counts, tuple(np.minimum(places, 9).T), 1)
    return counts.ravel()


@pytest.mark.parametrize("kind", [pl.Float64, pl.Float32])
@pytest.mark.parametrize("hold", HELD)
def test_decimals_of_any_floats_are_on_the_lines_that_are_written_like_them(hold, kind):
    frame = pl.DataFrame({"x": TENTHS, "y": TENTHS[::-1]}, schema={"x": kind, "y": kind})
    places = np.round(frame.to_numpy() * 10).astype(int)
    columns = ("x", "y") if hold != "an array" else (None, None)

    rows = PointRows(Box(0, 0, 1, 1), *columns)
    counts = rows.read(HELD[hold](frame)).in_cells(uniform_grid(10))
    inner = PointRows(Box(0.1, 0.1, 0.7, 0.7), *columns).read(HELD[hold](frame))

    assert counts.tolist() == tenths_in_cells(places).tolist()
    assert inner.in_cells(uniform_grid(6)).sum() == ((places >= 1) & (places <= 7)).all(1).sum()


@every_engine
@pytest.mark.parametrize("width", [0.1, 0.5])
def test_cells_of_fewer_floats_than_lines_are_those_of_memory(engine, width):
    box, rng = Box(1000, 1000, 1000 + width, 1000 + width), np.random.default_rng(4)
    rows = pl.DataFrame((1000 + width * rng.random((500, 2))).astype(np.float32), ["x", "y"])
    here, there = (
        PointRows(box, "x", "y").read(held) for held in (rows, held_by(engine, rows))
    )
    grid = uniform_grid((4096, 3))
    assert here.in_cells(grid).tolist() == there.in_cells(grid).tolist()


@pytest.mark.skipif(
    [*map(int, pl.__version__.split(".")[:2])] < [1, 37],
    reason="batches of this polars end in silence where a query fails, and are not used",
)
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
    assert len(list(there._parts())) > 1
    for partition in (uniform_grid(5), nested("mixed", 2, SQUARES)):
        assert here.in_cells(partition).tolist() == there.in_cells(partition).tolist()
    assert here.in_rectangles(queries).tolist() == there.in_rectangles(queries).tolist()
    assert crossing == []
    kept = ~np.isnan(x) if outside == "clip" else (x >= 0) & (x <= 1) & (y >= 0) & (y <= 1)
    assert here.in_cells(uniform_grid(5)).sum() == kept.sum()
