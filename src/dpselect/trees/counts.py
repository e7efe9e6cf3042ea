"""Counts that trees are drawn from: what they are, and those of records in memory.

All that is read of records are these counts, so a tree drawn from an engine's counts has the
distribution of a tree drawn from the same records in memory. A record that has no place (a
value or a label outside) is dropped before a person's records are limited
(``dpselect.tables.people``), so that it does not displace another one.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import TypeAlias

import numpy as np

from dpselect._compiled import compiled
from dpselect.passes import MOST_SUMS
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
    """Records coded by public domains, wherever they are held; all results are private."""

    @abstractmethod
    def totals(self) -> Indices:
        """Return the records of each class, shape ``(classes,)``."""

    @abstractmethod
    def tables(self, splits: Target, leaves: int) -> Iterable[Sequence[Indices]]:
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
    """Records in memory, as unique rows of codes and a class, with how many have each; private.

    Records repeat: 21,574 of NLTCS are 3,152 such rows. Compressed once, every node of every
    tree takes time in proportion to its unique rows.

    Attributes:
        schema: Columns, domains and classes.
        codes: Shape ``(m, columns)``.
        labels: Positions in the classes, shape ``(m,)``.
        records: How many have these codes and this class, shape ``(m,)``.
    """

    schema: Schema
    codes: Indices
    labels: Indices
    records: Indices

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
        if not inside.all():
            codes, labels, cell = codes[inside], labels[inside], cell[inside]
        cells = prod(cells_of(schema))
        if cells > LARGEST_CELL:
            # There are so many columns that hardly any two records are alike.
            return cls(schema, codes, labels, np.ones_like(labels))
        if cells > labels.size:
            return cls.of_cells(schema, *np.unique(cell, return_counts=True))
        every = np.bincount(cell, minlength=1)
        found = np.flatnonzero(every)
        return cls.of_cells(schema, found, every[found])

    @classmethod
    def of_cells(cls, schema: Schema, cells: Indices, records: Indices) -> MemoryCounts:
        """Return records that were counted.

        Args:
            schema: Columns, domains and classes.
            cells: Rows of codes with a class, as positions in the table of all that there can
                be; all different.
            records: How many have each.
        """
        *codes, labels = np.unravel_index(cells, cells_of(schema))
        return cls(schema, np.stack(codes, axis=1), labels, records)

    def totals(self) -> Indices:
        return self._counted(self.labels, len(self.schema.classes))

    def tables(self, splits: Target, leaves: int) -> Iterable[Sequence[Indices]]:
        [leaf] = self._reached(splits)
        leaf[leaf < 0] = leaves  # one more, for the records of none
        found = []
        for codes, size in zip(self.codes.T, self.schema.sizes.tolist(), strict=True):
            shape = leaves + 1, size, len(self.schema.classes)
            found.append(self._counted((leaf * size + codes) * shape[2] + self.labels, *shape))
        return [*zip(*found, strict=True)][:leaves]

    def hits(self, trees: Sequence[Individual]) -> Indices:
        classes = np.arange(len(self.schema.classes))
        of_class = np.where(self.labels == classes[:, None], self.records, 0.0)
        right = [of_class @ (leaf == self.labels) for leaf in self._reached(*trees)]
        return np.array(right).astype(np.int64)

    def _reached(self, *trees: Target) -> Iterator[Indices]:
        """Yield the leaf of each tree that each row reaches, -1 for none."""
        columns, firsts, targets, roots = flat(*trees)
        for root in roots.tolist():
            yield leaves_of(self.codes, columns, firsts, targets, root)

    def _counted(self, cells: Indices, *shape: int) -> Indices:
        """Return how many records have each place in a table of some shape."""
        held = np.bincount(cells, weights=self.records, minlength=prod(shape))
        return held.astype(np.int64).reshape(shape)


def cells_of(schema: Schema) -> tuple[int, ...]:
    """Return the shape of the table of all rows of codes with a class."""
    return (*schema.sizes.tolist(), len(schema.classes))


def flat(*trees: Target) -> tuple[Indices, Indices, Indices, Indices]:
    """Return partial trees as arrays, as ``leaves_of`` reads them.

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
    return 1 + levels + sum(-(-sums // MOST_SUMS) for sums in trees)  # Spark takes fewer


@compiled
def leaves_of(
    codes: Indices, columns: Indices, firsts: Indices, targets: Indices, root: int
) -> Indices:
    """Return the leaf that each row of codes reaches, -1 for none.

    Args:
        codes: Shape ``(m, columns)``.
        columns: The column of each split.
        firsts: Where the targets of its codes start.
        targets: A split ``b >= 0``; or ``-2 - leaf``; or -1 for no leaf.
        root: Such a target.
    """
    out = np.empty(codes.shape[0], dtype=np.int64)
    for i in range(codes.shape[0]):
        target = root
        while target >= 0:
            target = targets[firsts[target] + codes[i, columns[target]]]
        out[i] = -2 - target
    return out
