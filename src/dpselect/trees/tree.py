"""Released trees: structure, class probabilities, text, JSON and pictures.

Everything here is public: a tree holds columns and domains that were declared, splits that
were drawn, and counts that carry noise.
"""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from dpselect._optional import needed
from dpselect.errors import DataError
from dpselect.trees.domains import OUTSIDE, from_dict
from dpselect.trees.records import Schema
from dpselect.typing import Indices, Values

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDTH, HEIGHT = 2.4, 0.4
"""Inches from one split to the next, and from one leaf to the next."""

LETTERS = 34
"""Letters of a label that fit into the width."""


@dataclass(frozen=True, slots=True)
class Leaf:
    """A leaf with released class counts.

    Attributes:
        counts: Released weight of each class; may be negative, as noise is.
    """

    counts: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Split:
    """A split on one column.

    Attributes:
        column: Position in the schema.
        branch_of: For every code of the column, the position of its branch.
        branches: The nodes below.
    """

    column: int
    branch_of: tuple[int, ...]
    branches: tuple[Node, ...]


Node: TypeAlias = Leaf | Split


@dataclass(frozen=True)
class Tree:
    """A tree over public columns.

    Attributes:
        schema: Columns, domains and classes.
        root: The first node.
    """

    schema: Schema
    root: Node

    @property
    def depth(self) -> int:
        """The largest number of splits on a path."""
        return max(depth for depth, _, node in self.walk() if isinstance(node, Leaf))

    @property
    def leaves(self) -> int:
        """The number of leaves."""
        return sum(isinstance(node, Leaf) for _, _, node in self.walk())

    def walk(self) -> Iterator[tuple[int, str, Node]]:
        """Yield depth, the answer that leads there (``""`` for the root) and each node."""
        waiting: list[tuple[int, str, Node]] = [(0, "", self.root)]
        while waiting:
            depth, answer, node = waiting.pop()
            yield depth, answer, node
            if isinstance(node, Split):
                waiting += [
                    (depth + 1, self.answer(node, k), node.branches[k])
                    for k in reversed(range(len(node.branches)))
                ]

    def answer(self, node: Split, branch: int) -> str:
        """Return what leads from a node to one of its branches, as text."""
        domain, name = self.schema.domains[node.column], self.schema.names[node.column]
        codes = [code for code, b in enumerate(node.branch_of) if b == branch]
        if len(codes) == 1:
            return f"{name} = {domain.labels[codes[0]]}"
        if len(codes) > 1 + domain.size // 2 and len(node.branches) == 2:
            others = [code for code, b in enumerate(node.branch_of) if b != branch]
            return f"{name} not in {{{', '.join(domain.labels[c] for c in others)}}}"
        return f"{name} in {{{', '.join(domain.labels[c] for c in codes)}}}"

    def probabilities(self, codes: Indices) -> Values:
        """Return the probability of each class for each record, shape ``(n, classes)``.

        A record whose answer is ``OUTSIDE`` stops there and gets what is below together. A
        leaf without a positive count says what the node above it does.

        Args:
            codes: Shape ``(n, columns)``.
        """
        classes = len(self.schema.classes)
        out = np.empty((len(codes), classes))
        waiting = [(self.root, np.arange(len(codes)), np.full(classes, 1 / classes))]
        while waiting:
            node, rows, above = waiting.pop()
            here = shares(node, above)
            if isinstance(node, Leaf):
                out[rows] = here
                continue
            answers = codes[rows, node.column]
            out[rows[answers == OUTSIDE]] = here
            branch = np.where(answers == OUTSIDE, OUTSIDE, np.array(node.branch_of)[answers])
            waiting += [
                (below, rows[branch == k], here) for k, below in enumerate(node.branches)
            ]
        return out

    def to_text(self) -> str:
        """Return the tree as indented text, one line for each leaf or answer."""
        lines = []
        for depth, answer, node in self.walk():
            says = f": {self._says(node)}" if isinstance(node, Leaf) else ""
            if depth or says:
                lines.append("|   " * max(depth - 1, 0) + (answer + says).removeprefix(": "))
        return "\n".join(lines)

    def _says(self, node: Leaf) -> str:
        classes = self.schema.classes
        counts = ", ".join(f"{c} {n:g}" for c, n in zip(classes, node.counts, strict=True))
        most = int(np.argmax(node.counts))
        return f"{classes[most] if node.counts[most] > 0 else 'as above'}  ({counts})"

    def to_dict(self) -> dict[str, Any]:
        """Return the tree as plain Python values."""
        pairs = zip(self.schema.names, self.schema.domains, strict=True)
        return {
            "classes": list(self.schema.classes),
            "domains": {name: domain.to_dict() for name, domain in pairs},
            "root": _node_to_dict(self.root),
        }

    def to_json(self) -> str:
        """Return the tree as one JSON object."""
        return json.dumps(self.to_dict(), default=str)

    @classmethod
    def from_json(cls, text: str) -> Tree:
        """Return the tree that :meth:`to_json` wrote.

        Raises:
            DataError: It is not such a text.
        """
        try:
            given = json.loads(text)
            domains = {name: from_dict(name, d) for name, d in given["domains"].items()}
            classes: tuple[Hashable, ...] = tuple(given["classes"])
            schema = Schema(tuple(domains), tuple(domains.values()), classes)
            return cls(schema, _node_from_dict(given["root"]))
        except (KeyError, TypeError, ValueError, AttributeError):
            raise DataError("the text is not a tree that to_json wrote") from None


