"""Steps of the release of a map: their shares of epsilon, and their noise."""

from __future__ import annotations

from dataclasses import dataclass
from math import nextafter
from typing import NamedTuple

from dpselect import _validate
from dpselect.errors import ParameterError
from dpselect.mechanisms import Mechanism
from dpselect.neighbours import Neighbours
from dpselect.plan import Spend
from dpselect.spatial.counting import largest_change
from dpselect.spatial.privtree import PrivTree, SplitNoise
from dpselect.spatial.rules import COARSE


class Split(NamedTuple):
    """Epsilon of each step, in nats; 0 for one that is not needed."""

    coarse: float
    """Of the coarse grid."""

    structure: float
    """Of the tree."""

    choice: float
    """Of the draw among the candidates."""

    counts: float
    """Of the counts of the cells."""


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
    choice: Mechanism | None
    counts_epsilon: float
    counts_scale: float


def split_epsilon(
    epsilon: float,
    tuning_share: float,
    *,
    candidates: int,
    rules: int = 0,
    trees: int = 0,
    weighted: bool = True,
) -> Split:
    """Return what each step costs.

    A part that is not needed is 0. A single candidate needs no choice, and a single uniform
    grid no coarse grid either; nor does a choice that takes no weights from it. A tree has
    half of the share for tuning; a tree or the coarse grid of a rule has all of it if there
    is no other candidate.

    Args:
        epsilon: Of the whole release, in nats.
        tuning_share: Share of everything but the counts.
        candidates: Number of partitions to choose from.
        rules: How many of them a rule makes from the coarse grid.
        trees: How many of them are grown on the points, 0 or 1.
        weighted: Whether the choice takes weights from the coarse grid.

    Raises:
        ParameterError: ``epsilon`` or a share of it is not > 0.
    """
    epsilon = _validate.positive("epsilon", epsilon)
    _validate.within("tuning_share", tuning_share, 0, 1)
    if candidates == 1 and trees == rules == 0:
        return Split(0.0, 0.0, 0.0, epsilon)
    if tuning_share in {0, 1}:
        raise ParameterError(
            "tuning_share must leave something for the tuning and for the counts: "
            "between 0 and 1, both excluded"
        )
    tuning = _validate.positive("tuning_share * epsilon", tuning_share * epsilon)
    # Halving is exact, and the next float below the difference never exceeds the rest.
    counts = _validate.positive("(1 - tuning_share) * epsilon", nextafter(epsilon - tuning, 0))
    if candidates == 1:
        return Split(0.0, tuning, 0.0, counts) if trees else Split(tuning, 0.0, 0.0, counts)
    structure = tuning / 2 if trees else 0.0
    coarse = (tuning - structure) / 2 if weighted or rules else 0.0
    return Split(coarse, structure, tuning - structure - coarse, counts)


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


def steps_of(
    split: Split,
    tree: PrivTree | None,
    mechanism: Mechanism | None,
    neighbours: Neighbours,
    points_per_user: int,
) -> Steps:
    """Return the noise of every step, and its price."""
    coarse, structure, _, counts = split
    change = largest_change(neighbours, points_per_user)
    coarse_scale, _, counts_scale = (_scale(one, change) for one in (coarse, structure, counts))
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
