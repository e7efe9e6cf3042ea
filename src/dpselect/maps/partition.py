"""Partitions of the box into cells: uniform grids, and regions cut more or less finely."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

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
            raise ParameterError(_too_many(self.label, self.cells))

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
        parts = np.split(values, self.regions[1:, 5])
        return [
            one.reshape(shape) for one, shape in zip(parts, self.regions[:, 3:5], strict=True)
        ]

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


LARGEST = 2**31 - 1
"""Cells along an axis, so that the places of all are integers of 64 bits."""


def uniform_grid(size: int | tuple[int, int]) -> Partition:
    """Return the grid of ``size`` x ``size``, or ``(along x, along y)``, equal cells.

    Raises:
        ParameterError: A size is not an integer >= 1, or there are too many cells.
    """
    pair = tuple(size) if isinstance(size, Sequence | np.ndarray) else (size, size)
    if len(pair) != 2:
        raise ParameterError("a grid is one integer, or two: along x and along y")
    nx, ny = (validation.at_least("a grid size", number, 1, LARGEST) for number in pair)
    label = f"uniform {nx} x {ny}"
    if max(nx, ny) > MOST_SPLITS:
        raise ParameterError(_too_many(label, nx * ny))
    return Partition(label, 1, np.array([[0, 0, 1, nx, ny, 0]]))


def uniform_grids(grids: Sequence[int | tuple[int, int]]) -> list[Partition]:
    """Return uniform grids, checked to be at least one and all different."""
    try:
        partitions = [uniform_grid(size) for size in grids]
    except TypeError:
        raise ParameterError("`grids` must be a list of integers, or of pairs") from None
    if not partitions:
        raise ParameterError("`grids` must be at least one grid size")
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


def _too_many(label: str, cells: int) -> str:
    return (
        f"{label} has {cells:,} cells, {cells * 8 / 2**30:,.1f} GiB of counts; at most "
        f"{MOST_CELLS:,} cells are allowed"
    )
