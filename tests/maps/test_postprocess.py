"""The error of uniform cells, estimated from released counts."""

import numpy as np
import pytest

from dpselect.maps import Partition, uniform_grid
from dpselect.maps.box import Box
from dpselect.maps.counting import noisy
from dpselect.maps.estimates import sums_over
from dpselect.maps.partition import nested
from dpselect.maps.postprocess import non_uniformity, spread_of_parts
from support.map_definitions import shares

LITTLE = 1e-9
"""Scale of noise that is 0."""

DEVIATION = 3.0

UNIT = (0.0, 0.0, 1.0, 1.0)
BLOCKS = np.array([[0, 0, 2, 3], [0, 2, 2, 1], [2, 0, 2, 4], [2, 2, 1, 3], [3, 2, 1, 2]])
MIXED = nested("mixed", 4, np.vstack([BLOCKS, [[2, 3, 1, 1], [3, 3, 1, 2]]]))
every_partition = pytest.mark.parametrize(
    "part", [uniform_grid(1), uniform_grid((5, 7)), uniform_grid((1, 6)), MIXED], ids=repr
)


def rectangles(rng, count, least=0.0):
    """Return rectangles in the unit square with sides of at least that length."""
    low = rng.random((count, 2)) * (1 - least)
    return np.hstack([low, low + least + rng.random((count, 2)) * (1 - least - low)])


def sides_by_definition(part, counts, query):
    """Return the variance that cut cells have in common, from the rectangles of cells."""
    counts = np.maximum(counts, 0)
    cells, region = part.rectangles(), part.regions_of(np.arange(part.cells))
    size = cells[:, 2:] - cells[:, :2]
    covered = np.minimum(cells[:, 2:], query[2:]) - np.maximum(cells[:, :2], query[:2])
    covered = np.clip(covered / size, 0, 1)
    sums = np.zeros((2, 2, 2))
    for i, axis in np.argwhere((covered > 0) & (covered < 1 - 1e-9)):
        share, length = covered[i, axis], covered[i, 1 - axis]
        side = int(query[axis] <= cells[i, axis] + 1e-9)
        beside = {}
        for after in (0, 1):
            shift = np.zeros(2)
            shift[axis] = (2 * after - 1) * size[i, axis]
            other = cells[i] + np.tile(shift, 2)
            if other.min() > -1e-9 and other.max() < 1 + 1e-9:
                alpha = shares(part, other[None])[0]
                beside[after] = alpha @ counts
            elif part.shape is None and part.regions[region[i], 3 + axis] == 1:
                beside[after] = counts[i]
        for after in (0, 1):
            held = beside.get(after, beside.get(1 - after, counts[i]))
            weight = np.sqrt(share * (1 - share)) * length
            apart = (held - counts[i]) / (held + counts[i] + DEVIATION)
            sums[axis, side, after] += weight * 2 * counts[i] * apart
    return (sums**2).sum() / 8


@pytest.mark.parametrize("rho", [0.02, 0.3])
def test_it_is_found_in_counts_of_a_dirichlet_process(rho):
    """Four quarters of a square are Dirichlet with parameters a/4, for rho = 1/(a + 1)."""
    rng = np.random.default_rng(0)
    quarters = rng.dirichlet(np.full(4, (1 / rho - 1) / 4), size=(50, 50))
    squares = rng.integers(200, 2000, (50, 50, 1)) * quarters
    cells = squares.reshape(50, 50, 2, 2).swapaxes(1, 2).reshape(-1)
    part = uniform_grid(100)

    assert non_uniformity(part, cells, LITTLE) == pytest.approx(rho, rel=0.08)
    assert non_uniformity(part, noisy(np.rint(cells), 20.0), 20.0) == pytest.approx(
        rho, rel=0.15
    )


def test_even_counts_noise_alone_and_cells_without_neighbours():
    assert non_uniformity(uniform_grid(8), np.full(64, 100.0), LITTLE) == 0
    assert non_uniformity(uniform_grid((1, 8)), np.arange(8.0), LITTLE) == 1
    one_of_four = np.zeros(64)
    one_of_four[::2] = np.tile([9, 9, 9, 9, 0, 0, 0, 0], 4)
    assert non_uniformity(uniform_grid(8), one_of_four, LITTLE) == 1
    assert non_uniformity(uniform_grid(64), noisy(np.zeros(4096), 10.0), 1e3) == 1


def test_regions_of_one_cell_are_compared_with_the_three_beside_them():
    """The same cells as one region and as many, and in another order."""
    grid, counts = uniform_grid(4), np.random.default_rng(1).integers(0, 90, 16).astype(float)
    order = np.random.default_rng(2).permutation(16)
    x, y = np.divmod(order, 4)
    single = nested("single", 4, np.column_stack([x, y, np.ones((16, 2), np.int64)]))

    assert isinstance(single, Partition)
    assert non_uniformity(single, counts[order], LITTLE) == pytest.approx(
        non_uniformity(grid, counts, LITTLE)
    )


def test_points_placed_independently_are_the_least():
    assert spread_of_parts(np.array([-5.0, 0.0, 9.0]), 0.0, 1.0).tolist() == [0, 0, 9]
    assert spread_of_parts(np.array([100.0]), 0.5, LITTLE).tolist() == [5000]


@every_partition
def test_what_cells_have_apart_and_in_common_is_as_by_definition(part):
    """Sides in the middle of cells, on their edges, and two in one cell."""
    rng = np.random.default_rng(4)
    counts, spread, other = rng.integers(0, 50, (3, part.cells)).astype(float)
    anywhere = rectangles(rng, 60)
    aligned = np.rint(rectangles(rng, 40, least=0.2) * 8) / 8
    narrow = aligned[:, [0, 1, 0, 1]] * 0.9 + [0.01, 0.02, 0.03, 0.05]
    aligned_in_one_region = [[0.625, 0.1, 0.66, 0.9]]
    areas = np.vstack([anywhere, aligned, narrow, aligned_in_one_region])
    inside, values, unbiased, norms, uneven = sums_over(
        areas, Box(*UNIT), part, counts, spread, unbiased=other, deviation=DEVIATION
    )
    alpha = shares(part, areas)
    cut, points = alpha * (1 - alpha), alpha @ counts
    sides = [sides_by_definition(part, counts, one) for one in areas]
    skews = cut @ (2 * spread**2 / np.maximum(counts, 1)) / np.maximum(points, 1)

    assert (inside == 1).all()
    assert values == pytest.approx(alpha @ counts, abs=1e-6)
    assert unbiased == pytest.approx(alpha @ other, abs=1e-6)
    assert norms**2 == pytest.approx((alpha**2).sum(axis=1), abs=1e-6)
    assert uneven**2 == pytest.approx(cut @ spread + sides + skews, rel=1e-6, abs=1e-6)


@every_partition
def test_rectangles_as_polygons_have_the_same_errors(part):
    shapely = pytest.importorskip("shapely")
    rng = np.random.default_rng(5)
    counts = rng.integers(0, 50, part.cells).astype(float)
    areas = rectangles(rng, 40, least=0.51)  # no cell of several is cut by both sides
    if part.cells == 1:
        areas[:, :2] = 0
    as_rectangles, as_polygons = (
        sums_over(one, Box(*UNIT), part, counts, counts, unbiased=counts, deviation=DEVIATION)
        for one in (areas, shapely.box(*areas.T))
    )

    assert as_polygons == pytest.approx(as_rectangles, rel=1e-5, abs=1e-5)
