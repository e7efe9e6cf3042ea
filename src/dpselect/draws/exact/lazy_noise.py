"""Exact noise from uniform numbers whose bits are drawn as far as they are needed.

A uniform number ``U`` is known by its first bits: after ``w`` of them it lies between two
neighbouring multiples of ``2^(-w)``, and so does every monotone function of it between two
bounds. 64 bits and floats give bounds for many candidates at once (``bounds``). Where they
leave something open, such as which of two noisy scores is larger, more bits of these two are
drawn and the bounds are computed with as many digits as it takes (``Refined``). What is decided
is thus decided for the real number, and the distribution is the stated one: nothing is rounded.

===============  ================================
noise            as a function of uniform numbers
===============  ================================
``EXPONENTIAL``  ``-ln U``
``GUMBEL``       ``-ln(-ln(1 - U))``
``LAPLACE``      ``⌊-t ln U⌋ - ⌊-t ln U'⌋``
===============  ================================

each times the scale ``t``; the difference of two geometric numbers is discrete Laplace noise,
``P(z) ∝ e^(-|z|/t)``.

The bounds by floats hold whatever the platform's mathematical library: logarithms are summed
from a series by IEEE additions, multiplications and divisions alone (``_log``), each right to
``2^-53`` relative to its result, and the margins exceed their sum. Arrays and floats of Python
go through the same operations, so few numbers get their bounds without an array.

Source: Flajolet and Saheb 1986, and Karney 2016, arXiv:1303.6257, for exact draws from bits as
they are needed.
"""

from __future__ import annotations

from decimal import Context, Decimal, localcontext
from enum import Enum
from functools import cache
from math import floor, frexp, inf, log, sqrt
from operator import attrgetter
from typing import Any, NamedTuple, TypeAlias

from dpselect._optional import np
from dpselect.draws.exact import samplers as source
from dpselect.draws.exact.samplers import WORD
from dpselect.typing import Bools, Indices, Values

CHUNK = 2**15
"""Numbers that get noise at once, so that all arrays stay in a processor's cache."""

_LN_2, _ROOT = log(2), sqrt(0.5)

_LAST, _LAST_BIT = 2**WORD - 1, 2.0**-WORD

MARGIN = 2.0**-45
"""Bounds by floats are widened by this much of the largest number in their computation.

Logarithms are right to 2^-48 of themselves and of 1, and that of which Gumbel noise takes
another one is above 0.28 where it is not the series alone. A noisy score adds three roundings.
"""


FIRST_BYTE = 5.6
"""Above ln 256: exponential noise is below it unless the first byte of its bits is 0."""


class Noise(Enum):
    """Noise of a scale of one."""

    EXPONENTIAL = "exponential"
    GUMBEL = "gumbel"
    LAPLACE = "laplace"

    @property
    def uniforms(self) -> int:
        """Uniform numbers that one noise is a function of."""
        return 2 if self is Noise.LAPLACE else 1


Floats: TypeAlias = Any
"""An array of floats, or a float of Python, with which few are faster."""

Words: TypeAlias = Any
"""Words likewise: an array of uint64, or an integer."""


class Bounds(NamedTuple):
    """Bounds of noisy numbers, after the bits that they were computed from; secret."""

    words: Words
    """Shape ``(uniforms, n)``."""

    low: Floats
    """Shape ``(n,)``."""

    high: Floats

    def of(self, which: Bools | Indices) -> Bounds:
        """Return some of them."""
        return Bounds(self.words[:, which], self.low[which], self.high[which])

    def each(self) -> list[Bounds]:
        """Return those of single numbers, as Python's."""
        return [*map(Bounds, *(one.T.tolist() for one in self))]


def bounds(noise: Noise, numbers: Indices, scale: float) -> Bounds:
    """Draw the first bits of the noise on each number, and return what they tell.

    Args:
        noise: Its distribution.
        numbers: Integers of at most 2^52 in size, shape ``(n,)``.
        scale: Scale of the noise; finite, > 0.
    """
    words = source.words(noise.uniforms, numbers.size)
    return Bounds(words, *bounds_of(noise, numbers, scale, words))


