"""Integer bounds of powers of e, and the chance of randomised response from them.

An exact draw needs probabilities that are fractions. Where the distribution has a power of
``e``, it is enclosed between two integers over a power of two; where a fraction has to be
chosen, it is chosen in the private direction.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import ceil

LARGEST_EPSILON = 1000.0
"""Above it a flip is as likely as at it: less than ``10^-434``."""

PRECISION = 128
"""Bits by which the chance of a flip may exceed its bound, relative to it."""

DIGIT = 12
"""Bits of an exponent whose powers are in one table."""


def exp_minus(x: Fraction, bits: int) -> tuple[int, int]:
    """Return integers with ``low ≤ 2^bits e^(-x) ≤ high``.

    Let ``y = x / 2^k ≤ 1``. The series ``e^(-y) = ∑_j (-y)^j / j!`` alternates and its terms
    fall, so its remainder is below the first term left out. Each term is rounded down for
    ``low_term`` and up for ``high_term``; a term that is added takes the rounding of the bound
    it is added to, one that is subtracted the other. At last ``e^(-y)`` is squared ``k`` times.

    Args:
        x: At least 0.
        bits: At least 2.
    """
    halvings = max(0, x.numerator.bit_length() - x.denominator.bit_length() + 1)
    over = x.denominator << halvings
    low_term = high_term = low = high = 1 << bits
    for j in range(1, bits):
        low_term = low_term * x.numerator // (over * j)
        high_term = -(-high_term * x.numerator // (over * j))
        if j % 2:
            low, high = low - high_term, high - low_term
        else:
            low, high = low + low_term, high + high_term
        if high_term <= 1:
            break
    low, high = max(low - 1, 0), high + 1
    for _ in range(halvings):
        low, high = (low * low) >> bits, -(-(high * high) >> bits)
    return low, high


@dataclass(frozen=True, slots=True)
class Powers:
    """Integer bounds of ``2^bits e^(-decay m)`` for integers ``m``.

    The powers by each digit of ``m`` are in tables, so that the time of a power does not depend
    on which exponents were there before.

    Attributes:
        decay: In nats; > 0.
        bits: At least 2.
    """

    decay: Fraction
    bits: int

    @property
    def last(self) -> int:
        """An exponent whose power is below one unit."""
        return int(7 * self.bits / (10 * self.decay)) + 1  # ln 2 is less than 7/10

    def at(self, exponent: int) -> tuple[int, int]:
        """Return the bounds of one power, of an exponent >= 0."""
        low = high = 1 << self.bits
        cut = min(exponent, self.last)
        for place in range(0, cut.bit_length(), DIGIT):
            lows, highs = _table(self, place)
            digit = cut >> place & len(lows) - 1
            low, high = low * lows[digit] >> self.bits, -(-high * highs[digit] >> self.bits)
        return low, high


@lru_cache(maxsize=32)
def _table(powers: Powers, place: int) -> tuple[list[int], list[int]]:
    """Return the bounds of all powers by the digit at a place."""
    factor = exp_minus(powers.decay * (1 << place), powers.bits)
    low = high = 1 << powers.bits
    lows, highs = [], []
    for _ in range(1 << DIGIT):
        lows.append(low)
        highs.append(high)
        low, high = low * factor[0] >> powers.bits, -(-high * factor[1] >> powers.bits)
    return lows, highs


def flip_chance(epsilon: float) -> Fraction:
    """Return a fraction that is at least ``1/(1 + e^ε)``, and hardly above.

    A bit that is flipped with this chance is ``epsilon``-DP: with ``z = e^(-ε)`` the chance
    ``z/(1 + z)`` rises with ``z``, so an upper bound of ``z`` gives an upper bound of the
    chance, and the log odds ``ln((1 - ρ)/ρ)`` are at most ``epsilon``.

    Args:
        epsilon: The binary fraction that the float is; > 0. Above 1000 the chance is that
            of 1000.

    Returns:
        In (0, 1/2], at most a factor ``1 + 2^-100`` above the bound.
    """
    x = Fraction(min(epsilon, LARGEST_EPSILON))
    # e^-x has at most 1.45 x leading zero bits.
    bits = PRECISION + ceil(1.5 * x)
    high = min(exp_minus(x, bits)[1], 1 << bits)
    return Fraction(high, (1 << bits) + high)
