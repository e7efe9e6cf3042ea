"""The operating system's randomness: uniform integers, samples and exact Bernoulli draws."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from secrets import SystemRandom, randbelow, randbits
from typing import TypeVar

from dpselect.draws.door import sampler

T = TypeVar("T")

_SYSTEM = SystemRandom()


@sampler
def bits(number: int) -> int:
    """Return an integer of ``number`` independent fair bits."""
    return randbits(number)


@sampler
def sample(population: Sequence[T], k: int) -> list[T]:
    """Return a uniform sample of ``k`` without replacement, drawn by rejection of integers."""
    return _SYSTEM.sample(population, k)


@sampler
def coin(chance: Fraction) -> bool:
    """Return True with probability exactly ``chance``, which is in [0, 1]."""
    return randbelow(chance.denominator) < chance.numerator
