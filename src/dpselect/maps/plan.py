"""Steps of a map: candidates for its cells, shares of epsilon, noise and passes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import nextafter
from typing import NamedTuple, Self

from dpselect import validation
from dpselect.maps.partition import Partition, uniform_grids
from dpselect.maps.queries import blocks_of
from dpselect.maps.rules import COARSE, Method, PartitionRule, Quadtree, rules_of
from dpselect.mechanisms import Mechanism
from dpselect.plan import Spend
from dpselect.typing import Indices
from dpselect.writing import SHOWN


@dataclass(frozen=True, slots=True)
class Candidates:
    """What the cells are chosen from.

    Attributes:
        partitions: Uniform grids.
        rules: Rules that make more partitions from the coarse grid.
    """

    partitions: tuple[Partition, ...]
    rules: tuple[PartitionRule, ...]

    @classmethod
    def of(
        cls, grids: Sequence[int | tuple[int, int]], method: Method | Sequence[Method] | None
    ) -> Self:
        """Return the candidates of two fields of a query.

        Raises:
            ParameterError: A grid or a method is none.
        """
        sizes = validation.listed("grids", grids) or ()
        if method is None:
            # Of all partitions that need no tuning the quadtree has the least median error on
            # most of the data sets of docs/measurements.md.
            method = "uniform" if sizes else Quadtree(c=10.0)
        rules = rules_of(method)
        return cls(tuple(uniform_grids(sizes)) if sizes or not rules else (), rules)

    @property
    def labels(self) -> list[str]:
        """The labels of all, in the order in which they become candidates."""
        grids = [partition.label for partition in self.partitions]
        return grids + [rule.label for rule in self.rules]

    def __str__(self) -> str:
        return ", ".join(self.labels[:SHOWN]) + ", ..." * (len(self.labels) > SHOWN)

    def passes(self, queries: Indices, steps: Steps) -> int:
        """Return the queries that a release takes in an engine.

        Args:
            queries: Lattice edges, shape ``(m, 4)``, if a candidate is chosen.
            steps: The noise.
        """
        choice = 0 if steps.choice is None else len(blocks_of(queries)) + len(self.labels)
        return (steps.coarse_scale is not None) + choice + 1


class Split(NamedTuple):
    """Epsilon of each step, in nats; 0 for one that is not needed."""

    coarse: float
    """Epsilon of the coarse grid."""

    choice: float
    """Epsilon of the draw among the candidates."""

    counts: float
    """Epsilon of the counts of the cells."""


def split_epsilon(
    epsilon: float, tuning_share: float, candidates: Candidates, *, weighted: bool
) -> Split:
    """Return what each step costs.

    A part that is not needed is 0. A single candidate needs no choice, and a single uniform
    grid no coarse grid either; nor does a choice that takes no weights from it. The coarse grid
    of a rule has all of the share for tuning if there is no other candidate.

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
    alone = len(candidates.labels) == 1
    if alone and candidates.partitions:
        return Split(0.0, 0.0, epsilon)
    share = validation.share("tuning_share", tuning_share)
    tuning = validation.positive("tuning_share * epsilon", share * epsilon)
    # Halving is exact, and the next float below the difference never exceeds the rest.
    counts = validation.positive("(1 - tuning_share) * epsilon", nextafter(epsilon - tuning, 0))
    if alone:
        return Split(tuning, 0.0, counts)
    coarse = tuning / 2 if weighted or candidates.rules else 0.0
    return Split(coarse, tuning - coarse, counts)


@dataclass(frozen=True, slots=True)
class Steps:
    """The noise of every step; a step that is not needed is None.

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
    def of(cls, split: Split, mechanism: Mechanism | None, change: int) -> Self:
        """Return the noise of every step, and its price.

        Args:
            split: The price of each step.
            mechanism: Draws the partition; None where there is nothing to choose.
            change: The most that a neighbour step moves all counts of cells together.

        Raises:
            ParameterError: The noise of a step would not fit 64 bits.
        """
        spends = [Spend("counts of the cells", split.counts)]
        if mechanism is not None:
            spends.insert(0, mechanism.spend("choice of the partition"))
        if split.coarse:
            purpose = f"counts of a coarse grid of {COARSE} x {COARSE}"
            spends.insert(0, Spend(purpose, split.coarse))
        return cls(
            spends=tuple(spends),
            coarse_scale=_scale(split.coarse, change) if split.coarse else None,
            choice=mechanism,
            counts_epsilon=split.counts,
            counts_scale=_scale(split.counts, change),
        )


def _scale(epsilon: float, change: int) -> float:
    """Return the scale of the noise of counts."""
    from dpselect.draws.exact.noisy_counts import check_scale, scale_for

    scale = scale_for(epsilon, change)
    check_scale(scale)
    return scale
