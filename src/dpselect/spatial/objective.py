"""The objective of a choice among partitions: minus the error of their answers to queries."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from dpselect import _validate
from dpselect._twofold import exact_sum
from dpselect.errors import ParameterError, PublicClaimError
from dpselect.objective import Objective
from dpselect.sensitivity import GlobalSensitivity
from dpselect.spatial.box import Box
from dpselect.spatial.counting import Counts, Points
from dpselect.spatial.error_measures import ErrorMeasure
from dpselect.spatial.overlap import CountedCells, Overlap
from dpselect.spatial.partition import Partition, uniform_grid
from dpselect.spatial.queries import lattice_rectangles
from dpselect.typing import Indices


def grid_error(
    x: ArrayLike,
    y: ArrayLike,
    *,
    bounds: Box | ArrayLike,
    grids: Sequence[int | tuple[int, int]],
    queries: ArrayLike,
    scale: float,
    measure: ErrorMeasure,
) -> Objective:
    r"""Return the objective whose best candidate is the grid to release counts on.

    The score of a grid is minus the mean error of its answers, bounded as in
    :mod:`~dpselect.spatial.error_measures`: the error of uniform cells, and the noise.

    Guarantee:
        The sensitivity holds under ``measure.relation``. The bounds, grids, queries, scale and
        the measure's own arguments are public, the points are not. There is one bound per
        grid, as :class:`~dpselect.GeneralizedExponential` uses them; other mechanisms take
        the largest.

    Args:
        x: Shape ``(n,)``. Points outside the bounds and points with a NaN are dropped.
        y: Shape ``(n,)``.
        bounds: ``(west, south, east, north)``, or a :class:`Box`.
        grids: Cells along an axis, or ``(along x, along y)``; each once.
        queries: Rectangles that the map is for, shape ``(m, 4)``, inside the bounds.
        scale: :math:`\lambda > 0` of the Laplace noise that the counts will have.
        measure: Which error, such as ``Weighted(neighbours=...)``.

    Raises:
        ParameterError: An argument is out of its range.
        DataError: ``x`` and ``y`` are not columns of one length.
        PublicClaimError: There are more points than the measure declares.

    Source: Fanaeepour and Rubinstein, section 7, Corollary 7.6, with the corrections that
        :mod:`~dpselect.spatial.error_measures` names. O(n + cells + m) for each grid.
    """
    box = Box.of(bounds)
    partitions = candidate_grids(grids)
    edges = lattice_rectangles(queries, bounds=box)
    _validate.positive("scale", scale)
    _validate.instance("measure", measure, ErrorMeasure)
    points = Points(*box.locate(x, y))
    check_number(points, measure)
    objective = partition_error(
        points, partitions=partitions, queries=edges, scale=scale, measure=measure
    )
    return Objective(
        objective.exact, objective.sensitivity, candidates=list(grids), highest=0.0
    )


def partition_error(
    points: Counts,
    *,
    partitions: Sequence[Partition],
    queries: Indices,
    scale: float,
    measure: ErrorMeasure,
    points_per_user: int = 1,
) -> Objective:
    """Return the objective over any public partitions, candidates by position.

    Args:
        points: The exact counts. Private.
        partitions: The candidates.
        queries: Lattice edges, shape ``(m, 4)``.
        scale: Of the Laplace noise.
        measure: Which error.
        points_per_user: How many points one neighbour step can add, remove or replace;
            more than one only for :class:`~dpselect.spatial.Weighted`.
    """
    exact = points.in_rectangles(queries)
    private, public, bounds = (np.empty(len(partitions)) for _ in range(3))
    for position, partition in enumerate(partitions):
        overlap = Overlap.of(partition, queries)
        noise = measure.noise(overlap, scale)
        answers = CountedCells(partition, points.in_cells(partition)).answers(queries)
        errors, constant = measure.errors(np.abs(answers - exact), noise, exact)
        private[position], public[position] = -np.mean(errors), -np.mean(constant)
        bounds[position] = measure.sensitivity(overlap, noise) * points_per_user
    sensitivity = GlobalSensitivity(bounds, measure.relation)
    # A float of their sum would round the private term by the size of the public one.
    return Objective(exact_sum(public, private), sensitivity, highest=0.0)


def check_number(points: Counts, measure: ErrorMeasure) -> None:
    """Refuse more points than a measure declares.

    Raises:
        PublicClaimError: There are more; the message has no number.
    """
    most = measure.most_records
    if most is not None and points.in_cells(uniform_grid(1)).sum() > most:
        raise PublicClaimError("there are more points than the measure declares")


def candidate_grids(grids: Sequence[int | tuple[int, int]]) -> list[Partition]:
    """Return uniform grids, checked to be at least one and all different."""
    try:
        partitions = [uniform_grid(size) for size in grids]
    except TypeError:
        raise ParameterError("grids must be a list of integers, or of pairs") from None
    if not partitions:
        raise ParameterError("grids must be at least one grid size")
    labels = [partition.label for partition in partitions]
    if len(set(labels)) < len(labels):
        raise ParameterError("grids must be different from each other")
    return partitions
