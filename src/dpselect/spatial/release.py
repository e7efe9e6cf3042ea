"""Release of a map: the cells are chosen privately, then counted in with noise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from numpy.typing import ArrayLike

from dpselect.mechanisms import MechanismFactory
from dpselect.neighbours import NeighboursLike
from dpselect.plan import SupportsSpend
from dpselect.spatial.box import Box, Outside
from dpselect.spatial.counting import Counts, noisy
from dpselect.spatial.error_measures import ErrorMeasure, Weighted
from dpselect.spatial.histogram import SpatialHistogram
from dpselect.spatial.objective import check_number, partition_error
from dpselect.spatial.partition import Partition
from dpselect.spatial.plan import Design, Objectives, PublicArguments, design_histogram
from dpselect.spatial.postprocess import consistent
from dpselect.spatial.rules import CoarseGrid, Method
from dpselect.spatial.unevenness import unevenness


def release_histogram(  # noqa: PLR0913 -- each argument is one public claim
    points: object,
    *,
    x: str | None = None,
    y: str | None = None,
    user: str | None = None,
    bounds: Box | ArrayLike,
    grids: Sequence[int | tuple[int, int]] = (),
    queries: ArrayLike,
    method: Method | Sequence[Method] | None = None,
    tuning_share: float = 0.2,
    sanity: float = 0.001,
    measure: ErrorMeasure | Objectives = "relative",
    max_points_per_user: int | None = None,
    epsilon: float,
    neighbours: NeighboursLike,
    mechanism: str | MechanismFactory | None = None,
    budget: SupportsSpend | None = None,
    outside: Outside = "drop",
) -> SpatialHistogram:
    r"""Release noisy counts of points, in cells that are chosen privately for the queries.

    One half of ``tuning_share * epsilon`` is spent on a coarse noisy grid of 16 x 16 cells. It
    shapes what the rules of ``method`` propose, and gives every query the weight
    :math:`1/\max(\tilde T_t, \rho)` of a relative error. The other half is spent on one draw
    among all candidates, by :func:`~dpselect.spatial.grid_error`. With another ``measure`` and
    without rules there is no coarse grid, and the draw has all of the share. The rest
    is spent on counts in the cells drawn, with exact discrete Laplace noise; where there is a
    coarse grid, both measurements are combined by least squares. A single candidate
    needs no tuning, and all of ``epsilon`` is spent on its counts. The squares of a
    :class:`PrivTree` are drawn beforehand, with half of the share for tuning, or all of it
    where the tree is the only candidate; the coarse grid and the choice share the other half.

    Guarantee:
        ``epsilon``-DP under ``neighbours``: one point, or with ``user`` all points of one
        individual, of which ``max_points_per_user`` are counted. All arguments but the points
        are public. The budget is charged after all arguments were checked and before anything
        is drawn.

    Args:
        points: A frame of any kind, the path of a Parquet or CSV file, geometries, or an
            array of shape ``(n, 2)``. Of a lazy frame only counts leave the engine.
        x: Column of the coordinate from west to east; for frames and files.
        y: Column of the coordinate from south to north.
        user: Column of the individual that a point belongs to.
        bounds: ``(west, south, east, north)``, or a :class:`Box` with its reference system;
            half-open, like every cell.
        grids: Uniform candidates: cells along both axes, or ``(along x, along y)``.
        queries: Rectangles that the map is for, shape ``(m, 4)``, inside the bounds.
        method: More candidates, beside ``grids``: ``"guideline"``, ``"adaptive"``,
            ``"quadtree"``, ``"privtree"``, rules with their parameters, or several of these.
            By default the quadtree alone, without a choice, if there are no ``grids``.
        tuning_share: Share of ``epsilon`` for the tuning, between 0 and 1.
        sanity: Share of all points; errors of queries that hold fewer count as absolute.
        measure: The error that the cells are chosen for: ``"relative"`` as above,
            ``"absolute"`` in points, or a measure such as
            :class:`~dpselect.spatial.RelativeKnownSize`: the published objective with one of
            its repaired sensitivities.
        max_points_per_user: How many points of one individual are counted. Which, depends on
            that individual's points alone (:mod:`~dpselect.spatial.reading`), so all engines
            count the same ones.
        epsilon: What the release costs in all, in nats; finite, > 0.
        neighbours: ``"add-remove"`` or ``"substitute"``.
        mechanism: What draws among the candidates: a short name, or a callable that takes
            ``epsilon=``; permute-and-flip if not given. ``"generalized"`` is for measures
            whose sensitivity differs between partitions.
        budget: Where to record the spend, such as a :class:`~dpselect.Budget`.
        outside: Points outside the bounds are dropped, or with ``"clip"`` moved to the
            nearest cell. Points with a missing coordinate are dropped.

    Raises:
        ParameterError: An argument is out of its range.
        NeighboursError: ``neighbours`` is not a relation between sets of points, or not that
            of the budget or the measure.
        PublicClaimError: There are more points than the measure declares.
        ColumnError: A column is missing, not named or not numeric.
        DataError: The points cannot be read.
        InsufficientBudgetError: The budget does not allow it; nothing was drawn.

    Source: Fanaeepour and Rubinstein, "End-to-end differential privacy" (E2EPriv), with the
        objective of :mod:`~dpselect.spatial.error_measures` in place of that of the paper,
        which is not private. O(n + cells + m) for each candidate.

    Examples:
        >>> import numpy as np
        >>> import dpselect as dp
        >>> rng = np.random.default_rng(0)
        >>> map_ = dp.spatial.release_histogram(
        ...     rng.random((1000, 2)), bounds=(0, 0, 1, 1), grids=[4, 8],
        ...     queries=[[0.1, 0.1, 0.4, 0.3]], epsilon=1.0, neighbours="add-remove")
        >>> map_.query([0, 0, 0.5, 0.5]).values.shape
        (1,)
    """
    arguments = PublicArguments(
        x=x,
        y=y,
        user=user,
        bounds=bounds,
        grids=grids,
        queries=queries,
        method=method,
        tuning_share=tuning_share,
        sanity=sanity,
        measure=measure,
        max_points_per_user=max_points_per_user,
        epsilon=epsilon,
        neighbours=neighbours,
        mechanism=mechanism,
        outside=outside,
    )
    design = design_histogram(arguments)
    design.plan.check(budget)
    held = _read(points, arguments, design)
    if design.measure is not None:
        check_number(held, design.measure)
    receipt = design.plan.charge(budget)
    drawn = _draw(held, design)
    receipt.keep(drawn.released())
    return replace(drawn, entry=receipt.number)


def _read(points: object, given: PublicArguments, design: Design) -> Counts:
    # narwhals takes as long to import as all of this room.
    from dpselect.spatial import reading

    return reading.read_counts(
        points,
        x=given.x,
        y=given.y,
        user=given.user,
        box=design.box,
        max_points_per_user=design.points_per_user,
        outside=given.outside,
    )


def _draw(held: Counts, design: Design) -> SpatialHistogram:
    """Draw everything; the plan has been charged."""
    steps, candidates = design.steps, design.candidates
    partitions, coarse = list(candidates.partitions), None
    if steps.coarse_scale is not None:
        exact = held.in_cells(CoarseGrid.cells())
        coarse = CoarseGrid(noisy(exact, steps.coarse_scale), steps.coarse_scale)
    if candidates.tree is not None and steps.split_noise is not None:
        partitions.append(candidates.tree.grow(held, steps.split_noise))
    if coarse is not None:
        partitions += [
            rule.partition(coarse, steps.counts_epsilon) for rule in candidates.rules
        ]
    partition = _chosen(held, design, partitions, coarse)
    measured = noisy(held.in_cells(partition), steps.counts_scale)
    counts = measured
    if coarse is not None:
        counts = consistent(partition, measured, scale=steps.counts_scale, coarse=coarse)
    return SpatialHistogram(
        box=design.box,
        partition=partition,
        counts=counts,
        scale=steps.counts_scale,
        plan=design.plan,
        points_per_user=design.points_per_user,
        candidates=tuple(candidate.label for candidate in partitions),
        coarse=coarse,
        processing=() if coarse is None else ("consistent",),
        unevenness=unevenness(partition, measured, steps.counts_scale),
    )


def _chosen(
    held: Counts, design: Design, partitions: Sequence[Partition], coarse: CoarseGrid | None
) -> Partition:
    """Draw a partition; the only one if there is nothing to choose."""
    mechanism = design.steps.choice
    if mechanism is None:
        return partitions[0]
    weights = 1.0 if coarse is None else coarse.weights(design.queries, design.sanity)
    objective = partition_error(
        held,
        partitions=partitions,
        queries=design.queries,
        scale=design.steps.counts_scale,
        measure=design.measure or Weighted(neighbours=design.plan.neighbours, weights=weights),
        points_per_user=design.points_per_user,
    )
    return partitions[mechanism.choose(objective)[0]]
