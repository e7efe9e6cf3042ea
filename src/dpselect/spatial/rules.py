r"""Rules that make cells from a coarse noisy grid: finer where there are more points.

All balance what uniform cells get wrong, which grows with the points of a cell, against
noise, which grows with the number of cells: a cell is cut until it holds about
:math:`c/\varepsilon` points. They look at the coarse grid only, so their partitions are
public and compete with any other candidate. So does the one of
:class:`~dpselect.spatial.PrivTree`, which looks at the points and pays for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, log2, sqrt
from typing import ClassVar, Literal, Protocol, TypeAlias

import numpy as np

from dpselect import _validate
from dpselect.errors import ParameterError
from dpselect.spatial.coarse import SIZE, Coarse
from dpselect.spatial.partition import Partition, nested, uniform
from dpselect.spatial.privtree import PrivTree

MOST_ALONG = 4096
"""Cells along an axis of a grid that a rule makes: 16 million cells."""

Family: TypeAlias = Literal["uniform", "guideline", "adaptive", "quadtree", "privtree"]


class Rule(Protocol):
    """Something that makes a partition from the coarse grid."""

    @property
    def name(self) -> str:
        """The rule with its parameter."""

    def partition(self, coarse: Coarse, epsilon: float) -> Partition:
        """Return the partition for counts that will be released with ``epsilon``."""


@dataclass(frozen=True)
class _Cut:
    """A rule with one parameter.

    Attributes:
        c: Points times epsilon that one cell is meant to hold; finite, > 0.
    """

    c: float = 10.0
    family: ClassVar[str]

    def __post_init__(self) -> None:
        _validate.positive("c", self.c)

    @property
    def name(self) -> str:
        return f"{self.family} c={self.c:g}"


@dataclass(frozen=True)
class Guideline(_Cut):
    r"""The uniform grid of :math:`m = \lceil \sqrt{\tilde N \varepsilon / c} \rceil`.

    Source: Qardaji, Yang and Li, ICDE 2013, with c = 10 and the exact N, which is not
        private; here the noisy one.
    """

    family: ClassVar[str] = "guideline"

    def partition(self, coarse: Coarse, epsilon: float) -> Partition:
        grid = uniform(guideline_size(coarse.total, epsilon, self.c))
        return Partition(f"{self.name} ({grid.label})", grid.base, grid.regions)


@dataclass(frozen=True)
class AdaptiveGrid(_Cut):
    r"""Every coarse cell cut into :math:`m \times m`, by the guideline of its own count.

    Source: Qardaji, Yang and Li, ICDE 2013, section 4: c = 5 for the second level. There the
        first level is answered from too; here it only shapes the second.
    """

    c: float = 5.0
    family: ClassVar[str] = "adaptive"

    def partition(self, coarse: Coarse, epsilon: float) -> Partition:
        counts = np.maximum(coarse.counts, 1.0)
        cells = np.ceil(np.sqrt(counts * epsilon / self.c))
        x, y = np.divmod(np.arange(SIZE**2), SIZE)
        cut = np.clip(cells, 1, MOST_ALONG // SIZE).astype(np.int64)
        return nested(self.name, SIZE, np.column_stack([x, y, np.ones_like(x), cut]))


@dataclass(frozen=True)
class Quadtree(_Cut):
    r"""Squares halved along both axes until they hold at most :math:`c/\varepsilon` points.

    Down to the coarse cells by their noisy sums, below them as if points were spread evenly
    within each.

    Source: Cormode et al., ICDE 2012. There every node is counted with noise; here the coarse
        grid has paid for all.
    """

    family: ClassVar[str] = "quadtree"

    def partition(self, coarse: Coarse, epsilon: float) -> Partition:
        most = self.c / epsilon
        table, open_squares, blocks = coarse.table, [(0, 0, SIZE)], []
        while open_squares:
            x, y, span = open_squares.pop()
            count = table[x : x + span, y : y + span].sum()
            if count <= most or span == 1:
                blocks.append((x, y, span, _halvings(count / most)))
                continue
            half = span // 2
            open_squares += [(x + i, y + j, half) for i in (0, half) for j in (0, half)]
        return nested(self.name, SIZE, np.array(blocks))


def guideline_size(points: float, epsilon: float, c: float) -> int:
    """Return the cells along an axis that the guideline asks for, 1 to ``MOST_ALONG``."""
    return min(max(ceil(sqrt(max(points, 0.0) * epsilon / c)), 1), MOST_ALONG)


def _halvings(ratio: float) -> int:
    """Return the power of two whose square is at least ``ratio``, up to a limit."""
    steps = ceil(log2(ratio) / 2) if ratio > 1 else 0
    return int(2 ** min(steps, int(log2(MOST_ALONG // SIZE))))


Method: TypeAlias = Family | Rule | PrivTree

FAMILIES: dict[str, tuple[Rule | PrivTree, ...]] = {
    "uniform": (),
    "guideline": (Guideline(),),
    "adaptive": (AdaptiveGrid(2.5), AdaptiveGrid(5.0), AdaptiveGrid(10.0)),
    "quadtree": (Quadtree(5.0), Quadtree(10.0), Quadtree(20.0)),
    "privtree": (PrivTree(),),
}


def rules_of(method: Method | Sequence[Method]) -> tuple[Rule | PrivTree, ...]:
    """Return the rules and trees that a method stands for.

    Raises:
        ParameterError: A name is unknown, or something is no rule.
    """
    several = (
        method if isinstance(method, Sequence) and not isinstance(method, str) else [method]
    )
    rules: list[Rule | PrivTree] = []
    for one in several:
        if isinstance(one, str) and one in FAMILIES:
            rules += FAMILIES[one]
        elif isinstance(one, _Cut | PrivTree):
            rules.append(one)
        else:
            raise ParameterError(
                f"method must be one or several of {', '.join(FAMILIES)}, or a rule such as "
                "AdaptiveGrid(c=5)"
            )
    return tuple(dict.fromkeys(rules))
