"""Intervals of released percentiles, from noisy counts of bins around the released values.

The released values are public, so cuts are made at distances from them that double, in
candidates: below and up to a released value, and 1, 2, 4, ... candidates further out. The
counts of the bins between the cuts get discrete Laplace noise. A record is in one bin, so all
percentiles together cost what one does.

From the lowest cut upwards, the percentile is beyond a cut as long as noise would make so few
records lie before it with probability at most ``α/2``, if the percentile were at or before the
cut. The first cut that is not passed ends the search. So the lower end is wrong only if a test
fails at the first cut at or after the percentile, which is one test and has the error ``α/2``,
however many cuts there are; and so is the upper end, from above.

Guarantee:
    Coverage, on all data: the interval of each percentile holds it with probability ``1 - α``
    at least, apart from the others. Of *these records*, under a cap those that are counted, it
    holds those on both sides of the rank ``1 + a(n - 1)``, for ``a = p/100``, and all between,
    as is ``numpy.quantile``; the data and the cuts are fixed, and the noise is random. Of the
    *population* that records were drawn from, independently and alike, it holds every value
    ``q`` with ``P(x < q) ≤ a ≤ P(x ≤ q)``: at the first cut beyond ``q`` at least as many
    records lie before it as are up to ``q``, which is binomial, and independent of the noise.
    How many records there are is estimated from the same counts, for ``NUMBER`` of α. Every
    record counts at its nearest candidate.

    Privacy: as for ``count_tree``, with one level.

Source: Humphries, Li, Zhang, Knopf and He 2026, arXiv:2604.07581, who call an interval for
    these records a randomization interval and draw its width by the exponential mechanism;
    Berger and Boos, JASA 1994, for the number of records; the cuts and the tests are ours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import sqrt
from typing import Literal, TypeAlias, get_args

import numpy as np

from dpselect import validation
from dpselect.budget.zcdp import rho_of_pure
from dpselect.draws.exact.noisy_counts import LARGEST_SCALE, discrete_laplace, scale_for
from dpselect.errors import ParameterError
from dpselect.neighbours import Neighbours
from dpselect.percentiles.objectives import exact_fraction
from dpselect.percentiles.placing import places_of
from dpselect.percentiles.ranges import Range
from dpselect.percentiles.rank_noise import SampledRank, largest_tail, noise_tail
from dpselect.percentiles.reading import Numbers, Records
from dpselect.percentiles.single import Answer
from dpselect.plan import Spend
from dpselect.typing import Indices, Values

IntervalOf: TypeAlias = Literal["records", "population"]
"""Whose percentile an interval holds."""

Ends: TypeAlias = tuple[tuple[float, float], ...]
"""The lower and the upper end of each interval."""

SHARE = Fraction(1, 51)
"""Of epsilon. An error in proportion to 1/epsilon grows by a fiftieth."""

NUMBER = 0.05
"""Of the probability of a miss, for the number of records."""

MOST = 0.999999
"""The largest probability; of what is left, the part for the number exceeds rounding."""

ROUNDING = 1e-9
"""More than what floats add to a probability."""


@dataclass(frozen=True, slots=True, eq=False)
class Intervals:
    """Intervals of percentiles that were released; public arguments.

    Attributes:
        percents: In (0, 100].
        points: The candidates, in any order.
        records: How records are read.
        epsilon: Of all noisy counts, in nats.
        probability: That an interval holds its percentile, at least; in (0, 1).
        of: Whose percentile; of records only those that are counted.

    Raises:
        ParameterError: An argument is out of range, or a person has several records of a
            sample.
    """

    percents: tuple[float, ...]
    points: Values | Range
    records: Records
    epsilon: float
    probability: float
    of: IntervalOf

    def __post_init__(self) -> None:
        if not 0 < validation.finite("interval", self.probability) <= MOST:
            raise ParameterError(
                f"`interval` must be a probability between 0 and 1, as 0.95, and at most {MOST}"
            )
        validation.one_of("interval_of", self.of, get_args(IntervalOf))
        if self.of == "population" and self.records.per_user > 1:
            raise ParameterError(
                "`interval_of`='population' takes records as drawn independently: count one of "
                "each person by `max_per_user`=1"
            )
        if self.scale > LARGEST_SCALE:
            raise ParameterError("`epsilon` is too small for an `interval`")

    @property
    def scale(self) -> float:
        """Of the noise on each count."""
        return scale_for(self.epsilon, self._changed)

    @property
    def _changed(self) -> int:
        """By how much one neighbour step changes all counts together."""
        replaced = self.records.neighbours is Neighbours.SUBSTITUTE
        return self.records.per_user * (2 if replaced else 1)

    @property
    def spend(self) -> Spend:
        """What all intervals cost together."""
        most = self.records.per_user
        rho = self._changed / most * rho_of_pure(most / self.scale)
        return Spend("intervals: noise on the counts of bins", self.epsilon, rho=rho)

    def prepare(self, numbers: Numbers) -> Callable[[Answer], Callable[[], Ends]]:
        """Count all that any released values need, and return the draw for released ones.

        The draw returns what works the intervals out of the noisy counts, which takes longer.

        Raises:
            ColumnError, DataError: As for the release.
        """
        points = self.points if isinstance(self.points, Range) else np.unique(self.points)
        places = _places(numbers, points)

        def draw(released: Answer) -> Callable[[], Ends]:
            at = [_position(points, value) for value in released]
            cuts = cuts_around(at, len(points))
            exact = np.diff(places(cuts), prepend=0)
            noisy = discrete_laplace(exact, self.scale).tolist()
            return lambda: tuple(
                (float(points[min(low, here)]), float(points[max(high, here)]))
                for (low, high), here in zip(
                    self.ends(noisy, cuts, len(points)), at, strict=True
                )
            )

        return draw

    def ends(
        self, noisy: list[int], cuts: list[int], candidates: int
    ) -> Iterator[tuple[int, int]]:
        """Yield the positions of both ends of each interval, from noisy counts.

        Args:
            noisy: Of each bin: one more than there are cuts.
            cuts: As from ``cuts_around``.
            candidates: How many there are.
        """
        sums = [0]
        for count in noisy:
            sums.append(sums[-1] + count)
        for p in self.percents:
            part = exact_fraction(p)
            whole, share = part.denominator, part.numerator
            differences = [whole * held - share * sums[-1] for held in sums[1:-1]]
            below, above = self._tests(part, len(cuts), sums[-1])
            low, high = 0, candidates - 1
            for place, cut in enumerate(cuts):
                if not below(differences[place], place + 1):
                    break
                low = cut // 2
            for place in reversed(range(len(cuts))):
                if not above(differences[place], place + 1):
                    break
                high = cuts[place] // 2
            yield low, high

    def _tests(self, part: Fraction, cuts: int, number: int) -> tuple[Test, Test]:
        """Return whether a percentile is surely beyond a cut, and whether it is before it."""
        scale, missed = self.scale, 1 - self.probability
        if self.of == "records":

            def chance(units: int, before: int) -> float:
                tail = noise_tail(scale, part, before, cuts + 1 - before)
                return float(tail.at(np.array([units], dtype=object))[0])

            most, low = missed / 2 - ROUNDING, part.numerator - 1
            high = part.denominator - part.numerator - 1
            # From the lower record on, a(n - 1) and a part of a record are before a cut, and
            # before the higher one up to 1 + a(n - 1) less this part.
            return (
                lambda difference, before: chance(-difference - low, before) <= most,
                lambda difference, before: chance(difference - high, before) <= most,
            )
        noise = noise_tail(scale, Fraction(1, 2), cuts + 1, 0)
        off = noise.grid * (
            noise.least + int(np.argmax(noise.beyond <= NUMBER * missed / 2 - ROUNDING))
        )
        rank = SampledRank(
            part=part,
            tail=largest_tail(scale, part, cuts + 1),
            fewest=max(0, number - off),
            most=max(0, number + off),
            deviation=scale * sqrt((cuts + 1) / 2),
        )
        most = missed * (1 - NUMBER) / 2 - ROUNDING
        return (
            lambda difference, _before: rank.chance_below(difference) <= most,
            lambda difference, _before: rank.chance_above(difference) <= most,
        )


Test: TypeAlias = Callable[[int, int], bool]
"""Of a noisy difference of ranks, and the bins before the cut."""


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
            distance *= 2
    return sorted(cut for cut in cuts if 0 < cut < 2 * candidates - 1)


def _places(numbers: Numbers, points: Values | Range) -> Callable[[list[int]], Indices]:
    """Return the counts of records up to cuts, and of all; private."""
    if isinstance(points, Range):
        # A cut is beyond every candidate before the half of it.
        places = numbers.places(points)
        return lambda cuts: np.append(
            places.searchsorted((np.array(cuts, dtype=np.int64) + 1) // 2), places.size
        )
    ranks = numbers.ranks(points)
    counts = np.stack([ranks.below[0], ranks.upto[0]], axis=1).ravel()
    return lambda cuts: np.append(counts[cuts], ranks.numbers)


def _position(points: Values | Range, value: float) -> int:
    """Return the position of a candidate."""
    return int(places_of(points, np.array([value]))[0])
