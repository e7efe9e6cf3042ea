"""Relative errors of maps of few points, beside uniform grids that take all of epsilon.

Run: ``python benchmarks/maps_sparse.py``, with the data sets in the folder of the environment
variable ``DPSELECT_DATA``. Of each set 5,000 points at random; 200 squares of each size, half
of them around a point; the mean of ``|error| / max(count, 5)`` over 30 maps. ``measured`` is
the default with counts that are consistent with the coarse grid alone, ``default`` has none
below 0. The best grid of each row is known only afterwards. Results:
``benchmarks/results/maps_sparse.csv``.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from dpselect.maps import CountedCells, Points, lattice_rectangles, uniform_grid
from dpselect.maps.counting import noisy
from dpselect.typing import Values
from maps_errors import BOXES, points_of, processed, queries_of, store

RESULTS = Path(__file__).with_name("results") / "maps_sparse.csv"
POINTS, EPSILONS, MAPS, SIDES = 5_000, (0.1, 1.0), 30, (1 / 30, 0.1, 0.25)
GRIDS = (4, 8, 16, 32)
FORMS = {"consistent": "measured", "nonnegative": "default"}


def maps_of(held: Points, epsilon: float) -> Iterator[tuple[str, CountedCells]]:
    """Yield one map of each kind."""
    for form, cells in processed(held, epsilon):
        if form in FORMS:
            yield FORMS[form], cells
    for size in GRIDS:
        grid = uniform_grid(size)
        yield f"grid {size}", CountedCells(grid, noisy(held.in_cells(grid), 1 / epsilon))


def rows() -> Iterator[dict[str, Any]]:
    """Yield the errors of all data sets, epsilons and sizes."""
    for name, box in BOXES.items():
        rng = np.random.default_rng(16)
        every = points_of(name, box, rng)
        points = every[rng.choice(len(every), POINTS, replace=False)]
        held = Points(*box.locate(*points.T), box)
        for epsilon in EPSILONS:
            found: dict[float, dict[str, list[Values]]] = {side: {} for side in SIDES}
            asked = {side: queries_of(points, box, side, rng) for side in SIDES}
            for _ in range(MAPS):
                for kind, cells in maps_of(held, epsilon):
                    for side in SIDES:
                        edges = lattice_rectangles(asked[side], bounds=box.bounds)
                        exact = held.in_rectangles(edges)
                        errors = np.abs(cells.answers(edges) - exact) / np.maximum(exact, 5)
                        found[side].setdefault(kind, []).append(errors)
            for side, kinds in found.items():
                means = {kind: f"{np.mean(errors):.3g}" for kind, errors in kinds.items()}
                yield {"data": name, "epsilon": epsilon, "side": round(side, 3), **means}


if __name__ == "__main__":
    store(RESULTS, rows())
