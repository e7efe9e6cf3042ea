r"""Exact geometric variables, many at once; the difference of two is discrete Laplace noise.

:math:`P(G = g) = (1 - \alpha)\alpha^g` with :math:`\alpha = e^{-1/\text{scale}}`. With the
binary digits of :math:`g` that is a product of :math:`\alpha^{2^i}` over the digits that are 1,
so the digits are independent: digit :math:`i` is 1 with probability :math:`z_i/(1 + z_i)`,
:math:`z_i = \alpha^{2^i}`. Digits are drawn up to the first :math:`m` with
:math:`z_m \le e^{-45}`; what is beyond is :math:`2^m` times another geometric variable, whose
steps have probability :math:`z_m`.

Every digit compares a uniform real number with its probability: 64 random bits against integer
bounds of it (:func:`~dpselect.draws.exp_bounds.exp_minus`), and where these leave it open,
which is so once in :math:`2^{63}`, more bits against finer bounds. So the law is the stated
one, and no float is involved. OpenDP's sampler has the same law and draws one number after
another; for a million numbers this one takes a small part of its time.

Source of the law: Canonne, Kamath and Steinke, NeurIPS 2020.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from secrets import randbits, token_bytes

import numpy as np
from numpy.typing import NDArray

from dpselect.draws.exp_bounds import exp_minus
from dpselect.typing import Indices

WORD = 64
FAR = 45
"""e^-45 is below 2^-64: digits from there on are 1 for less than one word in 2^64."""

ENDS = 2**62
"""Variables are clamped to it."""


def geometric(size: int, scale: float) -> Indices:
    r"""Return exact variables with :math:`P(g) \propto e^{-g/\text{scale}}`, for samplers."""
    step = 1 / Fraction(scale)
    drawn = np.zeros(size, dtype=np.int64)
    digits = _digits(scale)
    for i in range(digits):
        drawn += _ones(size, step * 2**i, odds=True).astype(np.int64) << i
    beyond = _ones(size, step * 2**digits, odds=False)
    for place in np.flatnonzero(beyond):
        steps = 1
        while _ones(1, step * 2**digits, odds=False)[0]:
            steps += 1
        drawn[place] += min(steps << digits, ENDS)
    return drawn


def _digits(scale: float) -> int:
    """Return the first digit that is 1 with probability at most ``e^-45``."""
    digits = 0
    while 2**digits < FAR * Fraction(scale):
        digits += 1
    return digits


def _ones(size: int, x: Fraction, *, odds: bool) -> NDArray[np.bool_]:
    """Return independent events of probability ``z = e^-x``, or ``z/(1 + z)``."""
    words = np.frombuffer(token_bytes(size * WORD // 8), dtype=np.uint64)
    low, high = _bounds(x, WORD, odds=odds)
    ones = words < np.uint64(low)
    # Between low and high the word's interval meets the enclosure of the probability.
    open_ = (words >= np.uint64(low)) & (words < np.uint64(min(high, 2**WORD - 1)))
    for place in np.flatnonzero(open_):
        ones[place] = _resolved(int(words[place]), x, odds=odds)
    return ones


def _resolved(word: int, x: Fraction, *, odds: bool) -> bool:
    """Return whether a uniform number that starts with these bits is below the probability."""
    bits = WORD
    while True:
        word, bits = word << WORD | randbits(WORD), bits + WORD
        low, high = _bounds(x, bits, odds=odds)
        if word < low:
            return True
        if word >= high:
            return False


@lru_cache(maxsize=256)
def _bounds(x: Fraction, bits: int, *, odds: bool) -> tuple[int, int]:
    r"""Return integers that decide a word of so many bits.

    A uniform number in :math:`[w, w + 1) / 2^\text{bits}` is below the probability if
    :math:`w < \text{low}`, and not below it if :math:`w \ge \text{high}`.
    """
    # The digits with the smallest probabilities have e^-90; so many more bits enclose those.
    finer = bits + 2 * WORD + 2 * FAR
    low, high = exp_minus(x, finer)
    if odds:
        one = 1 << finer
        low, high = (low << finer) // (one + low), -(-(high << finer) // (one + high))
    return low >> (finer - bits), -(-high >> (finer - bits))
