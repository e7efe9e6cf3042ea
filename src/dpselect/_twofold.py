"""Numbers as unevaluated sums of two floats, for sums and differences without rounding.

A pair holds 106 bits where a float holds 53. A score of ``10^15`` sensitivities is rounded to
an eighth of one by a float, and to ``2^-56`` of one by a pair.

Source: Dekker, Numerische Mathematik 18 (1971); Knuth, TAOCP 2, section 4.2.2.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple, TypeAlias

from dpselect._optional import np
from dpselect.typing import Bools, Indices, Values

Positions: TypeAlias = Indices | Bools | int
"""Where an array is read."""

_SPLIT = 2.0**27 + 1


class Twofold(NamedTuple):
    """Floats ``high + low``, of equal shapes, with ``high`` the float nearest to the sum."""

    high: Values
    low: Values

    def __neg__(self) -> Twofold:
        return Twofold(-self.high, -self.low)

    def at(self, positions: Positions) -> Twofold:
        """Return the numbers at some positions."""
        return Twofold(self.high[positions], self.low[positions])


def exact_sum(a: Values, b: Values) -> Twofold:
    """Return ``a + b`` exactly, unless it overflows."""
    high = a + b
    other = high - a
    return Twofold(high, (a - (high - other)) + (b - other))


def exact_product(a: Values, b: Values) -> Twofold:
    """Return ``a * b`` exactly, for magnitudes from 2^-480 to 2^480, or 0."""
    high = a * b
    a_top, b_top = _upper_half(a), _upper_half(b)
    a_rest, b_rest = a - a_top, b - b_top
    low = ((a_top * b_top - high) + a_top * b_rest + a_rest * b_top) + a_rest * b_rest
    return Twofold(high, low)


def quotient(a: Values | Indices, b: Values | Indices) -> Twofold:
    """Return ``a / b`` for integers of at most 2^53, up to 2^-100 of the quotient."""
    top, bottom = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    high = top / bottom
    product = exact_product(high, bottom)
    return exact_sum(high, ((top - product.high) - product.low) / bottom)


def of_fractions(numbers: Sequence[float | Fraction]) -> Twofold:
    """Return numbers up to 2^-104 of each."""
    high = np.array(numbers, dtype=np.float64)
    rest = [Fraction(s) - Fraction(float(h)) for s, h in zip(numbers, high, strict=True)]
    return Twofold(high, np.array(rest, dtype=np.float64))


def add(x: Twofold, y: Twofold) -> Twofold:
    """Return ``x + y`` up to 2^-104 of the larger magnitude; differences stay relative."""
    if not (np.count_nonzero(x.low) or np.count_nonzero(y.low)):
        return exact_sum(x.high, y.high)
    top, rest = exact_sum(x.high, y.high), exact_sum(x.low, y.low)
    top = exact_sum(top.high, top.low + rest.high)
    return exact_sum(top.high, top.low + rest.low)


def difference(x: Twofold, y: Twofold) -> Values:
    """Return ``x - y`` as floats, up to 2^-51 of the difference."""
    return add(x, -y).high


def largest(x: Twofold) -> int:
    """Return the position of the largest of a vector, the first of equals."""
    if not np.count_nonzero(x.low):
        return int(x.high.argmax())
    [ties] = (x.high == x.high.max()).nonzero()
    return int(ties[np.argmax(x.low[ties])])


def _upper_half(a: Values) -> Values:
    scaled = _SPLIT * a
    return scaled - (scaled - a)
