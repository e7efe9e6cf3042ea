"""The objective of a choice among partitions: minus the error of their answers to queries.

With the exact answer ``q_t``, the error that uniform cells make, ``g_t = ∑_i α_ti c_i - q_t``,
and the bound on the noise ``L_t = λ √2 ‖α_t‖_2``, the score of a partition is minus the mean of
``w_t (|g_t| + L_t)`` over the queries, for public weights (``Weighted``).

Weights ``1/max(T̃_t, ρ)`` from noisy counts make it a relative error, whose denominator does
not depend on the data. E2EPriv of Fanaeepour and Rubinstein divides by the exact ``q_t``; the
sensitivity of Theorem 7.10 depends on the number of points, and is not private under
add/remove. ``RelativeClipped`` is this error with a sensitivity that is.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import sqrt
from typing import ClassVar, Literal, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from dpselect import validation
from dpselect._twofold import exact_sum
from dpselect.errors import ParameterError
from dpselect.maps.box import lattice_rectangles
from dpselect.maps.counting import Counts, Points
from dpselect.maps.overlap import CountedCells, Overlap
from dpselect.maps.partition import CoarseGrid, Partition, uniform_grids
from dpselect.neighbours import Neighbours, NeighboursLike
from dpselect.objective import Objective
from dpselect.sensitivity import GlobalSensitivity
from dpselect.typing import Indices, Values

Norm: TypeAlias = Literal["l2", "l1"]
"""Norm of the weights of cells in the bound on the noise of an answer."""

RELATIVE_ROUNDING = 2.0**-44
"""What rounding can add to the noise, which is part of what is divided by a private count."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ErrorMeasure(ABC):
    r"""An error of partitions, with the most that one neighbour step can change it.

    Attributes:
        neighbours: ``"add-remove"`` or ``"substitute"``: what the sensitivity holds for.
    """

    neighbours: NeighboursLike
    rounding: ClassVar[float] = 2.0**-14
    """What rounding on both databases can add to the change of ``g_t``, in points.

    The sums behind ``g_t`` have fewer than 64 roundings each, relative to themselves, so with
    at most ``2^31`` points ``g_t`` errs by ``2^-16``, and the mean over the queries by as much
    again.
    """

    def __post_init__(self) -> None:
        object.__setattr__(self, "neighbours", validation.table_neighbours(self.neighbours))

    @property
    def moves(self) -> bool:
        """Whether one neighbour step moves a point, and brings or takes none."""
        return self.neighbours is Neighbours.SUBSTITUTE

    @abstractmethod
    def errors(self, gaps: Values, noise: Values, exact: Values) -> tuple[Values, Values]:
        """Return a private and a public term of the error of every query.

        Args:
            gaps: ``|g_t|``, shape ``(m,)``.
            noise: ``L_t``, shape ``(m,)``.
            exact: ``q_t``, shape ``(m,)``.

        Returns:
            The terms that do and do not depend on the points, to be added. They are kept apart
            since the noise may be so large that rounding the sums would change them by more
            than one point does.
        """

    @abstractmethod
    def sensitivity(self, overlap: Overlap, noise: Values) -> float:
        """Return a bound on the change of a partition's mean error by one neighbour step."""

    def noise(self, overlap: Overlap, scale: float) -> Values:
        """Return ``L_t``, at least the mean noise of every answer.

        Args:
            overlap: Overlap of the partition with the queries.
            scale: λ, scale of the Laplace noise in a cell.
        """
        return scale * sqrt(2) * overlap.l2


