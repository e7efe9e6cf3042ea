"""Privacy parameters as exact decimal numbers.

A float is a binary fraction: a hundred times the float ``0.01`` is a little more than 1.
What a data owner grants is the decimal number 0.01, and a hundred of those are 1. So an
amount is the shortest decimal that identifies its float, its ``repr``, and sums of amounts
are exact fractions. The decimal and the float differ by less than one part in 10^15.

NumPy stays out of this package, so that a process that only spends starts at once.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from math import inf, nextafter


@lru_cache(maxsize=4096)
def exact(number: float) -> Fraction:
    """Return the decimal number that a finite float prints as.

    Examples:
        >>> exact(0.1) + exact(0.2) == exact(0.3), 0.1 + 0.2 == 0.3
        (True, False)
    """
    return Fraction(Decimal(repr(number)))


def floor(amount: Fraction) -> float:
    """Return the largest float that does not print as more than ``amount``, for >= 0."""
    number = float(amount)
    return nextafter(number, 0.0) if exact(number) > amount else number


def ceiling(amount: Fraction) -> float:
    """Return the least float that does not print as less than ``amount``, for > 0."""
    number = float(amount)
    return nextafter(number, inf) if exact(number) < amount else number
