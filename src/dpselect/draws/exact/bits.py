"""The operating system's random bits, from which everything that is released is drawn."""

from __future__ import annotations

from math import prod
from os import urandom
from secrets import SystemRandom, randbelow, randbits, token_bytes

import numpy as np
from numpy.typing import NDArray

WORD = 64
"""Bits of a word."""

system = SystemRandom()

__all__ = ["WORD", "octets", "randbelow", "randbits", "system", "token_bytes", "words"]


def words(*shape: int) -> NDArray[np.uint64]:
    """Return independent uniform words."""
    return np.frombuffer(urandom(WORD // 8 * prod(shape)), dtype=np.uint64).reshape(shape)


def octets(size: int) -> NDArray[np.uint8]:
    """Return independent uniform bytes."""
    return np.frombuffer(urandom(size), dtype=np.uint8)
