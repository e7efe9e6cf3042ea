"""Pictures of a released tree."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from dpselect.trees.structure import Leaf, Node, Tree, shares
from dpselect.typing import Values

if TYPE_CHECKING:
    from matplotlib.axes import Axes


WIDTH, HEIGHT = 2.4, 0.4
"""Inches from one question to the next, and from one leaf to the next."""

LETTERS = 34
"""What of a label fits into the width."""


def plot(tree: Tree, ax: Axes | None = None) -> Axes:
    """Draw a tree, the root on the left; a leaf has the name and the colour of its class.

    Args:
        tree: What to draw.
        ax: Axes to draw into; a new figure if not given.
    """
    from matplotlib import pyplot as plt

    depth, leaves = tree.depth, tree.leaves
    if ax is None:
        size = (WIDTH * (depth + 1), HEIGHT * leaves + 0.4)
        ax = plt.figure(figsize=size).add_axes((0, 0, 1, 1))
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
