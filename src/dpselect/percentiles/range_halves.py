"""The recursion of halves over a range of values that are not listed.

It is the recursion of ``binary_tree`` by the exponential mechanism: places, shares and prices
are the same. All values between two records, with all their shares, have one score, so they are
drawn together (``dpselect.draws.place_exponential``). The weights of records are integers, in
units of one over the parts of all draws before, and the draws are exact, without any rounding.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from dpselect.draws.place_exponential import Places, draw_place
from dpselect.mechanisms import MechanismLike
from dpselect.neighbours import Neighbours
from dpselect.percentiles.objectives import rank_bound
from dpselect.percentiles.ranges import Range
from dpselect.percentiles.ranks import Ranks
from dpselect.percentiles.reading import Numbers
from dpselect.percentiles.single import Answer, not_listed
from dpselect.percentiles.split_tree import (
    LAST_PARTS,
    Node,
    Recursion,
)
from dpselect.typing import Indices, Values

MOST_PARTS = 128
"""Parts of the records at a value, at most, of a draw that others follow."""

MOST_UNITS = 30
"""Binary logarithm of the units of a record at the last level, at most: ranks of fewer than
2**32 records are 64-bit integers, in half parts, too."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RangeHalf:
    """The records of a half; private but for the ends.

    Attributes:
        held: The positions of the values that have records, increasing.
        weights: Weights of the records there, integers.
        first: The first place; public.
        last: The last one; public.
        unit: The weight of a record that is in this half alone; public.
    """

    held: Indices
    weights: Indices
    first: int
    last: int
    unit: int = 1

    def places(self, node: Node, shares: int) -> Places:
        """Return what is drawn from, with a number of shares."""
        total = Fraction(int(self.weights.sum()), self.unit)
        before, after = map(Fraction, node.beyond)
        wanted = before + Fraction(node.fraction) * (total - before - after)
        parts = self.unit * shares
        return Places(self.held, self.weights, self.first, self.last, shares, wanted * parts)

    def split(self, place: int, share: int, shares: int) -> tuple[RangeHalf, RangeHalf]:
        """Return the records below and above a place, which stays in both, at a share of it."""
        at = int(np.searchsorted(self.held, place))
        there = at < self.held.size and int(self.held[at]) == place
        below, above = self.weights[: at + there] * shares, self.weights[at:] * shares
        if there:
            below[-1] = self.weights[at] * share
            above[0] = self.weights[at] * (shares - share)
        held, unit = self.held[: at + there], self.unit * shares
        return (
            RangeHalf(held, below, self.first, place, unit),
            RangeHalf(self.held[at:], above, place, self.last, unit),
        )


@dataclass(frozen=True, eq=False)
class RecursiveOfRange(Recursion):
    """Percentiles from a range, each draw by the exponential mechanism."""

    points: Range
    factory: MechanismLike = "exponential"
    how: ClassVar[str] = " by pieces of a range"

    def shares(self, node: Node) -> int:
        """Return the parts of the records at a place, few enough for the units to fit."""
        if node.is_last:
            return LAST_PARTS
        following = len(self.percents).bit_length() - 1
        return min(MOST_PARTS, 2 ** ((MOST_UNITS - LAST_PARTS.bit_length()) // following))

    def decay(self, node: Node, parts: int) -> Fraction:
        """Return ``ε/(2 m Δ)`` of a draw, by parts of a record."""
        twice = self.records.neighbours is Neighbours.SUBSTITUTE and node.level > 1
        relation = self.records.neighbours if node.level == 1 else Neighbours.ADD_REMOVE
        bound = Fraction(rank_bound(node.fraction, relation)) * self.records.per_user
        return Fraction(node.epsilon) / (2 * bound * (2 if twice else 1) * parts)

    def half(self, places: Indices) -> RangeHalf:
        """Return all records, by the positions that they count at."""
        held, counts = np.unique(places, return_counts=True)
        return RangeHalf(held, counts.astype(np.int64), 0, len(self.points) - 1)

    def prepare(self, numbers: Numbers, records: int = 0) -> Callable[[], Answer]:  # noqa: ARG002
        whole = self.half(numbers.places(self.points))

        def draw() -> Answer:
            drawn = self._draw(self.tree, whole)
            return tuple(self.points.at([drawn[i] for i in range(len(drawn))]).tolist())

        return draw

    def prepare_groups(self, ranks: Ranks, records: Indices) -> Callable[[], Values]:  # noqa: ARG002
        raise not_listed()

    def _draw(self, node: Node, half: RangeHalf) -> dict[int, int]:
        """Draw every percentile of a node and below; return its value's position by its own."""
        shares = self.shares(node)
        decay = self.decay(node, half.unit * shares)
        place, share = draw_place(half.places(node, shares), decay)
        drawn = {node.position: place}
        sides = half.split(place, share, shares)
        for following, side in zip((node.below, node.above), sides, strict=True):
            if following is not None:
                drawn |= self._draw(following, side)
        return drawn
