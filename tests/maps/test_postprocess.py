"""The error of uniform cells, estimated from released counts."""

import numpy as np
import pytest

from dpselect.maps import Partition, uniform_grid
from dpselect.maps.counting import noisy
from dpselect.maps.overlap import CountedCells
from dpselect.maps.partition import nested
from dpselect.maps.postprocess import non_uniformity, spread_of_parts
from dpselect.maps.queries import lattice_rectangles

LITTLE = 1e-9
"""Scale of noise that is 0."""


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


def test_the_errors_of_cut_cells_are_summed_as_by_definition():
    part, rng = uniform_grid((5, 7)), np.random.default_rng(3)
    counts = rng.integers(0, 50, part.cells).astype(float)
    queries = np.sort(rng.random((40, 2, 2)), axis=1).reshape(40, 4)
    queries[0], queries[1] = [0, 0, 1, 1], [0.2, 0, 0.8, 1]
    x0, y0, x1, y1 = part.rectangles().T
    for query, found in zip(
        queries,
        CountedCells(part, counts).of_cut_cells(
            lattice_rectangles(queries, bounds=(0, 0, 1, 1))
        ),
        strict=True,
    ):
        across = np.clip(np.minimum(x1, query[2]) - np.maximum(x0, query[0]), 0, None)
        along = np.clip(np.minimum(y1, query[3]) - np.maximum(y0, query[1]), 0, None)
        alpha = across * along * part.cells
        assert found == pytest.approx((alpha * (1 - alpha)) @ counts, abs=1e-5)


def test_points_placed_independently_are_the_least():
    assert spread_of_parts(np.array([-5.0, 0.0, 9.0]), 0.0, 1.0).tolist() == [0, 0, 9]
    assert spread_of_parts(np.array([100.0]), 0.5, LITTLE).tolist() == [5000]
