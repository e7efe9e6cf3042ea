"""Candidates of an evolution: random trees, crossing, mutation and cutting.

No record is read here: candidates come from public domains and from earlier releases, so
their randomness need not be secret.

Source: Farias et al., PrivPareto, Algorithm 1 (DP-MOET).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from dpselect.trees.records import Schema
from dpselect.trees.tree import Leaf, Node, Split
from dpselect.typing import Indices


@dataclass(frozen=True, slots=True)
class Answer:
    """A leaf: the position of a class."""

    label: int
    size: int = 1


@dataclass(frozen=True, slots=True)
class Question:
    """``code < value`` for an ordered domain, else ``code == value``.

    Attributes:
        column: Position in the schema.
        value: The code compared with.
        yes: The tree for the records that it holds for.
        no: The tree for the others.
        size: Nodes in this subtree.
    """

    column: int
    value: int
    yes: Individual
    no: Individual
    size: int


Individual: TypeAlias = Answer | Question

Operators: TypeAlias = Literal["compact", "published"]
"""How children are made: see :class:`Breeder`."""


def ask(column: int, value: int, yes: Individual, no: Individual) -> Question:
    """Return a question with the size of its subtree."""
    return Question(column, value, yes, no, 1 + yes.size + no.size)


def depth(tree: Individual) -> int:
    """Return the largest number of questions on a path."""
    return 0 if isinstance(tree, Answer) else 1 + max(depth(tree.yes), depth(tree.no))


@dataclass(frozen=True)
class Breeder:
    """The random operators.

    ``compact`` mutation grows a subtree no deeper than the tree was, and only selected trees
    are parents. ``published`` mutation, as Algorithm 1 has it, grows a full subtree down to
    ``max_depth``, and children become parents as soon as they are born. It makes trees with
    about twenty times as many nodes.

    Attributes:
        schema: Columns, domains and classes.
        rng: Public randomness.
        max_depth: Questions on a path, at most.
        operators: Which.
    """

    schema: Schema
    rng: np.random.Generator
    max_depth: int
    operators: Operators = "compact"

    def random_tree(self, questions: int) -> Individual:
        """Return a full random tree of that depth."""
        if questions == 0:
            return Answer(int(self.rng.integers(len(self.schema.classes))))
        column = int(self.rng.integers(len(self.schema.names)))
        domain = self.schema.domains[column]
        # "code < 0" separates nothing; neither does any question on a single code.
        least = 1 if domain.ordered and domain.size > 1 else 0
        value = int(self.rng.integers(least, domain.size))
        return ask(
            column, value, self.random_tree(questions - 1), self.random_tree(questions - 1)
        )

    def children(self, parents: Sequence[Individual], pairs: int) -> list[Individual]:
        """Return two children of each of some random pairs of parents, crossed and mutated."""
        pool = list(parents)
        born: list[Individual] = []
        for _ in range(pairs):
            one, other = self.rng.choice(len(pool), size=2, replace=len(pool) == 1).tolist()
            two = [self.mutated(child) for child in self.cross(pool[one], pool[other])]
            born += two
            if self.operators == "published":
                pool += two
        return born

    def cross(self, one: Individual, other: Individual) -> tuple[Individual, Individual]:
        """Exchange a random subtree of each for one of the other, cut to the depth allowed."""
        here, there = self._anywhere(one), self._anywhere(other)
        mine, theirs = subtree(one, here), subtree(other, there)
        return (
            self.cut(replaced(one, here, theirs), self.max_depth),
            self.cut(replaced(other, there, mine), self.max_depth),
        )

    def mutated(self, tree: Individual) -> Individual:
        """Replace a random subtree by a full random one, to the depth of the operators."""
        position = self._anywhere(tree)
        deepest = self.max_depth if self.operators == "published" else depth(tree)
        left = deepest - level(tree, position)
        return replaced(tree, position, self.random_tree(left))

    def cut(self, tree: Individual, questions: int) -> Individual:
        """Replace what is deeper than that by random answers."""
        if isinstance(tree, Answer):
            return tree
        if questions == 0:
            return self.random_tree(0)
        yes, no = self.cut(tree.yes, questions - 1), self.cut(tree.no, questions - 1)
        return (
            tree if yes is tree.yes and no is tree.no else ask(tree.column, tree.value, yes, no)
        )

    def _anywhere(self, tree: Individual) -> int:
        return int(self.rng.integers(tree.size))


def subtree(tree: Individual, position: int) -> Individual:
    """Return the node at a position, counted from 0 at the root, yes before no."""
    while position > 0 and isinstance(tree, Question):
        inside = position <= tree.yes.size
        position -= 1 if inside else 1 + tree.yes.size
        tree = tree.yes if inside else tree.no
    return tree


def level(tree: Individual, position: int) -> int:
    """Return how many questions lead to the node at a position."""
    questions = 0
    while position > 0 and isinstance(tree, Question):
        inside = position <= tree.yes.size
        position -= 1 if inside else 1 + tree.yes.size
        tree = tree.yes if inside else tree.no
        questions += 1
    return questions


def replaced(tree: Individual, position: int, new: Individual) -> Individual:
    """Return the tree with another subtree at a position."""
    if position == 0 or isinstance(tree, Answer):
        return new
    if position <= tree.yes.size:
        return ask(tree.column, tree.value, replaced(tree.yes, position - 1, new), tree.no)
    below = replaced(tree.no, position - 1 - tree.yes.size, new)
    return ask(tree.column, tree.value, tree.yes, below)


def flattened(trees: Sequence[Individual], schema: Schema) -> tuple[Indices, Indices]:
    """Return all trees as one table of nodes, and where each begins.

    Returns:
        Shape ``(k, 5)``, as :func:`dpselect.trees.kernels.hits` reads it, and
        shape ``(trees,)``.
    """
    ordered = [int(domain.ordered) for domain in schema.domains]
    rows: list[tuple[int, int, int, int, int]] = []
    roots = []
    for tree in trees:
        roots.append(len(rows))
        waiting = [tree]
        while waiting:
            node = waiting.pop()
            if isinstance(node, Answer):
                rows.append((-1, 0, node.label, 0, 0))
            else:
                here = len(rows)
                no = here + 1 + node.yes.size
                rows.append((node.column, ordered[node.column], node.value, here + 1, no))
                waiting += [node.no, node.yes]
    return np.array(rows, dtype=np.int64), np.array(roots, dtype=np.int64)


def as_node(tree: Individual, schema: Schema) -> Node:
    """Return an individual in the form that is released; an answer weighs 1."""
    if isinstance(tree, Answer):
        return Leaf(tuple(float(k == tree.label) for k in range(len(schema.classes))))
    domain = schema.domains[tree.column]
    no = (
        tuple(int(code >= tree.value) for code in range(domain.size))
        if domain.ordered
        else tuple(int(code != tree.value) for code in range(domain.size))
    )
    return Split(tree.column, no, (as_node(tree.yes, schema), as_node(tree.no, schema)))
