"""The operating system's randomness: uniform samples and exact flips of bits."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from fractions import Fraction
from itertools import accumulate
from secrets import SystemRandom, randbelow, token_bytes
from typing import TypeVar

from dpselect.draws.door import sampler

T = TypeVar("T")

_SYSTEM = SystemRandom()


@sampler
def flipped(bits: Sequence[bool], chance: Fraction) -> list[bool]:
    r"""Flip each bit independently with probability exactly ``chance``.

    Guarantee:
        :math:`m \ln((1-\rho)/\rho)`-DP where one neighbour step changes at most ``m`` bits,
        with :math:`\rho` the chance, above 0 and at most 1/2.

    Args:
        bits: Private; their number is public.
        chance: In [0, 1]. Public.
    """
    over, under = chance.numerator, chance.denominator
    return [bool(bit) != (randbelow(under) < over) for bit in bits]


@sampler
def positions(weights: Sequence[int], times: int) -> list[int]:
    """Draw positions independently, each with a chance in proportion to its integer weight.

    Args:
        weights: At least one above 0. Public.
        times: How many to draw. Public.
    """
    ends = list(accumulate(weights))
    return [bisect_right(ends, randbelow(ends[-1])) for _ in range(times)]


@sampler
def sample(population: Sequence[T], k: int) -> list[T]:
    """Return a uniform sample of ``k`` without replacement, drawn by rejection of integers."""
    return _SYSTEM.sample(population, k)


@sampler
def token(size: int) -> bytes:
    """Return so many random bytes, which may be published: they are drawn without any data."""
    return token_bytes(size)
