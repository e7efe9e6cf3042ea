"""Plan of the release of a map, made from public arguments alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from dpselect import _validate
from dpselect.accuracy import count_error
from dpselect.errors import NeighboursError, ParameterError
from dpselect.mechanisms import Mechanism, MechanismFactory, PermuteAndFlip, by_name
from dpselect.neighbours import Neighbours, NeighboursLike
from dpselect.objective import Objective
from dpselect.plan import SHOWN, Plan, shown
from dpselect.sensitivity import GlobalSensitivity
from dpselect.spatial import geo, passes
from dpselect.spatial.box import Box, Outside, checked_outside
from dpselect.spatial.error_measures import ErrorMeasure, Weighted
from dpselect.spatial.objective import candidate_grids
from dpselect.spatial.partition import Partition
from dpselect.spatial.privtree import PrivTree
from dpselect.spatial.queries import lattice_rectangles
from dpselect.spatial.rules import Method, PartitionRule, Quadtree, rules_of
from dpselect.spatial.steps import Steps, split_epsilon, steps_of
from dpselect.typing import Indices

Objectives: TypeAlias = Literal["relative", "absolute"]
"""Errors that a map can be tuned for, besides the measures of the room."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class PublicArguments:
    """The arguments of a release but for the points and the budget, as given by the caller."""

    x: str | None
    y: str | None
    user: str | None
    bounds: Box | ArrayLike
    grids: Sequence[int | tuple[int, int]]
    queries: ArrayLike
    method: Method | Sequence[Method] | None
    tuning_share: float
    sanity: float
    measure: ErrorMeasure | Objectives
    max_points_per_user: int | None
    epsilon: float
    neighbours: NeighboursLike
    mechanism: str | MechanismFactory | None
    outside: Outside

    def to_dict(self) -> dict[str, object]:
        """Return all but epsilon and neighbours, which a plan has, as plain values."""
        box = Box.of(self.bounds)
        given = {
            "x": self.x,
            "y": self.y,
            "user": self.user,
            "bounds": box.bounds,
            "crs": box.crs,
            "grids": self.grids,
            "queries": np.asarray(self.queries, dtype=np.float64),
            "method": _method_names(self.method),
            "tuning_share": self.tuning_share,
            "sanity": self.sanity,
            "measure": self.measure if isinstance(self.measure, str) else repr(self.measure),
            "max_points_per_user": self.max_points_per_user,
            "outside": self.outside,
        }
        return {name: shown(value) for name, value in given.items()}


class Candidates(NamedTuple):
    """What the cells are chosen from.

    Attributes:
        partitions: Uniform grids.
        rules: Rules that make more partitions from the coarse grid.
        tree: A tree that is grown on the points; None if there is none.
    """

    partitions: tuple[Partition, ...]
    rules: tuple[PartitionRule, ...]
    tree: PrivTree | None

    @property
    def names(self) -> list[str]:
        """The names of all, in the order in which they become candidates."""
        labels = [partition.label for partition in self.partitions]
        trees = [] if self.tree is None else [self.tree.name]
        return labels + trees + [rule.name for rule in self.rules]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Design:
    """A plan with the public inputs of each of its steps, checked.

    Attributes:
        plan: What is spent.
        box: The box.
        queries: Lattice edges, shape ``(m, 4)``.
        candidates: What the cells are chosen from.
        steps: The noise.
        sanity: Share of all points below which an error counts as absolute.
        measure: The error of a partition; None for the relative one, whose weights come from
            the coarse grid.
        points_per_user: How many points of one individual are counted.
    """

    plan: Plan
    box: Box
    queries: Indices
    candidates: Candidates
    steps: Steps
    sanity: float
    measure: ErrorMeasure | None
    points_per_user: int


