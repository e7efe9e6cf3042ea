"""One percentile from candidates by a mechanism, and several that are drawn one by one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, TypeAlias

import numpy as np

from dpselect._twofold import Twofold, add
from dpselect.draws.range_exponential import Pieces
from dpselect.errors import ParameterError
from dpselect.mechanisms import (
    ExponentialMechanism,
    Mechanism,
    PermuteAndFlip,
    ReportNoisyMax,
)
from dpselect.neighbours import Neighbours
from dpselect.objective import Objective
from dpselect.percentiles.objectives import FIRST, by_rank, exact_fraction, rank_scores
from dpselect.percentiles.ranges import Range
from dpselect.percentiles.ranks import Ranks
from dpselect.percentiles.reading import Numbers, Records
from dpselect.plan import SEQUENTIAL, ErrorBound, Spend
from dpselect.typing import Indices, Probabilities, Values

PROPORTIONAL = (ExponentialMechanism, PermuteAndFlip, ReportNoisyMax)
"""Mechanisms that look at differences of scores alone, and lose ``w`` times epsilon where
scores move by ``w`` of the sensitivity."""

MethodName: TypeAlias = Literal["one-by-one", "above-threshold", "recursive"]
"""How percentiles are drawn."""

Answer: TypeAlias = tuple[float, ...]


class Method(ABC):
    """A way to draw percentiles, with its public facts."""

    points: Values | Range

    @property
    def ranked(self) -> tuple[Values | None, ...]:
        """The candidates whose ranks are counted together; None if all numbers are read."""
        return (None if isinstance(self.points, Range) else self.points,)

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

    @property
    def error(self) -> ErrorBound | None:
        """A bound on the error that holds on all data, if one is known."""
        return None

    def probabilities(self, numbers: Numbers) -> Probabilities:  # noqa: ARG002
        """Return the distribution over listed candidates, a row for each percentile; private.

        Raises:
            ParameterError: It has no closed form.
            ColumnError, DataError: As for the release.
        """
        raise ParameterError("the distribution of these percentiles has no closed form")

    def prepare(self, numbers: Numbers, records: int = 0) -> Callable[[], Answer]:
        """Read the data and return the draw of all percentiles, ascending.

        Args:
            numbers: The numbers; private.
            records: The noisy number of these, if it was released.

        Raises:
            ColumnError, DataError: As for the release.
        """
        of_groups = self.prepare_groups(numbers.ranks(self.points), np.array([records]))
        return lambda: tuple(of_groups()[0].tolist())

    @abstractmethod
    def prepare_groups(self, ranks: Ranks, records: Indices) -> Callable[[], Values]:
        """Return the draw for groups of numbers, a row of values for each.

        Args:
            ranks: Ranks of all candidates, which are listed; private.
            records: The noisy number of each group, shape ``(groups,)``; public.
        """


@dataclass(frozen=True, eq=False)
class Single(ABC):
    """A way to draw one percentile, with its public facts.

    Attributes:
        p: The percentile, in [1, 100].
        points: The candidates.
        records: How records are read.
    """

    p: float
    points: Values | Range
    records: Records

    @property
    def ranked(self) -> Values | None:
        """The candidates whose ranks are counted; None if all numbers are read."""
        return None if isinstance(self.points, Range) else self.points

    @property
    def exact(self) -> bool:
        """Whether it is drawn by the library's own samplers."""
        return True

    @property
    @abstractmethod
    def mechanism(self) -> str:
        """The mechanism with its public parameters."""

    @property
    @abstractmethod
    def spend(self) -> Spend:
        """What the percentile costs."""

    @abstractmethod
    def error(self, probability: float) -> ErrorBound:
        """Return a bound on the error that holds on all data."""

    @abstractmethod
    def probabilities(self, numbers: Numbers) -> Probabilities:
        """Return the probability of each listed candidate; private.

        Raises:
            ParameterError: The candidates are a range, which is not listed.
            ColumnError, DataError: As for the release.
        """

    @abstractmethod
    def prepare(self, numbers: Numbers) -> Callable[[], float]:
        """Read the data and return the draw.

        Raises:
            ColumnError, DataError: As for the release.
        """

    def prepare_groups(self, ranks: Ranks) -> Callable[[], Values]:
        """Return the draw for groups of numbers, a value for each.

        Args:
            ranks: Ranks of all candidates, which are listed; private.
        """
        points = np.asarray(self.points)
        each = [Numbers.counted(points, one, self.records) for one in ranks.each()]
        return lambda: np.array([self.prepare(one)() for one in each])


@dataclass(frozen=True, eq=False)
class ByMechanism(Single, ABC):
    """A percentile by a mechanism.

    Attributes:
        draw: The mechanism.
    """

    draw: Mechanism

    @property
    def mechanism(self) -> str:
        return str(self.draw)

    @property
    def spend(self) -> Spend:
        return self.draw.spend(f"percentile {self.p:g}")

    @property
    def exact(self) -> bool:
        return self.draw.exact

    def error(self, probability: float) -> ErrorBound:
        return self.draw.error_bound(
            candidates=len(self.points),
            bound=self.records.rank_bound(self.p),
            unit="ranks",
            attained=0.0,
            probability=probability,
        )


