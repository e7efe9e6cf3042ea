r"""Baselines of experiments that choose a grid without privacy. Nothing here may be released.

Each returns a grid size that depends on the points without noise: publishing it, or a map on
it, is a release that no epsilon covers. They serve comparisons on public or synthetic points.

Source: the baselines of Fanaeepour and Rubinstein's experiments.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from dpselect.spatial.box import Box
from dpselect.spatial.counting import Points
from dpselect.spatial.error_measures import ErrorMeasure
from dpselect.spatial.objective import grid_error
from dpselect.spatial.overlap import CountedCells
from dpselect.spatial.partition import uniform_grid
from dpselect.spatial.queries import lattice_rectangles
from dpselect.spatial.rules import guideline_size
from dpselect.typing import Values


def heuristic_grid_not_private(
    x: ArrayLike, y: ArrayLike, *, bounds: Box | ArrayLike, epsilon: float, c: float = 10.0
) -> int:
    r"""Return :math:`\lceil \sqrt{N \varepsilon / c} \rceil` for the exact number of points.

    ``Heuristic``: :class:`~dpselect.spatial.Guideline` is the private one.
    """
    inside, _ = Box.of(bounds).locate(x, y)
    return guideline_size(inside.size, epsilon, c)


def leaky_grid_not_private(
    x: ArrayLike,
    y: ArrayLike,
    *,
    bounds: Box | ArrayLike,
    grids: Sequence[int | tuple[int, int]],
    queries: ArrayLike,
    scale: float,
    measure: ErrorMeasure,
) -> int | tuple[int, int]:
    """Return the grid of the best score, without a draw: ``Leaky``, tuned for nothing.

    Arguments are those of :func:`~dpselect.spatial.grid_error`.
    """
    objective = grid_error(
        x, y, bounds=bounds, grids=grids, queries=queries, scale=scale, measure=measure
    )
    return grids[int(np.argmax(objective.scores))]


def best_grid_not_private(
    x: ArrayLike,
    y: ArrayLike,
    *,
    bounds: Box | ArrayLike,
    grids: Sequence[int | tuple[int, int]],
    queries: ArrayLike,
    scale: float,
    floor: float,
    rng: np.random.Generator,
) -> int | tuple[int, int]:
    """Return the grid whose noisy answers had the least median error: ``BestNonPriv``.

    Args:
        x: Shape ``(n,)``.
        y: Shape ``(n,)``.
        bounds: The box.
        grids: The candidates.
        queries: Rectangles, shape ``(m, 4)``.
        scale: Of the discrete Laplace noise that each grid is tried with, once.
        floor: Points below which an error counts as absolute.
        rng: Generator of the noise.
    """
    points = Points(*Box.of(bounds).locate(x, y))
    edges = lattice_rectangles(queries, bounds=bounds)
    exact = points.in_rectangles(edges)
    errors = []
    for grid in grids:
        partition = uniform_grid(grid)
        noise = np.subtract(*rng.geometric(-np.expm1(-1 / scale), (2, partition.cells)))
        answers = CountedCells(partition, points.in_cells(partition) + noise).answers(edges)
        errors.append(np.median(relative_errors(answers, exact, floor)))
    return grids[int(np.argmin(errors))]


def relative_errors(answers: Values, exact: Values, floor: float) -> Values:
    """Return the errors of answers over the exact ones, or over ``floor`` where larger."""
    return np.abs(answers - exact) / np.maximum(exact, floor)
