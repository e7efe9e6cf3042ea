"""Maps of points: cells that are chosen privately, then counted in with noise."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from math import nextafter
from typing import Annotated, Literal, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from dpselect import validation
from dpselect.errors import ParameterError
from dpselect.maps.box import Box, Outside, blocks_of, even_queries, lattice_rectangles
from dpselect.maps.counting import Counts, noisy
from dpselect.maps.error_measures import (
    ErrorMeasure,
    RelativeClipped,
    Weighted,
    partition_error,
)
from dpselect.maps.partition import (
    COARSE,
    CoarseGrid,
    Method,
    Partition,
    PartitionRule,
    Quadtree,
    rules_of,
    uniform_grids,
)
from dpselect.maps.points import PointRows, columns_of_points
from dpselect.maps.postprocess import consistent, non_uniformity
from dpselect.maps.release import NONNEGATIVE, MapRelease
from dpselect.mechanisms import Mechanism, MechanismLike, NoisySequence, PermuteAndFlip
from dpselect.mechanisms.base import as_step
from dpselect.neighbours import Neighbours, NeighboursLike
from dpselect.objective import Facts
from dpselect.plan import ErrorBound, Plan, Spend
from dpselect.query import Claim, Columns, Design, Query, query
from dpselect.sensitivity import GlobalSensitivity
from dpselect.tables.people import changed_rows
from dpselect.typing import Indices
from dpselect.writing import SHOWN

Candidate: TypeAlias = Partition | PartitionRule
"""Cells that can be chosen, or a rule that makes some from the coarse grid."""

Objectives: TypeAlias = Literal["relative", "relative-clipped", "absolute"]
"""Errors that a map can be tuned for by name."""


@query
class Map(Query[MapRelease]):
    """Noisy counts of points, in cells that are chosen privately for given queries.

    One half of ``tuning_share * epsilon`` is spent on a coarse noisy grid of 16 x 16 cells. The
    rules of ``method`` derive their candidates from it, and it gives every query the weight
    ``1/max(T̃_t, ρ)`` of a relative error. The other half is spent on selecting one of all
    candidates by ``grid_error``. With another ``measure`` and without rules there is no coarse
    grid, and the selection has all of the share. The rest of epsilon is spent on counts in the
    selected cells, with exact discrete Laplace noise; if there is a coarse grid, both
    measurements are combined by least squares and, but for the absolute error, fitted to counts
    that are not negative, with the same total (``MapRelease.nonnegative``). A single candidate
    needs no tuning, and all of ``epsilon`` is spent on its counts.

    Data are a frame, the path of a Parquet or CSV file, an array of shape ``(n, 2)``, or
    geometries, also as the path of a GeoParquet, GeoPackage, GeoJSON or shapefile; these need
    no ``x`` and ``y``, and state their reference system. From a lazy frame only counts leave
    the engine. Points with a missing coordinate are dropped.

    Guarantee:
        ``epsilon``-DP under ``neighbours`` that differ in one point, or with ``user`` in all
        points of one person, of which ``max_per_user`` are counted. All fields are public.
        Which points of a person are counted depends on that person's points alone (``people``),
        so all engines count the same ones.

    Attributes:
        x: Column of the coordinate from west to east, such as lon.
        y: Column of the coordinate from south to north, such as lat.
        bounds: West, south, east and north of the map. Half-open, like every cell.
        crs: Reference system of the coordinates, such as ``"EPSG:4326"`` for longitudes and
            latitudes.
        grids: Uniform grids to choose from: cells along both axes, or along x and along y.
        queries: Rectangles that the map is tuned for: west, south, east and north of each.
            Inside the bounds; by default, if anything is tuned, rectangles of several sizes
            within the bounds.
        method: Further cells to choose from, in addition to ``grids``. ``"guideline"``,
            ``"adaptive"``, ``"quadtree"``, rules with their parameters, or several of these. By
            default, without ``grids``, only the quadtree, which needs no selection.
        tuning_share: Share of epsilon for the tuning.
        sanity: Share of all points below which errors of queries count as absolute.
        floor: Number of points below which they do, in place of ``sanity``.
        measure: The error by which cells are selected: ``"relative"``, ``"relative-clipped"``,
            or ``"absolute"`` in points. Clipped it is the one of the paper, over the exact
            answer, made private: at most 1, and with a ``floor``. Or an ``ErrorMeasure``.
        user: Column of the person that a point belongs to.
        max_per_user: Maximal number of points counted per person. They are selected at random;
            the total and all estimates are of counted points.
        outside: ``"drop"`` points outside the bounds, or ``"clip"`` them to the nearest cell.
        epsilon: Total price of the release, in nats; finite, > 0.
        neighbours: ``"add-remove"`` or ``"substitute"``, of a point or of a person.
        mechanism: Mechanism that selects the cells among the candidates. A short name
            (``dpselect.mechanisms.MECHANISMS``), or a function of ``epsilon=``;
            permute-and-flip if not given. ``"generalized"`` is for measures whose sensitivity
            differs between candidates.

    Source: Fanaeepour and Rubinstein, "End-to-end differential privacy" (E2EPriv), with the
        objective of ``error_measures`` in place of that of the paper, which is not private. O(n
        + cells + m) for each candidate and m queries.

    Examples:
        >>> import dpselect as dp
        >>> market = [[0.1, 0.1]] * 500 + [[0.6, 0.9]] * 300
        >>> query = dp.Map(
        ...     bounds=(0, 0, 1, 1), grids=[4, 8], epsilon=1.0, neighbours="add-remove"
        ... )
        >>> [round(spend.epsilon, 3) for spend in query.plan.spends]
        [0.1, 0.1, 0.8]
        >>> query.release(market).estimate([0, 0, 0.5, 0.5]).values.shape
        (1,)
    """

    x: str | None = None
    y: str | None = None
    bounds: Sequence[float]
    crs: str | None = None
    grids: Sequence[int | tuple[int, int]] = ()
    queries: ArrayLike | None = None
    method: Method | Sequence[Method] | None = None
    tuning_share: float = 0.2
    sanity: float = 0.001
    floor: float | None = None
    measure: Annotated[
        Objectives | ErrorMeasure, Claim("relative", "absolute", "relative-clipped")
    ] = "relative"
    user: str | None = None
    max_per_user: int | None = None
    outside: Outside = "drop"
    epsilon: float
    neighbours: NeighboursLike
    mechanism: MechanismLike | None = None

    def reads(self) -> Columns:
        return columns_of_points(self, self.bounds)

    def design(self) -> _MapDesign:
        rows = PointRows.of(self)
        relation = validation.table_neighbours(self.neighbours)
        validation.within("sanity", self.sanity, 0, 1)
        candidates = _candidates(self.grids, self.method)
        measure = _measure(self, relation, rows.max_per_user)
        steps = Steps.of(self, candidates, rows.max_per_user, weighted=measure is None)
        choice, queries, bounds = steps.choice, self.queries, rows.box.bounds
        if queries is None and choice is not None:
            queries = even_queries(bounds)
        edges = np.empty((0, 4), np.int64)
        if queries is not None:
            edges = lattice_rectangles(queries, bounds=bounds)
        if measure is not None and choice is not None:
            # Refused before the charge: a measure of another number of queries.
            measure.errors(*np.zeros((3, len(edges))))
        # In an engine the counts are one query, and so is what each other step counts.
        passes = 1 + (steps.coarse_scale is not None)
        if choice is not None:
            passes += len(blocks_of(edges)) + len(candidates)
        chosen = f"cells chosen by {choice.name} among" if choice else "the cells of"
        noise = f"discrete Laplace noise of scale {steps.counts_scale:.6g}"
        labels = [one.label for one in candidates]
        more = ", ..." * (len(labels) > SHOWN)
        return _MapDesign(
            plan=Plan(
                mechanism=f"{noise} on {chosen} {', '.join(labels[:SHOWN])}{more}",
                spends=steps.spends,
                epsilon=float(self.epsilon),
                neighbours=relation,
                public=self._public(relation),
                error=ErrorBound.of_count(
                    steps.counts_scale, "points in the count of one cell"
                ),
                passes=passes,
            ),
            asked=self,
            rows=rows,
            queries=edges,
            candidates=candidates,
            steps=steps,
            measure=measure,
        )

    def _public(self, relation: Neighbours) -> tuple[str, ...]:
        claims = ["the bounds", "the grids and methods"]
        if self.queries is not None:
            claims.append("the queries")
        if relation is Neighbours.SUBSTITUTE:
            whom = "points" if self.user is None else "users"
            claims.append(f"the number of {whom}")
        return tuple(claims)


@dataclass(frozen=True, kw_only=True)
class _MapDesign(Design[MapRelease]):
    """The public inputs of each step, and their draws.

    Attributes:
        asked: The query, whose fields have been checked.
        rows: How rows are read as points.
        queries: Lattice edges, shape ``(m, 4)``.
        candidates: What the cells are chosen from.
        steps: The noise.
        measure: The error of a partition; None for the relative one, whose weights come from
            the coarse grid.
    """

    asked: Map
    rows: PointRows
    queries: Indices
    candidates: Sequence[Candidate]
    steps: Steps
    measure: ErrorMeasure | None

    def prepare(self, data: object) -> Callable[[Plan], MapRelease]:
        return partial(self._draw, self.rows.read(data), self.rows.box_of(data))

    def _draw(self, points: Counts, box: Box, plan: Plan) -> MapRelease:
        """Draw everything; the plan has been charged."""
        steps, coarse, measure = self.steps, None, self.measure
        partitions = [one for one in self.candidates if isinstance(one, Partition)]
        if steps.coarse_scale is not None:
            exact = points.in_cells(CoarseGrid.cells())
            coarse = CoarseGrid(noisy(exact, steps.coarse_scale), steps.coarse_scale)
            rules = [one for one in self.candidates if isinstance(one, PartitionRule)]
            partitions += [rule.partition(coarse, steps.counts_epsilon) for rule in rules]
            if measure is None and steps.choice is not None:
                floor, relation = self.asked.floor, self.plan.neighbours
                least = self.asked.sanity * coarse.total if floor is None else floor
                measure = Weighted.relative(
                    coarse, self.queries, least=least, neighbours=relation
                )
        partition = self._chosen(points, partitions, measure)
        measured = noisy(points.in_cells(partition), steps.counts_scale)
        counts, processing = measured, []
        if coarse is not None:
            counts = consistent(partition, measured, scale=steps.counts_scale, coarse=coarse)
            processing.append("consistent")
            # Relative errors are mostly those of few points, which nothing is below.
            if not isinstance(self.measure, Weighted):
                processing.append(NONNEGATIVE)
        return MapRelease(
            (partition.label,),
            plan,
            box=box,
            partition=partition,
            unbiased=counts,
            scale=steps.counts_scale,
            candidates=tuple(candidate.label for candidate in partitions),
            coarse=coarse,
            processing=tuple(processing),
            non_uniformity=non_uniformity(partition, measured, steps.counts_scale),
        )

    def _chosen(
        self, points: Counts, partitions: Sequence[Partition], measure: ErrorMeasure | None
    ) -> Partition:
        """Draw a partition; the only one if there is nothing to choose."""
        if self.steps.choice is None or measure is None:
            return partitions[0]
        objective = partition_error(
            points,
            partitions=partitions,
            queries=self.queries,
            scale=self.steps.counts_scale,
            measure=measure,
            max_per_user=self.rows.max_per_user,
        )
        return partitions[self.steps.choice.draw_positions(objective)[0]]


def _measure(asked: Map, relation: Neighbours, max_per_user: int) -> ErrorMeasure | None:
    """Return the measure; None for the one whose weights come from the coarse grid."""
    given, floor = asked.measure, asked.floor
    own = isinstance(given, ErrorMeasure)
    named = None if own else validation.one_of("measure", given, Objectives)
    if floor is not None and named in {None, "absolute"}:
        raise ParameterError("`floor` goes with `measure` 'relative' or 'relative-clipped'")
    if named == "relative-clipped":
        if floor is None:
            raise ParameterError("`measure` 'relative-clipped' needs a `floor`, in points")
        return RelativeClipped(neighbours=relation, floor=floor)
    if floor is not None:
        validation.positive("floor", floor)
    if not isinstance(given, ErrorMeasure):
        return None if named == "relative" else Weighted(neighbours=relation)
    stated = validation.table_neighbours(given.neighbours)
    validation.one_relation("the `measure` and the release", (stated, relation))
    if max_per_user > 1 and not isinstance(given, Weighted | RelativeClipped):
        raise ParameterError(
            "with several points of a `user`, `measure` must be a name, Weighted or "
            "RelativeClipped: the others are for one point at a time"
        )
    return given


def _candidates(
    grids: Sequence[int | tuple[int, int]], method: Method | Sequence[Method] | None
) -> list[Candidate]:
    """Return what the cells are chosen from: uniform grids first, then rules.

    Raises:
        ParameterError: A grid or a method is none.
    """
    sizes = validation.listed("grids", grids) or ()
    if method is None:
        # Of all partitions that need no tuning the quadtree has the least median error on
        # most of the data sets of docs/report/measurements.md.
        method = "uniform" if sizes else Quadtree(c=10.0)
    rules = rules_of(method)
    return [*(uniform_grids(sizes) if sizes or not rules else ()), *rules]


@dataclass(frozen=True, slots=True)
class Steps:
    """The noise of every step; a step that is not needed is None.

    A single candidate needs no choice, and a single uniform grid no coarse grid either; nor
    does a choice that takes no weights from it. The coarse grid of a rule has all of the share
    for tuning if there is no other candidate.

    Attributes:
        spends: Their prices, in the order drawn.
        coarse_scale: Noise scale of the coarse grid.
        choice: Draws the partition.
        counts_epsilon: Epsilon of the counts, in nats.
        counts_scale: Noise scale of the counts.
    """

    spends: tuple[Spend, ...]
    coarse_scale: float | None
    choice: Mechanism | None
    counts_epsilon: float
    counts_scale: float

    @classmethod
    def of(
        cls, asked: Map, candidates: Sequence[Candidate], points: int, *, weighted: bool
    ) -> Self:
        """Return the noise of every step of a query, and its price.

        Args:
            asked: The query.
            candidates: What the cells are chosen from.
            points: How many points of a person are counted.
            weighted: Whether the choice takes weights from the coarse grid.

        Raises:
            ParameterError: ``epsilon`` or a share of it is out of its range, its noise would
                not fit 64 bits, or the mechanism needs what no partition states.
        """
        epsilon = counts = validation.positive("epsilon", asked.epsilon)
        validation.within("tuning_share", asked.tuning_share, 0, 1)
        relation = validation.table_neighbours(asked.neighbours)
        several, coarse, choice = len(candidates) > 1, 0.0, 0.0
        rules = any(isinstance(one, PartitionRule) for one in candidates)
        if several or rules:
            share = validation.share("tuning_share", asked.tuning_share)
            tuning = validation.positive("tuning_share * epsilon", share * epsilon)
            # The next float below the difference never exceeds the rest.
            rest = nextafter(epsilon - tuning, 0)
            counts = validation.positive("(1 - tuning_share) * epsilon", rest)
            if rules or weighted:
                coarse = tuning / 2 if several else tuning
            choice = tuning - coarse
        named = PermuteAndFlip.name if asked.mechanism is None else asked.mechanism
        mechanism, spends = as_step(named, choice or 1.0), []
        if coarse:
            purpose = f"counts of a coarse grid of {COARSE} x {COARSE}"
            spends.append(Spend(purpose, coarse))
        if choice:
            # Refused before the charge. Noise on all errors is made for those that are scored.
            facts = Facts(
                candidates=1, sensitivity=GlobalSensitivity(1.0, relation), highest=0.0
            )
            known = mechanism.for_objective(facts)
            mechanism = mechanism if isinstance(mechanism, NoisySequence) else known
            spends.append(mechanism.spend("choice of the partition"))
        change = changed_rows(points, relation)
        return cls(
            spends=(*spends, Spend("counts of the cells", counts)),
            coarse_scale=_scale(coarse, change) if coarse else None,
            choice=mechanism if choice else None,
            counts_epsilon=counts,
            counts_scale=_scale(counts, change),
        )


def _scale(epsilon: float, change: int) -> float:
    """Return the scale of the noise of counts."""
    from dpselect.draws.exact.noisy_counts import check_scale, scale_for

    scale = scale_for(epsilon, change)
    check_scale(scale)
    return scale
