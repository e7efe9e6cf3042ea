"""Tails of the noise on the rank of a cut between bins, less that of a percentile.

With ``n`` records in bins, of which those before a cut hold ``c``, and ``a = p/100``, the
difference is ``c - a n = (1 - a) c - a (n - c)``. From counts with independent discrete Laplace
noise it has the noise ``(1 - a) A - a B``, where ``A`` is the noise of the bins before the cut,
and ``B`` that of the others.

Terms are integers in units of one over the denominator of ``a``. Where that would be too many,
every term is rounded away from 0 to a public grid, so a tail is never too small. The
distribution of the sum is the product of the transforms of its terms.

For a sample of ``n`` from a population, the records up to its percentile are binomial in
addition, and ``n`` is anywhere between two bounds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from math import ceil, exp, log, sqrt

import numpy as np
from numpy.typing import NDArray

from dpselect.typing import Indices, Probabilities, Values

STEPS = 1024
"""Grid points to one scale of the noise, at most."""

FAR = 37.0
"""Natural logarithm of the probability beyond the ends of a distribution, about."""

WIDTH = 0.05
"""Numbers of records that are taken together, in standard deviations of a rank."""

SPREADS = 9.0
"""Standard deviations from the mean beyond which a binomial distribution is left out."""

GROUPS = 100
"""Outcomes of a binomial within one standard deviation, above which some are grouped."""


@dataclass(frozen=True, slots=True, eq=False)
class Tail:
    """The upper tail of a symmetric sum; public.

    Attributes:
        grid: Units between two values.
        least: The smallest value of the sum, in grid steps.
        beyond: The probability of that value or more, of the next or more, and so on.
    """

    grid: int
    least: int
    beyond: Probabilities

    def at(self, units: Indices) -> Probabilities:
        """Return at least the probability of so many units or more."""
        places = -(-units // self.grid) - self.least
        inside = np.clip(places, 0, self.beyond.size - 1).astype(np.int64)
        # Beyond the last value there is what the transform leaves out.
        return self.beyond[inside]


@lru_cache(maxsize=512)
def noise_tail(scale: float, part: Fraction, before: int, after: int) -> Tail:
    """Return the tail of the noise of a cut, in units of one over the denominator of a part.

    Args:
        scale: Scale of the noise on each count.
        part: The percentile as a part of the records, in (0, 1].
        before: Bins before the cut.
        after: Bins after it.
    """
    low, high = part.denominator - part.numerator, part.numerator
    grid = max(1, int(part.denominator * scale / STEPS))
    bins = before + after
    # With one half of the rate as the exponent, the transform of a term is at most 4/3.
    reach = 2 * scale * (FAR + bins * log(4 / 3))
    last = ceil(max(low, high) * reach / grid) + bins + 1
    size = 2 ** (2 * last + 2).bit_length()
    transform = _transform(scale, low, grid, size) ** before
    transform *= _transform(scale, high, grid, size) ** after
    law = np.fft.fftshift(np.fft.irfft(transform, size)).clip(min=0)
    return Tail(grid, -size // 2, np.minimum(np.cumsum(law[::-1])[::-1], 1.0))


def _transform(scale: float, weight: int, grid: int, size: int) -> NDArray[np.complex128]:
    """Return the transform of one noisy count with a weight, rounded up to the grid."""
    if weight == 0:
        return np.ones(size // 2 + 1, dtype=np.complex128)
    reach = ceil(weight * 2 * scale * FAR / grid) + 1
    kind = np.int64 if reach * grid < 2**62 else object
    edges = np.arange(-reach - 1, reach + 1).astype(kind) * grid // weight
    law = np.zeros(size)
    law[np.arange(-reach, reach + 1)] = np.diff(_upto(edges.astype(np.float64), scale))
    return np.fft.rfft(law)


def _upto(z: Values, scale: float) -> Probabilities:
    """Return ``P(Z ≤ z)`` of discrete Laplace noise."""
    q = exp(-1 / scale)
    below = np.exp(np.minimum(z, 0) / scale) / (1 + q)
    return np.where(z >= 0, 1 - np.exp(-(np.maximum(z, 0) + 1) / scale) / (1 + q), below)


@lru_cache(maxsize=64)
def largest_tail(scale: float, part: Fraction, bins: int) -> Tail:
    """Return the largest tail of any cut between so many bins.

    Where the cut depends on a sample, so do the bins on both sides of it.
    """
    tails = [noise_tail(scale, part, before, bins - before) for before in range(bins + 1)]
    least = min(one.least for one in tails)
    found = np.zeros(max(one.beyond.size for one in tails))
    for one in tails:
        padded = np.full(found.size, one.beyond[-1])
        first = one.least - least
        padded[:first] = 1
        padded[first : first + one.beyond.size] = one.beyond
        found = np.maximum(found, padded)
    return Tail(tails[0].grid, least, found)


@dataclass(frozen=True, eq=False)
class SampledRank:
    """The rank of a percentile of a population in a sample, with noise; public.

    Attributes:
        part: The percentile as a part, in (0, 1].
        tail: Tail of the noise on the rank.
        fewest: The smallest number of records that is possible.
        most: The largest one.
        deviation: Standard deviation of the noise, in records.
    """

    part: Fraction
    tail: Tail
    fewest: int
    most: int
    deviation: float

    def chance_below(self, difference: int) -> float:
        """Return the largest probability of so small a noisy difference at the percentile.

        At least so many records are up to a percentile of the population.

        Args:
            difference: In units of one over the denominator.
        """
        held, law, firsts = self._fewest
        return float(np.add.reduceat(law * self.tail.at(held - difference), firsts).max())

    def chance_above(self, difference: int) -> float:
        """Return the largest probability of so large a noisy difference just before it."""
        held, law, firsts = self._most
        return float(np.add.reduceat(law * self.tail.at(difference - held), firsts).max())

    @cached_property
    def _fewest(self) -> tuple[Indices, Probabilities, Indices]:
        """Return differences with their probabilities, none too large, by number of records.

        They are those of each range of numbers one after the other, with their beginnings.
        """
        whole, share = self.part.denominator, self.part.numerator
        return _joined(
            (whole * held - share * last, law)
            for first, last in self._numbers()
            for held, law in [self._binomial(first, upwards=False)]
        )

    @cached_property
    def _most(self) -> tuple[Indices, Probabilities, Indices]:
        """Return the same, none too small."""
        whole, share = self.part.denominator, self.part.numerator
        return _joined(
            (whole * held - share * first, law)
            for first, last in self._numbers()
            for held, law in [self._binomial(last, upwards=True)]
        )

    def _numbers(self) -> Iterator[tuple[int, int]]:
        """Yield ranges of numbers of records that are taken together, first and last."""
        a = float(self.part)
        width = max(1, int(WIDTH * sqrt(self.deviation**2 + a * (1 - a) * self.most)))
        for first in range(self.fewest, self.most + 1, width):
            yield first, min(first + width - 1, self.most)

    def _binomial(self, records: int, *, upwards: bool) -> tuple[Indices, Probabilities]:
        """Return outcomes and their probabilities; where many, each is that of its group."""
        a = float(self.part)
        # No noise is as large as a thousand deviations.
        reach = self.part.denominator * (self.most + 1000 * self.deviation)
        kind = np.int64 if reach < 2**60 else object
        if a == 1 or records == 0:
            return np.array([records if a == 1 else 0], dtype=kind), np.ones(1)
        spread = sqrt(records * a * (1 - a))
        low = max(0, int(records * a - SPREADS * spread - SPREADS**2))
        high = min(records, ceil(records * a + SPREADS * spread + SPREADS**2))
        held = np.arange(low, high + 1)
        ratios = np.log((records - held[:-1]) / (held[:-1] + 1)) + log(a / (1 - a))
        logs = np.concatenate([[0.0], np.cumsum(ratios)])
        law = np.exp(logs - logs.max())
        firsts = np.arange(0, held.size, ceil(spread / GROUPS))
        sums = np.add.reduceat(law / law.sum(), firsts)
        ends = np.append(firsts[1:], held.size) - 1
        return held[ends if upwards else firsts].astype(kind), sums


def _joined(
    laws: Iterable[tuple[Indices, Probabilities]],
) -> tuple[Indices, Probabilities, Indices]:
    values, chances = zip(*laws, strict=True)
    firsts = np.cumsum([0, *(one.size for one in values[:-1])])
    return np.concatenate(values), np.concatenate(chances), firsts
