"""The query of a tree with private splits.

A record is in one node of each level, so a level costs what one of its nodes does, however many
there are (parallel composition), and a tree of depth ``d`` costs ε:

==============  ==================================  ================================  ==========
``splits``      branches of a column                queries at a node                 each at
==============  ==================================  ================================  ==========
``thresholds``  two at an edge of bins; else one    the question                      ε/(d + 1)
                for each value
``values``      one for each value                  number of records, the question   ε/(2(d+1))
==============  ==================================  ================================  ==========

The rest of a path's epsilon goes to the class counts of its leaf; DiffPID3 leaves it unused. By
``thresholds`` (ours) a column can be asked again, and public facts alone end a path: a split in
two costs little where noise is large, and small bins add up on both sides. By ``values``
(DiffPID3) a node with too few records, by their noisy number, becomes a leaf.

All open nodes of a level are counted at once, and the counts of a child are sums of rows of its
parent's table: a tree of depth ``d`` takes ``d + 1`` passes over the records.

Source: Farias et al., VLDB J. 2023, Algorithm 4 (DiffPID3); Friedman and Schuster, KDD 2010,
Algorithm 1, for the stopping rule.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import exp, sqrt
from typing import Annotated, Any, Literal, TypeAlias

import numpy as np

from dpselect.budget.zcdp import rho_of_pure
from dpselect.mechanisms import Mechanism, MechanismLike, ShiftedLocalDampening
from dpselect.mechanisms.base import as_step
from dpselect.plan import ErrorBound, Plan, Spend
from dpselect.query import query
from dpselect.scaling.dampening import check_horizon
from dpselect.trees.base import Sampler, Training, _RecordsQuery
from dpselect.trees.counts import Counts, level_passes
from dpselect.trees.criteria import Criterion, objective_of
from dpselect.trees.tree import Leaf, Node, Split, Tree, TreeRelease
from dpselect.typing import Indices
from dpselect.validation import integers

Splits: TypeAlias = Literal["thresholds", "values"]
"""Branches of a split."""

Question: TypeAlias = tuple[int, int]
"""A column, and the code from which on the second branch is; 0 for a branch for every value."""

DEEPEST, RECORDS = 7, 3
"""Largest depth by default; records in a leaf per class, deviation of its noise and level."""


@dataclass(eq=False, repr=False)
class _Growing:
    """A node of a tree that grows.

    Attributes:
        counts: Records of each class; private.
        codes: Codes of each column that can still be told apart here.
        leaf: The released leaf, if it is one.
        column: The column that was drawn, if it is a split.
        branch_of: The branch of each of its codes.
        below: The node of each branch.
        number: Its position among the open nodes of the last level.
    """

    counts: Indices
    codes: tuple[range, ...]
    leaf: Leaf | None = None
    column: int = -1
    branch_of: tuple[int, ...] = ()
    below: list[_Growing] = field(default_factory=list)
    number: int = 0

    def split(self, end: Callable[[_Growing], Any]) -> Any:  # noqa: ANN401 -- or what ends a path
        """Return the splits from here on, with something for each node without one."""
        if not self.below:
            return end(self)
        branches = tuple(child.split(end) for child in self.below)
        return Split(self.column, self.branch_of, branches)


def drawn_by(
    mechanism: MechanismLike | None, epsilon: float, criterion: Criterion, max_records: int
) -> Mechanism:
    """Return the mechanism that draws columns or questions.

    Permute-and-flip, the default, keeps the order of the scores on all data.

    Args:
        mechanism: What was asked for, if anything.
        epsilon: Price of the draws, in nats.
        criterion: How a split is scored.
        max_records: Bound on the number of records.

    Raises:
        ParameterError: There is no such mechanism, or ``max_records`` is too large for it.
    """
    drawn = as_step("permute-and-flip" if mechanism is None else mechanism, epsilon)
    if isinstance(drawn, ShiftedLocalDampening):
        # As published; the objective does not state it, since it is not true on all data.
        drawn = replace(drawn, direction=drawn.direction or "non-decreasing")
        if criterion == "information-gain":
            check_horizon(max_records)
    return drawn


@dataclass(frozen=True, kw_only=True)
class Growth(Training[TreeRelease]):
    """The growth of a tree."""

    asked: ID3Tree

    @cached_property
    def ordered(self) -> Indices:
        """1 for each column that is split in two at an edge, else 0."""
        return self.schema.ordered * int(self.asked.splits == "thresholds")

    @cached_property
    def depth(self) -> int:
        """Splits on a path, no more than there can be questions.

        If it is not given: as many as leave in each leaf three records per class, standard
        deviation of its noise and level, if ``max_records`` are dealt evenly.
        """
        sizes, two = self.schema.sizes, self.ordered == 1
        most = int(np.where(two, sizes - 1, 1).sum())
        if self.asked.max_depth is not None:
            return min(self.asked.max_depth, most)
        branches = exp(np.log(np.where(two, 2, sizes)).mean())
        noise = sqrt(2) * self.steps / self.asked.epsilon
        enough = [
            self.asked.max_records / branches**depth
            >= RECORDS * depth * len(self.schema.classes) * noise * (depth + 1)
            for depth in range(1, DEEPEST + 1)
        ]
        return min([*enough, False].index(False), most)

    @cached_property
    def tests(self) -> int:
        """Queries at a node before its split is drawn: whether it has enough records."""
        return int(self.asked.splits == "values")

    @cached_property
    def units(self) -> int:
        """Queries on the longest path, of which a leaf has those of one level."""
        return (1 + self.tests) * (self.depth + 1)

    @cached_property
    def unit(self) -> float:
        """Epsilon of one query for one record, by which it is drawn."""
        return self.asked.epsilon / self.units / self.steps

    @cached_property
    def draws_split_by(self) -> Mechanism:
        """The mechanism that draws one split."""
        asked = self.asked
        return drawn_by(asked.mechanism, self.unit, asked.criterion, asked.max_records)

    def questions(self, codes: Sequence[range]) -> list[Question]:
        """Return what can be asked where these codes of each column can be told apart."""
        found: list[Question] = []
        for column, left in enumerate(codes):
            if self.ordered[column]:
                found += [(column, code) for code in left[1:]]
            elif left:
                found.append((column, 0))
        return found

    def enough(self, codes: Sequence[range]) -> float:
        """Return the least (noisy) number of records for a split: with fewer, noise wins."""
        largest = max(map(len, codes))
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
        each, tests = self.asked.epsilon / self.units, self.tests
        width = 1 + tests
        purpose = "noisy class counts of a leaf (more where the path is shorter)"
        if not self.depth:
            return (Spend(purpose, width * each),)
        size = Spend("noisy number of records of a node", each, times=self.depth)
        name = f"column to split on, {self.draws_split_by.label}"
        drawn = replace(self.draws_split_by, epsilon=each).spend(name)
        split = replace(drawn, times=self.depth)
        level = tests * rho_of_pure(each) + drawn.rho_of_all
        # A path of d < depth splits has a last, negative test of its size before the leaf.
        paths = [
            d * level
            + tests * rho_of_pure(each)
            + rho_of_pure((self.units - width * d - tests) * each)
            for d in range(self.depth)
        ]
        rho = max([self.depth * level + rho_of_pure(width * each), *paths])
        leaf = Spend(purpose, width * each, rho=rho - self.depth * level)
        return (*[size] * tests, split, leaf)

    @property
    def label(self) -> str:
        return f"{self.draws_split_by.label} by {self.asked.criterion}"

    @property
    def error(self) -> ErrorBound:
        """The bound on the noise in a count of a leaf on a longest path."""
        epsilon = (1 + self.tests) * self.unit
        return ErrorBound.of_count(1 / epsilon, "records in a count of a leaf")

    @property
    def passes(self) -> int:
        # Totals, and a table of every level.
        return level_passes(self.schema, self.depth)

    def draw(self, counts: Counts, sampler: Sampler, plan: Plan) -> TreeRelease:
        return TreeRelease((Tree(self.schema, self.grow(counts, sampler)),), plan)

    def grow(self, counts: Counts, sampler: Sampler) -> Node:
        """Return the root of a tree drawn from records.

        Guarantee:
            With the exact sampler ``epsilon``-DP where one neighbour step adds or removes up
            to ``steps`` records.
        """
        codes = tuple(range(size) for size in self.schema.sizes.tolist())
        root = _Growing(counts.totals(), codes)
        level = [root]
        for depth in range(self.depth + 1):
            split = [node for node in level if self._stays_open(node, depth, sampler)]
            level = []
            for number, node in enumerate(split):
                node.number = number
            target = root.split(lambda node: node.number if node.leaf is None else None)
            tables = counts.tables(target, len(split)) if split else ()
            for node, counted in zip(split, tables, strict=True):
                level += self._branches(node, counted, sampler)
        grown: Node = root.split(lambda node: node.leaf)
        return grown

    def _stays_open(self, node: _Growing, depth: int, sampler: Sampler) -> bool:
        """Return whether a node is split; else make it a leaf, for all units that are left."""
        units = self.units - (1 + self.tests) * depth
        if depth < self.depth and any(self.questions(node.codes)):
            if not self.tests:
                return True
            [size] = sampler.count([int(node.counts.sum())], self.unit)
            if size >= self.enough(node.codes):
                return True
            units -= 1
        noisy = sampler.count(node.counts.tolist(), units * self.unit)
        node.leaf = Leaf(tuple(noisy.astype(np.float64).tolist()))
        return False

    def _branches(
        self, node: _Growing, tables: Sequence[Indices], sampler: Sampler
    ) -> list[_Growing]:
        """Draw the question of a split, for one unit, and return the nodes below."""
        questions = self.questions(node.codes)
        parts = [
            np.add.reduceat(tables[column], [0, code]) if code else tables[column]
            for column, code in questions
        ]
        criterion, most = self.asked.criterion, self.asked.max_records
        objective = objective_of(criterion, parts, questions, max_records=most)
        [position] = sampler.choose(self.draws_split_by, objective, 1)
        node.column, code = questions[position]
        size, left = len(tables[node.column]), node.codes[node.column]
        node.branch_of = tuple(int(one >= code) if code else one for one in range(size))
        below = [range(left.start, code), range(code, left.stop)] if code else [range(0)] * size
        node.below = [
            _Growing(counts, (*node.codes[: node.column], part, *node.codes[node.column + 1 :]))
            for counts, part in zip(parts[position], below, strict=True)
        ]
        return node.below


@query
class ID3Tree(_RecordsQuery[TreeRelease]):
    """A decision tree whose splits are drawn privately.

    With ``splits="values"`` it is DiffPID3, whose leaves also get the epsilon that their paths
    have left: its global, local and shifted forms draw by ``"exponential"``,
    ``"local-dampening"`` and ``"shifted"``, by information gain.

    Attributes:
        max_depth: Maximal number of splits on a path; >= 0. Chosen from ``max_records``,
            ``epsilon``, the classes and the domains if not given.
        criterion: How a split is scored: ``"gini"``, ``"information-gain"`` or ``"majority"``.
            See ``dpselect.trees.criteria``.
        mechanism: How a split is drawn. A short name (``dpselect.mechanisms.MECHANISMS``), or a
            function of ``epsilon=``. Permute-and-flip by default.
        splits: Branches of a split. ``"thresholds"``: numbers have two, at an edge of their
            bins, and a column can be split again below; categories have one for each.
            ``"values"``: one for every value of a domain, among nodes with enough records by a
            noisy count.

    Source: Farias et al., VLDB J. 2023, Algorithm 4 (DiffPID3); our leaves also get
        the epsilon that their paths have left.

    Examples:
        >>> import dpselect as dp
        >>> weather = [["rain"], ["sun"]] * 500
        >>> plans = ["in", "out"] * 500
        >>> tree = dp.ID3Tree(
        ...     domains={"x0": ["rain", "sun"]}, classes=["in", "out"], max_records=2000,
        ...     max_depth=1, epsilon=10.0, neighbours="add-remove",
        ... ).release((weather, plans)).tree
        >>> tree.depth, tree.leaves
        (1, 2)
    """

    max_depth: Annotated[int | None, integers(0)] = None
    criterion: Criterion = "gini"
    mechanism: MechanismLike | None = None
    splits: Splits = "thresholds"

    composition = (
        "a record is in one node of each level: the levels' prices add up, nodes of one level "
        "are parallel"
    )

    training = Growth
