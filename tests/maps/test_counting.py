"""Counts and overlaps against their definitions, in exact fractions."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from dpselect.maps import CountedCells, Overlap, counting, lattice_rectangles
from dpselect.maps.box import POSITIONS, Box
from dpselect.maps.partition import nested, uniform_grid
from support.map_definitions import cells_of, inside, shares

UNIT = Box(0, 0, 1, 1)
LATTICE = Box(0, 0, POSITIONS, POSITIONS)
MIXED = nested(
    "mixed",
    4,
    np.array(
        [[0, 0, 2, 3], [0, 2, 2, 1], [2, 0, 2, 2]]
        + [[i, j, 1, 1 + (i + j) % 3] for i in (2, 3) for j in (2, 3)]
    ),
)
PARTITIONS = [uniform_grid(1), uniform_grid(3), uniform_grid((2, 7)), uniform_grid(8), MIXED]
every_partition = pytest.mark.parametrize("partition", PARTITIONS, ids=lambda p: p.label)

positions = st.integers(0, POSITIONS - 1) | st.sampled_from([0, POSITIONS // 2, POSITIONS - 1])


@st.composite
def edges(draw):
    x = sorted(draw(st.lists(st.integers(0, POSITIONS), min_size=2, max_size=2, unique=True)))
    y = sorted(draw(st.lists(st.integers(0, POSITIONS), min_size=2, max_size=2, unique=True)))
    return x[0], y[0], x[1], y[1]


def as_points(points):
    x, y = np.array(points, dtype=np.float64).reshape(-1, 2).T
    return counting.Points(np.ascontiguousarray(x), np.ascontiguousarray(y), LATTICE)


@every_partition
def test_cells_fill_the_box_once(partition):
    cells = list(cells_of(partition))

    assert sum((c[2] - c[0]) * (c[3] - c[1]) for c in cells) == POSITIONS**2
    assert np.allclose(
        partition.rectangles(), np.array(cells, dtype=float) / POSITIONS, atol=1e-15
    )


@every_partition
@given(points=st.lists(st.tuples(positions, positions), max_size=12))
def test_every_point_is_counted_in_the_cell_that_holds_it(partition, points):
    expected = [sum(inside(x, y, cell) for x, y in points) for cell in cells_of(partition)]

    assert as_points(points).in_cells(partition).tolist() == expected


@given(st.lists(st.tuples(positions, positions), max_size=12), st.lists(edges(), min_size=1))
def test_rectangles_hold_the_points_that_are_in_them(points, queries):
    expected = [sum(inside(x, y, query) for x, y in points) for query in queries]

    assert as_points(points).in_rectangles(np.array(queries)).tolist() == expected


@pytest.mark.parametrize("shuffled", [False, True])
def test_all_regions_that_a_query_meets_are_found_among_many(shuffled):
    """Hundreds of regions in any order; edges on, beside and between those of squares."""
    rng = np.random.default_rng(3)
    squares = np.stack(np.divmod(np.arange(256), 16), axis=1)
    if shuffled:
        squares = rng.permutation(squares)
    sides = np.column_stack([np.ones(256, np.int64), rng.integers(1, 4, 256)])
    partition = nested("many", 16, np.column_stack([squares, sides]))
    ends = np.sort(rng.integers(0, 17, (60, 2, 2)), axis=1) * (POSITIONS // 16)
    ends[:, 1] += POSITIONS // 64
    ends = np.clip(ends + rng.integers(-1, 2, ends.shape), 0, POSITIONS)
    queries = np.column_stack([ends[:, 0], ends[:, 1]])
    counts, weights = rng.integers(0, 50, partition.cells).astype(float), rng.random(60)

    alpha = shares(partition, queries / POSITIONS)
    cut = (alpha > 0) & (alpha < 1)
    loads = weights @ np.where(cut, np.maximum(alpha, 1 - alpha), 0)
    overlap, counted = Overlap.of(partition, queries), CountedCells(partition, counts)

    assert counted.answers(queries) == pytest.approx(alpha @ counts)
    edges = np.arange(13) * POSITIONS // 12
    low = np.column_stack(np.divmod(np.arange(144), 12))
    squares = edges[np.hstack([low, low + 1])]
    raster = counted.raster(edges, edges)
    assert raster.ravel() == pytest.approx(counted.answers(squares))
    assert overlap.l1 == pytest.approx(alpha.sum(axis=1))
    assert overlap.l2**2 == pytest.approx((alpha**2).sum(axis=1))
    assert overlap.added(weights) == pytest.approx(loads.max())


def test_the_whole_box_holds_every_point():
    points = counting.Points(*UNIT.locate([0, 0.5, 1], [0, 0.9, 0.5]), UNIT)

    assert points.in_rectangles(lattice_rectangles([0, 0, 1, 1], bounds=UNIT.bounds)) == [3]
