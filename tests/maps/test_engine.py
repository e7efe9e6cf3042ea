"""Points that stay in their engine: the same counts, so the same law of every map."""

from itertools import product

import narwhals as nw
import numpy as np
import polars as pl
import pytest

from dpselect.maps import lattice_rectangles
from dpselect.maps.box import Box
from dpselect.maps.engine import EngineCounts
from dpselect.maps.partition import nested, uniform_grid
from dpselect.maps.points import PointRows
from support.engines import every_engine, held_by

RNG = np.random.default_rng(2)
BLOCKS = nested("blocks", 4, np.array([[0, 0, 2, 3], [2, 0, 2, 1], [0, 2, 2, 2], [2, 2, 2, 5]]))


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


@pytest.mark.parametrize("outside", ["drop", "clip"])
@every_engine
def test_points_at_the_edges_of_a_box_are_in_the_same_cells(engine, outside):
    # Around 0.1 and 1, as float64 and as float32.
    boxes = [Box(-0.0, 0.1, 1, 1), Box(1, 1, 1 + 2**-27, 1 + 2**-27)]
    edges = [edge for box in boxes for edge in box.bounds]
    near = [*np.nextafter(edges, -np.inf), *edges, *np.nextafter(edges, np.inf)]
    wide = [*near, -0.0, 0.1 + 2**-30, 1e308, -1e308, np.inf, -np.inf, np.nan, None]
    pairs = pl.DataFrame(list(product(wide, wide)), schema=["x", "y"], orient="row")
    partitions = [uniform_grid((3, 16)), BLOCKS]

    for rows in (pairs, pairs.cast(pl.Float32)):
        there = held_by(engine, rows)
        for box in boxes:
            points, counts = (
                PointRows(box, "x", "y", outside=outside).read(frame) for frame in (rows, there)
            )
            for partition in partitions:
                assert (
                    counts.in_cells(partition).tolist() == points.in_cells(partition).tolist()
                )
                assert points.in_cells(partition).any()


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
def test_so_they_are_in_an_engine(engine):
    kinds = {"x": pl.Float32, "y": pl.Float32}
    frame = pl.DataFrame({"x": TENTHS, "y": TENTHS[::-1]}, schema=kinds)
    held, places = held_by(engine, frame), np.round(frame.to_numpy() * 10).astype(int)
    for outside in ("drop", "clip"):
        there = PointRows(Box(0, 0, 1, 1), "x", "y", outside=outside).read(held)
        assert there.in_cells(uniform_grid(10)).tolist() == tenths_in_cells(places).tolist()
        quarter = lattice_rectangles([[0.3, 0.1, 1, 0.7]], bounds=(0, 0, 1, 1))
        inside = (places[:, 0] >= 3) & (places[:, 1] >= 1) & (places[:, 1] < 7)
        assert there.in_rectangles(quarter) == inside.sum()


@every_engine
@pytest.mark.parametrize("width", [0.1, 0.5])
def test_cells_of_fewer_floats_than_lines_are_those_of_memory(engine, width):
    box, rng = Box(1000, 1000, 1000 + width, 1000 + width), np.random.default_rng(4)
    rows = pl.DataFrame((1000 + width * rng.random((500, 2))).astype(np.float32), ["x", "y"])
    here, there = (
        PointRows(box, "x", "y").read(held) for held in (rows, held_by(engine, rows))
    )
    for grid in (uniform_grid((4096, 3)), uniform_grid((2**16, 3))):
        assert here.in_cells(grid).tolist() == there.in_cells(grid).tolist()
