"""The bounds on PageRank of the page on methods, on all graphs of four nodes."""

import numpy as np
import pytest

from support.graphs import GRAPHS, PAIRS

ALPHA = 0.85


def ranked(edges):
    """Return PageRank and the degrees; a walk stays at a node without edges."""
    adjacent = np.zeros((4, 4))
    for u, v in edges:
        adjacent[u, v] = adjacent[v, u] = 1
    degrees = adjacent.sum(axis=1)
    walk = np.where(degrees[:, None] > 0, adjacent / np.maximum(degrees, 1)[:, None], np.eye(4))
    mass = np.linalg.solve(np.eye(4) - ALPHA * walk.T, np.full(4, (1 - ALPHA) / 4))
    return mass, degrees


def test_the_local_and_the_global_bound_hold_and_are_far_from_tight():
    graphs = {edges: ranked(edges) for edges in GRAPHS}
    largest = 0.0
    for edges, (mass, degrees) in graphs.items():
        assert (mass <= np.maximum(degrees, 1) / 4 + 1e-12).all()
        for u, v in PAIRS:
            other, _ = graphs[edges ^ {(u, v)}]
            change = np.abs(mass - other).max()
            local = mass[u] / (degrees[u] + 1) + mass[v] / (degrees[v] + 1)
            assert change <= ALPHA / (1 - ALPHA) * local <= ALPHA / (1 - ALPHA) * 2 / 4 + 1e-12
            largest = max(largest, change)

    assert largest / (ALPHA / (1 - ALPHA) * 2 / 4) == pytest.approx(0.0466, abs=1e-4)
