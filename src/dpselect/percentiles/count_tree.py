r"""Many percentiles from noisy counts of two levels of bins.

Up to ``LEAVES`` candidates at distances from 0 that grow are the ends of bins, and every
``FAN`` of these are one bin of the upper level. All counts get discrete Laplace noise. The two
numbers that the levels state of a bin of the upper one are averaged by their variances, the
difference is shared by its parts, and running sums are made monotone; a percentile is then
interpolated, up to the next candidate. The noise is the same for one percentile and for a
hundred.

Guarantee:
    A record is in one bin of each level: one more changes two counts by 1 each, and one that is
    replaced four. A person with up to ``m`` records changes ``m`` times as much in all, under
    both relations. What is done with the noisy counts afterwards is public.

Source: Hay, Rastogi, Miklau and Suciu, VLDB 2010, for consistent counts; for a fan of 16
Qardaji, Yang and Li, VLDB 2013.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dpselect.budget.zcdp import rho_of_pure
from dpselect.draws.exact.noisy_counts import check_scale, discrete_laplace, scale_for
from dpselect.neighbours import Neighbours
from dpselect.percentiles.ranges import Range
from dpselect.percentiles.ranks import Ranks
from dpselect.percentiles.reading import Numbers, Records
from dpselect.percentiles.single import Answer, Method
from dpselect.percentiles.thresholds import growing
from dpselect.plan import Spend
from dpselect.typing import Indices, Values

FAN = 16
"""Bins that are one bin of the upper level."""

LEAVES = FAN**2
"""Bins at most."""

ROUNDING = 1e-12
"""More than what floats lose of a value, as a part of it."""


@dataclass(frozen=True, eq=False)
class ByCounts(Method):
    """Percentiles from noisy counts of bins.

    Attributes:
        percents: In (0, 100], increasing.
        points: The candidates, increasing.
        records: How records are read.
        epsilon: Epsilon of the whole release, in nats.

    Raises:
        ParameterError: Epsilon is too small.
    """

    percents: tuple[float, ...]
    points: Values | Range
    records: Records
    epsilon: float

    def __post_init__(self) -> None:
        check_scale(self.scale)

    @property
    def changed(self) -> int:
        """By how much one neighbour step changes all counts together."""
        replaced = self.records.neighbours is Neighbours.SUBSTITUTE
        return 2 * self.records.per_user * (2 if replaced else 1)

    @property
    def scale(self) -> float:
        """Scale of the noise."""
        return scale_for(self.epsilon, self.changed)

    @cached_property
    def ends(self) -> Values:
        """The upper ends of the bins, ascending; the last one has all that is above, too."""
        grids = (growing(self.points, most) for most in range(LEAVES, 0, -FAN))
        return next(grid for grid in grids if grid.size <= LEAVES)

    @property
    def ranked(self) -> tuple[Values | None, ...]:
        return (None if isinstance(self.points, Range) else self.ends,)

    @property
    def mechanism(self) -> str:
        bins = f"{self.ends.size} bins in 2 levels"
        return f"discrete Laplace noise (scale={self.scale!r}) on {bins}"

    @property
    def spends(self) -> tuple[Spend, ...]:
        # rho grows faster than epsilon: most if all records of a person are in one bin.
        most = self.records.per_user
        rho = self.changed / most * rho_of_pure(most / self.scale)
        return (Spend("noise on the counts of all bins", self.epsilon, rho=rho),)

    def counts(self, upto: Indices, numbers: int) -> Indices:
        """Return the counts of the bins, then those of the upper level.

        Args:
            upto: Numbers up to the end of each bin. Private.
            numbers: How many there are. Private.
        """
        leaves = np.zeros(LEAVES, dtype=np.int64)
        leaves[: self.ends.size] = np.diff(np.append(upto[:-1], numbers), prepend=0)
        return np.concatenate([leaves, leaves.reshape(FAN, FAN).sum(axis=1)])

    def exact_counts(self, numbers: Numbers) -> Indices:
        """Return the counts of some numbers; private.

        Raises:
            ColumnError, DataError: As for the release.
        """
        ranks = numbers.ranks(self.points, self.ends)
        return self.counts(ranks.upto[0], int(ranks.numbers[0]))

    def answer(self, noisy: Indices) -> Answer:
        """Return the percentiles of noisy counts."""
        sums = running_sums(noisy.astype(np.float64))[: self.ends.size]
        wanted = 0.5 + np.array(self.percents) / 100 * max(sums[-1] - 1, 0)
        # Between the sums next to each: an empty bin has no part in it.
        values = np.interp(wanted, sums, self.ends)
        return tuple(self._upto(value) for value in values.tolist())

    def _upto(self, value: float) -> float:
        """Return the first candidate that is not below; all records may have values of these.

        So a bin of one candidate has its records there, whatever part of them is wanted.
        """
        points, value = self.points, value - ROUNDING * abs(value)
        if isinstance(points, Range):
            at = int(points.places(np.array([value]))[0])
            return points[min(at + (points[at] < value), len(points) - 1)]
        return float(points[min(int(points.searchsorted(value)), points.size - 1)])

    def prepare(self, numbers: Numbers) -> Callable[[], Answer]:
        counts = self.exact_counts(numbers)
        return lambda: self.answer(discrete_laplace(counts, self.scale))

    def prepare_groups(self, ranks: Ranks) -> Callable[[], Values]:
        held = ranks.among(np.asarray(self.points), self.ends)
        pairs = zip(held.upto, held.numbers.tolist(), strict=True)
        counts = [self.counts(upto, number) for upto, number in pairs]
        return lambda: np.array(
            [self.answer(discrete_laplace(one, self.scale)) for one in counts]
        )


def running_sums(noisy: Values) -> Values:
    """Return monotone running sums of the bins that both levels agree on.

    Args:
        noisy: The counts of all bins, then those of the upper level, of the same variance.

    Returns:
        Shape ``(LEAVES,)``: the mean of the largest monotone sums below and the least above.
    """
    leaves, upper = noisy[:LEAVES].reshape(FAN, FAN), noisy[LEAVES:]
    # A sum of FAN leaves has FAN times the variance of an upper count.
    agreed = (FAN * upper + leaves.sum(axis=1)) / (FAN + 1)
    shared = leaves + ((agreed - leaves.sum(axis=1)) / FAN)[:, None]
    sums = np.cumsum(shared)
    highest = np.maximum.accumulate(sums)
    lowest = np.minimum.accumulate(sums[::-1])[::-1]
    return (highest + lowest) / 2
