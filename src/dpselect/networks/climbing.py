"""The sensitivity of egocentric density, one node and one distance at a time, compiled.

A node of degree ``d`` reaches the bound at distance ``d - 2``, so that climbing there for all
nodes takes as many steps as the graph has edges, twice: milliseconds.
"""

from __future__ import annotations

import numpy as np

from dpselect.networks.kernels import compiled
from dpselect.typing import Indices, Values


@compiled
def change(degree: int, spread: int, distance: int) -> float:
    """Return the most that one edge can change of a density; see ``spread``."""
    left = degree - distance
    if left <= 2:
        return 0.0 if degree == 0 and distance == 0 else 1.0
    spread += distance
    removal = 2 * spread / (left * (left - 2))
    addition = 2 * (spread + 1) / (left * (left + 1))
    between = 2 / (left * (left - 1))
    return min(2 / left, max(removal, addition, between))


@compiled
def changes(degrees: Indices, spreads: Indices, distances: Indices) -> Values:
    """Return :func:`change` for all nodes, each at its own distance."""
    values = np.empty(degrees.size)
    for node in range(degrees.size):
        values[node] = change(degrees[node], spreads[node], distances[node])
    return values


@compiled
def climb(
    degrees: Indices, spreads: Indices, heights: Values, most: Indices
) -> tuple[Indices, Values]:
    """Sum :func:`change` over distances until the next would exceed ``heights``.

    Returns:
        How many were summed, at most ``most``, and their sum.
    """
    steps, sums = np.empty(degrees.size, np.int64), np.empty(degrees.size)
    for node in range(degrees.size):
        degree, height = degrees[node], heights[node]
        varying = min(most[node], max(degree - 2, 1))
        t, total, lost = 0, 0.0, 0.0
        while t < varying:
            delta = change(degree, spreads[node], t)
            raised = total + delta
            # Neumaier's sum: a unit score divides it by a term as small as 2/d^2.
            rest = (total - raised) + delta if total >= delta else (delta - raised) + total
            if raised + (lost + rest) > height:
                break
            total, lost, t = raised, lost + rest, t + 1
        total += lost
        if t == varying:
            further = min(most[node] - t, np.floor(height - total))
            t, total = t + int(further), total + further
        steps[node], sums[node] = t, total
    return steps, sums
