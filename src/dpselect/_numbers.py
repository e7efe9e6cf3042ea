"""Numbers from which on a condition holds, and floats as exact decimal numbers.

A float is a binary fraction: a hundred times the float ``0.01`` is a little more than 1. What a
data owner grants is the decimal number 0.01, and a hundred of those are 1. So an amount is the
shortest decimal that identifies its float, its ``repr``, and sums of amounts are exact
fractions. The decimal and the float differ by less than one part in 10^15.

Lines of a grid are decimals too: the one at ``k/n`` of the way from ``low`` to ``high`` is the
float nearest to ``low + k (high - low)/n``, of the decimals that the bounds are written as: of
0 and 1 in ten parts the third is 0.3, not 0.30000000000000004. Rounding keeps the order of
lines, and lines at the same place of two grids are one float.

NumPy is imported where lines are computed, so that a process that only spends starts at once.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from math import inf, lcm, nextafter, sqrt
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dpselect.typing import Indices, Values

LARGEST_EXPONENT = 700.0
"""An exponent with a power of e that is a float."""

HALVINGS = 64
"""More than a float has digits."""

DIGITS = 2**40
"""Bounds are decimals up to so many of their last digit; others are floats as they are."""


def least(holds: Callable[[int], bool], start: int = 0) -> int:
    """Return the least integer from ``start`` on for which a condition holds.

    By doubling and bisection: once it holds, it holds for all larger ones.
    """
    step = 1
    while not holds(start + step - 1):
        step *= 2
    low, high = start + step // 2, start + step - 1
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle + 1, high)
    return high


def boundary(
    holds: Callable[[float], bool], low: float, high: float, *, relative: bool = False
) -> tuple[float, float]:
    """Return two floats close together, of which a condition holds for the second alone.

    By bisection, where the condition holds for all numbers from some point on.

    Args:
        holds: The condition.
        low: A number for which it does not hold; it is not tried.
        high: A number for which it holds; it is not tried.
        relative: Halve ratios in place of differences; ``low`` is > 0 then.
    """
    for _ in range(HALVINGS):
        middle = sqrt(low) * sqrt(high) if relative else low + (high - low) / 2
        if not low < middle < high:
            break
        low, high = (low, middle) if holds(middle) else (middle, high)
    return low, high


@lru_cache(maxsize=4096)
def exact(number: float) -> Fraction:
    """Return the decimal number that a finite float prints as.

    Examples:
        >>> exact(0.1) + exact(0.2) == exact(0.3), 0.1 + 0.2 == 0.3
        (True, False)
    """
    return Fraction(Decimal(repr(float(number))))


def floor(amount: Fraction) -> float:
    """Return the largest float that does not print as more than ``amount``, for >= 0."""
    number = float(amount)
    return nextafter(number, 0.0) if exact(number) > amount else number


def ceiling(amount: Fraction) -> float:
    """Return the least float that does not print as less than ``amount``, for > 0."""
    number = float(amount)
    return nextafter(number, inf) if exact(number) < amount else number


def lines(low: float, high: float, places: Indices, parts: int | Indices) -> Values:
    """Return the lines at ``places/parts`` of the way from ``low`` to ``high``.

    Args:
        low: Finite.
        high: Finite, > ``low``.
        places: Shape ``(n,)``.
        parts: One number, or shape ``(n,)``; >= 1.
    """
    import numpy as np

    both = decimals(low, high)
    if both is None:
        return low + (high - low) * (places / parts)
    first, span, unit = both
    # Integers up to there are floats, and the quotient of two is the float nearest to it.
    if max(abs(first) + span, unit) * int(np.max(parts, initial=1)) > 2**53:
        places, parts = np.asarray(places, object), np.asarray(parts, object)
    return np.asarray((first * parts + span * places) / (unit * parts), dtype=np.float64)


@lru_cache(maxsize=256)
def decimals(low: float, high: float) -> tuple[int, int, int] | None:
    """Return ``low`` and ``high - low`` as decimals, over a common denominator; it comes last.

    None where they have too many digits for it.
    """
    first, last = exact(low), exact(high)
    unit = lcm(first.denominator, last.denominator)
    start, span = int(first * unit), int((last - first) * unit)
    return (start, span, unit) if max(abs(start) + span, unit) <= DIGITS else None
