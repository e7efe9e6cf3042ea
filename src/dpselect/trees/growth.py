r"""Growing a tree from the root, every split drawn: DiffPID3.

A node is asked two things at :math:`\varepsilon' = \varepsilon/(2(d + 1))`, where :math:`d` is
the largest depth: how many records it has, and which column to split on. A record is in one
node of each level, so a level costs :math:`2\varepsilon'` however many nodes it has (parallel
composition) and the tree :math:`\varepsilon`. What a path did not spend goes to the class
counts of its leaf; print leaves it unused.

Source: Farias et al., VLDB J. 2023, Algorithm 4; Friedman and Schuster, KDD 2010,
Algorithm 1, for the stopping rule.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Literal, TypeAlias

import numpy as np

from dpselect.mechanisms import (
    ExponentialMechanism,
    LocalDampening,
    Mechanism,
    PermuteAndFlip,
    ShiftedLocalDampening,
)
from dpselect.trees.criteria import Criterion, objective_of
from dpselect.trees.patterns import Patterns
from dpselect.trees.records import Schema
from dpselect.trees.report import Spend
from dpselect.trees.sampling import Sampler
from dpselect.trees.structure import Leaf, Node, Split
from dpselect.typing import Indices

MechanismName: TypeAlias = Literal[
    "exponential", "permute-and-flip", "local-dampening", "shifted"
]
"""How a split is drawn."""

MECHANISMS: Mapping[str, Callable[[float], Mechanism]] = {
    "exponential": lambda epsilon: ExponentialMechanism(epsilon=epsilon),
    "permute-and-flip": lambda epsilon: PermuteAndFlip(epsilon=epsilon),
    "local-dampening": lambda epsilon: LocalDampening(epsilon=epsilon),
    # A purer split scores higher and is more sensitive.
    "shifted": lambda epsilon: ShiftedLocalDampening(
        epsilon=epsilon, direction="non-decreasing"
    ),
}


@dataclass(frozen=True)
class Growth:
    """How a tree grows; all of it public.

    Attributes:
        schema: Columns, domains and classes.
        epsilon: What all queries about one record cost, in nats, under add/remove.
        max_depth: Questions on a path, at most; >= 0.
        criterion: How a split is scored.
        mechanism: How it is drawn.
        max_records: Bound on the number of records.
    """

    schema: Schema
    epsilon: float
    max_depth: int
    criterion: Criterion
    mechanism: MechanismName
    max_records: int

    @property
    def depth(self) -> int:
        """Questions on a path, no more than there are columns."""
        return min(self.max_depth, len(self.schema.names))

    @property
    def unit(self) -> float:
        """What a path pays for one query; it has ``2 (depth + 1)`` units."""
        return self.epsilon / (2 * (self.depth + 1))

    def enough(self, columns: Indices) -> float:
        """Return how many (noisy) records a node must have: fewer would drown if split."""
        largest = int(self.schema.sizes[columns].max())
        return sqrt(2) * largest * len(self.schema.classes) / self.unit

    def spends(self) -> tuple[Spend, ...]:
        """Return what one record is asked on the longest path."""
        asked = (
            Spend("noisy number of records of a node", self.unit, self.depth),
            Spend(f"column to split on, {self.mechanism}", self.unit, self.depth),
        )
        return (
            *(asked if self.depth else ()),
            Spend(
                "noisy class counts of a leaf (more where the path is shorter)",
                2 * self.unit,
                1,
            ),
        )

    def grow(self, patterns: Patterns, sampler: Sampler) -> Node:
        """Return the root of a tree drawn from records; as private as epsilon says."""
        rows = np.arange(len(patterns.codes))
        columns = np.arange(len(self.schema.names))
        return self._node(patterns, rows, columns, 2 * (self.depth + 1), sampler)

    def _node(
        self, patterns: Patterns, rows: Indices, columns: Indices, units: int, sampler: Sampler
    ) -> Node:
        """Grow below one node that its path has so many units left for."""
        counts = patterns.counts[rows].sum(axis=0)
        if units > 2:
            units -= 1
            if self.is_enough(counts, columns, sampler):
                tables = patterns.tables(rows, self.schema.sizes)
                chosen = self.choose(tables, columns, sampler)
                return self._split(patterns, rows, columns, chosen, units - 1, sampler)
        return self.leaf(counts, units, sampler)

    def is_enough(self, counts: Indices, columns: Indices, sampler: Sampler) -> bool:
        """Return whether a node seems to have enough records to split; costs one unit.

        Args:
            counts: Its records of each class; private.
            columns: The columns that it may be split on.
            sampler: Where noise comes from.
        """
        [size] = sampler.count([int(counts.sum())], self.unit)
        return bool(size >= self.enough(columns))

    def leaf(self, counts: Indices, units: int, sampler: Sampler) -> Leaf:
        """Return a leaf with noisy counts for so many units."""
        noisy = sampler.count(counts.tolist(), units * self.unit)
        return Leaf(tuple(float(count) for count in noisy))

    def choose(self, tables: Sequence[Indices], columns: Indices, sampler: Sampler) -> int:
        """Draw the column to split on; costs one unit.

        Args:
            tables: Records by value and class, for every column of the schema; private.
            columns: The columns to choose from.
            sampler: What draws.
        """
        objective = objective_of(
            self.criterion,
            [tables[column] for column in columns],
            columns.tolist(),
            max_records=self.max_records,
        )
        [position] = sampler.choose(MECHANISMS[self.mechanism](self.unit), objective, 1)
        return int(columns[position])

    def _split(
        self,
        patterns: Patterns,
        rows: Indices,
        columns: Indices,
        chosen: int,
        units: int,
        sampler: Sampler,
    ) -> Split:
        size = int(self.schema.sizes[chosen])
        left = columns[columns != chosen]
        answers = patterns.codes[rows, chosen]
        below = (
            self._node(patterns, rows[answers == code], left, units, sampler)
            for code in range(size)
        )
        return Split(chosen, tuple(range(size)), tuple(below))
