"""Exact draws by inversion, from bits that are drawn as far as they decide.

Outcome ``i`` has probability ``w_i / ∑_j w_j``, so that it takes the part of [0, 1) between two
running sums over the whole sum. Weights may be any real numbers: a distribution gives integer
bounds of them, as close as needed (``Weights``). A uniform number is known by its first bits.
If whatever bits follow, and whatever the weights are within their bounds, it lies in the part
of one outcome, that one is drawn; if not, more bits are drawn, and the bounds are made closer.
Nothing is rounded: the distribution is the stated one.

Where a weight or a chance has a power of ``e``, that is enclosed between two integers over a
power of two; where a fraction has to be chosen, it is chosen in the private direction.

Source: Flajolet and Saheb 1986, and Karney 2016, arXiv:1303.6257, for exact draws from bits as
they are needed.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate

from dpselect.draws.exact import samplers as source

LARGEST_EPSILON = 1000.0
"""Above it a flip is as likely as at it: less than ``10^-434``."""

DIGIT = 12
"""Bits of an exponent whose powers are in one table."""


@dataclass(frozen=True, slots=True)
class Weights:
    """Bounds of the weights of consecutive outcomes, as running sums; 0 comes first.

    Attributes:
        least: Sums of lower bounds.
        most: Sums of upper bounds, with that of all weights before.
        first: The first outcome.
        beyond: Upper bound of the sum of all weights after these; the lower one is 0.
    """

    least: list[int]
    most: list[int]
    first: int = 0
    beyond: int = 0

    @classmethod
    def of(
        cls,
        bounds: Iterable[tuple[int, int]],
        *,
        first: int = 0,
        before: int = 0,
        beyond: int = 0,
    ) -> Weights:
        """Return the running sums of lower and upper bounds.

        Args:
            bounds: Lower and upper bound of each weight, >= 0.
            first: The first outcome.
            before: Upper bound of the sum of all weights before these.
            beyond: Upper bound of the sum of all weights after these.
        """
        lows, highs = zip(*bounds, strict=True)
        return cls(
            list(accumulate(lows, initial=0)),
            list(accumulate(highs, initial=before)),
            first,
            beyond,
        )


def resolve(weights: Weights, uniform: int, bits: int) -> int | None:
    """Return the outcome that every real number beginning with these bits is drawn to.

    With ``S`` the sum of the weights up to a point and ``W`` that of the rest, the point is at
    ``S / (S + W)``, which increases in ``S`` and decreases in ``W``: at most there with the
    upper bound of ``S`` and the lower one of ``W``, at least with the others. If an outcome is
    decided, it is so for the lower bounds as weights, too.

    Args:
        weights: Bounds of the weights.
        uniform: The first ``bits`` bits of a number in [0, 1).
        bits: How many.

    Returns:
        ``None`` if more bits are needed, or closer bounds.
    """
    least, most = weights.least, weights.most
    at = min(bisect_right(least, (uniform * least[-1]) >> bits), len(least) - 1) - 1
    start = most[at]
    begins = uniform * (start + least[-1] - least[at]) >= start << bits
    end, rest = least[at + 1], most[-1] - most[at + 1] + weights.beyond
    ends = (uniform + 1) * (end + rest) <= end << bits
    return weights.first + at if begins and ends else None


def draw(weights: Callable[[int], Weights], bits: int) -> int:
    """Draw an outcome.

    Args:
        weights: Returns bounds of the weights that are close enough for so many bits to
            decide nearly always.
        bits: How many are drawn at first.
    """
    return resume(weights, source.randbits(bits), bits)


def resume(weights: Callable[[int], Weights], uniform: int, bits: int) -> int:
    """Draw an outcome, the first bits of the uniform number being drawn already."""
    while True:
        outcome = resolve(weights(bits), uniform, bits)
        if outcome is not None:
            return outcome
        uniform, bits = uniform << bits | source.randbits(bits), 2 * bits


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
