"""One percentile from candidates by a mechanism, and several that are drawn one by one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
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
from dpselect.typing import Probabilities, Values

PROPORTIONAL = (ExponentialMechanism, PermuteAndFlip, ReportNoisyMax)
"""Mechanisms that look at differences of scores alone, and lose ``w`` times epsilon where
scores move by ``w`` of the sensitivity."""

MethodName: TypeAlias = Literal["one-by-one", "above-threshold", "recursive", "noisy-counts"]
"""How percentiles are drawn."""

Answer: TypeAlias = tuple[float, ...]


class Method(ABC):
    """A way to draw percentiles, with its public facts."""

    @property
    @abstractmethod
    def ranked(self) -> tuple[Values | None, ...]:
        """The candidates whose ranks are counted together; None if all numbers are read."""

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

    @abstractmethod
    def prepare(self, numbers: Numbers) -> Callable[[], Answer]:
        """Read the data and return the draw of all percentiles, ascending.

        Raises:
            ColumnError, DataError: As for the release.
        """

    @abstractmethod
    def prepare_groups(self, ranks: Ranks) -> Callable[[], Values]:
        """Return the draw for groups of numbers, a row of values for each.

        Args:
            ranks: Ranks of all candidates, which are listed; private.
        """


@dataclass(frozen=True, eq=False)
class Single(ABC):
    """A way to draw one percentile, with its public facts.

    Attributes:
        p: The percentile, in (0, 100].
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

    def prepare(self, numbers: Numbers) -> Callable[[], Answer]:
        draws = [one.prepare(numbers) for one in self.singles]
        return lambda: tuple(sorted(draw() for draw in draws))

    def prepare_groups(self, ranks: Ranks) -> Callable[[], Values]:
        draws = [one.prepare_groups(ranks) for one in self.singles]
        return lambda: np.sort(np.column_stack([draw() for draw in draws]), axis=1)


@dataclass(frozen=True, eq=False)
class Parts(Method):
    """A method for the middle, and single draws for percentiles below and above.

    The values of the middle are left as they are drawn. A value above is raised to the largest
    one below it, and a value below lowered to the smallest one above it, so all values ascend;
    and since the draws at the ends are independent of all others, the distribution of each
    value is exact.

    Attributes:
        below: For the percentiles below the middle, ascending.
        middle: For those of the middle.
        above: For those above, ascending.
    """

    below: tuple[Single, ...]
    middle: Method
    above: tuple[Single, ...]

    @property
    def _ends(self) -> OneByOne:
        return OneByOne((*self.below, *self.above))

    @property
    def ranked(self) -> tuple[Values | None, ...]:
        return (*self._ends.ranked, *self.middle.ranked)

    @property
    def exact(self) -> bool:
        return self.middle.exact and self._ends.exact

    @property
    def mechanism(self) -> str:
        return f"{self._ends.mechanism}; {self.middle.mechanism}"

    @property
    def spends(self) -> tuple[Spend, ...]:
        return (*self._ends.spends, *self.middle.spends)

    @property
    def composition(self) -> str:
        return f"{self._ends.composition}; of the middle: {self.middle.composition}"

    def probabilities(self, numbers: Numbers) -> Probabilities:
        middle = self.middle.probabilities(numbers)
        order = np.argsort(np.asarray(self._ends.singles[0].points), kind="stable")
        upwards = [one.probabilities(numbers)[order] for one in self.above]
        downwards = [one.probabilities(numbers)[order[::-1]] for one in self.below[::-1]]
        laws = np.empty((len(self.below) + len(middle) + len(self.above), order.size))
        laws[len(self.below) : len(self.below) + len(middle)] = middle
        for place, law in enumerate(_largest(middle[-1][order], upwards)):
            laws[len(self.below) + len(middle) + place, order] = law
        for place, law in enumerate(_largest(middle[0][order[::-1]], downwards)):
            laws[len(self.below) - 1 - place, order[::-1]] = law
        return laws

    def prepare(self, numbers: Numbers) -> Callable[[], Answer]:
        below = [one.prepare(numbers) for one in self.below[::-1]]
        middle = self.middle.prepare(numbers)
        above = [one.prepare(numbers) for one in self.above]

        def draw() -> Answer:
            values = middle()
            high = accumulate((one() for one in above), max, initial=values[-1])
            low = list(accumulate((one() for one in below), min, initial=values[0]))
            return (*low[:0:-1], *values, *list(high)[1:])

        return draw

    def prepare_groups(self, ranks: Ranks) -> Callable[[], Values]:
        parts: list[Method | Single] = [self.middle, *self.below[::-1], *self.above]
        draws = [one.prepare_groups(ranks) for one in parts]

        def draw() -> Values:
            middle, *ends = (one() for one in draws)
            low, high = ends[: len(self.below)], ends[len(self.below) :]
            upwards = np.maximum.accumulate(np.column_stack([middle[:, -1], *high]), axis=1)
            downwards = np.minimum.accumulate(np.column_stack([middle[:, 0], *low]), axis=1)
            return np.column_stack([downwards[:, :0:-1], middle, upwards[:, 1:]])

        return draw


def _largest(first: Probabilities, laws: list[Probabilities]) -> list[Probabilities]:
    """Return the distributions of running maxima of independent draws, after a first one."""
    upto = np.cumsum(first)
    found = []
    for law in laws:
        upto = upto * np.cumsum(law)
        found.append(np.diff(upto, prepend=0.0))
    return found


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
