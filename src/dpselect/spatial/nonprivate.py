r"""Baselines of experiments that choose a grid without privacy. Nothing here may be released.

Each returns a size of grid that was read off the points: publishing it, or a map on it, is a
release that no epsilon covers. They are here to be compared with, on public or synthetic
points.

Source: the baselines of Fanaeepour and Rubinstein's experiments.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from dpselect.spatial import counting
from dpselect.spatial.box import Box
from dpselect.spatial.error import grid_error, uniform_grids
from dpselect.spatial.forms import Form
from dpselect.spatial.noise import noisy
from dpselect.spatial.rules import guideline_size
from dpselect.typing import Values


def heuristic_grid_not_private(
    x: ArrayLike, y: ArrayLike, *, bounds: Box | ArrayLike, epsilon: float, c: float = 10.0
) -> int:
    r"""Return :math:`\lceil \sqrt{N \varepsilon / c} \rceil` for the exact number of points.

    ``Heuristic``: :class:`~dpselect.spatial.Guideline` is the private one.
    """
    kept, _ = Box.of(bounds).locate(x, y)
    return guideline_size(kept.size, epsilon, c)


def leaky_grid_not_private(
    x: ArrayLike,
    y: ArrayLike,
    *,
    bounds: Box | ArrayLike,
    grids: Sequence[int | tuple[int, int]],
    queries: ArrayLike,
    scale: float,
    form: Form,
) -> int | tuple[int, int]:
    """Return the grid of the best score, without a draw: ``Leaky``, tuned for nothing.

    Arguments are those of :func:`~dpselect.spatial.grid_error`.
    """
    objective = grid_error(
        x, y, bounds=bounds, grids=grids, queries=queries, scale=scale, form=form
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
) -> int | tuple[int, int]:
    """Return the grid whose noisy answers were the best: ``BestNonPriv``, hindsight itself.

    Args:
        x: Shape ``(n,)``.
        y: Shape ``(n,)``.
        bounds: The box.
        grids: The candidates.
        queries: Rectangles, shape ``(m, 4)``.
        scale: Of the noise that each grid is tried with, once.
        floor: Points below which an error counts as absolute.
    """
    box = Box.of(bounds)
    points, edges = counting.Points(*box.locate(x, y)), counting.rectangles(box, queries)
    exact = points.in_rectangles(edges)
    errors = [
        np.median(relative_errors(partition_answers, exact, floor))
        for partition_answers in (
            counting.Answers(part, noisy(points.in_cells(part), scale)).of(edges)
            for part in uniform_grids(grids)
        )
    ]
    return grids[int(np.argmin(errors))]


def relative_errors(answers: Values, exact: Values, floor: float) -> Values:
    """Return the errors of answers over the exact ones, or over ``floor`` where larger."""
    return np.abs(answers - exact) / np.maximum(exact, floor)
