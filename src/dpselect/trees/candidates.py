"""Candidates of an evolution: random trees, crossing, mutation and cutting.

No record is read here: candidates come from public domains and from earlier releases, so
their randomness need not be secret.

Source: Farias et al., PrivPareto, Algorithm 1 (DP-MOET).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeAlias

import numpy as np

from dpselect.trees.domains import Schema
from dpselect.trees.tree import Split

Individual: TypeAlias = Split | int
"""A tree of questions with two branches, yes first; or the position of the class it answers.

Its nodes are numbered from the root on, each before those below it, yes first.
"""


def nodes(tree: Any) -> list[tuple[Any, int]]:  # noqa: ANN401 -- or no tree
    """Return the tree from every node down, and how many questions lead there."""
    found, waiting = [], [(tree, 0)]
    while waiting:
        below, level = waiting.pop()
        found.append((below, level))
        if isinstance(below, Split):
            waiting += [(one, level + 1) for one in reversed(below.branches)]
    return found


def size(tree: Individual) -> int:
    """Return how many nodes a tree has."""
    return 1 + sum(map(size, tree.branches)) if isinstance(tree, Split) else 1


def depth(tree: Individual | None) -> int:
    """Return the largest number of questions on a path."""
    return max(level for _, level in nodes(tree))


def replaced(tree: Individual, place: int, new: Individual) -> Individual:
    """Return a tree with another one from a node down."""
    if not place or not isinstance(tree, Split):
        return new
    yes, no = tree.branches
    inside = size(yes)
    if place <= inside:
        return Split(tree.column, tree.branch_of, (replaced(yes, place - 1, new), no))
    return Split(tree.column, tree.branch_of, (yes, replaced(no, place - 1 - inside, new)))


@dataclass(frozen=True)
class Breeder:
    """The random operators.

    Children are cut before they are mutated, as in the authors' code; Algorithm 1 mutates
    first.

    Attributes:
        schema: Columns, domains and classes.
        rng: Public randomness.
        max_depth: Questions on a path, at most.
        children_are_parents: Whether the parents of later children may be children.
        mutates_to_max_depth: Whether mutation grows full subtrees as deep as trees may be: they
            have about twenty times as many nodes as those no deeper than the tree was.
    """

    schema: Schema
    rng: np.random.Generator
    max_depth: int
    children_are_parents: bool = False
    mutates_to_max_depth: bool = False

    def ask(self, column: int, value: int, yes: Individual, no: Individual) -> Split:
        """Return a question: ``code < value`` in an ordered domain, else ``code == value``."""
        ordered = bool(self.schema.ordered[column])
        return Split(
            column, _branches(int(self.schema.sizes[column]), value, ordered), (yes, no)
        )

    def random_tree(self, questions: int) -> Individual:
        """Return a full random tree of that depth."""
        sizes, leaves = self.schema.sizes, 2**questions
        # "code < 0" separates nothing; neither does any question on a single code.
        least = self.schema.ordered * (sizes > 1)
        columns = self.rng.integers(len(sizes), size=leaves - 1)
        values = self.rng.integers(least[columns], sizes[columns])
        asked = zip(columns.tolist(), values.tolist(), strict=True)
        answers = iter(self.rng.integers(len(self.schema.classes), size=leaves).tolist())

        def full(questions: int) -> Individual:
            if not questions:
                return next(answers)
            column, value = next(asked)
            yes, no = (full(questions - 1) for _ in range(2))
            return self.ask(column, value, yes, no)

        return full(questions)

    def children(self, parents: Sequence[Individual], pairs: int) -> list[Individual]:
        """Return two children of each of some random pairs of parents, crossed and mutated."""
        pool = list(parents)
        for _ in range(pairs):
            pool += self.pair(pool if self.children_are_parents else parents)
        return pool[len(parents) :]

    def pair(self, pool: Sequence[Individual]) -> list[Individual]:
        """Return two children of a random pair of parents."""
        one, other = self.rng.choice(len(pool), size=2, replace=len(pool) == 1).tolist()
        return [self.mutated(child) for child in self.cross(pool[one], pool[other])]

    def cross(self, one: Individual, other: Individual) -> tuple[Individual, Individual]:
        """Exchange a random subtree of each for one of the other, cut to the depth allowed."""
        mine, theirs = nodes(one), nodes(other)
        here, there = self._any_of(mine), self._any_of(theirs)
        return (
            self.cut(replaced(one, here, theirs[there][0]), self.max_depth),
            self.cut(replaced(other, there, mine[here][0]), self.max_depth),
        )

    def mutated(self, tree: Individual) -> Individual:
        """Replace a random subtree by a full random one."""
        every = nodes(tree)
        place = self._any_of(every)
        deepest = max(level for _, level in every)
        questions = (self.max_depth if self.mutates_to_max_depth else deepest) - every[place][1]
        return replaced(tree, place, self.random_tree(questions))

    def cut(self, tree: Individual, questions: int) -> Individual:
        """Replace what is deeper than that by random answers."""
        if not isinstance(tree, Split):
            return tree
        if not questions:
            return int(self.rng.integers(len(self.schema.classes)))
        yes, no = (self.cut(below, questions - 1) for below in tree.branches)
        return Split(tree.column, tree.branch_of, (yes, no))

    def _any_of(self, every: Sequence[object]) -> int:
        return int(self.rng.integers(len(every)))


@cache
def _branches(codes: int, value: int, ordered: bool) -> tuple[int, ...]:  # noqa: FBT001 -- a key
    """Return the branch of each code, 0 for yes."""
    return tuple(int(code >= value if ordered else code != value) for code in range(codes))
