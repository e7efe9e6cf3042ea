"""How percentiles are drawn: each by its rank, or all from noisy counts of few bins.

Bins: candidates at distances from 0 that grow by a public factor are their ends, as many as a
number of records and epsilon can pay for. All counts get discrete Laplace noise, running sums
are made monotone, and a percentile is interpolated, up to the next candidate. The noise is the
same for one percentile and for a hundred.

Guarantee:
    By rank: that of the mechanism. Bins: a record is in one bin, so one neighbour step changes
    all counts by at most ``Records.changed`` together. What is done with the noisy counts
    afterwards is public.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from dpselect._twofold import Twofold, add
from dpselect.budget.zcdp import rho_of_pure
from dpselect.draws import above_threshold
from dpselect.draws.exact.noisy_counts import check_scale, discrete_laplace, scale_for
from dpselect.draws.exact.selection import largest_of_each
from dpselect.errors import ParameterError
from dpselect.mechanisms import (
    ExponentialMechanism,
    Mechanism,
    PermuteAndFlip,
    ReportNoisyMax,
)
from dpselect.objective import Objective
from dpselect.percentiles.candidates import around
from dpselect.percentiles.objectives import by_rank, rank_scores
from dpselect.percentiles.reading import Ranks, Records
from dpselect.plan import SEQUENTIAL, ErrorBound, Spend
from dpselect.typing import Indices, Probabilities, Values

PROPORTIONAL = (ExponentialMechanism, PermuteAndFlip, ReportNoisyMax)
"""Mechanisms that look at differences of scores alone, not for the highest score."""

MethodName: TypeAlias = Literal["one-by-one", "above-threshold"]
"""How percentiles are drawn."""

FEWEST, MOST, RECORDS = 16, 256, 3.0
"""Bins: at least, at most, and how many records each has, in scales of its noise."""

ROUNDING = 1e-12
"""More than what floats lose of a value, as a part of it."""


class Draws:
    """What is drawn in each group, by the exact samplers; ``prediction`` has simulated ones."""

    def largest(self, scores: Values, epsilon: float) -> Indices:
        """Draw a position of each row by permute-and-flip, from unit scores."""
        return largest_of_each(scores, epsilon)

    def first_above(
        self,
        queries: Indices,
        threshold: int,
        scales: tuple[float, float],
        sizes: Indices | None = None,
    ) -> Indices:
        """Draw where AboveThreshold stops in each row (``first_above_of_each``)."""
        return above_threshold.first_above_of_each(queries, threshold, *scales, sizes)

    def laplace(self, counts: Indices, scale: float) -> Indices:
        """Add discrete Laplace noise."""
        return discrete_laplace(counts, scale)


EXACT = Draws()


class Drawn(NamedTuple):
    """What was drawn in one group.

    Attributes:
        values: Ascending.
        records: The noisy number of its records, if it was paid for.
        chosen: The mechanism that this number chose.
        ends: Works out the intervals around the values, if they were asked for.
    """

    values: tuple[float, ...]
    records: int | None = None
    chosen: str | None = None
    ends: Callable[[], tuple[tuple[float, float], ...]] | None = None


class Method(ABC):
    """A way to draw percentiles in groups of numbers, with its public facts.

    Attributes:
        points: The candidates, increasing.
    """

    points: Values

    @property
    def exact(self) -> bool:
        """Whether all is drawn by the library's own samplers."""
        return True

    @property
    @abstractmethod
    def mechanism(self) -> str:
        """The mechanism with its public parameters."""

    @property
    @abstractmethod
    def spends(self) -> tuple[Spend, ...]:
        """What a record pays."""

    @property
    def composition(self) -> str:
        """The composition theorem by which the spends add up to the whole, in words."""
        return SEQUENTIAL

    def error(self, probability: float) -> ErrorBound | None:  # noqa: ARG002
        """Return a bound on the error that holds on all data, if one is known."""
        return None

    def probabilities(self, ranks: Ranks) -> Probabilities:  # noqa: ARG002
        """Return the distribution over the candidates, a row for each percentile; private.

        Raises:
            ParameterError: It has no closed form.
        """
        raise ParameterError("the distribution of these percentiles has no closed form")

    @abstractmethod
    def draw(self, ranks: Ranks, records: Indices, by: Draws = EXACT) -> Values:
        """Draw the values of each group, ascending, shape ``(groups, m)``: a release.

        Args:
            ranks: Ranks of all candidates; private.
            records: The noisy number of each group, if it was released; public.
            by: What draws.
        """

    def drawn(self, ranks: Ranks) -> list[Drawn]:
        """Draw the values of each group exactly, with all else that is released."""
        values = self.draw(ranks, np.zeros_like(ranks.numbers))
        return [Drawn(tuple(one)) for one in values.tolist()]