@dataclass(frozen=True, kw_only=True, eq=False)
class Weighted(ErrorMeasure):
    """The absolute error, weighted by public numbers; with equal weights the absolute one.

    Guarantee:
        The sensitivity holds under ``neighbours``, for weights that are public: constants, or
        themselves released. It is the bound of ``added`` over the number of queries, never
        above the mean of the weights times ``κ ≤ 1``; or, under substitution, that of
        ``moved``, never above the weighted mean of ``S_t``.

    Attributes:
        weights: ``w_t``, one number or shape ``(m,)``; finite, > 0.
    """

    weights: ArrayLike = field(default=1.0)

    def __post_init__(self) -> None:
        super().__post_init__()
        weights = np.array(self.weights, dtype=np.float64)
        if weights.ndim > 1 or not (np.isfinite(weights) & (weights > 0)).all():
            raise ParameterError("`weights` must be finite and > 0: one, or one for each query")

    @classmethod
    def relative(
        cls, coarse: CoarseGrid, queries: Indices, *, least: float, neighbours: NeighboursLike
    ) -> Self:
        """Return the relative error, of weights ``w_t = 1/max(T̃_t, ρ)``.

        ``T̃_t`` is the coarse grid's answer. ρ is at least the standard deviation of one count.

        Args:
            coarse: The released grid.
            queries: Lattice edges, shape ``(m, 4)``.
            least: ρ, the number of points below which an error counts as absolute.
            neighbours: As of the measure.
        """
        answers = CountedCells(coarse.cells(), coarse.counts).answers(queries)
        weights = 1 / np.maximum(answers, max(least, coarse.standard_deviation, 1.0))
        return cls(neighbours=neighbours, weights=weights)

    def errors(self, gaps: Values, noise: Values, exact: Values) -> tuple[Values, Values]:
        weights = self._spread_over(exact.size)
        return weights * gaps, weights * noise

    def sensitivity(self, overlap: Overlap, noise: Values) -> float:
        weights = self._spread_over(noise.size)
        change = (overlap.moved if self.moves else overlap.added)(weights) / weights.size
        return change + self.rounding * float(weights.mean())

    def _spread_over(self, queries: int) -> Values:
        weights = np.asarray(self.weights, dtype=np.float64)
        if weights.ndim == 1 and weights.size != queries:
            raise ParameterError(f"`weights` must be {queries}, one for each query")
        return np.broadcast_to(weights, queries).copy()


@dataclass(frozen=True, kw_only=True, eq=False)
class RelativeClipped(ErrorMeasure):
    """The error of E2EPriv over the exact answer, cut at a public number: repaired.

    The score of a query is ``min(C, (|g_t| + L_t)/max(q_t, ρ))``.

    Guarantee:
        Under ``neighbours``, for any number of points, the sensitivity of a query is
        ``min(C, κ/ρ + C/(ρ + 1))``, with ``S`` in place of ``κ`` under substitution. One step
        moves ``|g_t|`` by at most ``κ`` or ``S``, and ``B = max(q_t, ρ)`` by at most 1. Let the
        error ``A/B`` be the larger of two, made smaller until it is at most ``C``; then it is
        above the other one by ``(A - A')/B' + (A/B)(B' - B)/B'``, at most ``κ/ρ + C/(ρ + 1)``.

    Attributes:
        floor: ``ρ``, in points; finite, > 0. Public: not a share of the number of points.
        largest: ``C``, above which all errors count as equal; finite, > 0.
        norm: ``"l2"`` for the noise ``λ√2‖α‖_2``, which is at least its mean; ``"l1"`` for the
            paper's ``λ‖α‖_1``, far above it for large queries: it prefers coarser grids.

    Source: Fanaeepour and Rubinstein, Corollary 7.6; the sensitivity is ours.
    """

    floor: float
    largest: float = 1.0
    norm: Norm = "l2"

    def __post_init__(self) -> None:
        super().__post_init__()
        validation.positive("floor", self.floor)
        validation.positive("largest", self.largest)
        validation.one_of("norm", self.norm, Norm)

    def noise(self, overlap: Overlap, scale: float) -> Values:
        return scale * overlap.l1 if self.norm == "l1" else super().noise(overlap, scale)

    def errors(self, gaps: Values, noise: Values, exact: Values) -> tuple[Values, Values]:
        errors = (gaps + noise) / np.maximum(exact, self.floor)
        return np.minimum(errors, self.largest), np.zeros(exact.shape)

    def sensitivity(self, overlap: Overlap, noise: Values) -> float:
        change = (overlap.spread if self.moves else overlap.largest) / self.floor
        change += self.largest / (self.floor + 1)
        rounding = self.rounded(np.minimum(noise, self.largest * self.floor))
        return float(np.mean(np.minimum(self.largest, change))) + rounding

    def rounded(self, noise: Values) -> float:
        """Return what rounding on both databases can add to a mean relative error."""
        return (self.rounding + RELATIVE_ROUNDING * float(np.mean(noise))) / self.floor


