"""Everything public about the release of a map, checked before any budget is spent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from numpy.typing import ArrayLike

from dpselect import _validate
from dpselect.errors import ParameterError
from dpselect.neighbours import Neighbours
from dpselect.spatial import counting, noise
from dpselect.spatial.box import Box
from dpselect.spatial.error import uniform_grids
from dpselect.spatial.forms import checked_relation
from dpselect.spatial.partition import Partition
from dpselect.spatial.privtree import PrivTree, Splits
from dpselect.spatial.rules import Method, Rule, rules_of
from dpselect.spatial.shares import Shares
from dpselect.typing import Indices


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Plan:
    """What will be released, and what each part of it costs; public.

    Attributes:
        box: The box.
        partitions: The uniform candidates.
        rules: What will propose more, from the coarse grid.
        tree: What will be grown on the points; None if nothing is.
        queries: Lattice edges, shape ``(m, 4)``.
        epsilon: The whole, in nats.
        shares: How it is split.
        neighbours: The neighbour relation.
        points_per_user: How many points of one individual count.
    """

    box: Box
    partitions: tuple[Partition, ...]
    rules: tuple[Rule, ...]
    tree: PrivTree | None
    queries: Indices
    epsilon: float
    shares: Shares
    neighbours: Neighbours
    points_per_user: int

    @property
    def standard_deviation(self) -> float:
        """Of the noise that one cell will get."""
        return noise.standard_deviation(self.scale(self.shares.counts))

    @property
    def description(self) -> str:
        """What the ledger says of it."""
        names = [partition.label for partition in self.partitions]
        trees = () if self.tree is None else (self.tree,)
        names += [rule.name for rule in (*trees, *self.rules)]
        shown = ", ".join(names[:8]) + (", ..." if len(names) > 8 else "")
        return f"spatial histogram, one of: {shown}"

    def scale(self, epsilon: float) -> float:
        """Return the noise of counts that a share of epsilon pays for."""
        return noise.scale_for(epsilon, self.neighbours, self.points_per_user)

    def splits(self, tree: PrivTree) -> Splits:
        """Return the noise of the decisions of a tree."""
        return Splits.of(
            self.shares.structure,
            depth=tree.depth,
            neighbours=self.neighbours,
            points_per_user=self.points_per_user,
        )


def plan_histogram(  # noqa: PLR0913 -- each argument is one public claim
    *,
    bounds: Box | ArrayLike,
    grids: Sequence[int | tuple[int, int]] = (),
    queries: ArrayLike,
    epsilon: float,
    tuning_share: float = 0.2,
    method: Method | Sequence[Method] = "uniform",
    neighbours: Neighbours,
    user: str | None = None,
    max_points_per_user: int | None = None,
) -> Plan:
    """Say what :func:`~dpselect.spatial.release_histogram` would release, and at what cost.

    It sees no point and spends nothing. The arguments are those of the release.

    Raises:
        ParameterError: An argument is out of its range.
        NeighboursError: ``neighbours`` is no relation between sets of points.
    """
    box = Box.of(bounds)
    methods = rules_of(method)
    rules = tuple(rule for rule in methods if not isinstance(rule, PrivTree))
    tree = _only([rule for rule in methods if isinstance(rule, PrivTree)])
    partitions = () if methods and len(grids) == 0 else tuple(uniform_grids(grids))
    trees = 0 if tree is None else 1
    # A rule needs the coarse grid even when it is the only candidate.
    candidates = len(partitions) + 2 * len(rules) + trees
    edges = counting.rectangles(box, queries)
    checked_relation(neighbours)
    shares = Shares.of(epsilon, tuning_share, candidates=candidates, trees=trees)
    most = _points_per_user(user, max_points_per_user)
    plan = Plan(box, partitions, rules, tree, edges, epsilon, shares, neighbours, most)
    for share in (shares.coarse, shares.counts, shares.structure):
        if share > 0 and plan.scale(share) > noise.LARGEST_SCALE:
            raise ParameterError(
                "epsilon is too small for its shares: the noise would not fit 64 bits"
            )
    return plan


def _only(trees: Sequence[PrivTree]) -> PrivTree | None:
    if len(trees) > 1:
        raise ParameterError("method must hold at most one PrivTree: each has to be paid for")
    return trees[0] if trees else None


def _points_per_user(user: str | None, most: int | None) -> int:
    """Return how many points of one individual count; one where each point is its own."""
    if (user is None) != (most is None):
        raise ParameterError("user= and max_points_per_user= go together: give both")
    return 1 if most is None else _validate.at_least("max_points_per_user", most, 1)
