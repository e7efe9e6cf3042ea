"""Rectangles to tune for when nobody said what the map will be asked."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from dpselect import _validate
from dpselect.errors import ParameterError
from dpselect.spatial.box import Box
from dpselect.typing import Values

SHARES = (1 / 64, 1 / 32, 1 / 16, 1 / 8, 1 / 4)
"""Sides of the rectangles, as shares of the sides of the box."""


def even_queries(
    bounds: Box | ArrayLike, *, shares: tuple[float, ...] = SHARES, each: int = 120
) -> Values:
    r"""Return rectangles of a few sizes, spread evenly over the box; the same every time.

    Their corners follow the plastic number's additive recurrence, so that edges fall on no
    grid's lines. Public: they depend on the bounds alone.

    Args:
        bounds: ``(west, south, east, north)``, or a :class:`Box`.
        shares: Sides of the rectangles over sides of the box, each between 0 and 1.
        each: How many rectangles of each size.

    Returns:
        Shape ``(len(shares) * each, 4)``: ``(west, south, east, north)``.

    Raises:
        ParameterError: A share is not between 0 and 1, or ``each`` is not at least 1.

    Source: Roberts 2018, "The unreasonable effectiveness of quasirandom sequences".
    """
    box = Box.of(bounds)
    each = _validate.at_least("each", each, 1)
    sides = np.asarray(shares, dtype=np.float64)
    if sides.ndim != 1 or sides.size == 0 or not ((sides > 0) & (sides < 1)).all():
        raise ParameterError("shares must be between 0 and 1, both excluded, and at least one")
    plastic = 1.32471795724474602596
    steps = np.arange(1, sides.size * each + 1)[:, None] * [1 / plastic, 1 / plastic**2]
    widths = np.repeat(sides, each)[:, None]
    low = steps % 1 * (1 - widths)
    edges = np.column_stack([low, low + widths])
    columns = []
    for axis, share in enumerate(edges.T):
        low_bound, high_bound = box.bounds[axis % 2], box.bounds[axis % 2 + 2]
        columns.append(np.clip(box.coordinates(share, axis % 2), low_bound, high_bound))
    return np.column_stack(columns)
