from math import fsum

import numpy as np

from dpselect.percentiles.kernels import sum_of_runs


def test_runs_of_all_magnitudes_are_summed_to_the_last_digits():
    rng = np.random.default_rng(11)
    size, columns = 40, 200
    edges = np.sort(rng.integers(0, size + 1, (3, columns)), axis=0)
    levels = 10.0 ** rng.uniform(-8, 14, (4, columns))
    levels[:, edges[1] > 10] *= 1e-12  # far from the large ones nothing of them may be left

    ends = np.vstack([np.zeros(columns), edges, np.full(columns, size)])
    expected = [
        fsum(levels[(ends[:-1] <= position) & (position < ends[1:])])
        for position in range(size)
    ]

    assert np.abs(sum_of_runs(edges, levels, size) / expected - 1).max() < 2**-50


def test_nothing_is_left_of_a_run_that_ended():
    edges = np.array([[1, 1]])

    for first in ([1e16, 3.0], [3.0, 1e16]):
        levels = np.array([first, [0.1, 0.2]])
        assert sum_of_runs(edges, levels, 2).tolist() == [1e16 + 3, 0.1 + 0.2]
