"""The binary tree of draws by which several percentiles are found, with their prices; public.

Every level halves the records that are left, so the percentiles cost as many draws as there
are levels (``dpselect.percentiles.binary_tree``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from dpselect.draws.grid import ROUNDING_STEPS, STEPS_PER_UNIT
from dpselect.mechanisms import Mechanism, MechanismLike, by_name
from dpselect.neighbours import Neighbours
from dpselect.percentiles.objectives import FIRST
from dpselect.percentiles.ranges import Range
from dpselect.percentiles.reading import Records
from dpselect.percentiles.single import Method
from dpselect.plan import Spend
from dpselect.typing import Values

MOST_PARTS, LEAST_PARTS = 64, 4
"""Parts of the records at a place, of listed candidates. The percentiles that follow a draw can
be off by half a part of these, whatever epsilon is."""

LAST_PARTS = 5
"""After a last draw none follows."""

MOST_SCORES = 2**22
"""Scores of one draw, beyond which there are fewer parts."""


@dataclass(frozen=True, slots=True)
class Node:
    """One draw and those that follow it in the binary tree; public.

    Attributes:
        position: Index of its percentile.
        fraction: Part of the records of this half that lie below the percentile, in (0, 1].
        beyond: Records of this half below the fraction 0, and those above the fraction 1: half
            of a record at the ends of all, none elsewhere.
        level: 1 for the first draw.
        epsilon: What a record pays that is in this half with its whole weight; two records
            under substitution.
        below: The half below the released value, if it has percentiles.
        above: The half above.
    """

    position: int
    fraction: float
    beyond: tuple[float, float]
    level: int
    epsilon: float
    below: Node | None
    above: Node | None

    @property
    def is_last(self) -> bool:
        """Whether no draw follows it."""
        return self.below is None and self.above is None

    def all(self) -> Iterator[Node]:
        """Yield this node and all that follow it, in the order drawn."""
        yield self
        for node in (self.below, self.above):
            if node is not None:
                yield from node.all()

    def paths(self) -> Iterator[tuple[Node, ...]]:
        """Yield the nodes from this one to each leaf."""
        following = [node for node in (self.below, self.above) if node is not None]
        if not following:
            yield (self,)
        for node in following:
            yield from ((self, *path) for path in node.paths())

    def ends(self, *, low: bool = True, high: bool = True) -> Iterator[tuple[Node, bool, bool]]:
        """Yield the draws whose candidates reach to an end of all, and to which: low, high."""
        yield self, low, high
        if self.below is not None and low:
            yield from self.below.ends(high=False)
        if self.above is not None and high:
            yield from self.above.ends(low=False)


def split_tree(fractions: tuple[float, ...], epsilon: float) -> Node:
    """Return the tree of draws of ascending percentiles, in (0, 1].

    Every draw gets an equal part of the rest for it and the longest path below it, so
    that a short path leaves nothing over.
    """
    root = _split(fractions, 0, (0.0, 1.0), (float(FIRST), float(FIRST)), 1, epsilon)
    assert root is not None  # noqa: S101 -- there is at least one percentile
    return root


def _split(
    fractions: tuple[float, ...],
    first: int,
    ends: tuple[float, float],
    beyond: tuple[float, float],
    level: int,
    left: float,
) -> Node | None:
    if not fractions:
        return None
    middle, (low, high), (before, after) = len(fractions) // 2, ends, beyond
    here, following = fractions[middle], first + middle + 1
    # ceil(log2(m + 1)) levels are left.
    price = left / len(fractions).bit_length()
    return Node(
        position=first + middle,
        fraction=(here - low) / (high - low),
        beyond=beyond,
        level=level,
        epsilon=price,
        below=_split(
            fractions[:middle], first, (low, here), (before, 0.0), level + 1, left - price
        ),
        above=_split(
            fractions[middle + 1 :],
            following,
            (here, high),
            (0.0, after),
            level + 1,
            left - price,
        ),
    )


def parts_of(node: Node, candidates: int) -> int:
    """Return into how many parts the records of a place are split; public.

    Where draws follow they are a power of two, so that weights are products without rounding.
    """
    if node.is_last:
        return LAST_PARTS
    most = min(MOST_PARTS, max(LEAST_PARTS, MOST_SCORES // candidates))
    return 1 << (most.bit_length() - 1)


def price_of_draw(node: Node, neighbours: Neighbours) -> float:
    """Return the epsilon of one draw: half of the price where a substitution pays twice.

    Rounding to the grid of the draw does not shrink with the weight of a record, so it is
    paid once for every half of the level.
    """
    twice = neighbours is Neighbours.SUBSTITUTE and node.level > 1
    branches = 2 ** (node.level - 1)
    rounding = (STEPS_PER_UNIT + ROUNDING_STEPS) / (STEPS_PER_UNIT + branches * ROUNDING_STEPS)
    return node.epsilon / (2 if twice else 1) * rounding


def composition_of(records: Records) -> str:
    """Return why the prices of levels add up to the whole, in words."""
    halves = (
        "a person can leave one half and enter another, and each draw but the first costs "
        "half of its step"
        if records.neighbours is Neighbours.SUBSTITUTE
        else "a record is in one half of a level, or shared among several"
    )
    return (
        f"parallel in each level, sequential over levels: {halves}; the steps are those of the "
        "path with the largest rho"
    )


@dataclass(frozen=True, eq=False)
class Recursion(Method):
    """Percentiles by the binary tree of draws, with its public facts.

    Attributes:
        percents: In [1, 100], increasing.
        points: The candidates.
        records: How records are read.
        epsilon: Epsilon of the whole release, in nats.
        factory: The mechanism, for the epsilon of each draw.
    """

    percents: tuple[float, ...]
    points: Values | Range
    records: Records
    epsilon: float
    factory: MechanismLike = "permute-and-flip"
    how: ClassVar[str] = ""

    def __post_init__(self) -> None:
        _ = self.percents and self.mechanisms

    @cached_property
    def whole(self) -> Mechanism:
        """The mechanism with the epsilon of all draws."""
        return by_name(self.factory, self.epsilon)

    @cached_property
    def mechanisms(self) -> Mapping[int, Mechanism]:
        """That of each draw, by the position of its percentile; made before any is paid for."""
        return {
            node.position: by_name(self.factory, price_of_draw(node, self.records.neighbours))
            for node in self.tree.all()
        }

    @property
    def exact(self) -> bool:
        return self.whole.exact

    @property
    def mechanism(self) -> str:
        levels = len(self.percents).bit_length()
        gain = f"{levels} levels instead of {len(self.percents)} percentiles"
        return f"recursion of halves in {gain}, {self.whole}{self.how} in all"

    @property
    def tree(self) -> Node:
        """The draws and their prices; public."""
        return split_tree(tuple(one / 100 for one in self.percents), self.epsilon)

    @property
    def spends(self) -> tuple[Spend, ...]:
        # Those of the path with the largest rho, which is convex and 0 at 0: weights and halves
        # that sum to 1 pay at most what one half pays with its whole weight.
        rho = self.whole.draw.rho
        paths = (
            tuple(
                Spend(
                    f"level {node.level}, percentile {self.percents[node.position]:g}",
                    node.epsilon,
                    rho=rho(node.epsilon),
                )
                for node in path
            )
            for path in self.tree.paths()
        )
        return max(paths, key=lambda path: sum(spend.rho_of_all for spend in path))

    @property
    def composition(self) -> str:
        return composition_of(self.records)
