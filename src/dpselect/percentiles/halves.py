r"""Recursion of halves: several percentiles for the price of the levels of a binary tree.

The middle percentile is drawn first; its value splits the records and the candidates, and each
half is treated alike with the percentiles on its side. A percentile :math:`a` between two
released ones :math:`a_0 < a_1` is the :math:`(a - a_0)/(a_1 - a_0)` of the records between
them, so no count has to be released.

Records equal to the released value would all go to one side, which shifts the percentiles
beyond by as many ranks. So a value is drawn together with a *share* ``j / parts``: that part of
every such record goes below and the rest above, and the score is the distance of a wanted
rank from :math:`L + jE/\text{parts}`. A share costs nothing where no record is equal.

Guarantee:
    A record has a weight in every half, and over the halves of one level its weights sum to at
    most 1, whatever was drawn. A record of weight ``w`` more moves every score of its half
    by at most :math:`w \max(a, 1 - a)`, and a draw that is ``e``-DP for unit scores is
    ``we``-DP for scores that move by ``w``. So a level whose draws are ``e``-DP each is
    ``e``-DP in all, under add/remove. Under substitution a record leaves some halves and enters
    others and pays twice, but for the first draw, whose number of records does not change.

Source: Kaplan, Schnapp and Stemmer, ICML 2022; the shares are ours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import floor

import numpy as np

from dpselect._twofold import Twofold, add, exact_product, exact_sum
from dpselect.draws.grid import ROUNDING_STEPS, STEPS_PER_UNIT
from dpselect.neighbours import Neighbours
from dpselect.objective import Objective
from dpselect.percentiles.objectives import rank_bound
from dpselect.percentiles.ranks import Ranks
from dpselect.sensitivity import GlobalSensitivity
from dpselect.typing import Values

MOST_PARTS, LEAST_PARTS = 32, 4
"""On HEPTH, where records share few values, 4 parts err three times as much as 16."""

MOST_SCORES = 2**20
"""Scores of one draw, beyond which there are fewer parts."""


@dataclass(frozen=True, slots=True)
class Half:
    """One draw of the recursion and those that follow it; public.

    Attributes:
        position: Of its percentile among all.
        fraction: Of the records of this half that lie below the percentile, in (0, 1].
        level: 1 for the first draw.
        epsilon: What a record pays that is in this half with its whole weight; two records
            under substitution.
        below: The half below the released value, if it has percentiles.
        above: The half above.
    """

    position: int
    fraction: float
    level: int
    epsilon: float
    below: Half | None
    above: Half | None

    def all(self) -> Iterator[Half]:
        """Yield this half and all that follow it, in the order drawn."""
        yield self
        for half in (self.below, self.above):
            if half is not None:
                yield from half.all()

    def paths(self) -> Iterator[tuple[Half, ...]]:
        """Yield the halves from this one to each of the last."""
        following = [half for half in (self.below, self.above) if half is not None]
        if not following:
            yield (self,)
        for half in following:
            yield from ((self, *path) for path in half.paths())


def halves(fractions: tuple[float, ...], epsilon: float) -> Half:
    """Return the tree of draws of ascending percentiles, in (0, 1].

    Every draw gets an equal part of what is left for it and the longest path below it, so
    that a short path leaves nothing over.
    """
    half = _halves(fractions, 0, (0.0, 1.0), 1, epsilon)
    assert half is not None  # noqa: S101 -- there is at least one percentile
    return half


def _halves(
    fractions: tuple[float, ...], first: int, ends: tuple[float, float], level: int, left: float
) -> Half | None:
    if not fractions:
        return None
    middle, (low, high) = len(fractions) // 2, ends
    here = fractions[middle]
    # ceil(log2(m + 1)) levels are left.
    price = left / len(fractions).bit_length()
    return Half(
        position=first + middle,
        fraction=(here - low) / (high - low),
        level=level,
        epsilon=price,
        below=_halves(fractions[:middle], first, (low, here), level + 1, left - price),
        above=_halves(
            fractions[middle + 1 :], first + middle + 1, (here, high), level + 1, left - price
        ),
    )


def parts_of(candidates: int) -> int:
    """Return into how many parts records that share a value are split; public."""
    return min(MOST_PARTS, max(LEAST_PARTS, MOST_SCORES // candidates))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Branch:
    """The weights of the records of a half; private.

    Attributes:
        weights: Shape ``(2 k + 1,)`` for ``k`` candidates: of records before the first, equal
            to it, between it and the second, and so on.
        first: Position of the first candidate among all.
    """

    weights: Values
    first: int

    @classmethod
    def of_all(cls, ranks: Ranks) -> Branch:
        """Return all records, by the ranks of ascending candidates; none is missing."""
        edges = np.zeros(2 * ranks.below.size + 2)
        edges[1:-1:2], edges[2:-1:2], edges[-1] = ranks.below, ranks.upto, ranks.numbers
        return cls(np.diff(edges), 0)

    @property
    def candidates(self) -> int:
        """How many candidates there are."""
        return self.weights.size // 2

    def objective(
        self, half: Half, parts: int, neighbours: Neighbours, per_user: int = 1
    ) -> Objective:
        """Return the scores of every candidate with every share, shares innermost."""
        # Integers and what is left of them apart: their sums are exact, and few are left.
        whole = np.floor(self.weights)
        rest = self.weights - whole
        total = int(whole.sum()) + Fraction(float(rest.sum()))
        wanted = Fraction(half.fraction) * (total + 1)
        below = exact_sum(
            np.cumsum(whole)[:-1:2] - floor(wanted),
            np.cumsum(rest)[:-1:2] - float(wanted - floor(wanted)),
        )
        shares = np.arange(parts + 1) / parts
        inside = exact_product(self.weights[1::2, None], shares)
        ahead = add(Twofold(*(part[:, None] for part in below)), inside)
        turned = np.where(ahead.high > 0, -1.0, 1.0)
        first = half.level == 1
        relation = neighbours if first else Neighbours.ADD_REMOVE
        return Objective(
            Twofold(*((turned * part).ravel() for part in ahead)),
            GlobalSensitivity(per_user * rank_bound(half.fraction, relation), neighbours),
            highest=0.0,
            direction="non-decreasing",
        )

    def split(self, candidate: int, share: float) -> tuple[Branch, Branch]:
        """Return the records below and above a candidate of this branch, and its candidates.

        The candidate itself stays in both, since percentiles can share a value.
        """
        below, above = (
            self.weights[: 2 * candidate + 3].copy(),
            self.weights[2 * candidate :].copy(),
        )
        below[-2] *= share
        above[1] *= 1 - share
        below[-1] = above[0] = 0.0
        return Branch(below, self.first), Branch(above, self.first + candidate)


def price_of_draw(half: Half, neighbours: Neighbours) -> float:
    """Return the epsilon of one draw: half of the price where a substitution pays twice.

    Rounding to the grid of the draw does not shrink with the weight of a record, so it is
    paid once for every half of the level.
    """
    twice = neighbours is Neighbours.SUBSTITUTE and half.level > 1
    branches = 2 ** (half.level - 1)
    rounding = (STEPS_PER_UNIT + ROUNDING_STEPS) / (STEPS_PER_UNIT + branches * ROUNDING_STEPS)
    return half.epsilon / (2 if twice else 1) * rounding


Draw = Callable[[Objective, float], int]
"""Draws a position of an objective with an epsilon."""


def draw_all(
    half: Half,
    branch: Branch,
    *,
    parts: int,
    neighbours: Neighbours,
    per_user: int,
    draw: Draw,
) -> dict[int, int]:
    """Draw every percentile of a half; return its candidate by its position."""
    objective = branch.objective(half, parts, neighbours, per_user)
    chosen = draw(objective, price_of_draw(half, neighbours))
    candidate, part = divmod(chosen, parts + 1)
    drawn = {half.position: branch.first + candidate}
    sides = branch.split(candidate, part / parts)
    for following, side in zip((half.below, half.above), sides, strict=True):
        if following is not None:
            drawn |= draw_all(
                following,
                side,
                parts=parts,
                neighbours=neighbours,
                per_user=per_user,
                draw=draw,
            )
    return drawn
