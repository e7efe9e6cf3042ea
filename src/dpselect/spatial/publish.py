"""The release of a map: tune the cells privately, then count in them privately."""

from __future__ import annotations

from collections.abc import Sequence

from numpy.typing import ArrayLike

from dpselect import _validate
from dpselect.mechanisms import PermuteAndFlip
from dpselect.neighbours import Neighbours
from dpselect.plan import SupportsSpend
from dpselect.spatial import coarse as coarse_grid
from dpselect.spatial import intake, noise
from dpselect.spatial.box import Box, Outside
from dpselect.spatial.coarse import Coarse
from dpselect.spatial.counting import Counts
from dpselect.spatial.error import partition_error
from dpselect.spatial.forms import Weighted
from dpselect.spatial.histogram import SpatialHistogram
from dpselect.spatial.partition import Partition
from dpselect.spatial.plan import Plan, plan_histogram
from dpselect.spatial.rules import Method
from dpselect.typing import Values


def release_histogram(  # noqa: PLR0913 -- each argument is one public claim
    points: object,
    *,
    x: str | None = None,
    y: str | None = None,
    bounds: Box | ArrayLike,
    grids: Sequence[int | tuple[int, int]] = (),
    queries: ArrayLike,
    epsilon: float,
    tuning_share: float = 0.2,
    method: Method | Sequence[Method] = "uniform",
    neighbours: Neighbours,
    budget: SupportsSpend | None = None,
    outside: Outside = "drop",
    sanity: float = 0.001,
    user: str | None = None,
    max_points_per_user: int | None = None,
) -> SpatialHistogram:
    r"""Release noisy counts of points, in cells that were chosen privately for the queries.

    One half of ``tuning_share * epsilon`` pays for a coarse noisy grid of 16 x 16 cells. It
    shapes what the rules of ``method`` propose, and gives every query the weight
    :math:`1/\max(\tilde T_t, \rho)` of a relative error. The other half pays for one draw by
    permute-and-flip among all candidates, by :func:`~dpselect.spatial.grid_error`. The rest
    pays for counts in the cells drawn, through OpenDP's discrete Laplace sampler. A single
    candidate needs no tuning, and all of ``epsilon`` goes to its counts. The squares of a
    :class:`PrivTree` are drawn beforehand, for half of the share for tuning, or for all of it
    where the tree is the only candidate; the coarse grid and the choice have the other half.

    Guarantee:
        ``epsilon``-DP under ``neighbours``: one point, or with ``user`` all points of one
        individual, of which ``max_points_per_user`` count. All arguments but the points are
        public. The budget is spent before anything is drawn, and after everything public
        was checked.

    Args:
        points: A frame of any kind, the path of a Parquet or CSV file, geometries, or an
            array of shape ``(n, 2)``. Of a lazy frame only counts leave the engine.
        x: Column of the coordinate from west to east; for frames and files.
        y: Column of the coordinate from south to north.
        bounds: ``(west, south, east, north)``, or a :class:`Box` with its reference system;
            half-open, like every cell.
        grids: Uniform candidates: cells along both axes, or ``(along x, along y)``.
        queries: Rectangles that the map is for, shape ``(m, 4)``, inside the bounds.
        epsilon: What the release costs in all, in nats; finite, > 0.
        tuning_share: Share of ``epsilon`` for the tuning, between 0 and 1.
        method: More candidates, beside ``grids``: ``"guideline"``, ``"adaptive"``,
            ``"quadtree"``, ``"privtree"``, rules with their parameters, or several of these.
        neighbours: ``Neighbours.ADD_REMOVE`` or ``.SUBSTITUTE``.
        budget: Where to record the spend, such as a :class:`~dpselect.Budget`.
        outside: Points outside the bounds are dropped, or with ``"clip"`` moved to the
            nearest cell. Points with a missing coordinate are dropped.
        sanity: Share of all points; errors of queries that hold fewer count as absolute.
        user: Column of the individual that a point belongs to.
        max_points_per_user: How many points of one individual count. Which, their places say
            alone (:mod:`~dpselect.spatial.capping`), so that all engines keep the same.

    Raises:
        ParameterError: An argument is out of its range.
        NeighboursError: ``neighbours`` is no relation between sets of points.
        ColumnError: A column is missing, not named or not numeric.
        DataError: The points cannot be read.
        InsufficientBudgetError: The budget does not allow it; nothing was drawn.

    Source: Fanaeepour and Rubinstein, "End-to-end differential privacy" (E2EPriv), with the
        objective of :mod:`~dpselect.spatial.forms` in place of the printed one, which is not
        private. O(n + cells + m) for each candidate.

    Examples:
        >>> import numpy as np
        >>> import dpselect as dp
        >>> rng = np.random.default_rng(0)
        >>> map_ = dp.spatial.release_histogram(
        ...     rng.random((1000, 2)), bounds=(0, 0, 1, 1), grids=[4, 8],
        ...     queries=[[0.1, 0.1, 0.4, 0.3]], epsilon=1.0,
        ...     neighbours=dp.Neighbours.ADD_REMOVE)
        >>> map_.query([0, 0, 0.5, 0.5]).values.shape
        (1,)
    """
    plan = plan_histogram(
        bounds=bounds,
        grids=grids,
        queries=queries,
        method=method,
        epsilon=epsilon,
        tuning_share=tuning_share,
        neighbours=neighbours,
        user=user,
        max_points_per_user=max_points_per_user,
    )
    _validate.within("sanity", sanity, 0, 1)
    if user is None:
        held = intake.read(points, x, y, box=plan.box, outside=outside)
    else:
        held = intake.read_capped(
            points, x, y, box=plan.box, outside=outside, user=user, most=plan.points_per_user
        )
    if budget is not None:
        budget.spend(
            epsilon, neighbours=neighbours, rho=plan.shares.rho, mechanism=plan.description
        )
    return _draw(held, plan, sanity)


