"""Steps of a map: candidates for its cells, shares of epsilon, noise and passes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import nextafter
from typing import NamedTuple, Self

from dpselect import validation
from dpselect.errors import ParameterError
from dpselect.maps.counting import largest_change
from dpselect.maps.partition import Partition, uniform_grids
from dpselect.maps.points import pass_over
from dpselect.maps.privtree import PrivTree, SplitNoise
from dpselect.maps.queries import blocks_of, most_rows
from dpselect.maps.rules import COARSE, Method, PartitionRule, Quadtree, rules_of
from dpselect.mechanisms import Mechanism
from dpselect.neighbours import Neighbours
from dpselect.passes import Pass
from dpselect.plan import SHOWN, Spend
from dpselect.typing import Indices


@dataclass(frozen=True, slots=True)
class Candidates:
    """What the cells are chosen from.

    Attributes:
        partitions: Uniform grids.
        rules: Rules that make more partitions from the coarse grid.
        tree: A tree that is grown on the points; None if there is none.
    """

    partitions: tuple[Partition, ...]
    rules: tuple[PartitionRule, ...]
    tree: PrivTree | None

    @classmethod
    def of(
        cls, grids: Sequence[int | tuple[int, int]], method: Method | Sequence[Method] | None
    ) -> Self:
        """Return the candidates of two fields of a query.

        Raises:
            ParameterError: A grid or a method is none, or there are several trees.
        """
        sizes = validation.listed("grids", grids) or ()
        if method is None:
            # Of all partitions that need no tuning the quadtree has the least median error on
            # most of the data sets of docs/measurements.md.
            method = "uniform" if sizes else Quadtree(c=10.0)
        methods = rules_of(method)
        trees = [rule for rule in methods if isinstance(rule, PrivTree)]
        if len(trees) > 1:
            raise ParameterError("`method` must hold at most one PrivTree: each costs a share")
        return cls(
            tuple(uniform_grids(sizes)) if sizes or not methods else (),
            tuple(rule for rule in methods if not isinstance(rule, PrivTree)),
            trees[0] if trees else None,
        )

    @property
    def labels(self) -> list[str]:
        """The labels of all, in the order in which they become candidates."""
        grids = [partition.label for partition in self.partitions]
        tree = [] if self.tree is None else [self.tree.label]
        return grids + tree + [rule.label for rule in self.rules]

    def __str__(self) -> str:
        return ", ".join(self.labels[:SHOWN]) + ", ..." * (len(self.labels) > SHOWN)

    def passes(self, queries: Indices, steps: Steps) -> tuple[Pass, ...]:
        """Return what a release takes in an engine.

        Args:
            queries: Lattice edges, shape ``(m, 4)``, if a candidate is chosen.
            steps: The noise.
        """
        of_all = [grid.most_rows for grid in self.partitions]
        of_all += [rule.most_rows for rule in self.rules]
        rows = [COARSE**2] if steps.coarse_scale is not None else []
        if self.tree is not None:
            rows.append(4 ** (self.tree.depth - 1))
            of_all.append(self.tree.most_rows)
        if steps.choice is not None:
            rows += [*map(most_rows, blocks_of(queries)), *of_all]
        return tuple(map(pass_over, [*rows, max(of_all)]))


class Split(NamedTuple):
    """Epsilon of each step, in nats; 0 for one that is not needed."""

    coarse: float
    """Epsilon of the coarse grid."""

    structure: float
    """Epsilon of the tree."""

    choice: float
    """Epsilon of the draw among the candidates."""

    counts: float
    """Epsilon of the counts of the cells."""


def split_epsilon(
    epsilon: float, tuning_share: float, candidates: Candidates, *, weighted: bool
) -> Split:
    """Return what each step costs.

    A part that is not needed is 0. A single candidate needs no choice, and a single uniform
    grid no coarse grid either; nor does a choice that takes no weights from it. A tree has
    half of the share for tuning; a tree or the coarse grid of a rule has all of it if there
    is no other candidate.

    Args:
        epsilon: Epsilon of the whole release, in nats.
        tuning_share: Share of everything but the counts.
        candidates: What the cells are chosen from.
        weighted: Whether the choice takes weights from the coarse grid.

    Raises:
        ParameterError: ``epsilon`` or a share of it is not > 0.
    """
    epsilon = validation.positive("epsilon", epsilon)
    validation.within("tuning_share", tuning_share, 0, 1)
    alone, tree = len(candidates.labels) == 1, candidates.tree is not None
    if alone and candidates.partitions:
        return Split(0.0, 0.0, 0.0, epsilon)
    if tuning_share in {0, 1}:
        raise ParameterError(
            "`tuning_share` must be above 0 and below 1: the tuning and the counts both "
            "need a part of epsilon"
        )
    tuning = validation.positive("tuning_share * epsilon", tuning_share * epsilon)
    # Halving is exact, and the next float below the difference never exceeds the rest.
    counts = validation.positive("(1 - tuning_share) * epsilon", nextafter(epsilon - tuning, 0))
    if alone:
        return Split(0.0, tuning, 0.0, counts) if tree else Split(tuning, 0.0, 0.0, counts)
    structure = tuning / 2 if tree else 0.0
    coarse = (tuning - structure) / 2 if weighted or candidates.rules else 0.0
    return Split(coarse, structure, tuning - structure - coarse, counts)


@dataclass(frozen=True, slots=True)
class Steps:
    """The noise of every step; a step that is not needed is None.

    Attributes:
        spends: Their prices, in the order drawn.
        coarse_scale: Noise scale of the coarse grid.
        split_noise: Noise of the decisions of the tree.
        choice: Draws the partition.
        counts_epsilon: Epsilon of the counts, in nats.
        counts_scale: Noise scale of the counts.
    """

    spends: tuple[Spend, ...]
    coarse_scale: float | None
    split_noise: SplitNoise | None
    choice: Mechanism | None
    counts_epsilon: float
    counts_scale: float

    @classmethod
    def of(
        cls,
        split: Split,
        tree: PrivTree | None,
        mechanism: Mechanism | None,
        neighbours: Neighbours,
        max_per_user: int,
    ) -> Self:
        """Return the noise of every step, and its price.

        Raises:
            ParameterError: The noise of a step would not fit 64 bits.
        """
        coarse, structure, _, counts = split
        change = largest_change(neighbours, max_per_user)
        scales = [_scale(one, change) if one else None for one in (coarse, structure)]
        split_noise, spends = None, []
        if coarse:
            spends.append(Spend(f"counts of a coarse grid of {COARSE} x {COARSE}", coarse))
        if tree is not None:
            split_noise = SplitNoise.for_epsilon(
                structure, depth=tree.depth, max_per_user=max_per_user, neighbours=neighbours
            )
            spends.append(Spend(f"squares of {tree.label}", structure))
        if mechanism is not None:
            spends.append(mechanism.spend("choice of the partition"))
        spends.append(Spend("counts of the cells", counts))
        return cls(
            spends=tuple(spends),
            coarse_scale=scales[0],
            split_noise=split_noise,
            choice=mechanism,
            counts_epsilon=counts,
            counts_scale=_scale(counts, change),
        )


def _scale(epsilon: float, change: int) -> float:
    """Return the scale of the noise of counts."""
    from dpselect.draws.exact.noisy_counts import LARGEST_SCALE, scale_for

    scale = scale_for(epsilon, change)
    if scale > LARGEST_SCALE:
        raise ParameterError(
            "`epsilon` is too small for its shares: the noise would not fit 64 bits"
        )
    return scale