def plan_histogram(  # noqa: PLR0913 -- each argument is one public claim
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
    outside: Outside = "drop",
) -> Plan:
    """Return what :func:`~dpselect.spatial.release_histogram` would spend; needs no data.

    The arguments are those of the release. The error bound is that of the noise in one count.

    Raises:
        ParameterError: An argument is out of its range.
        NeighboursError: ``neighbours`` is not a relation between sets of points.

    Examples:
        >>> import dpselect as dp
        >>> plan = dp.spatial.plan_histogram(
        ...     bounds=(0, 0, 1, 1), grids=[4, 8], queries=[0.1, 0.1, 0.4, 0.3],
        ...     epsilon=1.0, neighbours="add-remove")
        >>> [round(spend.epsilon, 3) for spend in plan.spends]
        [0.1, 0.1, 0.8]
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
    return design_histogram(arguments).plan


def design_histogram(arguments: PublicArguments) -> Design:
    """Check all public arguments of a release; return its plan and the inputs of its steps."""
    box = Box.of(arguments.bounds)
    geo.warn_if_swapped(box.crs, box.bounds, x=arguments.x, y=arguments.y)
    candidates = _candidates(arguments.grids, arguments.method)
    queries = lattice_rectangles(arguments.queries, bounds=box)
    relation = _validate.table_neighbours(arguments.neighbours)
    sanity = _validate.within("sanity", arguments.sanity, 0, 1)
    checked_outside(arguments.outside)
    most = points_per_individual(arguments.user, arguments.max_points_per_user)
    measure = _measure(arguments.measure, relation, most)
    split = split_epsilon(
        arguments.epsilon,
        arguments.tuning_share,
        candidates=len(candidates.names),
        rules=len(candidates.rules),
        trees=int(candidates.tree is not None),
        weighted=measure is None,
    )
    choice = _mechanism(arguments.mechanism, split.choice, relation)
    steps = steps_of(split, candidates.tree, choice, relation, most)
    plan = Plan(
        function="release_histogram",
        arguments=arguments.to_dict(),
        mechanism=_description(candidates, steps),
        spends=steps.spends,
        epsilon=float(arguments.epsilon),
        neighbours=relation,
        public=_public(relation, arguments.user),
        error=count_error(steps.counts_scale, "points in the count of one cell"),
        passes=passes.passes(
            *candidates,
            queries,
            coarse=steps.coarse_scale is not None,
            chosen=steps.choice is not None,
            most_records=None if measure is None else measure.most_records,
        ),
    )
    return Design(plan, box, queries, candidates, steps, sanity, measure, most)


def _candidates(
    grids: Sequence[int | tuple[int, int]], method: Method | Sequence[Method] | None
) -> Candidates:
    grids = _validate.listed("grids", grids) or ()
    if method is None:
        # Of all partitions that need no tuning the quadtree has the least median error on
        # most of the data sets of docs/spatial.md.
        method = Quadtree() if len(grids) == 0 else "uniform"
    methods = rules_of(method)
    rules = tuple(rule for rule in methods if not isinstance(rule, PrivTree))
    trees = [rule for rule in methods if isinstance(rule, PrivTree)]
    if len(trees) > 1:
        raise ParameterError("method must hold at most one PrivTree: each costs a share")
    grids_needed = not methods or len(grids) > 0
    partitions = tuple(candidate_grids(grids)) if grids_needed else ()
    return Candidates(partitions, rules, trees[0] if trees else None)


def _measure(
    given: ErrorMeasure | Objectives, relation: Neighbours, points_per_user: int
) -> ErrorMeasure | None:
    """Return the measure; None for the one whose weights come from the coarse grid."""
    if given == "relative":
        return None
    if given == "absolute":
        return Weighted(neighbours=relation)
    if not isinstance(given, ErrorMeasure):
        raise ParameterError(
            "measure must be 'relative', 'absolute' or a measure such as RelativeClipped(...)"
        )
    if given.relation is not relation:
        raise NeighboursError(
            f"the measure is for {given.relation} neighbours and the release for {relation}"
        )
    if points_per_user > 1 and not isinstance(given, Weighted):
        raise ParameterError(
            "with several points of a user, measure must be 'relative', 'absolute' or "
            "Weighted: the others are for one point at a time"
        )
    return given


def _mechanism(
    given: str | MechanismFactory | None, epsilon: float, relation: Neighbours
) -> Mechanism | None:
    """Return what draws the partition; None where there is nothing to choose."""
    if epsilon == 0:
        return None
    mechanism = by_name(PermuteAndFlip.name if given is None else given, epsilon)
    if mechanism.epsilon > epsilon:
        raise ParameterError("mechanism must keep to the epsilon that it is called with")
    if not mechanism.exact:
        raise ParameterError("mechanism must draw by the samplers of dpselect.draws")
    # Refused before the charge: what it needs and no partition states.
    public = Objective([0.0], GlobalSensitivity(1.0, relation), highest=0.0)
    return mechanism.for_objective(public)


def points_per_individual(user: str | None, most: int | None) -> int:
    """Return how many points of one individual are counted; 1 where a point is its own."""
    if (user is None) != (most is None):
        raise ParameterError("user= and max_points_per_user= go together: give both")
    return 1 if most is None else _validate.at_least("max_points_per_user", most, 1)


def _description(candidates: Candidates, steps: Steps) -> str:
    names = candidates.names
    listed = ", ".join(names[:SHOWN]) + (", ..." if len(names) > SHOWN else "")
    noise = f"discrete Laplace noise of scale {steps.counts_scale:.6g}"
    if steps.choice is None:
        return f"{noise} on the cells of {listed}"
    return f"{noise} on cells chosen by {steps.choice.name} among {listed}"


def _method_names(method: Method | Sequence[Method] | None) -> object:
    if method is None or isinstance(method, str):
        return method
    several = method if isinstance(method, Sequence) else [method]
    return [one if isinstance(one, str) else one.name for one in several]


def _public(relation: Neighbours, user: str | None) -> tuple[str, ...]:
    claims = ("the bounds", "the grids and methods", "the queries")
    if relation is Neighbours.ADD_REMOVE:
        return claims
    return (*claims, "the number of points" if user is None else "the number of users")
