"""Uniform and weighted samples of public things."""

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import TypeVar

from dpselect.draws.exact import samplers as source
from dpselect.draws.exact.samplers import sampler

T = TypeVar("T")


@sampler
def positions(weights: Sequence[int], times: int) -> list[int]:
    """Draw positions independently, each with a chance in proportion to its integer weight.

    Args:
        weights: At least one above 0. Public.
        times: How many to draw. Public.
    """
    ends = list(accumulate(weights))
    return [bisect_right(ends, source.randbelow(ends[-1])) for _ in range(times)]


@sampler
def sample(population: Sequence[T], k: int) -> list[T]:
    """Return a uniform sample of ``k`` without replacement, drawn by rejection of integers."""
    return source.system.sample(population, k)


@sampler
def token(size: int) -> bytes:
    """Return so many random bytes, which may be published: they are drawn without any data."""
    return source.system.randbytes(size)
