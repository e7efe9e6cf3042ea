"""Points that stay in their engine: the same counts, so the same law of every map."""

from itertools import product

import narwhals as nw
import numpy as np
import polars as pl
import pytest

import dpselect as dp
from dpselect.maps import (
    Weighted,
    lattice_rectangles,
    partition_error,
)
from dpselect.maps.box import Box
from dpselect.maps.engine import EngineCounts
from dpselect.maps.partition import nested, uniform_grid
from dpselect.maps.points import PointRows
from support.engines import every_engine, held_by

BOX = Box(-10, 40, 20, 60)
RNG = np.random.default_rng(2)
ODD = [np.nan, np.inf, -10.0, 20.0]
POINTS = pl.DataFrame(
    {
        "x": np.concatenate([RNG.uniform(-12, 22, 300), ODD, [0.0] * 4]),
        "y": np.concatenate([RNG.uniform(39, 61, 300), [50.0] * 4, ODD]),
    }
)
QUERIES = lattice_rectangles(
    [[-10, 40, 20, 60], [-3.3, 41, 4, 50], [0, 40, 1, 59.9]], bounds=BOX.bounds
)
BLOCKS = nested("blocks", 4, np.array([[0, 0, 2, 3], [2, 0, 2, 1], [0, 2, 2, 2], [2, 2, 2, 5]]))


@every_engine
def test_the_objective_of_a_choice_is_the_same_to_the_last_bit(engine, crossing):
    partitions = [uniform_grid(3), uniform_grid((2, 5)), BLOCKS]
    held = {
        name: PointRows(BOX, "x", "y").read(points)
        for name, points in (("here", POINTS), ("there", held_by(engine, POINTS)))
    }

    for partition in partitions:
        cells = [points.in_cells(partition) for points in held.values()]
        assert (cells[0] == cells[1]).all()
    ours, theirs = (
        partition_error(
            points,
            partitions=partitions,
            queries=QUERIES,
            scale=1.0,
            measure=Weighted(neighbours=dp.Neighbours.ADD_REMOVE),
        )
        for points in held.values()
    )
    assert (ours.scores == theirs.scores).all()
    draw = dp.PermuteAndFlip(epsilon=1.0)
    assert (draw.probabilities(ours) == draw.probabilities(theirs)).all()
    assert max(crossing) < 100 < len(POINTS)


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
    # Around 0.1 and 1, as float64 and as float32; the second box has few floats a cell.
    boxes = [Box(-0.0, 0.1, 1, 1), Box(1, 1, 1 + 2**-48, 1 + 2**-48)]
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


@every_engine
def test_a_map_is_released_and_no_point_collected(engine, crossing):
    query = dp.Map(
        x="x",
        y="y",
        bounds=BOX.bounds,
        grids=[2, 4],
        queries=[[-10, 40, 0, 50]],
        epsilon=100.0,
        neighbours="add-remove",
    )
    released = query.release(held_by(engine, POINTS))

    assert abs(released.total - 265) < 40
    assert max(crossing) <= 16 * 16
