"""The one loop that numpy has no word for: a running sum that loses no digits."""

from __future__ import annotations

import numpy as np
from numba import njit

from dpselect.typing import Indices, Values


@njit(cache=True)  # type: ignore[untyped-decorator]
def sum_of_runs(edges: Indices, levels: Values, size: int) -> Values:
    """Return for every position the sum of the levels of the runs that cover it.

    Level ``i`` of column ``t`` covers the positions from ``edges[i - 1, t]`` (0 for the
    first) up to ``edges[i, t]`` (``size`` for the last). Every sum is carried with what its
    additions lost, so that its error does not grow with the number of runs.

    Args:
        edges: Shape ``(m - 1, T)``, ascending in each column, 0 to ``size``.
        levels: Shape ``(m, T)``.
        size: The number of positions.

    Returns:
        Shape ``(size,)``.
    """
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


@njit(cache=True)  # type: ignore[untyped-decorator]
def _add(sums: Values, lost: Values, at: int, term: float) -> None:
    # Knuth's two-sum: what the addition rounds away, exactly.
    raised = sums[at] + term
    virtual = raised - sums[at]
    lost[at] += (sums[at] - (raised - virtual)) + (term - virtual)
    sums[at] = raised
