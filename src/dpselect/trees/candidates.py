"""Candidates of an evolution: random trees, crossing, mutation and cutting.

No record is read here: candidates come from public domains and from earlier releases, so
their randomness need not be secret.

Source: Farias et al., PrivPareto, Algorithm 1 (DP-MOET).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from types import MappingProxyType
from typing import Any, Literal, TypeAlias

import numpy as np

from dpselect.trees.domains import Schema
from dpselect.trees.kernels import levels, replaced
from dpselect.trees.tree import Split
from dpselect.typing import Indices

Individual: TypeAlias = Indices
"""A tree as a table of its nodes, shape ``(nodes, 3)``: each before those below it, yes first.

- ``COLUMN``: the position in the schema of the column that is asked for; -1 for an answer.
- ``VALUE``: the code compared with, yes if ``code < value`` for an ordered domain and if
  ``code == value`` for another; the position of the class, for an answer.
- ``SIZE``: the number of nodes from here down.
"""

COLUMN, VALUE, SIZE = 0, 1, 2


def answer(label: int) -> Individual:
    """Return the tree that always answers one class."""
    return np.array([[-1, label, 1]])


def ask(column: int, value: int, yes: Individual, no: Individual) -> Individual:
    """Return a question above two trees."""
    return np.vstack([[[column, value, 1 + len(yes) + len(no)]], yes, no])


def branches(tree: Individual) -> tuple[Individual, Individual]:
    """Return the trees for yes and for no below a question."""
    end = 1 + int(tree[1, SIZE])
    return tree[1:end], tree[end:]


def depth(tree: Individual) -> int:
    """Return the largest number of questions on a path."""
    return int(levels(tree).max())


@dataclass(frozen=True)
class Breeder:
    """The random operators.

    Mutation grows a subtree no deeper than the tree was, and only selected trees are parents.

    Attributes:
        schema: Columns, domains and classes.
        rng: Public randomness.
        max_depth: Questions on a path, at most.
    """

    schema: Schema
    rng: np.random.Generator
    max_depth: int

    @cached_property
    def _least(self) -> Indices:
        # "code < 0" separates nothing; neither does any question on a single code.
        return self.schema.ordered * (self.schema.sizes > 1)

    def random_tree(self, questions: int) -> Individual:
        """Return a full random tree of that depth."""
        sizes, asked, leaves = _full(questions)
        tree = np.full((sizes.size, 3), -1)
        tree[:, SIZE] = sizes
        columns = self.rng.integers(len(self.schema.names), size=asked.size)
        tree[asked, COLUMN] = columns
        tree[asked, VALUE] = self.rng.integers(self._least[columns], self.schema.sizes[columns])
        self._answer(tree, leaves)
        return tree

    def children(self, parents: Sequence[Individual], pairs: int) -> list[Individual]:
        """Return two children of each of some random pairs of parents, crossed and mutated."""
        return [child for _ in range(pairs) for child in self.pair(parents)]

    def pair(self, pool: Sequence[Individual]) -> list[Individual]:
        """Return two children of a random pair of parents."""
        one, other = self.rng.choice(len(pool), size=2, replace=len(pool) == 1).tolist()
        return [self.mutated(child) for child in self.cross(pool[one], pool[other])]

    def cross(self, one: Individual, other: Individual) -> tuple[Individual, Individual]:
        """Exchange a random subtree of each for one of the other, cut to the depth allowed."""
        here, there = self._anywhere(one), self._anywhere(other)
        mine, theirs = subtree(one, here), subtree(other, there)
        return (
            self.cut(replaced(one, here, theirs), self.max_depth),
            self.cut(replaced(other, there, mine), self.max_depth),
        )

    def mutated(self, tree: Individual) -> Individual:
        """Replace a random subtree by a full random one, down to ``deepest``."""
        position = self._anywhere(tree)
        left = self.deepest(tree) - int(levels(tree)[position])
        return replaced(tree, position, self.random_tree(left))

    def deepest(self, tree: Individual) -> int:
        """Return the depth down to which a tree is mutated."""
        return depth(tree)

    def cut(self, tree: Individual, questions: int) -> Individual:
        """Replace what is deeper than that by random answers."""
        level = levels(tree)
        if level.max() <= questions:
            return tree
        kept = level <= questions
        before = np.concatenate([[0], np.cumsum(kept)])
        left = tree[kept]
        left[:, SIZE] = (before[np.arange(len(tree)) + tree[:, SIZE]] - before[:-1])[kept]
        ended = (level[kept] == questions) & (left[:, COLUMN] >= 0)
        left[ended, COLUMN] = -1
        self._answer(left, np.flatnonzero(ended))
        return left

    def _answer(self, tree: Individual, leaves: Indices) -> None:
        """Give leaves random classes."""
        classes = len(self.schema.classes)
        tree[leaves, VALUE] = self.rng.integers(classes, size=leaves.size)

    def _anywhere(self, tree: Individual) -> int:
        return int(self.rng.integers(len(tree)))


class PublishedBreeder(Breeder):
    """The operators of Algorithm 1: mutation grows full subtrees, and children are parents.

    A mutated tree is as deep as trees may be, and has about twenty times as many nodes as by
    ``Breeder``. Children are cut before they are mutated, as in the authors' code; Algorithm 1
    mutates first.
    """

    def children(self, parents: Sequence[Individual], pairs: int) -> list[Individual]:
        """Return two children of each of some random pairs, of which later ones may be born."""
        pool = list(parents)
        for _ in range(pairs):
            pool += self.pair(pool)
        return pool[len(parents) :]

    def deepest(self, tree: Individual) -> int:  # noqa: ARG002 -- the same for all
        """Return the largest depth."""
        return self.max_depth


Operators: TypeAlias = Literal["shallow", "published"]
"""Operators of crossing and mutation."""

BREEDERS: Mapping[Operators, type[Breeder]] = MappingProxyType(
    {"shallow": Breeder, "published": PublishedBreeder}
)


def subtree(tree: Individual, position: int) -> Individual:
    """Return the tree from a node down."""
    return tree[position : position + tree[position, SIZE]]


def as_split(tree: Individual, schema: Schema, answer: Callable[[int], Any]) -> Any:  # noqa: ANN401
    """Return an individual as a split, with something for each position of a class."""
    column, value, size = tree[0].tolist()
    if size == 1:
        return answer(value)
    domain = schema.domains[column]
    branch_of = tuple(
        int(code >= value if domain.ordered else code != value) for code in range(domain.size)
    )
    yes, no = (as_split(part, schema, answer) for part in branches(tree))
    return Split(column, branch_of, (yes, no))


@cache
def _full(questions: int) -> tuple[Indices, Indices, Indices]:
    """Return the sizes of a full tree's subtrees, and where its questions and leaves are."""
    sizes = np.ones(1, dtype=np.int64)
    for _ in range(questions):
        sizes = np.concatenate([[2 * sizes.size + 1], sizes, sizes])
    return sizes, np.flatnonzero(sizes > 1), np.flatnonzero(sizes == 1)
