"""Privacy parameters as exact decimal numbers.

A float is a binary fraction: a hundred times the float ``0.01`` is a little more than 1.
What a data owner grants is the decimal number 0.01, and a hundred of those are 1. So an
amount is the shortest decimal that identifies its float, its ``repr``, and sums of amounts
are exact fractions. The decimal and the float differ by less than one part in 10^15.

NumPy stays out of this package, so that a process that only spends starts at once.
"""

from __future__ import annotations

import sys
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from math import inf, isfinite, nextafter
from numbers import Integral, Real

from dpselect.errors import ParameterError


def positive(name: str, value: object) -> float:
    """Return ``value`` as a float that is finite, > 0 and not subnormal."""
    number = _number(name, value)
    if number < sys.float_info.min:
        raise ParameterError(f"`{name}` must be finite and > 0, got {number!r}")
    return number


def non_negative(name: str, value: object) -> float:
    """Return ``value`` as a float that is 0, or finite, > 0 and not subnormal."""
    number = _number(name, value)
    if number != 0 and number < sys.float_info.min:
        raise ParameterError(f"`{name}` must be 0, or finite and > 0, got {number!r}")
    # A negative zero is zero, and should print as zero.
    return abs(number)


def probability(name: str, value: object) -> float:
    """Return ``value`` as a float that is 0, or not subnormal and below 1."""
    number = _number(name, value)
    if number != 0 and not sys.float_info.min <= number < 1:
        raise ParameterError(f"`{name}` must be 0 or between 0 and 1, got {number!r}")
    return abs(number)


def count(name: str, value: object) -> int:
    """Return ``value`` as an integer >= 0."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < 0:
        raise ParameterError(f"`{name}` must be an integer >= 0, not {value!r}")
    return int(value)


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


def _number(name: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, Real):
        raise ParameterError(f"`{name}` must be a number, not a {type(value).__name__}")
    try:
        number = float(value)
    except OverflowError:
        raise ParameterError(f"`{name}` must be finite; it is too large") from None
    if not isfinite(number):
        raise ParameterError(f"`{name}` must be finite, got {number!r}")
    return number
