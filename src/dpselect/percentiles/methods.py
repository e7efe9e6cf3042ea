"""How percentiles are drawn: each by its rank, or all from noisy counts of few bins.

Bins: candidates at distances from 0 that grow by a public factor are their ends, as many as a
number of records and epsilon can pay for; of few candidates all are. All counts get discrete
Laplace noise. They are replaced by the nearest ones that add up to as much and of which none is
negative, and a percentile is interpolated, up to the next candidate. Counts of which little is
left are filled up evenly. The noise is the same for one percentile and for a hundred.

Guarantee:
    By rank: that of the mechanism. Bins: a record is in one bin, so one neighbour step changes
    all counts by at most ``Records.changed`` together. What is done with the noisy counts
    afterwards is public.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import sqrt
from typing import Generic, TypeVar

import numpy as np

from dpselect.draws import above_threshold
from dpselect.draws.above_threshold import Runs
from dpselect.draws.exact.noisy_counts import check_scale, discrete_laplace, scale_for
from dpselect.draws.exact.selection import Rows, largest_of_each
from dpselect.percentiles.candidates import Range, around
from dpselect.percentiles.objectives import RankScores
from dpselect.percentiles.reading import Counts, Records
from dpselect.typing import Indices, Values

FEWEST, MOST, RECORDS = 16, 256, 3.0
"""Bins: at least, at most, and how many records each has, in scales of its noise."""

ROUNDING = 2.0**-50
"""More than what floats lose of an interpolated value, as a part of it."""


class Draws:
    """What is drawn in each group, by the exact samplers; ``prediction`` has simulated ones."""

    def largest(self, scores: Rows, epsilon: float) -> Indices:
        """Draw a position of each row by permute-and-flip, from unit scores."""
        return largest_of_each(scores, epsilon)

    def first_above(
        self, queries: Runs, threshold: int, scales: tuple[float, float]
    ) -> Indices:
        """Draw where AboveThreshold stops in each row (``first_above_of_each``)."""
        return above_threshold.first_above_of_each(queries, threshold, *scales)

    def laplace(self, counts: Indices, scale: float) -> Indices:
        """Add discrete Laplace noise."""
        return discrete_laplace(counts, scale)


EXACT = Draws()

Points = TypeVar("Points", bound=Values | Range)


@dataclass(frozen=True, eq=False)
class Asked(Generic[Points]):
    """Percentiles of records, and what may be spent on them; public.

    Attributes:
        percents: In [1, 100], increasing.
        points: The candidates, increasing.
        records: How records are read.
        epsilon: Epsilon of all percentiles together, in nats.

    Raises:
        ParameterError: Epsilon is too small.
    """

    percents: tuple[float, ...]
    points: Points
    records: Records
    epsilon: float

    def __post_init__(self) -> None:
        check_scale(self.scale)

    @property
    def p(self) -> float:
        """The percentile, if there is one."""
        [p] = self.percents
        return p

    @cached_property
    def scale(self) -> float:
        """Scale of the noise on counts that do not overlap."""
        return scale_for(self.epsilon, self.records.changed)


class Method(ABC):
    """A way to draw percentiles in groups of numbers, with its public facts."""

    @property
    @abstractmethod
    def mechanism(self) -> str:
        """The mechanism with its public parameters."""

    @abstractmethod
    def draw(self, counts: Counts, records: Indices, by: Draws = EXACT) -> Values:
        """Draw the values of each group, ascending, shape ``(groups, m)``: a release.

        Args:
            counts: Where numbers count; private.
            records: The noisy number of each group; public.
            by: What draws.
        """


class ByRank(Asked[Values], Method):
    """One percentile by permute-and-flip, of candidates by their ranks."""

    @property
    def mechanism(self) -> str:
        return f"PermuteAndFlip(epsilon={self.epsilon!r})"

    def draw(self, counts: Counts, records: Indices, by: Draws = EXACT) -> Values:  # noqa: ARG002
        return self.points[by.largest(self.scores(counts), self.epsilon), None]

    def scores(self, counts: Counts) -> RankScores:
        """Return the scores of the candidates; private."""
        bound = self.records.rank_bound(self.p)
        return RankScores(counts, p=self.p, points=self.points, bound=bound)


@dataclass(frozen=True, eq=False)
class OneByOne(Method):
    """Every percentile from all records, each with its part of epsilon, then sorted.

    Attributes:
        singles: One for each percentile.
    """

    singles: tuple[Method, ...]

    @property
    def mechanism(self) -> str:
        return "; ".join(dict.fromkeys(one.mechanism for one in self.singles))

    def draw(self, counts: Counts, records: Indices, by: Draws = EXACT) -> Values:
        return np.sort(np.hstack([one.draw(counts, records, by) for one in self.singles]))


@dataclass(frozen=True, eq=False)
class ByBins(Asked[Values], Method):
    """Percentiles from noisy counts of bins.

    Attributes:
        assumed: About how many records there are.
    """

    assumed: float

    @cached_property
    def ends(self) -> Indices:
        """Positions of the upper ends of the bins; the last one has all that is above, too."""
        bins = int(np.clip(self.assumed / self.scale / RECORDS, FEWEST, MOST))
        return around(self.points, bins)

    @property
    def mechanism(self) -> str:
        return f"discrete Laplace noise (scale={self.scale!r}) on {self.ends.size} bins"

    def held(self, counts: Counts) -> Indices:
        """Return the counts of the bins; private."""
        upto = counts.before(self.ends[:-1] + 1)
        return np.diff(upto, axis=1, prepend=0, append=counts.numbers[:, None])

    def draw(self, counts: Counts, records: Indices, by: Draws = EXACT) -> Values:  # noqa: ARG002
        return self.answers(by.laplace(self.held(counts), self.scale))

    def answers(self, noisy: Indices) -> Values:
        """Return the percentiles of noisy counts, shape ``(groups, bins)``, a row for each."""
        bins = self.ends.size
        # Where they add up to less than the deviation of their noise, they get as much: of
        # nobody's numbers percentiles are those of the bins, and not at an end.
        total = noisy.sum(axis=1, keepdims=True).clip(min=self.scale * sqrt(2 * bins))
        # Less one level those above it are the nearest ones without a negative one: what is
        # left of the largest, divided among them, is at most the level, and once is it.
        largest = np.sort(noisy, axis=1)[:, ::-1].cumsum(axis=1)
        level = ((largest - total) / np.arange(1, bins + 1)).max(axis=1, keepdims=True)
        sums = (noisy - level).clip(min=0).cumsum(axis=1)
        parts, ends = np.array(self.percents) / 100, self.points[self.ends]
        wanted = 0.5 + parts * (total - 1).clip(min=0)
        # Between the sums next to each: an empty bin has no part in it.
        found = np.array([np.interp(*of, ends) for of in zip(wanted, sums, strict=True)])
        # The first candidates that are not below: so a bin of one has its records there.
        at = self.points.searchsorted(found - ROUNDING * np.abs(found))
        return self.points[at.clip(max=self.points.size - 1)]


def named(percents: Sequence[float]) -> str:
    """Return what percentiles are called in a plan."""
    return f"percentile{'s' * (len(percents) > 1)} {', '.join([f'{p:g}' for p in percents])}"
