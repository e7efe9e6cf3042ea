"""Pictures of a released tree."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from dpselect.trees.structure import Leaf, Node, Tree

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot(tree: Tree, ax: Axes | None = None) -> Axes:
    """Draw a tree, the root on the left; the colour of a leaf is its class.

    Args:
        tree: What to draw.
        ax: Axes to draw into; a new figure if not given.
    """
    from matplotlib import pyplot as plt

    if ax is None:
        size = (3 + 2.2 * tree.depth, 1 + 0.45 * tree.leaves)
        ax = plt.figure(figsize=size).add_axes((0, 0, 1, 1))
    ax.set_axis_off()
    heights: dict[int, float] = {}
    _place(tree.root, heights, iter(range(tree.leaves)))
    _draw(tree, tree.root, "", 0, heights, ax)
    ax.margins(x=0.2, y=0.05)
    return ax


def _place(node: Node, heights: dict[int, float], free: Iterator[int]) -> float:
    if isinstance(node, Leaf):
        heights[id(node)] = -float(next(free))
    else:
        below = [_place(branch, heights, free) for branch in node.branches]
        heights[id(node)] = float(np.mean(below))
    return heights[id(node)]


def _draw(
    tree: Tree, node: Node, answer: str, depth: int, heights: dict[int, float], ax: Axes
) -> None:
    height = heights[id(node)]
    if isinstance(node, Leaf):
        label = int(np.argmax(node.counts))
        text, colour = f"{answer}\n{tree.schema.classes[label]}", f"C{label}"
    else:
        text, colour = answer or tree.schema.names[node.column], "0.6"
        for k, below in enumerate(node.branches):
            ax.plot([depth, depth + 1], [height, heights[id(below)]], color="0.8", zorder=0)
            _draw(tree, below, tree.answer(node, k), depth + 1, heights, ax)
    box = {"boxstyle": "round", "facecolor": "white", "edgecolor": colour}
    ax.text(depth, height, text.strip(), ha="center", va="center", fontsize=7, bbox=box)
