"""Compensated running sum over overlapping intervals (numba)."""

from __future__ import annotations

import numpy as np

from dpselect._compiled import compiled
from dpselect.typing import Indices, Values


@compiled
def sum_of_runs(edges: Indices, levels: Values, size: int) -> Values:
    """Return for every position the sum of the levels of the runs that cover it.

    Level ``i`` of column ``t`` covers the positions from ``edges[i - 1, t]`` (0 for the
    first) up to ``edges[i, t]`` (``size`` for the last). Every sum is kept as a pair of the
    rounded sum and its rounding errors, so that its error does not grow with the number of
    runs. O(size + m T).

    Args:
        edges: Shape ``(m - 1, T)``, ascending in each column, 0 to ``size``.
        levels: Shape ``(m, T)``.
        size: The number of positions.

    Returns:
        Shape ``(size,)``.
    """
    # A run that starts at a and ends before b adds its level to the running sum at a and
    # subtracts it at b, so the prefix sum of these jumps is the sum of the covering runs.
    jumps = np.zeros(size + 1)
    lost = np.zeros(size + 1)
    for t in range(levels.shape[1]):
        _add(jumps, lost, 0, levels[0, t])
        for i in range(edges.shape[0]):
            _add(jumps, lost, edges[i, t], -levels[i, t])
            _add(jumps, lost, edges[i, t], levels[i + 1, t])
    for position in range(size):
        _add(jumps, lost, position + 1, jumps[position])
        lost[position + 1] += lost[position]
    return (jumps + lost)[:size]


@compiled
def _add(sums: Values, lost: Values, at: int, term: float) -> None:
    # Knuth's two-sum (TAOCP 2, section 4.2.2, Theorem B): the rounding error of a float
    # addition is itself a float and is computed exactly from the rounded sum.
    raised = sums[at] + term
    virtual = raised - sums[at]
    lost[at] += (sums[at] - (raised - virtual)) + (term - virtual)
    sums[at] = raised
