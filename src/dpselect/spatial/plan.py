"""Plan of the release of a map, made from public arguments alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, exp, log, log1p, nextafter
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dpselect import _validate
from dpselect.errors import ParameterError
from dpselect.mechanisms import PermuteAndFlip
from dpselect.neighbours import Neighbours, NeighboursLike
from dpselect.plan import SHOWN, ErrorBound, Plan, Spend, shown
from dpselect.spatial.box import Box, Outside, checked_outside
from dpselect.spatial.counting import largest_change
from dpselect.spatial.objective import candidate_grids
from dpselect.spatial.partition import Partition
from dpselect.spatial.privtree import PrivTree, SplitNoise
from dpselect.spatial.queries import lattice_rectangles
from dpselect.spatial.rules import COARSE, Method, PartitionRule, Quadtree, rules_of
from dpselect.typing import Indices

PROBABILITY = 0.95
"""Of the error bound of a plan."""


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
    max_points_per_user: int | None
    epsilon: float
    neighbours: NeighboursLike
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


@dataclass(frozen=True, slots=True)
class Steps:
    """The noise of every step; a step that is not needed is None.

    Attributes:
        spends: Their prices, in the order drawn.
        coarse_scale: Of the noise of the coarse grid.
        split_noise: Of the decisions of the tree.
        choice: Draws the partition.
        counts_epsilon: Of the counts, in nats.
        counts_scale: Of the noise of the counts.
    """

    spends: tuple[Spend, ...]
    coarse_scale: float | None
    split_noise: SplitNoise | None
    choice: PermuteAndFlip | None
    counts_epsilon: float
    counts_scale: float


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
        points_per_user: How many points of one individual are counted.
    """

    plan: Plan
    box: Box
    queries: Indices
    candidates: Candidates
    steps: Steps
    sanity: float
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
    max_points_per_user: int | None = None,
    epsilon: float,
    neighbours: NeighboursLike,
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
        max_points_per_user=max_points_per_user,
        epsilon=epsilon,
        neighbours=neighbours,
        outside=outside,
    )
    return design_histogram(arguments).plan


def design_histogram(arguments: PublicArguments) -> Design:
    """Check all public arguments of a release; return its plan and the inputs of its steps."""
    box = Box.of(arguments.bounds)
    candidates = _candidates(arguments.grids, arguments.method)
    queries = lattice_rectangles(arguments.queries, bounds=box)
    relation = _validate.table_neighbours(arguments.neighbours)
    sanity = _validate.within("sanity", arguments.sanity, 0, 1)
    checked_outside(arguments.outside)
    split = split_epsilon(
        arguments.epsilon,
        arguments.tuning_share,
        candidates=len(candidates.names),
        rules=len(candidates.rules),
        trees=int(candidates.tree is not None),
    )
    most = _points_per_user(arguments.user, arguments.max_points_per_user)
    steps = _steps(split, candidates.tree, relation, most)
    plan = Plan(
        function="release_histogram",
        arguments=arguments.to_dict(),
        mechanism=_description(candidates, steps),
        spends=steps.spends,
        epsilon=float(arguments.epsilon),
        neighbours=relation,
        public=_public(relation, arguments.user),
        error=count_error(steps.counts_scale),
    )
    return Design(plan, box, queries, candidates, steps, sanity, most)


def split_epsilon(
    epsilon: float, tuning_share: float, *, candidates: int, rules: int = 0, trees: int = 0
) -> tuple[float, float, float, float]:
    """Return epsilon of the coarse grid, the tree, the choice and the counts, in nats.

    A part that is not needed is 0. A single candidate needs no choice, and a single uniform
    grid no coarse grid either. A tree has half of the share for tuning; a tree or the coarse
    grid of a rule has all of it if there is no other candidate.

    Args:
        epsilon: Of the whole release, in nats.
        tuning_share: Share of everything but the counts.
        candidates: Number of partitions to choose from.
        rules: How many of them a rule makes from the coarse grid.
        trees: How many of them are grown on the points, 0 or 1.

    Raises:
        ParameterError: ``epsilon`` or a share of it is not > 0.
    """
    epsilon = _validate.positive("epsilon", epsilon)
    _validate.within("tuning_share", tuning_share, 0, 1)
    if candidates == 1 and trees == rules == 0:
        return 0.0, 0.0, 0.0, epsilon
    if tuning_share in {0, 1}:
        raise ParameterError(
            "tuning_share must leave something for the tuning and for the counts: "
            "between 0 and 1, both excluded"
        )
    tuning = _validate.positive("tuning_share * epsilon", tuning_share * epsilon)
    # Halving is exact, and the next float below the difference never exceeds the rest.
    counts = _validate.positive("(1 - tuning_share) * epsilon", nextafter(epsilon - tuning, 0))
    if candidates == 1:
        return (0.0, tuning, 0.0, counts) if trees else (tuning, 0.0, 0.0, counts)
    structure = tuning / 2 if trees else 0.0
    half = (tuning - structure) / 2
    return half, structure, half, counts


def count_error(scale: float) -> ErrorBound:
    r"""Return the bound on the discrete Laplace noise of one count.

    With :math:`q = e^{-1/b}`, :math:`P(|Z| > t) = 2 q^{t + 1}/(1 + q)` for integers
    :math:`t \ge 0`.

    Args:
        scale: :math:`b`.
    """
    log_two_over = log(2) - log1p(exp(-1 / scale)) - log(1 - PROBABILITY)
    most = max(ceil(scale * log_two_over) - 1, 0)
    return ErrorBound(float(most), "points in the count of one cell", PROBABILITY)


def _candidates(
    grids: Sequence[int | tuple[int, int]], method: Method | Sequence[Method] | None
) -> Candidates:
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


def _points_per_user(user: str | None, most: int | None) -> int:
    """Return how many points of one individual are counted; 1 where a point is its own."""
    if (user is None) != (most is None):
        raise ParameterError("user= and max_points_per_user= go together: give both")
    return 1 if most is None else _validate.at_least("max_points_per_user", most, 1)


def _scale(epsilon: float, change: int) -> float:
    """Return the scale of the noise of counts; 0 if they have no share of epsilon."""
    from dpselect.draws.noisy_counts import LARGEST_SCALE, scale_for

    if epsilon == 0:
        return 0.0
    scale = scale_for(epsilon, change)
    if scale > LARGEST_SCALE:
        raise ParameterError(
            "epsilon is too small for its shares: the noise would not fit 64 bits"
        )
    return scale


def _steps(
    split: tuple[float, float, float, float],
    tree: PrivTree | None,
    neighbours: Neighbours,
    points_per_user: int,
) -> Steps:
    coarse, structure, choice, counts = split
    change = largest_change(neighbours, points_per_user)
    coarse_scale, _, counts_scale = (_scale(one, change) for one in (coarse, structure, counts))
    mechanism = PermuteAndFlip(epsilon=choice) if choice else None
    split_noise, spends = None, []
    if coarse:
        spends.append(Spend(f"counts of a coarse grid of {COARSE} x {COARSE}", coarse))
    if tree is not None:
        split_noise = SplitNoise.for_epsilon(
            structure, depth=tree.depth, points_per_user=points_per_user, neighbours=neighbours
        )
        spends.append(Spend(f"squares of {tree.name}", structure))
    if mechanism is not None:
        spends.append(mechanism.spend("choice of the partition"))
    spends.append(Spend("counts of the cells", counts))
    return Steps(
        spends=tuple(spends),
        coarse_scale=coarse_scale if coarse else None,
        split_noise=split_noise,
        choice=mechanism,
        counts_epsilon=counts,
        counts_scale=counts_scale,
    )


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
