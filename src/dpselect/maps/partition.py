"""Partitions of the box into cells, and the rules that make them from a coarse noisy grid.

Cells are those of a uniform grid, or of regions that are cut more or less finely. All rules
balance the error of uniform cells, which grows with the points of a cell, against noise, which
grows with the number of cells: a cell is cut until it holds about ``c/ε`` points. They read the
coarse grid only, which is released first, so their partitions are public post-processing and
compete with any other candidate.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from math import ceil, exp, expm1, log2, sqrt
from types import MappingProxyType
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np

from dpselect import validation
from dpselect.errors import ParameterError
from dpselect.maps.box import Box
from dpselect.typing import Indices, Values

MOST_CELLS = 2**26
"""64 million cells: half a gigabyte of counts."""

MOST_SPLITS = 2**22
"""Along an axis: up to here the arithmetic of ``kernels`` fits 63 bits."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Partition:
    """Half-open rectangular cells that cover the box without overlap. Public.

    Attributes:
        label: Its name among the candidates.
        base: Squares along an axis of the base grid that regions are made of.
        regions: Shape ``(R, 6)``: first square along x and along y, squares along a side,
            cells along x and along y, position of the first cell. Cells of a region are
            consecutive, those of one column of cells together.

    Raises:
        ParameterError: It has more cells than fit into memory.
    """

    label: str
    base: int
    regions: Indices

    def __post_init__(self) -> None:
        if self.cells > MOST_CELLS:
            raise ParameterError(
                f"{self.label} has {self.cells:,} cells, {self.cells * 8 / 2**30:,.1f} GiB of "
                f"counts; at most {MOST_CELLS:,} cells are allowed"
            )

    @property
    def cells(self) -> int:
        """Number of cells."""
        return int(self.regions[:, 3] @ self.regions[:, 4])

    @property
    def shape(self) -> tuple[int, int] | None:
        """Cells along x and along y of a uniform grid; None for any other partition."""
        if len(self.regions) != 1:
            return None
        return int(self.regions[0, 3]), int(self.regions[0, 4])

    @property
    def most_rows(self) -> int:
        """The most groups by which an engine counts the cells."""
        if self.shape is not None:
            return self.cells
        # Along an axis, squares and cells of a region cut each other into no more groups.
        _, _, span, along_x, along_y, _ = self.regions.T
        return int(((span + along_x) * (span + along_y)).sum())

    def labels(self) -> Indices:
        """Return the region of every base square, shape ``(base, base)``."""
        labels = np.empty((self.base, self.base), np.int64)
        for position, (first_x, first_y, span, *_) in enumerate(self.regions):
            labels[first_x : first_x + span, first_y : first_y + span] = position
        return labels

    def tables(self, values: Values) -> list[Values]:
        """Return what cells hold, shape ``(cells,)``, by column and row of each region."""
        return tables_of(values, self.regions[:, 3:5])

    def lines(self, axis: int) -> tuple[Indices, Indices, Indices]:
        """Return the lower edges of the cells of each region along an axis, after each other.

        Returns:
            Their places, over how many parts of the box, and where those of each region start.
        """
        first, span, many = self.regions[:, [axis, 2, 3 + axis]].T
        starts = np.cumsum(many) - many
        first, span, parts = (np.repeat(one, many) for one in (first, span, many))
        cell = np.arange(parts.size) - np.repeat(starts, many)
        return first * parts + span * cell, self.base * parts, starts

    def regions_of(self, cells: Indices) -> Indices:
        """Return the region of each cell by its position."""
        return np.searchsorted(self.regions[:, 5], cells, side="right") - 1

    def corners(self, cells: Indices) -> list[tuple[Indices, Indices]]:
        """Return the sides of cells: ``x0, y0, x1, y1``, each as places over parts."""
        first_x, first_y, span, nx, ny, offset = self.regions[self.regions_of(cells)].T
        a, b = np.divmod(cells - offset, ny)
        return [
            (first * many + span * (cell + upper), self.base * many)
            for upper in (0, 1)
            for first, many, cell in ((first_x, nx, a), (first_y, ny, b))
        ]

    def rectangles(self) -> Values:
        """Return the cells as shares of the box ``(x0, y0, x1, y1)``, shape ``(cells, 4)``."""
        every = self.corners(np.arange(self.cells))
        return np.column_stack([places / parts for places, parts in every])

    def in_box(self, box: Box, cells: Indices | None = None) -> Values:
        """Return cells, all by default, as west, south, east and north, shape ``(n, 4)``."""
        corners = self.corners(np.arange(self.cells) if cells is None else cells)
        return np.column_stack([box.lines(i % 2, *one) for i, one in enumerate(corners)])

    def __repr__(self) -> str:
        return f"Partition({self.label}, {self.cells} cells)"


