r"""Largest ratio over all rivals, for every candidate, from an upper envelope of lines.

Pairwise scalings need :math:`\max_j (a_j - b_r)/(\delta_j + \delta_r)`. The root
:math:`\lambda` of :math:`\max_j (a_j - \lambda\delta_j) = b_r + \lambda\delta_r` is that
maximum, and the left side is an upper envelope of lines: O(n log n) for all r together.
"""

from __future__ import annotations

import numpy as np

from dpselect.typing import Indices, Values


def largest_ratio(lines: Values, slopes: Values, levels: Values, widths: Values) -> Values:
    r"""Return :math:`\max_j (a_j - b_r)/(\delta_j + \delta_r)`, where it is >= 0.

    Args:
        lines: :math:`a_j`, shape ``(n,)``.
        slopes: :math:`\delta_j \ge 0`, shape ``(n,)``.
        levels: :math:`b_r`, shape ``(m,)``; each at most ``lines.max()``.
        widths: :math:`\delta_r \ge 0`, shape ``(m,)``; :math:`\delta_j + \delta_r > 0`
            for every line above the level.

    Returns:
        Shape ``(m,)``.
    """
    hull, starts = _upper_envelope(lines, slopes)
    # E(x) = max_j (a_j - x delta_j) falls in x and b_r + x delta_r rises, so their difference
    # has one root. It is >= 0 because E(0) = max a_j >= b_r. The last piece of E that starts
    # above the right side contains it: bisect over the starts of the pieces.
    low = np.zeros(levels.shape, dtype=np.int64)
    high = np.full(levels.shape, hull.size)
    while (high - low > 1).any():
        middle = (low + high) // 2
        piece = hull[np.minimum(middle, hull.size - 1)]
        at = starts[np.minimum(middle, hull.size - 1)]
        above = lines[piece] - at * slopes[piece] > levels + at * widths
        inner = high - low > 1
        low, high = np.where(inner & above, middle, low), np.where(inner & ~above, middle, high)
    best = hull[low]
    width = slopes[best] + widths
    return (lines[best] - levels) / np.where(width > 0, width, 1.0)


def _upper_envelope(lines: Values, slopes: Values) -> tuple[Indices, Values]:
    """Return the lines ``a - x * slope`` that are largest somewhere on ``x >= 0``.

    Returns:
        Their positions from ``x = 0`` on, and where each becomes the largest.
    """
    # At x >= 0 a line with a larger slope and no larger value at 0 is below the flatter one.
    # What remains has a_j and delta_j increasing together; steepest first, for x = 0.
    order = np.lexsort((-lines, slopes))
    flatter_best = np.maximum.accumulate(np.concatenate([[-np.inf], lines[order][:-1]]))
    order = order[lines[order] > flatter_best][::-1]
    hull: list[int] = []
    starts: list[float] = []
    for line in order:
        while hull:
            last = hull[-1]
            # The flatter line exceeds the last one from here on. If that is no later than
            # where the last one begins, the last one is nowhere the largest.
            meet = (lines[last] - lines[line]) / (slopes[last] - slopes[line])
            if meet > starts[-1]:
                hull.append(int(line))
                starts.append(float(meet))
                break
            hull.pop()
            starts.pop()
        if not hull:
            hull.append(int(line))
            starts.append(0.0)
    return np.array(hull, dtype=np.int64), np.array(starts)
