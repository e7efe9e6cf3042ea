"""Baselines that are not private, against what they are by definition."""

import numpy as np
import pytest

import dpselect as dp
from dpselect.spatial import Weighted, grid_error, nonprivate

UNIT = (0, 0, 1, 1)
POINTS = np.random.default_rng(0).beta(2, 6, (4000, 2))
QUERIES = dp.spatial.even_queries(UNIT, each=20)
FORM = Weighted(neighbours=dp.Neighbours.ADD_REMOVE)
GRIDS = [1, 8, (16, 20), 400]


def test_the_heuristic_reads_the_number_of_points_inside():
    x, y = np.append(POINTS, [[7.0, 7.0]], axis=0).T

    assert nonprivate.heuristic_grid_not_private(x, y, bounds=UNIT, epsilon=1.0) == 20


def test_leaky_takes_the_best_score():
    arguments = {
        "bounds": UNIT,
        "grids": GRIDS,
        "queries": QUERIES,
        "scale": 1.0,
        "measure": FORM,
    }
    scores = grid_error(*POINTS.T, **arguments).scores

    assert nonprivate.leaky_grid_not_private(*POINTS.T, **arguments) == GRIDS[scores.argmax()]


@pytest.mark.parametrize(("scale", "best"), [(1e-3, 400), (1e4, 1)])
def test_the_best_in_hindsight_is_fine_without_noise_and_coarse_with_much(scale, best):
    rng = np.random.default_rng(3)
    chosen = nonprivate.best_grid_not_private(
        *POINTS.T,
        bounds=UNIT,
        grids=[1, 400],
        queries=QUERIES,
        scale=scale,
        floor=10.0,
        rng=rng,
    )

    assert chosen == best


def test_every_name_says_that_it_is_not_private():
    functions = [name for name in vars(nonprivate) if name.endswith("_grid_not_private")]

    assert len(functions) == 3
    assert not set(functions) & set(dp.spatial.__all__)
