"""The halves of the records that a recursion draws from, in one group or in many at once.

A row is the half of one group: places and shares as told in ``binary_tree``, of percentiles and
candidates that can differ from group to group.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpselect.draws.place_flip import PlaceRows, draw_places
from dpselect.neighbours import Neighbours
from dpselect.percentiles.objectives import rank_bound
from dpselect.percentiles.ranks import Ranks
from dpselect.percentiles.reading import Records
from dpselect.percentiles.split_tree import Node, parts_of, price_of_draw, split_tree
from dpselect.typing import Indices, Values


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Branches:
    """The weights of the records of a half in each group; private.

    Attributes:
        weights: Weights of all candidates, shape ``(groups, k)``.
        first: The first candidate of each group's half; public, as all that follows.
        last: The last one.
    """

    weights: Values
    first: Indices
    last: Indices

    @classmethod
    def of_all(cls, ranks: Ranks) -> Branches:
        """Return all records, by the ranks of ascending candidates."""
        groups, candidates = ranks.below.shape
        none, last = np.zeros(groups, dtype=np.int64), np.full(groups, candidates - 1)
        weights = (ranks.upto - ranks.below).astype(np.float64)
        return cls(weights, none, last)

    def some(self, rows: Indices) -> Branches:
        """Return some of the rows, or one of them many times."""
        return Branches(self.weights[rows], self.first[rows], self.last[rows])

    def split(self, place: Indices, share: Values) -> tuple[Branches, Branches]:
        """Return the records below and above a place of each group; it stays in both."""
        rows, places = np.arange(len(place)), np.arange(self.weights.shape[1])
        below = np.where(places <= place[:, None], self.weights, 0.0)
        above = np.where(places >= place[:, None], self.weights, 0.0)
        below[rows, place] *= share
        above[rows, place] *= 1 - share
        return Branches(below, self.first, place), Branches(above, place, self.last)

    def rows(self, node: Node, fraction: Values, records: Records) -> PlaceRows:
        """Return what a percentile is drawn from.

        Args:
            node: The draw.
            fraction: Fraction of each row, in place of that of the node.
            records: What a neighbour step changes.
        """
        relation = records.neighbours if node.level == 1 else Neighbours.ADD_REMOVE
        bounds = [records.per_user * rank_bound(one, relation) for one in fraction.tolist()]
        return PlaceRows(
            weights=self.weights,
            first=self.first,
            last=self.last,
            fraction=fraction,
            beyond=node.beyond,
            bound=np.array(bounds),
            shares=parts_of(node, self.weights.shape[1]),
        )


def draw_halves(
    branches: Branches, fractions: Values, epsilon: float, records: Records
) -> Indices:
    """Draw the candidates of ascending percentiles in each group.

    Args:
        branches: Branches of all records of the groups. Private.
        fractions: Percentiles as parts of one, of every group; shape ``(m, groups)``.
        epsilon: Epsilon of each group.
        records: What a neighbour step changes.

    Returns:
        Shape ``(groups, m)``; a release.
    """
    groups = len(branches.weights)
    drawn = np.empty((groups, len(fractions)), dtype=np.int64)
    tree = split_tree(tuple(range(1, len(fractions) + 1)), epsilon)
    ends = np.zeros(groups), np.ones(groups)
    _draw(tree, branches, fractions, ends, records, drawn)
    return drawn


def _draw(
    node: Node,
    branches: Branches,
    fractions: Values,
    ends: tuple[Values, Values],
    records: Records,
    drawn: Indices,
) -> None:
    """Draw a percentile between two released ones, and those that follow it."""
    (low, high), here = ends, fractions[node.position]
    rows = branches.rows(node, (here - low) / (high - low), records)
    place, numerator = draw_places(rows, price_of_draw(node, records.neighbours))
    share = numerator / rows.shares
    drawn[:, node.position] = place
    below, above = branches.split(place, share)
    if node.below is not None:
        _draw(node.below, below, fractions, (low, here), records, drawn)
    if node.above is not None:
        _draw(node.above, above, fractions, (here, high), records, drawn)