def weight(node: Node) -> Values:
    """Return the released weight of each class at a node, negative counts as 0."""
    if isinstance(node, Leaf):
        return np.maximum(np.array(node.counts, dtype=np.float64), 0)
    return np.sum([weight(below) for below in node.branches], axis=0)


def shares(node: Node, above: Values) -> Values:
    """Return the probability of each class at a node, that above it without a positive one."""
    weights = weight(node)
    total = weights.sum()
    return weights / total if total > 0 else above


def plot(tree: Tree, ax: Axes | None = None) -> Axes:
    """Draw a tree, the root on the left; a leaf has the name and the colour of its class.

    Args:
        tree: The tree.
        ax: Axes to draw into; a new figure if not given.
    """
    depth, leaves = tree.depth, tree.leaves
    if ax is None:
        needed("matplotlib", extra="standard")
        from matplotlib.figure import Figure

        size = (WIDTH * (depth + 1), HEIGHT * leaves + 0.4)
        ax = Figure(figsize=size).add_axes((0, 0, 1, 1))
    ax.set_axis_off()
    ax.set(xlim=(-0.5, depth + 0.5), ylim=(0.2 - leaves, 0.8))
    heights: dict[int, float] = {}
    _place(tree.root, heights, iter(range(leaves)))
    classes = len(tree.schema.classes)
    _draw(tree, tree.root, "", np.full(classes, 1 / classes), 0, heights, ax)
    return ax


def _place(node: Node, heights: dict[int, float], free: Iterator[int]) -> float:
    if isinstance(node, Leaf):
        heights[id(node)] = -float(next(free))
    else:
        below = [_place(branch, heights, free) for branch in node.branches]
        heights[id(node)] = float(np.mean(below))
    return heights[id(node)]


def _draw(
    tree: Tree,
    node: Node,
    answer: str,
    above: Values,
    depth: int,
    heights: dict[int, float],
    ax: Axes,
) -> None:
    height, here = heights[id(node)], shares(node, above)
    if isinstance(node, Leaf):
        label = int(here.argmax())
        text, colour = f"{_short(answer)}\n{tree.schema.classes[label]}", f"C{label}"
    else:
        text, colour = _short(answer or tree.schema.names[node.column]), "0.6"
        for k, below in enumerate(node.branches):
            ax.plot([depth, depth + 1], [height, heights[id(below)]], color="0.8", zorder=0)
            _draw(tree, below, tree.answer(node, k), here, depth + 1, heights, ax)
    box = {"boxstyle": "round", "facecolor": "white", "edgecolor": colour}
    ax.text(depth, height, text.strip(), ha="center", va="center", fontsize=7, bbox=box)


def _short(text: str) -> str:
    return text if len(text) <= LETTERS else text[: LETTERS - 1] + "…"


def _node_to_dict(node: Node) -> dict[str, Any]:
    if isinstance(node, Leaf):
        return {"counts": list(node.counts)}
    return {
        "column": node.column,
        "branch_of": list(node.branch_of),
        "branches": [_node_to_dict(below) for below in node.branches],
    }


def _node_from_dict(given: dict[str, Any]) -> Node:
    if "counts" in given:
        return Leaf(tuple(float(count) for count in given["counts"]))
    return Split(
        int(given["column"]),
        tuple(int(b) for b in given["branch_of"]),
        tuple(_node_from_dict(below) for below in given["branches"]),
    )