def bounds_of(
    noise: Noise, numbers: Indices | int, scale: float, words: Words
) -> tuple[Floats, Floats]:
    """Return the bounds that the first bits of the noise on each number tell; see ``bounds``.

    Args:
        noise: Its distribution.
        numbers: Integers, or one.
        scale: Scale of the noise.
        words: The bits, shape ``(uniforms, n)``; of one number the integers that they are.
    """
    if noise is not Noise.GUMBEL:
        middle, below, above = _exponential(words[0])
    elif isinstance(words[0], int):
        middle, below, above = _gumbel_of_one(words[0])
    else:
        middle, below, above = _gumbel(words[0])
    size = abs(middle) + 1
    whole = 0.0
    if noise is Noise.LAPLACE:
        other, other_below, other_above = _exponential(words[1])
        size += other
        middle, below, above = middle - other, below + other_above, above + other_below
        whole = 1.0  # a difference of numbers rounded down is within 1 of theirs
    noisy = numbers + scale * middle
    margin = (abs(numbers) + scale * size) * MARGIN + whole
    return noisy - scale * below - margin, noisy + scale * above + margin


def reaches(gaps: Indices, scale: float) -> Bools:
    """Return which integers a geometric variable of their own is at least.

    It is ``⌊-t ln U⌋``, so with ``P(g) ∝ e^(-g/t)``, and at least an integer if ``-t ln U`` is.
    Of words whose first bytes are not 0 the noise is below ``FIRST_BYTE`` scales, and the other
    bits are not drawn.

    Args:
        gaps: Integers of at most 2^54 in size, of any shape.
        scale: The scale ``t``; finite, > 0.
    """
    found = gaps <= 0
    far = gaps > scale * FIRST_BYTE
    near = np.flatnonzero(~found & ~far)
    places = np.flatnonzero(far)
    small = places[source.words(places.size, bits=8) == 0]
    at = np.append(near, small)
    words = np.append(source.words(near.size), source.words(small.size) >> np.uint64(8))
    found.ravel()[at] = reached(gaps.ravel()[at], words, scale)
    return found


def reached(gaps: Indices, words: Words, scale: float) -> Bools:
    """Return which integers the noise of each word is at least; see ``reaches``."""
    low, high = bounds_of(Noise.EXPONENTIAL, np.zeros_like(gaps), scale, words[None])
    over = low >= gaps
    for one in np.flatnonzero(~over & (high >= gaps)).tolist():
        number, least = Refined(Noise.EXPONENTIAL, 0, scale, [int(words[one])]), gaps[one]
        while number.low < int(least) <= number.high:
            number.refine()
        over[one] = number.low >= int(least)
    return over


def _exponential(words: Words) -> tuple[Floats, Floats, Floats]:
    """Return -ln U at the first bits of U, and how far below and above it may be."""
    if isinstance(words, int):
        least: Floats = float(words or 1)
        above: Floats = 0.0 if words else inf
    else:
        least, above = _at_least_1(words), np.where(words == 0, inf, 0.0)
    # ln((w + 1) / w) <= 1/w.
    return -_log(least * _LAST_BIT), 1 / least, above


def _gumbel(words: Words) -> tuple[Floats, Floats, Floats]:
    """Return -ln(-ln(1 - U)) at the first bits of U, and how far below and above it may be."""
    others = _LAST - words
    least, least_other = _at_least_1(words), _at_least_1(others)
    chance = least * _LAST_BIT
    small = chance < 0.25
    mantissa, exponent = np.frexp((least_other + 1) * _LAST_BIT)
    # One series for both: E = 2 artanh(U / (2 - U)), or minus the logarithm of 1 - U.
    ratio = np.where(small, -chance / (2 - chance), (mantissa - _ROOT) / (mantissa + _ROOT))
    minus_log = np.where(small, 0.0, (0.5 - exponent) * _LN_2) - _twice_atanh(ratio)
    # With E = -ln(1 - U) an interval of U has at most 1/(rest - 1) of E, and E is at least U
    # and, where U is above one half, 0.69.
    below = np.where(others == 0, inf, 4 / least + 4 / least_other)
    return -_log(minus_log), below, np.where(words == 0, inf, 0.0)


def _gumbel_of_one(word: int) -> tuple[float, float, float]:
    """Return the same of a word, by the same operations, without asking at each for arrays."""
    least, least_other = float(word or 1), float(_LAST - word or 1)
    chance = least * _LAST_BIT
    minus_log = (
        _twice_atanh(chance / (2 - chance))
        if chance < 0.25
        else -_log((least_other + 1) * _LAST_BIT)
    )
    below = inf if word == _LAST else 4 / least + 4 / least_other
    return -_log(minus_log), below, 0.0 if word else inf


