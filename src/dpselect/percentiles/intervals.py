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
    noise ``A`` of the bins before the cut and ``B`` of the others, which is symmetric. The
    distribution of each is a power of the transform of one term. Where it would have too many
    values, every term is rounded up to a public grid, so a tail is never too small.

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

from dpselect.budget.zcdp import rho_of_pure
from dpselect.draws.sequence import DiscreteLaplace
from dpselect.mechanisms.score_intervals import checked_interval
from dpselect.percentiles.candidates import Range
from dpselect.percentiles.methods import EXACT, Asked, Draws
from dpselect.percentiles.objectives import exact_fraction
from dpselect.percentiles.reading import Counts
from dpselect.plan import Spend
from dpselect.typing import Array, Indices, Values

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
            # Noise on all bins hardly reaches so far: its transform is as that in ``_law``.
            far = (len(cuts) + 1) * log(4 / 3) - log(most)
            far *= 2 * self.scale * max(share, whole - share)
            # From the lower record on, a(n - 1) and a part of a record are before a cut, and
            # before the higher one up to 1 + a(n - 1) less this part.
            for side, sign, least in ((0, -1, 1 - share), (1, 1, 1 - whole + share)):
                for cut in own[::-sign]:
                    place = cuts.index(cut)
                    units = least + sign * (whole * sums[place] - share * sums[-1])
                    of = self.scale, part, place + 1, len(cuts) - place, units
                    # Noise alone may move the ranks so far.
                    if units <= 0 or (units < far and noise_tail(*of) > most):
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


def noise_tail(scale: float, part: Fraction, before: int, after: int, units: int) -> float:
    """Return the probability that the noise of a cut is at least so much, or a bound on it.

    Args:
        scale: Scale of the noise on each count.
        part: The percentile as a part of the records, in (0, 1].
        before: Bins before the cut.
        after: Bins after it.
        units: How much, in units of one over the denominator of the part.
    """
    low, high = part.denominator - part.numerator, part.numerator
    (at, law, _), (other, _, tail) = _law(scale, before), _law(scale, after)
    # What the bins after the cut must have beside those before it.
    least = np.ceil((units / high - low / high * at - other[0]) / (at[1] - at[0]) - ROUNDING)
    return min(float(law @ tail[least.clip(0, other.size).astype(np.int64)]), 1.0)


@lru_cache(maxsize=128)
def _law(scale: float, bins: int) -> tuple[Values, Values, Values]:
    """Return what the noise of some bins is together, on a grid, with law and tail."""
    grid = max(1, int(scale / STEPS))
    # With one half of the rate as the exponent, the transform of a term is at most 4/3.
    last = ceil(2 * scale / grid * (FAR + bins * log(4 / 3))) + bins
    # A transform of a length with small factors is fast.
    step = 2 ** max(last.bit_length() - 2, 1)
    half = -(-(last + 1) // step) * step
    at, term = _term(scale, grid, half)
    law = np.roll(np.fft.irfft(term**bins), half).clip(min=0)
    # Beyond the last value there is what the transform leaves out.
    return at, law, np.append(law[::-1].cumsum()[::-1], 0.0)


@lru_cache(maxsize=8)
def _term(scale: float, grid: int, half: int) -> tuple[Values, Array]:
    """Return a grid, and the transform there of the noise of one bin."""
    at: Values = np.arange(-half, half, dtype=np.float64) * grid
    upto = np.exp(DiscreteLaplace(scale).log_at_most(at))
    return at, np.fft.rfft(np.roll(np.diff(upto, prepend=0), half))