def tables_of(values: Values, shapes: Indices) -> list[Values]:
    """Return views of values that are those of several tables, after each other."""
    parts = np.split(values, np.cumsum(shapes.prod(axis=1))[:-1])
    return [one.reshape(shape) for one, shape in zip(parts, shapes, strict=True)]


def uniform_grid(size: int | tuple[int, int]) -> Partition:
    """Return the grid of ``size`` x ``size``, or ``(along x, along y)``, equal cells.

    Raises:
        ParameterError: A size is not an integer >= 1, or there are too many cells.
    """
    pair = tuple(size) if isinstance(size, Sequence | np.ndarray) else (size, size)
    if len(pair) != 2:
        raise ParameterError("a grid is one integer, or two: along x and along y")
    nx, ny = (validation.at_least("a grid size", number, 1, MOST_SPLITS) for number in pair)
    return Partition(f"uniform {nx} x {ny}", 1, np.array([[0, 0, 1, nx, ny, 0]]))


def uniform_grids(grids: Sequence[int | tuple[int, int]]) -> list[Partition]:
    """Return uniform grids, checked to be at least one and all different."""
    try:
        partitions = [uniform_grid(size) for size in grids]
    except TypeError:
        raise ParameterError("`grids` must be a list of integers, or of pairs") from None
    if not partitions:
        raise ParameterError("`grids` must list the sizes of uniform grids, such as 16, 32")
    if len({partition.label for partition in partitions}) < len(partitions):
        raise ParameterError("`grids` must be different from each other")
    return partitions


def nested(label: str, base: int, blocks: Indices) -> Partition:
    """Return a partition of blocks of base squares, each cut into equal squares.

    Args:
        label: Its name among the candidates.
        base: Squares of the base grid along an axis.
        blocks: Shape ``(R, 4)``: first square along x and along y, squares along a side,
            cells along a side.
    """
    cells = blocks[:, 3] ** 2
    offsets = np.concatenate([[0], np.cumsum(cells)[:-1]])
    return Partition(label, base, np.column_stack([blocks, blocks[:, 3], offsets]))


COARSE = 16
"""Cells of the coarse grid along an axis."""

SURE = 20.0
"""Variances of noise up to which four quarters are taken for equal: noise alone stays below in
all 85 squares of the coarse grid with a probability of 0.985 (chi-squared, three degrees of
freedom)."""

TINY = 1e-300
"""Stands for squares of 0: at a large epsilon there is no noise."""

MOST_ALONG = 4096
"""Cells along an axis of a grid that a rule makes: 16 million cells."""

MethodName: TypeAlias = Literal["uniform", "guideline", "adaptive", "quadtree"]


def standard_deviation(scale: float) -> float:
    """Return that of discrete Laplace noise, ``√(2 e^(-1/b)) / (1 - e^(-1/b))``."""
    return sqrt(2 * exp(-1 / scale)) / -expm1(-1 / scale)


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

    @property
    def standard_deviation(self) -> float:
        """That of the noise in one cell."""
        return standard_deviation(self.scale)


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
        most, variance = self.c / epsilon, coarse.standard_deviation**2
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
            apart *= max(0.0, 1 - noise / max(float(apart @ apart), noise, TINY))
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
