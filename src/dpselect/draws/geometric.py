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

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from secrets import randbits, token_bytes
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpselect.draws.exp_bounds import exp_minus
from dpselect.typing import Indices

WORD = 64
FAR = 45
"""e^-45 is below 2^-64: digits from there on are 1 for less than one word in 2^64."""

CHUNK = 2**12
"""Variables that are drawn at once, so that all words stay in a processor's cache."""

ENDS = 2**62
"""Variables are clamped to it."""


class Events(NamedTuple):
    """Events with the probabilities ``e^-x``, or ``z/(1 + z)`` of such a z."""

    exponents: tuple[Fraction, ...]
    odds: tuple[bool, ...]
    low: NDArray[np.uint64]
    """Shape ``(events, 1)``, as ``high``: integers that decide a word (:func:`_bounds`)."""

    high: NDArray[np.uint64]

    @classmethod
    def of(cls, exponents: Sequence[Fraction], odds: Sequence[bool]) -> Events:
        """Return events with their bounds."""
        pairs = [_bounds(x, WORD, odds=odd) for x, odd in zip(exponents, odds, strict=True)]
        # A scale below 1/45 has no digits.
        low, high = (
            np.array([min(pair[end], 2**WORD - 1) for pair in pairs], dtype=np.uint64)[:, None]
            for end in (0, 1)
        )
        return cls(tuple(exponents), tuple(odds), low, high)


def geometric(size: int, scale: float) -> Indices:
    r"""Return exact variables with :math:`P(g) \propto e^{-g/\text{scale}}`, for samplers."""
    digits, beyond = _events(scale)
    places = np.arange(len(digits.exponents))[:, None]
    drawn = np.empty(size, dtype=np.int64)
    for first in range(0, size, CHUNK):
        block = drawn[first : first + CHUNK]
        (_ones(block.size, digits).astype(np.int64) << places).sum(axis=0, out=block)
        for place in _ones(block.size, beyond)[0].nonzero()[0]:
            steps = 1
            while _ones(1, beyond)[0, 0]:
                steps += 1
            block[place] += min(steps << len(places), ENDS)
    return drawn


@lru_cache(maxsize=256)
def _events(scale: float) -> tuple[Events, Events]:
    """Return the digits, and the step beyond them."""
    step = 1 / Fraction(scale)
    digits = _digits(scale)
    each = Events.of([step * 2**i for i in range(digits)], [True] * digits)
    return each, Events.of([step * 2**digits], [False])


def _digits(scale: float) -> int:
    """Return the first digit that is 1 with probability at most ``e^-45``."""
    digits = 0
    while 2**digits < FAR * Fraction(scale):
        digits += 1
    return digits


def _ones(size: int, events: Events) -> NDArray[np.bool_]:
    """Return which events occur, independently, ``size`` times: shape ``(events, size)``."""
    number = len(events.exponents)
    words = np.frombuffer(token_bytes(number * size * WORD // 8), dtype=np.uint64)
    words = words.reshape(number, size)
    ones = words < events.low
    # Between low and high the word's interval meets the enclosure of the probability.
    for event, place in np.argwhere(ones ^ (words < events.high)):
        word, x = int(words[event, place]), events.exponents[event]
        ones[event, place] = _resolved(word, x, odds=events.odds[event])
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