@dataclass(frozen=True, eq=False)
class ByRank(Method):
    """One percentile by a mechanism, of candidates by their ranks.

    Attributes:
        p: The percentile, in [1, 100].
        points: The candidates, increasing.
        records: How records are read.
        drawn_by: The mechanism.
    """

    p: float
    points: Values
    records: Records
    drawn_by: Mechanism

    @property
    def mechanism(self) -> str:
        return str(self.drawn_by)

    @property
    def spends(self) -> tuple[Spend, ...]:
        return (self.drawn_by.spend(named([self.p])),)

    @property
    def exact(self) -> bool:
        return self.drawn_by.exact

    def error(self, probability: float) -> ErrorBound:
        return self.drawn_by.error_bound(
            candidates=len(self.points),
            bound=self.records.rank_bound(self.p),
            unit="ranks",
            attained=0.0,
            probability=probability,
        )

    def probabilities(self, ranks: Ranks) -> Probabilities:
        return self.drawn_by.probabilities(self._objective(ranks))[None]

    def draw(self, ranks: Ranks, records: Indices, by: Draws = EXACT) -> Values:  # noqa: ARG002
        if type(self.drawn_by) is PermuteAndFlip:
            bound = self.records.rank_bound(self.p)
            scores = unit_scores(ranks, p=self.p, points=self.points, bound=bound)
            at = by.largest(scores, self.drawn_by.epsilon)
        else:
            each = map(self._objective, ranks.each())
            at = np.concatenate([self.drawn_by.draw_positions(one) for one in each])
        return self.points[at, None]

    def _objective(self, ranks: Ranks) -> Objective:
        return by_rank(
            ranks,
            p=self.p,
            points=self.points,
            form="signed" if type(self.drawn_by) in PROPORTIONAL else "interpolated",
            neighbours=self.records.neighbours,
            per_user=self.records.per_user,
        )


def unit_scores(
    ranks: Ranks, *, p: float | Values, points: Values, bound: float | Values
) -> Values:
    """Return the scores of each group less the best, in what one step moves; private.

    Args:
        ranks: Ranks of the candidates.
        p: The percentile, or that of each group.
        points: The candidates.
        bound: What one step moves, of all groups or of each, shape ``(groups, 1)``.
    """
    scores = rank_scores(ranks, p=p, points=points, form="signed")
    best = scores.high.max(axis=1, keepdims=True)
    low = np.where(scores.high == best, scores.low, -np.inf).max(axis=1, keepdims=True)
    return add(scores, Twofold(-best, -low)).high / bound


@dataclass(frozen=True, eq=False)
class OneByOne(Method):
    """Every percentile from all records, each with an equal part of epsilon, then sorted.

    Attributes:
        singles: One for each percentile.
    """

    singles: tuple[Method, ...]

    @property
    def points(self) -> Values:  # type: ignore[override] # those of each
        return self.singles[0].points

    @property
    def exact(self) -> bool:
        return all(one.exact for one in self.singles)

    @property
    def mechanism(self) -> str:
        return "; ".join(dict.fromkeys(one.mechanism for one in self.singles))

    @property
    def spends(self) -> tuple[Spend, ...]:
        return tuple(spend for one in self.singles for spend in one.spends)

    def error(self, probability: float) -> ErrorBound | None:
        # The union of all percentiles.
        each = 1 - (1 - probability) / len(self.singles)
        bounds = [bound for one in self.singles if (bound := one.error(each)) is not None]
        worst = max(bounds, key=lambda one: one.value, default=None)
        return worst and replace(worst, probability=probability)

    def probabilities(self, ranks: Ranks) -> Probabilities:
        return sorted_probabilities([one.probabilities(ranks)[0] for one in self.singles])

    def draw(self, ranks: Ranks, records: Indices, by: Draws = EXACT) -> Values:
        return np.sort(np.hstack([one.draw(ranks, records, by) for one in self.singles]))


