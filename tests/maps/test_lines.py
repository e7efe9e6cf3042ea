"""A point on the edge of two cells is in the upper one, on every grid and in every engine."""

from fractions import Fraction
from itertools import product

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings, strategies as st

from dpselect.maps import CountedCells, Overlap, lattice_rectangles
from dpselect.maps.box import Box
from dpselect.maps.counting import Points
from dpselect.maps.partition import nested, uniform_grid
from dpselect.maps.points import PointRows
from support.engines import every_engine, held_by

BOUNDS = {
    "integers": (0, 0, 10, 10),
    "tenths": (0, 0.1, 1, 0.7),
    "degrees": (-74.05, 40.68, -73.9, 40.88),
    "the world": (-180, -90, 180, 90),
    "metres": (2_485_000.5, 1_075_000, 2_833_000.25, 1_299_000),
}
every_box = pytest.mark.parametrize("bounds", BOUNDS.values(), ids=BOUNDS)


def edges_of(low, high, size):
    """Return the floats nearest to the decimals."""
    first, last = Fraction(repr(float(low))), Fraction(repr(float(high)))
    return np.array([float(first + (last - first) * k / size) for k in range(size + 1)])


def on_and_beside(edges):
    """Return all edges, the floats below them and the middles of the cells."""
    return np.concatenate(
        [edges, np.nextafter(edges[1:], -np.inf), (edges[1:] + edges[:-1]) / 2]
    )


@every_box
@pytest.mark.parametrize("shape", [(10, 10), (7, 3), (16, 30), (1, 64)])
def test_cells_are_those_of_numpy_with_the_edges_that_are_written(bounds, shape):
    box = Box.of(bounds)
    edges = [edges_of(*box.side(axis), size) for axis, size in enumerate(shape)]
    x, y = np.array(list(product(*map(on_and_beside, edges)))).T
    counts = Points.of(x, y, bounds=bounds).in_cells(uniform_grid(shape))

    assert counts.tolist() == np.histogram2d(x, y, bins=edges)[0].ravel().tolist()
    cells = uniform_grid(shape).in_box(box)
    assert np.unique(cells[:, [0, 2]]).tolist() == edges[0].tolist()
    assert np.unique(cells[:, [1, 3]]).tolist() == edges[1].tolist()


BEYOND = [1e308, -1e308, np.inf, -np.inf, np.nan, None]
NARROW = (1, 1, 1 + 2**-27, 1 + 2**-27)
BLOCKS = [[0, 0, 2, 3], [2, 0, 2, 1], [0, 2, 2, 5], [2, 2, 1, 1], [3, 2, 1, 7]]
BLOCKS = nested("blocks", 4, np.array([*BLOCKS, [2, 3, 1, 2], [3, 3, 1, 1]]))


@every_engine
@pytest.mark.parametrize(
    ("bounds", "outside"),
    [
        *((one, "drop") for one in BOUNDS.values()),
        (BOUNDS["degrees"], "clip"),
        (NARROW, "clip"),
    ],
    ids=[*BOUNDS, "degrees, clipped", "narrow, clipped"],
)
def test_every_engine_counts_points_on_edges_and_beyond_alike(engine, bounds, outside):
    box, shape = Box.of(bounds), (10, 7)
    edges = [edges_of(*box.side(axis), size) for axis, size in enumerate(shape)]
    near = [[*on_and_beside(one), np.nextafter(one[0], -np.inf), *BEYOND] for one in edges]
    exact = pl.DataFrame(list(product(*near)), schema=["x", "y"], orient="row")
    for rows in (exact, exact.cast(pl.Float32)):
        here, there = (
            PointRows(box, "x", "y", outside=outside).read(held)
            for held in (rows, held_by(engine, rows))
        )
        for partition in (uniform_grid(shape), BLOCKS):
            counts = here.in_cells(partition)
            assert counts.any()
            assert there.in_cells(partition).tolist() == counts.tolist()


@settings(max_examples=20)
@given(
    st.sampled_from([*BOUNDS.values(), (0.1 + 0.2, 1 / 3, 1.1, 2 / 3)]),
    st.integers(1, 12),
    st.lists(st.integers(0, 12), min_size=4, max_size=4),
    st.sampled_from([-1, 0, 1]),
)
def test_a_cell_that_a_query_covers_or_misses_has_all_points_on_that_side(
    bounds, size, sides, beside
):
    """So that the sensitivities of errors hold for queries along lines, or a float beside."""
    box = Box.of(bounds)
    edges = [box.lines(axis, np.arange(size + 1), size) for axis in (0, 1)]
    x, y = map(on_and_beside, edges)
    x, y = np.tile(x, 4), np.concatenate([np.roll(y, shift) for shift in range(4)])
    inside = box.holds(x, y, outside="drop")
    x, y = x[inside], y[inside]
    low = [min(sides[0] % size, size - 1), min(sides[1] % size, size - 1)]
    query = [edges[0][low[0]], edges[1][low[1]], edges[0][-1], edges[1][-1]]
    moved = [float(np.nextafter(one, beside * np.inf)) if beside else one for one in query[:2]]
    query[:2] = np.maximum(moved, [box.west, box.south])
    if query[0] >= query[2] or query[1] >= query[3]:
        return
    rectangle, partition = lattice_rectangles(query, bounds=bounds), uniform_grid(size)
    cut = Overlap.of(partition, rectangle).largest
    for one in zip(x, y, strict=True):
        point = Points.of([one[0]], [one[1]], bounds=bounds)
        answer = CountedCells(partition, point.in_cells(partition)).answers(rectangle)
        assert abs(answer - point.in_rectangles(rectangle)) <= cut + 1e-12