def _draw(held: Counts, plan: Plan, sanity: float) -> SpatialHistogram:
    """Draw everything; the budget has been asked."""
    coarse = _coarse(held, plan) if plan.shares.coarse > 0 else None
    partitions = list(plan.partitions)
    chosen = 0
    if plan.tree is not None:
        partitions.append(plan.tree.grow(held, plan.splits(plan.tree)))
    if coarse is not None:
        partitions += [rule.partition(coarse, plan.shares.counts) for rule in plan.rules]
        chosen = _choose(held, plan, partitions, coarse.weights(plan.queries, sanity))
    partition = partitions[chosen]
    scale = plan.scale(plan.shares.counts)
    return SpatialHistogram(
        box=plan.box,
        partition=partition,
        counts=noise.noisy(held.in_cells(partition), scale),
        scale=scale,
        epsilon=plan.epsilon,
        shares=plan.shares,
        neighbours=plan.neighbours,
        points_per_user=plan.points_per_user,
        candidates=tuple(candidate.label for candidate in partitions),
        coarse=coarse,
    )


def _coarse(held: Counts, plan: Plan) -> Coarse:
    scale = plan.scale(plan.shares.coarse)
    return Coarse(noise.noisy(held.in_cells(coarse_grid.cells()), scale), scale)


def _choose(held: Counts, plan: Plan, partitions: Sequence[Partition], weights: Values) -> int:
    """Draw the position of a partition."""
    objective = partition_error(
        held,
        partitions,
        plan.queries,
        scale=plan.scale(plan.shares.counts),
        form=Weighted(neighbours=plan.neighbours, weights=weights),
        points_per_user=plan.points_per_user,
    )
    release = PermuteAndFlip(epsilon=plan.shares.choice).release(objective)
    return _validate.at_least("position", release.candidate, 0)
