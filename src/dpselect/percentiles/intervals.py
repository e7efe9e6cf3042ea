"""Intervals of released percentiles, from noisy counts of bins around the released values.

The released values are public, so cuts are made at distances from them that treble, in
candidates: below and up to a released value, and 1, 3, 9, ... candidates further out. The
counts of the bins between all cuts get discrete Laplace noise. A record is in one bin, so all
percentiles together cost what one does; each is tested at the cuts around its own value.

From the lowest cut upwards, the percentile is beyond a cut as long as noise would make so few
records lie before it with probability at most ``α/2``, if the percentile were at or before the
cut. The first cut that is not passed ends the search. So the lower end is wrong only if a test
fails at the first cut at or after the percentile, which is one test and has the error ``α/2``,
however many cuts there are; and so is the upper end, from above.

Guarantee:
    Coverage, on all data: the interval of each percentile holds it with probability ``1 - α``
    at least, apart from the others. Of the records, under a cap those that are counted, it
    holds those on both sides of the rank ``1 + a(n - 1)``, for ``a = p/100``, and all between,
    as is ``numpy.quantile``; the data and the cuts are fixed, and the noise is random. Every
    record counts at its nearest candidate.

    The noise: with ``n`` records, of which the bins before a cut hold ``c``, the difference of
    ranks is ``c - a n = (1 - a) c - a (n - c)``, so its noise is ``(1 - a) A - a B``, with the
    noise ``A`` of the bins before the cut and ``B`` of the others. Terms are integers in units
    of one over the denominator of ``a``. Where that would be too many, every term is rounded
    away from 0 to a public grid, so a tail is never too small. The distribution of the sum is
    the product of the transforms of its terms.

    Privacy: a record is in one bin (``Records.changed``).

Source: Humphries, Li, Zhang, Knopf and He 2026, arXiv:2604.07581, who call an interval for
    these records a randomization interval and draw its width by the exponential mechanism; the
    cuts and the tests are ours.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate
from math import ceil, log
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from dpselect.budget.entry import rho_of_pure
from dpselect.draws.sequence import DiscreteLaplace
from dpselect.mechanisms.score_intervals import checked_interval
from dpselect.percentiles.candidates import Range
from dpselect.percentiles.methods import EXACT, Asked, Draws
from dpselect.percentiles.objectives import exact_fraction
from dpselect.percentiles.reading import Counts
from dpselect.plan import Spend
from dpselect.typing import Indices, Values

Ends: TypeAlias = tuple[tuple[float, float], ...]
"""The lower and the upper end of each interval."""

SHARE = Fraction(1, 11)
"""Share of epsilon. An error in proportion to 1/epsilon grows by a tenth."""

ROUNDING = 1e-9
"""More than what floats add to a probability."""

STEPS = 256
"""Grid points to one scale of the noise, at most."""

FAR = 30.0
"""Natural logarithm of the probability beyond the ends of a distribution, about."""


@dataclass(frozen=True, eq=False)
class Intervals(Asked[Values | Range]):
    """Intervals of percentiles that were released; public.

    Attributes:
        probability: That an interval holds its percentile, at least; in (0, 1).
    """

    probability: float

    def __post_init__(self) -> None:
        checked_interval(self.probability)
        super().__post_init__()

    @property
    def spend(self) -> Spend:
        """What all intervals cost together."""
        most, changed = self.records.per_user, self.records.changed
        # rho grows faster than epsilon: most if all records of a person are in one bin.
        rho = changed / most * rho_of_pure(most / self.scale)
        return Spend("intervals: noise on the counts of bins", self.epsilon, rho=rho)

    def draw(
        self, counted: Counts, released: Sequence[float], by: Draws = EXACT
    ) -> Callable[[], Ends]:
        """Draw the counts around released values of one group.

        What is returned works the intervals out of the noisy counts, which takes longer.

        Args:
            counted: The numbers of the group; private.
            released: The values.
            by: What draws the noise.
        """
        points, size = self.points, len(self.points)
        at = points.searchsorted(np.array(released)).tolist()
        cuts = cuts_around(at, size)
        # A cut is beyond every candidate before the half of it.
        upto: Indices = np.append(counted.before((np.array(cuts) + 1) // 2), counted.numbers)
        noisy = by.laplace(np.diff(upto, prepend=0), self.scale).tolist()
        return lambda: tuple(
            (float(points[min(low, here)]), float(points[max(high, here)]))
            for (low, high), here in zip(self.ends(noisy, cuts, at, size), at, strict=True)
        )

    def ends(
        self, noisy: list[int], cuts: list[int], released: Iterable[int], candidates: int
    ) -> Iterator[tuple[int, int]]:
        """Yield the positions of both ends of each interval, from noisy counts.

        Args:
            noisy: Noisy count of each bin: one more than there are cuts.
            cuts: As from ``cuts_around``.
            released: Positions of the values; around each are the cuts that it is tested at.
            candidates: How many there are.
        """
        sums, most = [*accumulate(noisy)], (1 - self.probability) / 2 - ROUNDING
        for p, at in zip(self.percents, released, strict=True):
            own, part = cuts_around([at], candidates), exact_fraction(p)
            whole, share, ends = part.denominator, part.numerator, [0, candidates - 1]
            # From the lower record on, a(n - 1) and a part of a record are before a cut, and
            # before the higher one up to 1 + a(n - 1) less this part.
            for side, sign, least in ((0, -1, 1 - share), (1, 1, 1 - whole + share)):
                for cut in own[::-sign]:
                    place = cuts.index(cut)
                    units = least + sign * (whole * sums[place] - share * sums[-1])
                    tail = noise_tail(self.scale, part, place + 1, len(cuts) - place)
                    if tail(units) > most:  # noise alone may move the ranks so far
                        break
                    ends[side] = cut // 2
            yield ends[0], ends[1]


def cuts_around(released: Iterable[int], candidates: int) -> list[int]:
    """Return the cuts around released candidates, ascending.

    Args:
        released: Positions of candidates.
        candidates: How many there are.

    Returns:
        ``2 i`` for a cut below candidate ``i``, and ``2 i + 1`` for one above it; none that
        says nothing: below the first or above the last candidate.
    """
    cuts = set()
    for at in released:
        cuts |= {2 * at, 2 * at + 1}
        distance = 1
        while distance < candidates:
            cuts |= {2 * (at - distance), 2 * (at + distance) + 1}
            distance *= 3
    return sorted(cut for cut in cuts if 0 < cut < 2 * candidates - 1)


@lru_cache(maxsize=512)
def noise_tail(scale: float, part: Fraction, before: int, after: int) -> Callable[[int], float]:
    """Return the tail of the noise of a cut, in units of one over the denominator of a part.

    It is at least the probability of so many units or more; the noise is symmetric.

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
    # A transform of a length with small factors is fast.
    step = 2 ** max(last.bit_length() - 2, 1)
    size = -(-2 * (last + 1) // step) * step
    transform = _transform(scale, low, grid, size) ** before
    transform *= _transform(scale, high, grid, size) ** after
    law = np.fft.fftshift(np.fft.irfft(transform, size)).clip(min=0)
    beyond = np.minimum(np.cumsum(law[::-1])[::-1], 1.0)

    def tail(units: int) -> float:
        place = -(-units // grid) + size // 2
        # Beyond the last value there is what the transform leaves out.
        return float(beyond[min(max(place, 0), size - 1)])

    return tail


@lru_cache(maxsize=16)
def _transform(scale: float, weight: int, grid: int, size: int) -> NDArray[np.complex128]:
    """Return the transform of one noisy count with a weight, rounded up to the grid."""
    if weight == 0:
        return np.ones(size // 2 + 1, dtype=np.complex128)
    reach = ceil(weight * 2 * scale * FAR / grid) + 1
    kind = np.int64 if reach * grid < 2**62 else object
    edges = np.arange(-reach - 1, reach + 1).astype(kind) * grid // weight
    law, upto = np.zeros(size), DiscreteLaplace(scale).log_at_most
    law[np.arange(-reach, reach + 1)] = np.diff(np.exp(upto(edges.astype(np.float64))))
    return np.fft.rfft(law)
