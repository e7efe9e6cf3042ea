"""The objective: how badly each grid would answer the queries, before any grid is released."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from dpselect import _validate
from dpselect.errors import ParameterError, PublicClaimError
from dpselect.objective import Objective
from dpselect.sensitivity import GlobalSensitivity
from dpselect.spatial import counting
from dpselect.spatial.box import Box
from dpselect.spatial.forms import Form
from dpselect.spatial.partition import Partition, uniform
from dpselect.spatial.reach import Reach
from dpselect.typing import Indices


def grid_error(
    x: ArrayLike,
    y: ArrayLike,
    *,
    bounds: Box | ArrayLike,
    grids: Sequence[int | tuple[int, int]],
    queries: ArrayLike,
    scale: float,
    form: Form,
) -> Objective:
    r"""Return the objective whose best candidate is the grid to release counts on.

    The score of a grid is minus the mean error of its answers, bounded as in
    :mod:`~dpselect.spatial.forms`: what uniform cells get wrong, and the noise.

    Guarantee:
        The sensitivity holds under ``form.relation``; points, bounds, grids, queries, scale
        and the form's own arguments are public, the points are not. There is one bound per
        grid, as :class:`~dpselect.GeneralizedExponential` uses them; other mechanisms take
        the largest.

    Args:
        x: Shape ``(n,)``. Points outside the bounds and points with a NaN are dropped.
        y: Shape ``(n,)``.
        bounds: ``(west, south, east, north)``, or a :class:`Box`.
        grids: Cells along an axis, or ``(along x, along y)``; each once.
        queries: Rectangles that the map is for, shape ``(m, 4)``, inside the bounds.
        scale: :math:`\lambda > 0` of the Laplace noise that the counts will get.
        form: Which error, such as ``Weighted(neighbours=...)``.

    Raises:
        ParameterError: An argument is out of its range.
        DataError: ``x`` and ``y`` are not columns of one length.
        PublicClaimError: There are more points than the form declares.

    Source: Fanaeepour and Rubinstein, section 7, Corollary 7.6, with the corrections that
        :mod:`~dpselect.spatial.forms` names. O(n + cells + m) for each grid.
    """
    box = Box.of(bounds)
    partitions = uniform_grids(grids)
    edges = counting.rectangles(box, queries)
    _validate.positive("scale", scale)
    _validate.instance("form", form, Form)
    points = counting.Points(*box.locate(x, y))
    if form.most_records is not None and points.x.size > form.most_records:
        raise PublicClaimError("there are more points than the form declares")
    objective = partition_error(points, partitions, edges, scale=scale, form=form)
    return Objective(objective.scores, objective.sensitivity, candidates=list(grids))


def partition_error(
    points: counting.Counts,
    partitions: Sequence[Partition],
    queries: Indices,
    *,
    scale: float,
    form: Form,
    points_per_user: int = 1,
) -> Objective:
    """Return the objective over any public partitions, candidates by position.

    Args:
        points: What counts the points. Private.
        partitions: The candidates.
        queries: Lattice edges, shape ``(m, 4)``.
        scale: Of the Laplace noise.
        form: Which error.
        points_per_user: How many points one neighbour step can add, remove or replace;
            more than one only for :class:`~dpselect.spatial.Weighted`.
    """
    exact = points.in_rectangles(queries)
    scores, bounds = np.empty(len(partitions)), np.empty(len(partitions))
    for position, partition in enumerate(partitions):
        reach = Reach.of(partition, queries)
        noise = form.noise(reach, scale)
        answers = counting.Answers(partition, points.in_cells(partition)).of(queries)
        scores[position] = -np.mean(form.errors(np.abs(answers - exact), noise, exact))
        bounds[position] = form.sensitivity(reach, noise) * points_per_user
    sensitivity = GlobalSensitivity(bounds, form.relation)
    return Objective(scores, sensitivity)


def uniform_grids(grids: Sequence[int | tuple[int, int]]) -> list[Partition]:
    """Return uniform grids, after a check that there is one and that none comes twice."""
    try:
        partitions = [uniform(size) for size in grids]
    except TypeError:
        raise ParameterError("grids must be a list of whole numbers, or of pairs") from None
    if not partitions:
        raise ParameterError("grids must be at least one grid size")
    labels = [partition.label for partition in partitions]
    if len(set(labels)) < len(labels):
        raise ParameterError("grids must be different from each other")
    return partitions
