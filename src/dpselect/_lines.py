"""Equidistant edges of decimals, as the floats that are written like them.

The line at ``k/n`` of the way from ``low`` to ``high`` is the float nearest to
``low + k (high - low)/n``, of the decimals that the bounds are written as: of 0 and 1 in ten
parts the third is 0.3, not 0.30000000000000004. Rounding keeps the order of lines, and lines at
the same place of two grids are one float.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from math import lcm

import numpy as np

from dpselect.typing import Indices, Values

DIGITS = 2**40
"""Bounds are decimals up to so many of their last digit; others are floats as they are."""

EXACT = 2**53
"""Integers up to here are floats, and the quotient of two is the float nearest to it."""


def lines(low: float, high: float, places: Indices, parts: int | Indices) -> Values:
    """Return the lines at ``places/parts`` of the way from ``low`` to ``high``.

    Args:
        low: Finite.
        high: Finite, > ``low``.
        places: Shape ``(n,)``.
        parts: One number, or shape ``(n,)``; >= 1.
    """
    whole = decimals(low, high)
    if whole is None:
        return low + (high - low) * (places / parts)
    first, span, unit = whole
    if max(abs(first) + span, unit) * int(np.max(parts, initial=1)) > EXACT:
        places, parts = np.asarray(places, object), np.asarray(parts, object)
    return np.asarray((first * parts + span * places) / (unit * parts), dtype=np.float64)


@lru_cache(maxsize=256)
def decimals(low: float, high: float) -> tuple[int, int, int] | None:
    """Return ``low`` and ``high - low`` as decimals, over a common denominator; it comes last.

    None where they have too many digits for it.
    """
    first, last = Fraction(repr(float(low))), Fraction(repr(float(high)))
    unit = lcm(first.denominator, last.denominator)
    start, span = int(first * unit), int((last - first) * unit)
    return (start, span, unit) if max(abs(start) + span, unit) <= DIGITS else None