@dataclass(frozen=True, eq=False)
class ByBins(Method):
    """Percentiles from noisy counts of bins.

    Attributes:
        percents: In [1, 100], increasing.
        points: The candidates, increasing.
        records: How records are read.
        epsilon: Epsilon of the whole release, in nats.
        assumed: About how many records there are.

    Raises:
        ParameterError: Epsilon is too small.
    """

    percents: tuple[float, ...]
    points: Values
    records: Records
    epsilon: float
    assumed: float

    def __post_init__(self) -> None:
        check_scale(self.scale)

    @property
    def scale(self) -> float:
        """Scale of the noise on each count."""
        return scale_for(self.epsilon, self.records.changed)

    @cached_property
    def ends(self) -> Indices:
        """Positions of the upper ends of the bins; the last one has all that is above, too."""
        bins = int(np.clip(self.assumed / self.scale / RECORDS, FEWEST, MOST))
        sides = 1 + bool(self.points[0] < 0 < self.points[-1])
        return around(self.points, bins // sides)

    @property
    def mechanism(self) -> str:
        return f"discrete Laplace noise (scale={self.scale!r}) on {self.ends.size} bins"

    @property
    def spends(self) -> tuple[Spend, ...]:
        # rho grows faster than epsilon: most if all records of a person are in one bin.
        return (counts_spend("noise on the counts of all bins", self.epsilon, self.records),)

    def counts(self, ranks: Ranks) -> Indices:
        """Return the counts of the bins; private."""
        upto = ranks.upto[:, self.ends[:-1]]
        return np.diff(upto, axis=1, prepend=0, append=ranks.numbers[:, None])

    def draw(self, ranks: Ranks, records: Indices, by: Draws = EXACT) -> Values:  # noqa: ARG002
        return self.answers(by.laplace(self.counts(ranks), self.scale))

    def answers(self, noisy: Indices) -> Values:
        """Return the percentiles of noisy counts, shape ``(groups, bins)``, a row for each."""
        sums = np.cumsum(noisy.astype(np.float64), axis=1)
        highest = np.maximum.accumulate(sums, axis=1)
        lowest = np.minimum.accumulate(sums[:, ::-1], axis=1)[:, ::-1]
        parts = np.array(self.percents) / 100
        # Between the sums next to each: an empty bin has no part in it.
        found = np.array(
            [
                np.interp(0.5 + parts * max(row[-1] - 1, 0), row, self.points[self.ends])
                for row in (highest + lowest) / 2
            ]
        )
        # The first candidates that are not below: so a bin of one has its records there.
        at = self.points.searchsorted(found - ROUNDING * np.abs(found))
        return self.points[at.clip(max=self.points.size - 1)]


def counts_spend(purpose: str, epsilon: float, records: Records) -> Spend:
    """Return the price of noisy counts of which each record is in one."""
    most, changed = records.per_user, records.changed
    rho = changed / most * rho_of_pure(most / scale_for(epsilon, changed))
    return Spend(purpose, epsilon, rho=rho)


def named(percents: Sequence[float]) -> str:
    """Return what percentiles are called in a plan."""
    return f"percentile{'s' * (len(percents) > 1)} {', '.join(f'{p:g}' for p in percents)}"


def sorted_probabilities(laws: Sequence[Probabilities]) -> Probabilities:
    """Return the distributions of the order statistics of independent draws.

    At least ``i`` values are at or below a candidate: a Poisson binomial probability.

    Args:
        laws: Over the same candidates, which increase.
    """
    counts = np.zeros((len(laws) + 1, laws[0].size))
    counts[0] = 1
    for law in laws:
        below = np.cumsum(law)
        counts[1:] = counts[1:] * (1 - below) + counts[:-1] * below
        counts[0] *= 1 - below
    upto = np.cumsum(counts[:0:-1], axis=0)[::-1]
    return np.diff(upto, axis=1, prepend=0.0)
