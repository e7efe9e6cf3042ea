"""Passes over points in an engine: of cells, of rectangles, and of a whole release."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dpselect.passes import Pass
from dpselect.spatial.partition import Partition
from dpselect.spatial.privtree import PrivTree
from dpselect.spatial.rules import COARSE, PartitionRule
from dpselect.typing import Indices

BYTES_A_CELL = 210
"""Of a cell of a map, with its noise: measured on a million cells."""

RECTANGLES_AT_ONCE = 100
"""Rectangles of one grouping, which has at most 201 x 201 groups."""


def rows_of_cells(partition: Partition) -> int:
    """Return the most groups by which an engine counts the cells of a partition."""
    if partition.shape is not None:
        return partition.cells
    if partition.is_of_squares:
        return partition.base**2
    # Along an axis, squares and cells of a region cut each other into no more groups.
    _, _, span, along_x, along_y, _ = partition.regions.T
    return int(((span + along_x) * (span + along_y)).sum())


def blocks_of(queries: Indices) -> list[Indices]:
    """Return rectangles in parts that an engine counts at once."""
    return np.split(queries, range(RECTANGLES_AT_ONCE, len(queries), RECTANGLES_AT_ONCE))


def rows_of_rectangles(queries: Indices) -> int:
    """Return the most groups by which an engine counts some rectangles."""
    across, along = (np.unique(queries[:, axis::2]).size + 1 for axis in (0, 1))
    return across * along


def passes(
    partitions: Sequence[Partition],
    rules: Sequence[PartitionRule],
    tree: PrivTree | None,
    queries: Indices,
    *,
    coarse: bool,
    chosen: bool,
    most_records: int | None,
) -> tuple[Pass, ...]:
    """Return what a release takes in an engine.

    Args:
        partitions: Candidates that are known.
        rules: Those of other candidates.
        tree: That of one more.
        queries: Lattice edges, shape ``(m, 4)``.
        coarse: Whether the coarse grid is counted.
        chosen: Whether a candidate is chosen, by its answers to the queries.
        most_records: The most points, if so many are declared.
    """
    candidates = [
        *map(rows_of_cells, partitions),
        *([] if tree is None else [tree.most_rows]),
        *(rule.most_rows for rule in rules),
    ]
    rows = [1] if most_records is not None else []
    rows += [COARSE**2] if coarse else []
    rows += [4 ** (tree.depth - 1)] if tree is not None else []
    if chosen:
        rows += [rows_of_rectangles(block) for block in blocks_of(queries)] + candidates
    return tuple(Pass(most, bytes_a_row=BYTES_A_CELL) for most in [*rows, max(candidates)])
