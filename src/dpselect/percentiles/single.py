"""Ways to draw one percentile: by rank among candidates, and by pieces of a range."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

from dpselect.accuracy import error_bound
from dpselect.errors import ParameterError
from dpselect.mechanisms import (
    ExponentialMechanism,
    Mechanism,
    PermuteAndFlip,
    ReportNoisyMax,
)
from dpselect.neighbours import Neighbours
from dpselect.objective import Objective
from dpselect.percentiles.objectives import by_rank, rank_bound
from dpselect.percentiles.ranges import Range, exact_fraction
from dpselect.percentiles.reading import Source
from dpselect.plan import ErrorBound, Spend
from dpselect.typing import Probabilities, Values

PROPORTIONAL = (ExponentialMechanism, PermuteAndFlip, ReportNoisyMax)
"""Mechanisms that look at differences of scores alone, and lose ``w`` times epsilon where
scores move by ``w`` of the sensitivity."""


class Single(Protocol):
    """A way to draw one percentile, with its public facts."""

    @property
    def p(self) -> float:
        """The percentile, in (0, 100]."""

    @property
    def points(self) -> Values | Range:
        """The candidates."""

    @property
    def asked(self) -> Values | None:
        """The candidates whose ranks are counted; None if all numbers are read."""

    @property
    def mechanism(self) -> str:
        """The mechanism with its public parameters."""

    @property
    def spend(self) -> Spend:
        """What the percentile costs."""

    @property
    def exact(self) -> bool:
        """Whether it is drawn by the library's own samplers."""

    def error(self, probability: float) -> ErrorBound:
        """Return a bound on the error that holds on all data."""

    def law(self, source: Source) -> Probabilities:
        """Return the probability of each listed candidate; private.

        Raises:
            ParameterError: The candidates are a range, whose law is not listed.
            ColumnError, DataError: As for the release.
        """

    def prepared(self, source: Source) -> Callable[[], float]:
        """Read the data and return the draw.

        Raises:
            ColumnError, DataError: As for the release.
        """


@dataclass(frozen=True, slots=True, eq=False)
class ByRank:
    """A percentile from listed candidates, by a mechanism.

    Attributes:
        p: The percentile, in (0, 100].
        points: The candidates.
        neighbours: Add/remove or substitution.
        per_user: How many records a person has at most.
        draw: The mechanism.
    """

    p: float
    points: Values
    neighbours: Neighbours
    per_user: int
    draw: Mechanism

    @property
    def asked(self) -> Values:
        return self.points

    @property
    def mechanism(self) -> str:
        return repr(self.draw)

    @property
    def spend(self) -> Spend:
        return self.draw.spend(f"percentile {self.p:g}")

    @property
    def exact(self) -> bool:
        return self.draw.exact

    def error(self, probability: float) -> ErrorBound:
        return error_bound(
            self.draw,
            candidates=self.points.size,
            bound=self.per_user * rank_bound(self.p / 100, self.neighbours),
            unit="ranks",
            attained=0.0,
            probability=probability,
        )

    def law(self, source: Source) -> Probabilities:
        return self.draw.probabilities(self._objective(source))

    def prepared(self, source: Source) -> Callable[[], float]:
        objective = self._objective(source)
        return lambda: float(self.points[self.draw.choose(objective)[0]])

    def _objective(self, source: Source) -> Objective:
        return by_rank(
            source.ranks(self.points),
            p=self.p,
            points=self.points,
            form="signed" if type(self.draw) in PROPORTIONAL else "interpolated",
            neighbours=self.neighbours,
            per_user=self.per_user,
        )


@dataclass(frozen=True, slots=True, eq=False)
class ByPieces:
    """A percentile from a range, by the exponential mechanism.

    Attributes:
        p: The percentile, in (0, 100].
        points: The candidates.
        neighbours: Add/remove or substitution.
        per_user: How many records a person has at most.
        draw: The exponential mechanism.
    """

    p: float
    points: Range
    neighbours: Neighbours
    per_user: int
    draw: ExponentialMechanism
    asked: None = None

    @property
    def mechanism(self) -> str:
        return f"{self.draw!r} by pieces of a range"

    @property
    def spend(self) -> Spend:
        return self.draw.spend(f"percentile {self.p:g}")

    @property
    def exact(self) -> bool:
        return self.draw.exact

    def error(self, probability: float) -> ErrorBound:
        return error_bound(
            self.draw,
            candidates=len(self.points),
            bound=self.per_user * rank_bound(self.p / 100, self.neighbours),
            unit="ranks",
            attained=0.0,
            probability=probability,
        )

    def law(self, source: Source) -> Probabilities:  # noqa: ARG002 -- of the protocol
        raise not_listed()

    def prepared(self, source: Source) -> Callable[[], float]:
        pieces, decay = self.points.pieces(source.values(), p=self.p), self.decay

        def draw() -> float:
            from dpselect.draws.pieces import draw_position

            return self.points[draw_position(pieces, decay)]

        return draw

    @property
    def decay(self) -> Fraction:
        r"""Return :math:`\varepsilon / (2 m \Delta)`, exactly."""
        part = exact_fraction(self.p)
        bound = 1 if self.neighbours is Neighbours.SUBSTITUTE else max(part, 1 - part)
        return Fraction(self.draw.epsilon) / (2 * self.per_user * bound)


def not_listed() -> ParameterError:
    """Return the error for the law of a range of candidates."""
    return ParameterError("the law of a range is not listed: give its candidates, one by one")
