"""Passes over patterns, compiled: contingency tables, and many trees at once."""

from __future__ import annotations

import numpy as np
from numba import njit

from dpselect.typing import Indices


@njit(cache=True)  # type: ignore[untyped-decorator]
def contingency(codes: Indices, counts: Indices, rows: Indices, starts: Indices) -> Indices:
    """Return records by value (all columns' values in a row) and class.

    Args:
        codes: Shape ``(m, columns)``.
        counts: Shape ``(m, classes)``.
        rows: Positions of the patterns to count.
        starts: Where the values of each column start, shape ``(columns + 1,)``.
    """
    columns, classes = codes.shape[1], counts.shape[1]
    out = np.zeros((starts[columns], classes), dtype=np.int64)
    for i in rows:
        for j in range(columns):
            value = starts[j] + codes[i, j]
            for c in range(classes):
                out[value, c] += counts[i, c]
    return out


@njit(cache=True)  # type: ignore[untyped-decorator]
def hits(codes: Indices, counts: Indices, nodes: Indices, roots: Indices) -> Indices:
    """Return the records of each class that each of many trees assigns to it.

    Args:
        codes: Shape ``(m, columns)``.
        counts: Shape ``(m, classes)``.
        nodes: All trees' nodes, shape ``(k, 5)``: column (-1 for a leaf), 1 if the question
            is ``code < value`` and 0 if it is ``code == value``, the value (the class, for
            a leaf), and the nodes for yes and for no.
        roots: The first node of each tree.

    Returns:
        Shape ``(trees, classes)``.
    """
    out = np.zeros((roots.size, counts.shape[1]), dtype=np.int64)
    for tree in range(roots.size):
        for i in range(codes.shape[0]):
            node = roots[tree]
            while nodes[node, 0] >= 0:
                code, value = codes[i, nodes[node, 0]], nodes[node, 2]
                yes = code < value if nodes[node, 1] == 1 else code == value
                node = nodes[node, 3] if yes else nodes[node, 4]
            label = nodes[node, 2]
            out[tree, label] += counts[i, label]
    return out
