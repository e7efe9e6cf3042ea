"""Counts that trees are drawn from: what they are, and those of records in memory.

All that is read of records are these counts, so a tree drawn from an engine's counts has the
distribution of a tree drawn from the same records in memory. A record that has no place (a
value or a label outside) is dropped before a person's records are limited
(``dpselect.tables.people``), so that it does not displace another one.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from math import prod
from typing import TypeAlias

import numpy as np

from dpselect.passes import of_sums
from dpselect.trees import kernels
from dpselect.trees.candidates import Individual
from dpselect.trees.domains import OUTSIDE, Schema
from dpselect.trees.tree import Split
from dpselect.typing import Indices

LARGEST_CELL = 2**62
"""Positions in the table of all rows that there can be are integers up to it."""

FEW_CELLS = 2**18
"""Rows that an engine counts once: as many counts are held here."""

Target: TypeAlias = Split | int | None
"""A split whose branches end in targets, the number of a leaf, or None: not counted."""


class Counts(ABC):
    """Records coded by public domains, wherever they are held; all results are private.

    A record with a code or a label outside of the domains is in ``number`` alone.
    """

    @abstractmethod
    def number(self) -> int:
        """Return the number of records; of those that are counted, if persons are limited."""

    def held(self) -> AbstractContextManager[Counts]:
        """Hold the records for all counts while the block runs."""
        return nullcontext(self)

    @abstractmethod
    def totals(self) -> Indices:
        """Return the records of each class, shape ``(classes,)``."""

    @abstractmethod
    def tables(self, splits: Target, leaves: int) -> Iterable[list[Indices]]:
        """Return the contingency tables of all columns at each leaf of a partial tree.

        Args:
            splits: The partial tree, with leaves numbered from 0. Public.
            leaves: How many leaves there are.

        Returns:
            For each leaf, in order: records by value and class, shape ``(size, classes)``
            for each column; values that no record has are there.
        """

    @abstractmethod
    def hits(self, trees: Sequence[Individual]) -> Indices:
        """Return correctly classified records by tree and class, ``(trees, classes)``."""


@dataclass(frozen=True, eq=False, repr=False)
class MemoryCounts(Counts):
    """Records in memory, as unique rows of codes with class counts; private.

    Records repeat: 21,574 of NLTCS are 3,152 unique rows. Compressed once, every node of
    every tree takes time in proportion to its unique rows.

    Attributes:
        schema: Columns, domains and classes.
        codes: Shape ``(m, columns)``.
        counts: Records of each class with these codes, shape ``(m, classes)``.
        dropped: Records that had a code or a label outside.
    """

    schema: Schema
    codes: Indices
    counts: Indices
    dropped: int = 0

    @classmethod
    def of_records(cls, schema: Schema, codes: Indices, labels: Indices) -> MemoryCounts:
        """Compress records; those with a code or a label ``OUTSIDE`` are dropped.

        Args:
            schema: Columns, domains and classes.
            codes: Shape ``(n, columns)``.
            labels: Positions in the classes, shape ``(n,)``.
        """
        inside, cell = np.ones(labels.size, dtype=bool), np.zeros(labels.size, dtype=np.int64)
        for column, size in zip((*codes.T, labels), cells_of(schema), strict=True):
            inside &= column != OUTSIDE
            cell = cell * size + column
        dropped = labels.size - int(inside.sum())
        if dropped:
            codes, labels, cell = codes[inside], labels[inside], cell[inside]
        cells = prod(cells_of(schema))
        if cells > LARGEST_CELL:
            # There are so many columns that hardly any two records are alike.
            return cls(schema, codes, np.eye(len(schema.classes), dtype=int)[labels], dropped)
        if cells > labels.size:
            found, records = np.unique(cell, return_counts=True)
        else:
            every = np.bincount(cell)
            found = np.flatnonzero(every)
            records = every[found]
        return cls.of_cells(schema, found, records, dropped)

    @classmethod
    def of_cells(
        cls, schema: Schema, cells: Indices, records: Indices, dropped: int = 0
    ) -> MemoryCounts:
        """Return records that were counted.

        Args:
            schema: Columns, domains and classes.
            cells: Rows of codes with a class, as positions in the table of all that there can
                be; ascending, all different.
            records: How many have each.
            dropped: How many have a code or a label outside.
        """
        rows, label = np.divmod(cells, len(schema.classes))
        first = np.diff(rows, prepend=-1) > 0
        counts = np.zeros((first.sum(), len(schema.classes)), dtype=np.int64)
        counts[np.cumsum(first) - 1, label] = records
        codes = np.stack(np.unravel_index(rows[first], schema.sizes), axis=1)
        return cls(schema, codes, counts, dropped)

    def number(self) -> int:
        return int(self.counts.sum()) + self.dropped

    def totals(self) -> Indices:
        return np.asarray(self.counts.sum(axis=0))

    def tables(self, splits: Target, leaves: int) -> Iterator[list[Indices]]:
        columns, firsts, targets, roots = flat(splits)
        leaf = kernels.leaves(self.codes, columns, firsts, targets, int(roots[0]))
        order = np.argsort(leaf, kind="stable")
        ends = np.searchsorted(leaf[order], np.arange(leaves + 1))
        starts = np.concatenate([[0], np.cumsum(self.schema.sizes)])
        for k in range(leaves):
            rows = order[ends[k] : ends[k + 1]]
            table = kernels.contingency(self.codes, self.counts, rows, starts)
            yield np.split(table, starts[1:-1])

    def hits(self, trees: Sequence[Individual]) -> Indices:
        return kernels.hits(self.codes, self.counts, *flat(*trees))


def cells_of(schema: Schema) -> tuple[int, ...]:
    """Return the shape of the table of all rows of codes with a class."""
    return (*schema.sizes.tolist(), len(schema.classes))


def flat(*trees: Target) -> tuple[Indices, Indices, Indices, Indices]:
    """Return partial trees as arrays, as ``dpselect.trees.kernels.leaves`` reads them.

    Returns:
        The column of each split; where the targets of its codes begin; all targets; and the
        root of each tree. A target is the position of a split, -1 for none, and ``-2 - leaf``
        for a leaf.
    """
    columns: list[int] = []
    firsts: list[int] = []
    targets: list[int] = []

    def number(target: Target) -> int:
        if target is None:
            return -1
        if isinstance(target, Split):
            position, first, codes = len(columns), len(targets), len(target.branch_of)
            columns.append(target.column)
            firsts.append(first)
            targets.extend([-1] * codes)
            below = [number(one) for one in target.branches]
            targets[first : first + codes] = [below[branch] for branch in target.branch_of]
            return position
        return -2 - target

    roots = [number(tree) for tree in trees]
    kept = [np.array(one, np.int64) for one in (columns, firsts, targets, roots)]
    return kept[0], kept[1], kept[2], kept[3]


def level_passes(schema: Schema, levels: int, trees: Sequence[int] = ()) -> int:
    """Return the most queries that counts take: of all rows once, where these are few.

    Args:
        schema: Columns, domains and classes.
        levels: Tables of all columns that are counted.
        trees: How many trees are counted each time.
    """
    if prod(cells_of(schema)) <= FEW_CELLS:
        return 1
    return 1 + levels + sum(map(of_sums, trees))