def grid_error(
    x: ArrayLike,
    y: ArrayLike,
    *,
    bounds: ArrayLike,
    grids: Sequence[int | tuple[int, int]],
    queries: ArrayLike,
    scale: float,
    measure: ErrorMeasure,
) -> Objective:
    """Return the objective of which grid to release counts on.

    The score of a grid is minus the mean error of its answers: the error of uniform cells, and
    a bound on the noise (``error_measures``).

    Guarantee:
        The sensitivity holds under ``measure.neighbours``. The bounds, grids, queries, scale
        and the measure's own arguments are public, the points are not. There is one bound per
        grid, as ``GeneralizedExponential`` uses them; other mechanisms take the largest.

    Args:
        x: Shape ``(n,)``. Points outside the bounds and points with a NaN are dropped.
        y: Shape ``(n,)``.
        bounds: ``(west, south, east, north)``.
        grids: Cells along an axis, or ``(along x, along y)``; each once.
        queries: Rectangles that the map is for, shape ``(m, 4)``, inside the bounds.
        scale: ``λ > 0`` of the Laplace noise that the counts will have.
        measure: The error, such as ``Weighted(neighbours=...)``, or ``RelativeClipped``.

    Raises:
        ParameterError: An argument is out of its range.
        DataError: ``x`` and ``y`` are not columns of one length.

    Source: Fanaeepour and Rubinstein, section 7, Corollary 7.6, with the corrections that
        ``error_measures`` names. O(n + cells + m) for each grid.
    """
    partitions = uniform_grids(grids)
    edges = lattice_rectangles(queries, bounds=bounds)
    validation.positive("scale", scale)
    validation.instance("measure", measure, ErrorMeasure)
    points = Points.of(x, y, bounds=bounds)
    objective = partition_error(
        points, partitions=partitions, queries=edges, scale=scale, measure=measure
    )
    return Objective(
        objective.scores_twofold, objective.sensitivity, candidates=list(grids), highest=0.0
    )


def partition_error(
    points: Counts,
    *,
    partitions: Sequence[Partition],
    queries: Indices,
    scale: float,
    measure: ErrorMeasure,
    max_per_user: int = 1,
) -> Objective:
    """Return the objective over any public partitions, candidates by position.

    Args:
        points: The exact counts. Private.
        partitions: The candidates.
        queries: Lattice edges, shape ``(m, 4)``.
        scale: Scale of the Laplace noise.
        measure: The error.
        max_per_user: Number of points that one neighbour step can add, remove or replace; more
            than one only for measures of this module.
    """
    exact = points.in_rectangles(queries)
    private, public, bounds = (np.empty(len(partitions)) for _ in range(3))
    for position, partition in enumerate(partitions):
        overlap = Overlap.of(partition, queries)
        noise = measure.noise(overlap, scale)
        answers = CountedCells(partition, points.in_cells(partition)).answers(queries)
        errors, constant = measure.errors(np.abs(answers - exact), noise, exact)
        private[position], public[position] = -np.mean(errors), -np.mean(constant)
        bounds[position] = measure.sensitivity(overlap, noise) * max_per_user
    sensitivity = GlobalSensitivity(bounds, measure.neighbours)
    # A float of their sum would round the private term by the size of the public one.
    return Objective(exact_sum(public, private), sensitivity, highest=0.0)
