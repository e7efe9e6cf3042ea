"""A coarse noisy grid, released first, and the rules that make partitions from it.

All rules balance the error of uniform cells, which grows with the points of a cell, against
noise, which grows with the number of cells: a cell is cut until it holds about ``c/ε`` points.
They read the coarse grid only, so their partitions are public post-processing and compete with
any other candidate.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from math import ceil, log2, sqrt
from types import MappingProxyType
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np

from dpselect import validation
from dpselect.errors import ParameterError
from dpselect.maps.counting import standard_deviation
from dpselect.maps.overlap import CountedCells
from dpselect.maps.partition import Partition, nested, uniform_grid
from dpselect.typing import Indices, Values

COARSE = 16
"""Cells of the coarse grid along an axis."""

SURE = 10.0
"""Variances of noise up to which four quarters are taken for equal: noise alone stays below
with a probability of 0.98 (chi-squared, three degrees of freedom)."""

MOST_ALONG = 4096
"""Cells along an axis of a grid that a rule makes: 16 million cells."""

MethodName: TypeAlias = Literal["uniform", "guideline", "adaptive", "quadtree"]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CoarseGrid:
    """Noisy counts of ``COARSE`` x ``COARSE`` equal cells; public, because released.

    Attributes:
        counts: Shape ``(COARSE * COARSE,)``, integers.
        scale: Their noise scale.
    """

    counts: Values
    scale: float

    @classmethod
    def cells(cls) -> Partition:
        """Return the partition that is counted."""
        return uniform_grid(COARSE)

    @property
    def total(self) -> float:
        """The noisy number of points, at least 1."""
        return max(float(self.counts.sum()), 1.0)

    def weights(self, queries: Indices, sanity: float, floor: float | None = None) -> Values:
        """Return ``w_t = 1/max(T̃_t, ρ)``, the weights of a relative error.

        ``T̃_t`` is the coarse grid's answer. ρ is ``floor``, or ``sanity`` of the noisy total,
        and at least the standard deviation of one coarse count.

        Args:
            queries: Lattice edges, shape ``(m, 4)``.
            sanity: Share of all points below which an error counts as absolute, 0 to 1.
            floor: Number of points below which it does, in place of the share.

        Returns:
            Shape ``(m,)``, > 0; public.
        """
        least = sanity * self.total if floor is None else floor
        floor = max(least, standard_deviation(self.scale), 1.0)
        answers = CountedCells(self.cells(), self.counts).answers(queries)
        return 1 / np.maximum(answers, floor)


@dataclass(frozen=True)
class PartitionRule(ABC):
    """A rule that makes a partition from the coarse grid.

    Attributes:
        c: Target number of points of one cell, times epsilon; finite, > 0.
    """

    c: float
    name: ClassVar[str]

    def __post_init__(self) -> None:
        validation.positive("c", self.c)

    @property
    def label(self) -> str:
        """The rule with its parameter."""
        return f"{self.name} c={self.c:g}"

    @abstractmethod
    def partition(self, coarse: CoarseGrid, epsilon: float) -> Partition:
        """Return the partition for counts that will be released with ``epsilon``."""


@dataclass(frozen=True)
class Guideline(PartitionRule):
    """The uniform grid of ``m = ⌈√(Ñ ε / c)⌉``.

    Source: Qardaji, Yang and Li, ICDE 2013, with c = 10 and the exact N, which is not
        private; here the noisy one.
    """

    name: ClassVar[str] = "guideline"

    def partition(self, coarse: CoarseGrid, epsilon: float) -> Partition:
        grid = uniform_grid(guideline_size(coarse.total, epsilon=epsilon, c=self.c))
        return Partition(f"{self.label} ({grid.label})", grid.base, grid.regions)


@dataclass(frozen=True)
class AdaptiveGrid(PartitionRule):
    """Every coarse cell cut into ``m × m``, by the guideline of its own count.

    Source: Qardaji, Yang and Li, ICDE 2013, section 4: c = 5 for the second level. There the
        first level is also used for answers; here it only determines the second.
    """

    name: ClassVar[str] = "adaptive"

    def partition(self, coarse: CoarseGrid, epsilon: float) -> Partition:
        counts = np.maximum(coarse.counts, 1.0)
        cells = np.ceil(np.sqrt(counts * epsilon / self.c))
        x, y = np.divmod(np.arange(COARSE**2), COARSE)
        cut = np.clip(cells, 1, MOST_ALONG // COARSE).astype(np.int64)
        return nested(self.label, COARSE, np.column_stack([x, y, np.ones_like(x), cut]))


@dataclass(frozen=True)
class Quadtree(PartitionRule):
    """Squares halved along both axes until they hold at most ``c/ε`` points.

    Down to the coarse cells by their noisy sums, below them as if points were spread evenly
    within each. By how much the four quarters of a square differ is drawn to 0 by the share of
    it that noise may be, so that noise alone halves no square: of few points the cells are
    those of an even grid.

    Source: Cormode et al., ICDE 2012. There every node is counted with noise; here only the
        coarse grid is. The shrinkage is ours (``benchmarks/maps_sparse.py``).
    """

    name: ClassVar[str] = "quadtree"

    def partition(self, coarse: CoarseGrid, epsilon: float) -> Partition:
        most, variance = self.c / epsilon, standard_deviation(coarse.scale) ** 2
        table = coarse.counts.reshape(COARSE, COARSE)
        open_squares, blocks = [(0, 0, COARSE, float(table.sum()))], []
        while open_squares:
            x, y, span, count = open_squares.pop()
            if count <= most or span == 1:
                blocks.append((x, y, span, _halvings(count / most)))
                continue
            half = span // 2
            corners = [(x + i, y + j) for i in (0, half) for j in (0, half)]
            sums = np.array([table[i : i + half, j : j + half].sum() for i, j in corners])
            apart = sums - sums.mean()
            noise = SURE * variance * half**2
            apart *= max(0.0, 1 - noise / max(float(apart @ apart), noise))
            open_squares += [
                (i, j, half, count / 4 + more)
                for (i, j), more in zip(corners, apart.tolist(), strict=True)
            ]
        return nested(self.label, COARSE, np.array(blocks))


def guideline_size(points: float, *, epsilon: float, c: float = 10.0) -> int:
    """Return the cells along an axis by the guideline, 1 to ``MOST_ALONG``."""
    return min(max(ceil(sqrt(max(points, 0.0) * epsilon / c)), 1), MOST_ALONG)


def _halvings(ratio: float) -> int:
    """Return the power of two whose square is at least ``ratio``, up to a limit."""
    steps = ceil(log2(ratio) / 2) if ratio > 1 else 0
    return int(2 ** min(steps, int(log2(MOST_ALONG // COARSE))))


Method: TypeAlias = MethodName | PartitionRule | Mapping[str, Any]

METHODS: Mapping[str, tuple[PartitionRule, ...]] = MappingProxyType(
    {
        "uniform": (),
        "guideline": (Guideline(10.0),),
        "adaptive": (AdaptiveGrid(2.5), AdaptiveGrid(5.0), AdaptiveGrid(10.0)),
        "quadtree": (Quadtree(5.0), Quadtree(10.0), Quadtree(20.0)),
    }
)
"""The rules of every method by name; the only list of these names."""

KINDS: Mapping[str, type[PartitionRule]] = MappingProxyType(
    {kind.name: kind for kind in (Guideline, AdaptiveGrid, Quadtree)}
)
"""Rules that are given as a mapping of ``name`` and parameters."""


def rules_of(method: Method | Sequence[Method]) -> tuple[PartitionRule, ...]:
    """Return the rules of one or several methods, each once.

    Raises:
        ParameterError: A name is unknown, or a value is not a rule.
    """
    several = method if isinstance(method, tuple | list) else [method]
    return tuple(dict.fromkeys(rule for one in several for rule in _rules_of_one(one)))


def _rules_of_one(method: object) -> tuple[PartitionRule, ...]:
    if isinstance(method, PartitionRule):
        return (method,)
    if isinstance(method, str) and method in METHODS:
        return METHODS[method]
    if isinstance(method, Mapping) and str(method.get("name")) in KINDS:
        options = {name: one for name, one in method.items() if name != "name"}
        with suppress(TypeError):
            return (KINDS[str(method["name"])](**options),)
    raise ParameterError(
        f"`method` must be one or several of {', '.join(METHODS)}, or a rule such as "
        "AdaptiveGrid(c=5)"
    )