def _log(x: Floats) -> Floats:
    """Return the natural logarithm, right to ``2^-48`` of itself or, below 1, of 1.

    Of ``x = m 2^e``, ``1/2 ≤ m < 1``, it is ``(e - 1/2) ln 2`` and ``ln(√2 m)``, which is
    ``2 artanh((m - √(1/2))/(m + √(1/2)))``.
    """
    mantissa, exponent = frexp(x) if isinstance(x, float) else np.frexp(x)
    return (exponent - 0.5) * _LN_2 + _twice_atanh((mantissa - _ROOT) / (mantissa + _ROOT))


@cache
def _terms() -> list[Values]:
    """Return factors of the series of 2 artanh: arithmetic of arrays is faster with arrays."""
    return [np.array(2 / odd) for odd in range(19, 0, -2)]


def _twice_atanh(r: Floats) -> Floats:
    """Return ``2 artanh r`` for ``|r| ≤ 0.172``, by its series.

    The first term left out is below 2^-55 of the sum.
    """
    square = r * r
    if isinstance(r, float):  # at once: a loop takes twice as long
        total = (((square * (2 / 19) + 2 / 17) * square + 2 / 15) * square + 2 / 13) * square
        total = (((total + 2 / 11) * square + 2 / 9) * square + 2 / 7) * square
        return (((total + 2 / 5) * square + 2 / 3) * square + 2) * r
    first, *terms, last = _terms()
    total = square * first
    for term in terms:
        total += term
        total *= square
    return (total + last) * r


def _at_least_1(words: Words) -> Values:
    """Return words as floats, those that are 0 as 1."""
    return np.maximum(words, 1).astype(np.float64)


class Refined:
    """A noisy number that is known to as many bits as comparisons need.

    Attributes:
        bits: How many bits of each of its uniform numbers are known.
        low: Lower bound.
        high: Upper bound.
    """

    __slots__ = ("_noise", "_number", "_scale", "_words", "bits", "high", "low")

    def __init__(
        self,
        noise: Noise,
        number: int,
        scale: float,
        words: list[int],
        low: float = -inf,
        high: float = inf,
    ) -> None:
        """Begin with the first words of the uniform numbers, and the bounds they gave."""
        self._noise, self._number, self._scale = noise, number, Decimal(scale)
        self._words, self.bits = words, WORD
        self.low: Decimal | float = low
        self.high: Decimal | float = high

    def refine(self) -> None:
        """Draw as many bits again as there are, and tighten the bounds."""
        while True:
            bits = self.bits
            self._words = [word << bits | source.randbits(bits) for word in self._words]
            self.bits *= 2
            # At an end of [0, 1] a logarithm is infinite.
            if all(0 < word < (1 << self.bits) - 1 for word in self._words):
                break
        # As many digits as bits are three times what the width of the interval asks for.
        with localcontext(Context(prec=self.bits, Emin=-(10**9), Emax=10**9)):
            ends = [self._scaled(word) for word in self._words]
            low, high = ends[0]
            if self._noise is Noise.LAPLACE:
                low = Decimal(floor(low) - floor(ends[1][1]))
                high = Decimal(floor(high) - floor(ends[1][0]))
            self.low, self.high = self._number + low, self._number + high

    def __lt__(self, other: Refined) -> bool:
        """Return whether it is smaller, which no two equal integers are.

        Each step refines the number of which fewer bits are known, so that a number that many
        are compared with is not refined again for each of them.
        """
        while self.low <= other.high:
            if self.high < other.low:
                return True
            if self.low == self.high == other.low == other.high:
                return False
            unsettled = [number for number in (self, other) if number.low != number.high]
            min(unsettled, key=attrgetter("bits")).refine()
        return False

    def _scaled(self, word: int) -> tuple[Decimal, Decimal]:
        """Return bounds of the scale times the function of one uniform number."""
        full = 1 << self.bits
        if self._noise is Noise.GUMBEL:
            ends = [-_minus_log(full - w, self.bits).ln() for w in (word + 1, word)]
        else:
            ends = [_minus_log(w, self.bits) for w in (word + 1, word)]
        slack = (self._scale + abs(self._number)) * Decimal(2) ** -(2 * self.bits - 16)
        return self._scale * ends[0] - slack, self._scale * ends[1] + slack


def _minus_log(word: int, bits: int) -> Decimal:
    """Return -ln(word / 2^bits), rounded to the digits of the context."""
    return bits * Decimal(2).ln() - Decimal(word).ln()
