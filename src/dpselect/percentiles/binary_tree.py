"""Recursion of halves: several percentiles for the price of the levels of a binary tree.

The middle percentile is drawn first; its value splits the records and the candidates, and each
half is treated alike with the percentiles on its side. A percentile ``a`` between two released
ones ``a_0 < a_1`` is the ``(a - a_0)/(a_1 - a_0)`` of the records between them, so no count has
to be released.

Records equal to the released value would all go to one side, which shifts the percentiles
beyond by as many ranks, and so would records between two candidates if they are many. So a
*place* is drawn, a candidate or the gap between two, together with a *share* ``j / parts``:
that part of every record there goes below and the rest above, and the score is the distance of
a wanted rank from ``L + jE/parts`` with ``L`` records before the place and ``E`` at it. Of a
gap the candidate is released that is nearer by the share.

Guarantee:
    A record has a weight in every half, and over the halves of one level its weights sum to at
    most 1, whatever was drawn. A record of weight ``w`` more moves every score of its half by
    at most ``w max(a, 1 - a)``, and a draw that is ``e``-DP for unit scores is ``we``-DP for
    scores that move by ``w``. So a level whose draws are ``e``-DP each is ``e``-DP in all,
    under add/remove. Under substitution a record leaves some halves and enters others and pays
    twice, but for the first draw, whose number of records does not change.

Source: Kaplan, Schnapp and Stemmer, ICML 2022; the shares are ours.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import floor

import numpy as np

from dpselect._twofold import Twofold, add, exact_product, exact_sum
from dpselect.mechanisms import Mechanism, MechanismLike, PermuteAndFlip, by_name
from dpselect.neighbours import Neighbours
from dpselect.objective import Objective
from dpselect.percentiles.group_halves import Branches, draw_halves
from dpselect.percentiles.objectives import rank_bound
from dpselect.percentiles.ranks import GroupedRanks, Ranks, SupportsRanks
from dpselect.percentiles.reading import Numbers, Records
from dpselect.percentiles.single import Answer, MethodName
from dpselect.percentiles.split_tree import (
    Node,
    composition_of,
    parts_of,
    price_of_draw,
    spends_of,
    split_tree,
)
from dpselect.plan import Spend
from dpselect.sensitivity import GlobalSensitivity
from dpselect.typing import Indices, Probabilities, Values

CUT = 1e-17
"""Outcomes of one draw that are less likely are not followed to those below it."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Branch:
    """The weights of the records of a half; private.

    Attributes:
        weights: Weights of the records at each of its places. Of all ``k`` candidates these are
            ``2 k + 1``: before the first, at it, between it and the second, and so on.
        first: The first place among all; public.
        span: Which part of the records of the first place is below the branch, and which of
            the last place is not above it; public.
    """

    weights: Values
    first: int
    span: tuple[float, float] = (0.0, 1.0)

    @classmethod
    def of_all(cls, ranks: Ranks) -> Branch:
        """Return all records, by the ranks of ascending candidates; none is missing."""
        edges = np.zeros(2 * ranks.below.size + 2)
        edges[1:-1:2], edges[2:-1:2], edges[-1] = ranks.below, ranks.upto, ranks.numbers
        return cls(np.diff(edges), 0)

    def objective(
        self, node: Node, parts: int, neighbours: Neighbours, per_user: int = 1
    ) -> Objective:
        """Return the scores of every place with every share, shares innermost."""
        # Integers and what is left of them apart: their sums are exact, and few are left.
        whole = np.floor(self.weights)
        rest = self.weights - whole
        total = int(whole.sum()) + Fraction(float(rest.sum()))
        wanted = Fraction(node.fraction) * (total + 1)
        below = exact_sum(
            np.concatenate([[0.0], np.cumsum(whole)[:-1]]) - floor(wanted),
            np.concatenate([[0.0], np.cumsum(rest)[:-1]]) - float(wanted - floor(wanted)),
        )
        shares = np.arange(parts + 1) / parts
        inside = exact_product(self.weights[:, None], shares)
        ahead = add(Twofold(*(part[:, None] for part in below)), inside)
        turned = np.where(ahead.high > 0, -1.0, 1.0)
        first = node.level == 1
        relation = neighbours if first else Neighbours.ADD_REMOVE
        return Objective(
            Twofold(*((turned * part).ravel() for part in ahead)),
            GlobalSensitivity(per_user * rank_bound(node.fraction, relation), neighbours),
            highest=0.0,
            direction="non-decreasing",
        )

    def split(self, place: int, share: float) -> tuple[Branch, Branch]:
        """Return the records below and above a place of this branch.

        The place itself stays in both, since percentiles can share a value.
        """
        below, above = self.weights[: place + 1].copy(), self.weights[place:].copy()
        below[-1] *= share
        above[0] *= 1 - share
        cut = self._cut(place, share)
        return (
            Branch(below, self.first, (self.span[0], cut)),
            Branch(above, self.first + place, (cut, self.span[1])),
        )

    def candidate(self, place: int, share: float, candidates: int) -> int:
        """Return the candidate that is released for a place of this branch and a share.

        Args:
            place: The place; of all, ``2 i + 1`` is candidate ``i``.
            share: Share of what the branch has of the records there.
            candidates: How many candidates there are in all.
        """
        among_all = self.first + place
        above = among_all % 2 or self._cut(place, share) > 0.5
        return min(max(among_all // 2 - (not above), 0), candidates - 1)

    def released(self, parts: int, candidates: int) -> Indices:
        """Return ``candidate`` of every place and share, shape ``(places, parts + 1)``."""
        shares = [part / parts for part in range(parts + 1)]
        among_all = self.first + np.arange(self.weights.size)[:, None]
        above = np.tile(np.array(shares) > 0.5, (self.weights.size, 1))
        for place in (0, -1):  # all others are cut by the share itself
            at = place % self.weights.size
            above[place] = [self._cut(at, share) > 0.5 for share in shares]
        nearest = among_all // 2 - ((among_all % 2 == 0) & ~above)
        return np.clip(nearest, 0, candidates - 1)

    def _cut(self, place: int, share: float) -> float:
        """Return which part of all records of a place is below."""
        low = self.span[0] if place == 0 else 0.0
        high = self.span[1] if place == self.weights.size - 1 else 1.0
        return low + (high - low) * share


Draw = Callable[[Objective, float], int]
"""Draws a position of an objective with an epsilon."""


@dataclass(frozen=True, slots=True, eq=False)
class Recursive:
    """Percentiles by the binary tree, each draw by a mechanism of ``PROPORTIONAL``.

    Attributes:
        percents: In (0, 100], increasing.
        points: The candidates, increasing.
        records: How records are read.
        epsilon: Epsilon of the whole release, in nats.
        factory: The mechanism, for the epsilon of each draw.
    """

    percents: tuple[float, ...]
    points: Values
    records: Records
    epsilon: float
    factory: MechanismLike
    name: MethodName = "recursive"
    error: None = None

    @property
    def ranked(self) -> tuple[Values, ...]:
        return (self.points,)

    @property
    def whole(self) -> Mechanism:
        """The mechanism with the epsilon of all draws."""
        return by_name(self.factory, self.epsilon)

    @property
    def exact(self) -> bool:
        return self.whole.exact

    @property
    def mechanism(self) -> str:
        levels = max(len(path) for path in self.tree.paths())
        gain = f"{levels} levels instead of {len(self.percents)} percentiles"
        return f"recursion of halves in {gain}, {self.whole!r} in all"

    @property
    def tree(self) -> Node:
        """The draws and their prices; public."""
        return split_tree(tuple(one / 100 for one in self.percents), self.epsilon)

    @property
    def spends(self) -> tuple[Spend, ...]:
        return spends_of(self.tree, self.percents, self.whole.draw.rho)

    @property
    def composition(self) -> str:
        return composition_of(self.records)

    def prepare(self, numbers: Numbers) -> Callable[[], Answer]:
        ranks = numbers.ranks(self.points)
        of_one_group = self.prepare_groups(ranks.as_group())
        if of_one_group is not None:
            return lambda: tuple(of_one_group()[0].tolist())
        branch = Branch.of_all(ranks)

        def choose(objective: Objective, epsilon: float) -> int:
            return by_name(self.factory, epsilon).draw_positions(objective)[0]

        def draw() -> Answer:
            drawn = self.draw_all(self.tree, branch, choose)
            return tuple(float(self.points[drawn[i]]) for i in range(len(self.percents)))

        return draw

    def prepare_groups(self, ranks: GroupedRanks) -> Callable[[], Values] | None:
        if type(self.whole) is not PermuteAndFlip:
            return None
        branches = Branches.of_all(ranks)
        fractions = np.array([[one / 100] for one in self.percents])
        fractions = np.repeat(fractions, ranks.numbers.size, axis=1)
        return lambda: self.points[draw_halves(branches, fractions, self.epsilon, self.records)]

    def draw_all(self, node: Node, branch: Branch, draw: Draw) -> dict[int, int]:
        """Draw every percentile of a node and below; return its candidate by its position."""
        candidates, of = self.points.size, self.records
        parts = parts_of(candidates)
        objective = branch.objective(node, parts, of.neighbours, of.per_user)
        place, part = divmod(draw(objective, price_of_draw(node, of.neighbours)), parts + 1)
        drawn = {node.position: branch.candidate(place, part / parts, candidates)}
        sides = branch.split(place, part / parts)
        for following, side in zip((node.below, node.above), sides, strict=True):
            if following is not None:
                drawn |= self.draw_all(following, side, draw)
        return drawn

    def probabilities(self, numbers: SupportsRanks) -> Probabilities:
        laws = np.zeros((len(self.percents), self.points.size))
        self._follow(self.tree, Branch.of_all(numbers.ranks(self.points)), 1.0, laws)
        return laws

    def _follow(self, node: Node, branch: Branch, chance: float, laws: Values) -> None:
        """Add the distributions of a node that is reached with some probability."""
        candidates, of = self.points.size, self.records
        parts = parts_of(candidates)
        objective = branch.objective(node, parts, of.neighbours, of.per_user)
        mechanism = by_name(self.factory, price_of_draw(node, of.neighbours))
        law = mechanism.probabilities(objective).reshape(-1, parts + 1)
        np.add.at(laws[node.position], branch.released(parts, candidates), chance * law)
        if node.below is None and node.above is None:
            return
        # Shares of no record are one outcome.
        empty = branch.weights == 0
        law[empty, 0] = law[empty].sum(axis=1)
        law[empty, 1:] = 0
        for place, part in np.argwhere(chance * law > CUT).tolist():
            sides = branch.split(place, part / parts)
            for following, side in zip((node.below, node.above), sides, strict=True):
                if following is not None:
                    self._follow(following, side, chance * float(law[place, part]), laws)
