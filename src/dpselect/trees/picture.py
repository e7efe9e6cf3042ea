"""Pictures of released trees that fit on a page."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from dpselect._optional import needed
from dpselect.trees.tree import Leaf, Node, Tree, count_text, weight

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDTH, HEIGHT = 11.0, 8.0
"""Inches of a picture, at most: a page on its side."""

MOST_LEAVES = 36
"""Leaves that are drawn; of a larger tree, the splits of the last levels are left out."""

LETTERS = 30
"""Letters of a label."""


def plot(tree: Tree, ax: Axes | None = None, *, title: str = "") -> Axes:
    """Draw a tree, the root on the left; a leaf has its class, its colour and its counts.

    Branches that no value can reach and siblings with the same class are left out, and of a
    large tree its last levels.

    Args:
        tree: The tree.
        ax: Axes to draw into; a new figure if not given.
        title: Above the tree, such as what it cost.
    """
    short = tree.simplified()
    levels = next(
        (
            depth
            for depth in range(short.depth, 0, -1)
            if _width(short.root, depth) <= MOST_LEAVES
        ),
        1,
    )
    leaves = _width(short.root, levels)
    if ax is None:
        needed("matplotlib", extra="standard")
        from matplotlib.figure import Figure

        size = min(WIDTH, 3.0 * (levels + 1)), min(HEIGHT, 0.42 * leaves + 1.0)
        ax = Figure(figsize=size, layout="constrained").subplots()
    ax.set_axis_off()
    ax.set(xlim=(-0.4, levels + 0.4), ylim=(0.2 - leaves, 0.8))
    if levels < short.depth:
        title += f"\nthe first {levels} of {short.depth} levels, {short.leaves} leaves in all"
    ax.set_title(title.strip(), fontsize=10)
    _Drawing(short, levels, iter(range(leaves)), ax, 7.5 if leaves <= 24 else 6).node(
        short.root, "", 0
    )
    return ax


def _width(node: Node, levels: int) -> int:
    """Return how many leaves there are if the tree is cut below some levels."""
    if isinstance(node, Leaf) or levels == 0:
        return 1
    return sum(_width(below, levels - 1) for below in node.branches)


class _Drawing:
    """Axes that a tree is drawn into.

    Attributes:
        tree: The tree.
        levels: Splits that are drawn on a path.
        free: Rows that are left for leaves.
        ax: The axes.
        size: Of letters, in points.
    """

    def __init__(
        self, tree: Tree, levels: int, free: Iterator[int], ax: Axes, size: float
    ) -> None:
        self.tree, self.levels, self.free, self.ax, self.size = tree, levels, free, ax, size

    def node(self, node: Node, answer: str, depth: int) -> float:
        """Draw a node and all below it; return its height."""
        if isinstance(node, Leaf) or depth == self.levels:
            height = -float(next(self.free))
            self._text(
                depth, height, f"{_short(answer)}\n{self._says(node)}", self._colour(node)
            )
            return height
        heights = [
            self.node(below, self.tree.answer(node, k), depth + 1)
            for k, below in enumerate(node.branches)
        ]
        height = float(np.mean(heights))
        for below in heights:
            self.ax.plot([depth, depth + 1], [height, below], color="0.8", zorder=0)
        self._text(depth, height, _short(answer or self.tree.schema.names[node.column]), "0.6")
        return height

    def _colour(self, node: Node) -> str:
        return f"C{int(weight(node).argmax())}"

    def _says(self, node: Node) -> str:
        counts = weight(node)
        label = self.tree.schema.classes[int(counts.argmax())]
        more = "" if isinstance(node, Leaf) else " …"
        return f"{label} ({' : '.join(map(count_text, counts.tolist()))}){more}"

    def _text(self, depth: int, height: float, text: str, colour: str) -> None:
        box = {"boxstyle": "round", "facecolor": "white", "edgecolor": colour}
        self.ax.text(
            depth, height, text.strip(), ha="center", va="center", fontsize=self.size, bbox=box
        )


def _short(text: str) -> str:
    return text if len(text) <= LETTERS else text[: LETTERS - 1] + "…"
