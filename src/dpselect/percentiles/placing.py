"""The candidate that each record counts at: the nearest one, of two as near the larger one.

So a number beyond the candidates counts at their end. Halfway between two candidates is taken
of their decimal digits (of listed ones, if they have up to 15), and rounded to the type of
floats that the numbers are of: the float of that type that is nearest to the digits of a
candidate counts at it.

Guarantee:
    Where a record counts depends on that record and on public candidates alone, so neighbours
    remain neighbours, under any relation.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from dpselect.typing import Indices, Values
from dpselect.validation import EXACT

if TYPE_CHECKING:
    from dpselect.percentiles.ranges import Range

Float: TypeAlias = type[np.floating]
"""A type of floats that a column declares."""

DIGITS = 16
"""Decimals, one more than are looked for in listed candidates."""


def exact_decimal(number: float) -> Fraction:
    """Return a number through its decimal digits."""
    return Fraction(repr(float(number)))


def places_of(points: Values | Range, numbers: Values, kind: Float = np.float64) -> Indices:
    """Return the positions, among ascending candidates, that numbers count at.

    Of a candidate it is its own position, whatever candidates are next to it.

    Args:
        points: The candidates; if listed, in any order.
        numbers: None missing. Private.
        kind: The type of floats that they are of.
    """
    if isinstance(points, np.ndarray):
        return np.searchsorted(starts_of(np.unique(points), kind), numbers, side="right")
    return points.places(numbers, kind)


def starts_of(points: Values, kind: Float = np.float64) -> Values:
    """Return the least number that counts at each of ascending candidates, but the first."""
    return least_above(_halfway(points), points[:-1], kind)


def least_above(halfway: Values, before: Values, kind: Float) -> Values:
    """Return the least numbers of a type from halfway on, other than the candidate before."""
    with np.errstate(over="ignore", under="ignore"):
        next_one = np.nextafter(before.astype(kind), kind(np.inf))
        return np.maximum(halfway.astype(kind), next_one).astype(np.float64)


def unclear(points: Values | Range, kind: Float) -> float | None:
    """Return a candidate that a type of floats may not tell from the next, if one is."""
    if not isinstance(points, np.ndarray):
        return points.unclear(kind)
    ascending = np.unique(points)
    with np.errstate(over="ignore", under="ignore"):
        held = ascending.astype(kind)
    alike = np.flatnonzero(held[1:] == held[:-1])
    return float(ascending[alike[0]]) if alike.size else None


def _halfway(points: Values) -> Values:
    """Return the floats nearest to halfway between ascending candidates."""
    with np.errstate(all="ignore"):
        found = points[:-1] / 2 + points[1:] / 2
        left = np.ones(found.size, dtype=np.bool_)
        for scale in (10.0**digits for digits in range(DIGITS)):
            # Candidates of so few digits are integers by their scale, and sums of two exact.
            whole = np.rint(points * scale)
            exact = (np.abs(whole) < EXACT / 2) & (whole / scale == points)
            pairs = left & exact[:-1] & exact[1:]
            found[pairs] = (whole[:-1][pairs] + whole[1:][pairs]) / (2 * scale)
            left &= ~pairs
            if not left.any():
                break
    return found
