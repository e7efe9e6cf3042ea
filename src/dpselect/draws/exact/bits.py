"""The operating system's random bits, from which everything that is released is drawn."""

from __future__ import annotations

from math import prod
from os import urandom
from secrets import SystemRandom, randbelow, randbits, token_bytes
from typing import Any

import numpy as np
from numpy.typing import NDArray

WORD = 64
"""Bits of a word."""

system = SystemRandom()

__all__ = ["WORD", "randbelow", "randbits", "system", "token_bytes", "words"]


def words(*shape: int, bits: int = WORD) -> NDArray[Any]:
    """Return independent uniform words of so many bits: unsigned integers."""
    size = bits // 8
    return np.ndarray(shape, f"u{size}", urandom(size * prod(shape)))
