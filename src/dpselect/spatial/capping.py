r"""Which points of one individual count, when at most so many may.

Those of the least keys, where the key of a point at the lattice position :math:`(x, y)` of an
individual whose largest positions are :math:`(x^*, y^*)` is

.. math:: A (x + x^*) + B (y + y^*) \bmod 2^{32}.

Rows of a lazy frame have no order, and a query may see them in another one each time. This
choice hangs on nothing but the points of the individual, so every engine makes the same one
every time, and nobody else's points have a say. The multipliers wrap around the box a hundred
thousand times: no part of it is preferred. The largest positions make the key of a place, where
many individuals have been, another one for each of them.
"""

from __future__ import annotations

from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from dpselect.spatial.box import POSITIONS, Positions
from dpselect.typing import Indices

# Odd, and below 2**19: products with sums of two positions are below 2**52, exact as floats.
ACROSS, ALONG = 324_027, 395_787


def kept(x: Positions, y: Positions, users: NDArray[np.int64], most: int) -> Indices:
    """Return the positions of the points that count.

    Args:
        x: Shape ``(n,)``.
        y: Shape ``(n,)``.
        users: Shape ``(n,)``: whole numbers from 0, one for each individual.
        most: How many points of one individual count.
    """
    keys = np.zeros(x.size, np.int64)
    for factor, axis in ((ACROSS, x), (ALONG, y)):
        largest = np.zeros(users.max(initial=-1) + 1, np.int64)
        np.maximum.at(largest, users, axis)
        keys += factor * (axis + largest[users])
    # Two sorts of pairs in one number each take half the time of four.
    places = x.astype(np.uint64) * np.uint64(POSITIONS) + y
    order = np.lexsort((places, users * POSITIONS + keys % POSITIONS))
    sizes = np.bincount(users)
    rank = np.arange(x.size) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return order[rank < most]


def kept_rows(points: nw.LazyFrame[Any], user: str, most: int) -> nw.LazyFrame[Any]:
    """Return the rows that count, of a frame of positions ``x`` and ``y`` with users."""
    factors = (("x", ACROSS), ("y", ALONG))
    parts = [
        _wrapped((nw.col(axis) + nw.col(axis).max().over(user)) * float(factor))
        for axis, factor in factors
    ]
    keyed = points.with_columns(_wrapped(parts[0] + parts[1]).alias("key"))
    # Points of one key and one place cannot be told apart, nor need they be.
    rank = nw.col("x").cum_count().over(user, order_by=["key", "x", "y"])
    return keyed.with_columns(rank.alias("rank")).filter(nw.col("rank") <= most)


def _wrapped(number: nw.Expr) -> nw.Expr:
    turns = (number / float(POSITIONS)).floor()
    return number - turns * float(POSITIONS)