@dataclass(frozen=True, eq=False)
class ByRank(ByMechanism):
    """A percentile from listed candidates."""

    points: Values

    def probabilities(self, numbers: Numbers) -> Probabilities:
        return self.draw.probabilities(self._objective(numbers))

    def prepare(self, numbers: Numbers) -> Callable[[], float]:
        objective = self._objective(numbers)
        return lambda: float(self.points[self.draw.draw_positions(objective)[0]])

    def prepare_groups(self, ranks: Ranks) -> Callable[[], Values]:
        if type(self.draw) is not PermuteAndFlip:
            return super().prepare_groups(ranks)
        scores = rank_scores(ranks, p=self.p, points=self.points, form="signed")
        best = scores.high.max(axis=1, keepdims=True)
        low = np.where(scores.high == best, scores.low, -np.inf).max(axis=1, keepdims=True)
        # As by the mechanism, for each row.
        unit = add(scores, Twofold(-best, -low)).high / self.records.rank_bound(self.p)

        def draw() -> Values:
            from dpselect.draws.exact.selection import largest_of_each

            return self.points[largest_of_each(unit, self.draw.epsilon)]

        return draw

    def _objective(self, numbers: Numbers) -> Objective:
        return by_rank(
            numbers.ranks(self.points),
            p=self.p,
            points=self.points,
            form="signed" if type(self.draw) in PROPORTIONAL else "interpolated",
            neighbours=self.records.neighbours,
            per_user=self.records.per_user,
        )


@dataclass(frozen=True, eq=False)
class ByPieces(ByMechanism):
    """A percentile from a range, by the exponential mechanism."""

    points: Range

    @property
    def mechanism(self) -> str:
        return f"{self.draw} by pieces of a range"

    @property
    def decay(self) -> Fraction:
        """Return ``ε / (2 m Δ)``, exactly."""
        part = exact_fraction(self.p)
        substitute = self.records.neighbours is Neighbours.SUBSTITUTE
        bound = 1 if substitute else max(part, 1 - part)
        return Fraction(self.draw.epsilon) / (2 * self.records.per_user * bound)

    def probabilities(self, numbers: Numbers) -> Probabilities:  # noqa: ARG002
        raise not_listed()

    def pieces(self, numbers: Numbers) -> Pieces:
        """Return the pieces of candidates that are drawn from; private."""
        places = numbers.places(self.points)
        wanted = FIRST + exact_fraction(self.p) * (places.size - 1)
        return self.points.pieces(places, wanted)

    def prepare(self, numbers: Numbers) -> Callable[[], float]:
        pieces, decay = self.pieces(numbers), self.decay

        def draw() -> float:
            from dpselect.draws.range_exponential import draw_position

            return self.points[draw_position(pieces, decay)]

        return draw


@dataclass(frozen=True, eq=False)
class OneByOne(Method):
    """Every percentile from all records, each with an equal part of epsilon, then sorted.

    Attributes:
        singles: One for each percentile.
    """

    singles: tuple[Single, ...]

    @property
    def points(self) -> Values | Range:  # type: ignore[override] # those of each
        return self.singles[0].points

    @property
    def ranked(self) -> tuple[Values | None, ...]:
        return tuple(one.ranked for one in self.singles)

    @property
    def exact(self) -> bool:
        return all(one.exact for one in self.singles)

    @property
    def mechanism(self) -> str:
        return "; ".join(dict.fromkeys(one.mechanism for one in self.singles))

    @property
    def spends(self) -> tuple[Spend, ...]:
        return tuple(one.spend for one in self.singles)

    @property
    def error(self) -> ErrorBound:
        # The union of all percentiles.
        probability = 0.95
        each = 1 - (1 - probability) / len(self.singles)
        worst = max((one.error(each) for one in self.singles), key=lambda bound: bound.value)
        return ErrorBound(worst.value, worst.unit, probability)

    def probabilities(self, numbers: Numbers) -> Probabilities:
        laws = [one.probabilities(numbers) for one in self.singles]
        return sorted_probabilities(np.asarray(self.singles[0].points), laws)

    def prepare(self, numbers: Numbers, records: int = 0) -> Callable[[], Answer]:  # noqa: ARG002
        draws = [one.prepare(numbers) for one in self.singles]
        return lambda: tuple(sorted(draw() for draw in draws))

    def prepare_groups(self, ranks: Ranks, records: Indices) -> Callable[[], Values]:  # noqa: ARG002
        draws = [one.prepare_groups(ranks) for one in self.singles]
        return lambda: np.sort(np.column_stack([draw() for draw in draws]), axis=1)


def named(percents: Sequence[float]) -> str:
    """Return what percentiles are called in a plan."""
    return f"percentile{'s' * (len(percents) > 1)} {', '.join(f'{p:g}' for p in percents)}"


def not_listed() -> ParameterError:
    """Return the error for the distribution of values that are not listed."""
    return ParameterError("a range has too many values for their probabilities: give fewer")


def sorted_probabilities(points: Values, laws: Sequence[Probabilities]) -> Probabilities:
    """Return the distributions of the order statistics of independent draws.

    At least ``i`` values are at or below a candidate: a Poisson binomial probability.
    """
    order = np.argsort(points, kind="stable")
    counts = np.zeros((len(laws) + 1, points.size))
    counts[0] = 1
    for law in laws:
        below = np.cumsum(law[order])
        counts[1:] = counts[1:] * (1 - below) + counts[:-1] * below
        counts[0] *= 1 - below
    upto = np.cumsum(counts[:0:-1], axis=0)[::-1]
    found = np.empty_like(upto)
    found[:, order] = np.diff(upto, axis=1, prepend=0.0)
    return found
