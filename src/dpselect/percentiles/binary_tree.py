"""Recursion of halves: several percentiles for the price of the levels of a binary tree.

The middle percentile is drawn first; its value splits the records and the candidates, and each
half is treated alike with the percentiles on its side. A percentile ``a`` between two released
ones ``a_0 < a_1`` is the ``(a - a_0)/(a_1 - a_0)`` of the records between them, so no count has
to be released.

Records at the released candidate would all go to one side, which shifts the percentiles beyond
by as many ranks. So a *place*, which is a candidate, is drawn together with a *share*
``j / parts``: that part of every record there goes below and the rest above. With ``L`` records
before the place and ``E`` at it, the share stands for the ranks of the place that are nearest
to it, from ``L + (j - 1/2)E/parts`` to ``L + (j + 1/2)E/parts``, and its score is minus the
distance of the wanted rank from these. So the place that holds the rank has a share that scores
0, however many records it has.

Guarantee:
    A record has a weight in every half, and over the halves of one level its weights sum to at
    most 1, whatever was drawn. A record of weight ``w`` more moves both ends of a share's ranks
    up by 0 to ``w``, as these are at public parts of a place, and the wanted rank by ``aw``. So
    it moves every score of its half by at most ``w max(a, 1 - a)``, and a draw that is ``e``-DP
    for unit scores is ``we``-DP for scores that move by ``w``. So a level whose draws are
    ``e``-DP each is ``e``-DP in all, under add/remove. Under substitution a record leaves some
    halves and enters others and pays twice, but for the first draw, whose number of records
    does not change.

Source: Kaplan, Schnapp and Stemmer, ICML 2022; the shares are ours.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dpselect._twofold import Twofold
from dpselect.draws.place_flip import PlaceRows, draw_places
from dpselect.mechanisms import PermuteAndFlip
from dpselect.neighbours import Neighbours
from dpselect.objective import Objective
from dpselect.percentiles.objectives import rank_bound
from dpselect.percentiles.ranks import Ranks
from dpselect.percentiles.reading import Numbers, Records
from dpselect.percentiles.split_tree import (
    Node,
    Recursion,
    parts_of,
    price_of_draw,
    split_tree,
)
from dpselect.sensitivity import GlobalSensitivity
from dpselect.typing import Indices, Probabilities, Values

CUT = 1e-17
"""Outcomes of one draw that are less likely are not followed to those below it."""

AT_ONCE = 2**10
"""Outcomes that are followed at once."""


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


@dataclass(frozen=True, eq=False)
class Recursive(Recursion):
    """Percentiles from increasing candidates, each draw by a mechanism of ``PROPORTIONAL``."""

    points: Values

    def prepare_groups(self, ranks: Ranks, records: Indices) -> Callable[[], Values]:  # noqa: ARG002
        branches = Branches.of_all(ranks)
        if type(self.whole) is PermuteAndFlip:
            fractions = np.array([[one / 100] for one in self.percents])
            fractions = np.repeat(fractions, ranks.numbers.size, axis=1)
            of = fractions, self.epsilon, self.records
            return lambda: self.points[draw_halves(branches, *of)]

        def draw() -> Values:
            drawn = np.empty((ranks.numbers.size, len(self.percents)), dtype=np.int64)
            for group, of_group in enumerate(drawn):
                self._draw(self.tree, branches.some(np.array([group])), of_group)
            return self.points[drawn]

        return draw

    def _draw(self, node: Node, branches: Branches, drawn: Indices) -> None:
        """Draw every percentile of a node and below, from the half of one group."""
        [objective], shares = self.objectives(node, branches), self.shares(node)
        mechanism = self.mechanisms[node.position]
        at, part = np.divmod(mechanism.draw_positions(objective), shares.size)
        place, share = branches.first + at, shares[part]
        drawn[node.position] = place[0]
        sides = branches.split(place, share)
        for following, side in zip((node.below, node.above), sides, strict=True):
            if following is not None:
                self._draw(following, side, drawn)

    def shares(self, node: Node) -> Values:
        """Return which parts of the records of a place can go below."""
        parts = parts_of(node, self.points.size)
        return np.arange(parts + 1) / parts

    def objectives(self, node: Node, branches: Branches) -> list[Objective]:
        """Return the scores of all places with all shares of each row, shares innermost."""
        fraction = np.full(branches.first.size, node.fraction)
        rows = branches.rows(node, fraction, self.records)
        return [
            Objective(
                Twofold(0.0 - off.high, 0.0 - off.low),
                GlobalSensitivity(bound, self.records.neighbours),
                highest=0.0,
                direction="non-decreasing",
            )
            for off, bound in zip(rows.all_distances(), rows.bound.tolist(), strict=True)
        ]

    def probabilities(self, numbers: Numbers) -> Probabilities:
        found = np.zeros((len(self.percents), self.points.size))
        branches = Branches.of_all(numbers.ranks(self.points))
        self._follow(self.tree, branches, np.ones(1), found)
        return found

    def _follow(self, node: Node, branches: Branches, chances: Values, found: Values) -> None:
        """Add the distributions of a node, of rows that are reached with some probabilities."""
        mechanism, shares = self.mechanisms[node.position], self.shares(node)
        for row, objective in enumerate(self.objectives(node, branches)):
            one = branches.some(np.array([row]))
            law = chances[row] * mechanism.probabilities(objective).reshape(-1, shares.size)
            found[node.position, one.first[0] : one.last[0] + 1] += law.sum(axis=1)
            if node.is_last:
                continue
            likely, part = np.nonzero(law > CUT)
            for start in range(0, likely.size, AT_ONCE):
                some = likely[start : start + AT_ONCE], part[start : start + AT_ONCE]
                alike = one.some(np.zeros(some[0].size, dtype=np.int64))
                sides = alike.split(one.first[0] + some[0], shares[some[1]])
                for following, side in zip((node.below, node.above), sides, strict=True):
                    if following is not None:
                        self._follow(following, side, law[some], found)


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
    _draw_halves(tree, branches, fractions, ends, records, drawn)
    return drawn


def _draw_halves(
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
        _draw_halves(node.below, below, fractions, (low, here), records, drawn)
    if node.above is not None:
        _draw_halves(node.above, above, fractions, (here, high), records, drawn)
