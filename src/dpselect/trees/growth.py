"""ID3 trees with private splits, grown level by level.

Two queries are made at a node, each at ``ε' = ε/(2(d + 1))``, where ``d`` is the largest depth:
the number of its records, and the column to split on. A record is in one node of each level, so
a level costs ``2ε'`` however many nodes it has (parallel composition) and the tree ε. The rest
of a path's epsilon goes to the class counts of its leaf; the paper leaves it unused.

All open nodes of a level are counted at once, and the counts of a child are a row of its
parent's table: a tree of depth ``d`` takes ``d + 1`` passes over the records.

Source: Farias et al., VLDB J. 2023, Algorithm 4 (DiffPID3); Friedman and Schuster, KDD 2010,
Algorithm 1, for the stopping rule.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import sqrt

import numpy as np

from dpselect.accuracy import count_error
from dpselect.budget.zcdp import rho_of_pure
from dpselect.mechanisms import Mechanism, MechanismLike, ShiftedLocalDampening
from dpselect.mechanisms.base import as_step
from dpselect.plan import ErrorBound, Spend
from dpselect.trees.counts import Branching, Counts, Target, level_passes
from dpselect.trees.criteria import Criterion, objective_of
from dpselect.trees.records import Schema
from dpselect.trees.samplers import Sampler
from dpselect.trees.tree import Leaf, Node, Split
from dpselect.typing import Indices


@dataclass(eq=False, repr=False)
class _Growing:
    """A node of a tree that grows.

    Attributes:
        columns: The columns that it and the nodes below may be split on.
        counts: Records of each class; private.
        leaf: The released leaf, if it is one.
        chosen: The column that was drawn, if it is a split.
        below: The node of each code, if it is a split.
        number: Its position among the open nodes of the last level.
    """

    columns: Indices
    counts: Indices
    leaf: Leaf | None = None
    chosen: int = -1
    below: list[_Growing] = field(default_factory=list)
    number: int = 0

    def target(self) -> Target:
        """Return the tree from here on, with open nodes as leaves and leaves as none."""
        if self.leaf is not None:
            return None
        if not self.below:
            return self.number
        return Branching(self.chosen, tuple(child.target() for child in self.below))

    def node(self) -> Node:
        """Return the node as it is released."""
        if self.leaf is not None:
            return self.leaf
        below = tuple(child.node() for child in self.below)
        return Split(self.chosen, tuple(range(len(below))), below)


MOST_STEPS = 2**32
"""Pairs of columns times records up to which ``"pairwise"`` takes seconds at most."""


def drawn_by(
    mechanism: MechanismLike | None,
    epsilon: float,
    *,
    schema: Schema,
    criterion: Criterion,
    max_records: int,
) -> Mechanism:
    """Return the mechanism that draws columns.

    The default keeps the order of the scores on all data. By information gain it is
    ``"pairwise"``, whose precision does not depend on ``max_records``; gini and majority have
    only a global sensitivity, where permute-and-flip is best.

    Args:
        mechanism: What was asked for, if anything.
        epsilon: Price of the draws, in nats.
        schema: Columns and their domains.
        criterion: How a split is scored.
        max_records: Bound on the number of records.

    Raises:
        ParameterError: There is no such mechanism, or ``max_records`` is too large for it.
    """
    if mechanism is None:
        few = len(schema.names) ** 2 * max_records <= MOST_STEPS
        local = criterion == "information-gain" and few
        mechanism = "pairwise" if local else "permute-and-flip"
    drawn = as_step(mechanism, epsilon)
    if isinstance(drawn, ShiftedLocalDampening):
        # As published; the objective does not state it, since it is not true on all data.
        drawn = replace(drawn, direction=drawn.direction or "non-decreasing")
        none = [np.zeros((2, 2), dtype=np.int64)]
        drawn.unit_scores(objective_of(criterion, none, "x", max_records=max_records))
    return drawn


@dataclass(frozen=True)
class Growth:
    """Public parameters of a tree that grows, and its grower.

    Attributes:
        schema: Columns, domains and classes.
        epsilon: Price of the tree, in nats, for an individual of ``steps`` records.
        max_depth: Maximal number of splits on a path; >= 0.
        criterion: How a split is scored.
        mechanism: How it is drawn; if not given, by ``drawn_by``.
        max_records: Bound on the number of records.
        steps: How many records one neighbour step adds or removes.

    Raises:
        ParameterError: There is no such mechanism.
    """

    schema: Schema
    epsilon: float
    max_depth: int
    criterion: Criterion
    mechanism: MechanismLike | None
    max_records: int
    steps: int = 1

    def __post_init__(self) -> None:
        _ = self.draws_split_by

    @property
    def depth(self) -> int:
        """Splits on a path, no more than there are columns."""
        return min(self.max_depth, len(self.schema.names))

    @property
    def units(self) -> int:
        """Queries on the longest path; the counts of a leaf are two."""
        return 2 * (self.depth + 1)

    @property
    def price(self) -> float:
        """Epsilon of one query for an individual of ``steps`` records."""
        return self.epsilon / self.units

    @property
    def unit(self) -> float:
        """Epsilon of one query for one record, by which it is drawn."""
        return self.price / self.steps

    @cached_property
    def draws_split_by(self) -> Mechanism:
        """The mechanism that draws one split."""
        return drawn_by(
            self.mechanism,
            self.unit,
            schema=self.schema,
            criterion=self.criterion,
            max_records=self.max_records,
        )

    def enough(self, columns: Indices) -> float:
        """Return the least (noisy) number of records for a split: with fewer, noise wins."""
        largest = int(self.schema.sizes[columns].max())
        return sqrt(2) * largest * len(self.schema.classes) / self.unit

    def spends(self) -> tuple[Spend, ...]:
        """Return the prices on the longest path.

        Epsilon is the same on every path, rho is not: the counts of a leaf get all that
        the path has left in one query. The price of the leaf makes up the difference to
        the largest rho of a path, so that the sum holds for each.

        Each of several records can be in any node of a level. All rho here grow at least in
        proportion to epsilon, ``∑_i ρ(n_i ε') ≤ ∑_i (n_i/n) ρ(n ε')``, so that the worst is
        that all are on one path, that of the largest rho.
        """
        each = self.price
        purpose = "noisy class counts of a leaf (more where the path is shorter)"
        if not self.depth:
            return (Spend(purpose, 2 * each),)
        size = Spend("noisy number of records of a node", each, times=self.depth)
        name = f"column to split on, {self.draws_split_by.label}"
        drawn = replace(self.draws_split_by, epsilon=each).spend(name)
        split = replace(drawn, times=self.depth)
        level = rho_of_pure(each) + drawn.rho_of_all
        # A path of d < depth splits has a last, negative test of its size before the leaf.
        paths = [
            d * level + rho_of_pure(each) + rho_of_pure((self.units - 2 * d - 1) * each)
            for d in range(self.depth)
        ]
        rho = max([self.depth * level + rho_of_pure(2 * each), *paths])
        return (size, split, Spend(purpose, 2 * each, rho=rho - self.depth * level))

    @property
    def label(self) -> str:
        """Mechanism that draws splits."""
        return f"{self.draws_split_by.label} by {self.criterion}"

    @property
    def error(self) -> ErrorBound:
        """The bound on the noise in a count of a leaf on a longest path."""
        return count_error(1 / (2 * self.unit), "records in a count of a leaf")

    @property
    def passes(self) -> int:
        """The most queries in an engine: totals, and a table of every level."""
        return level_passes(self.schema, self.depth)

    def grow(self, counts: Counts, sampler: Sampler) -> Node:
        """Return the root of a tree drawn from records.

        Guarantee:
            With the exact sampler ``epsilon``-DP where one neighbour step adds or removes up
            to ``steps`` records.
        """
        root = _Growing(np.arange(len(self.schema.names)), counts.totals())
        level = [root]
        for depth in range(self.depth + 1):
            split = [node for node in level if self._stays_open(node, depth, sampler)]
            level = []
            for number, node in enumerate(split):
                node.number = number
            tables = counts.tables(root.target(), len(split)) if split else ()
            for node, counted in zip(split, tables, strict=True):
                level += self._branches(node, counted, sampler)
        return root.node()

    def _stays_open(self, node: _Growing, depth: int, sampler: Sampler) -> bool:
        """Test the size of a node, for one unit, and make it a leaf if it is too small."""
        units = self.units - 2 * depth
        if depth < self.depth:
            [size] = sampler.count([int(node.counts.sum())], self.unit)
            if size >= self.enough(node.columns):
                return True
            units -= 1
        noisy = sampler.count(node.counts.tolist(), units * self.unit)
        node.leaf = Leaf(tuple(float(count) for count in noisy))
        return False

    def _branches(
        self, node: _Growing, tables: Sequence[Indices], sampler: Sampler
    ) -> list[_Growing]:
        """Draw the column of a split, for one unit, and return the nodes below."""
        objective = objective_of(
            self.criterion,
            [tables[column] for column in node.columns],
            node.columns.tolist(),
            max_records=self.max_records,
        )
        [position] = sampler.choose(self.draws_split_by, objective, 1)
        node.chosen = int(node.columns[position])
        left = np.delete(node.columns, position)
        node.below = [_Growing(left, counts) for counts in tables[node.chosen]]
        return node.below
