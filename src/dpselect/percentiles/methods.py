"""Methods for percentiles: one by one, by pieces of a range, and the recursion of halves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Literal, Protocol, TypeAlias

import numpy as np

from dpselect import _validate, tables
from dpselect.accuracy import error_bound
from dpselect.errors import ParameterError
from dpselect.mechanisms import (
    ExponentialMechanism,
    Mechanism,
    MechanismFactory,
    PermuteAndFlip,
    ReportNoisyMax,
    by_name,
)
from dpselect.neighbours import Neighbours
from dpselect.objective import Objective
from dpselect.percentiles import halves
from dpselect.percentiles.objectives import (
    by_rank,
    missing_value,
    percent,
    rank_bound,
    ranks_in,
)
from dpselect.percentiles.ranges import Range, exact_fraction
from dpselect.percentiles.ranks import NumbersInMemory, Ranks
from dpselect.plan import ErrorBound, Spend
from dpselect.typing import OnInvalid, Values

Percents: TypeAlias = "float | Sequence[float] | Values"
"""One percentile, or several that increase, each in (0, 100]."""

Method: TypeAlias = Literal["one-by-one", "recursive"]
"""How several percentiles are drawn."""

RECURSIVE_FROM = 3
"""Percentiles from which on the levels of the recursion are fewer than the percentiles."""

PROPORTIONAL = (ExponentialMechanism, PermuteAndFlip, ReportNoisyMax)
"""Mechanisms that lose ``w`` times epsilon where scores move by ``w`` of the sensitivity."""

Answer: TypeAlias = tuple[float, ...]


class Percentiles(Protocol):
    """A way to draw percentiles, with its public facts."""

    @property
    def name(self) -> Method:
        """The method."""

    @property
    def percents(self) -> tuple[float, ...]:
        """In (0, 100], increasing."""

    @property
    def points(self) -> Values | Range:
        """The candidates."""

    @property
    def neighbours(self) -> Neighbours:
        """Add/remove or substitution."""

    @property
    def draw(self) -> Mechanism:
        """The mechanism of one draw."""

    @property
    def mechanism(self) -> str:
        """The mechanism with its public parameters."""

    @property
    def spends(self) -> tuple[Spend, ...]:
        """What a record pays."""

    @property
    def composition(self) -> str:
        """Why the spends add up to the whole, in words."""

    @property
    def error(self) -> ErrorBound | None:
        """A bound on the error that holds on all data, if one is known."""

    def prepared(
        self, data: object, column: str | None, on_invalid: OnInvalid
    ) -> Callable[[], Answer]:
        """Read the data and return the draw of all percentiles, ascending.

        Raises:
            ColumnError, DataError: As for the release.
        """


def chosen(
    *,
    percents: tuple[float, ...],
    points: Values | Range,
    method: Method | None,
    epsilon: float,
    neighbours: Neighbours,
    mechanism: str | MechanismFactory | None,
) -> Percentiles:
    """Return the method of a release, chosen by public arguments alone.

    Raises:
        ParameterError: The method is unknown or does not fit the other arguments.
    """
    if len(percents) > len(points):
        raise ParameterError(
            f"{len(percents)} percentiles need as many candidates, not {len(points)}"
        )
    if isinstance(points, Range):
        return _of_range(percents, points, method, epsilon, neighbours, mechanism)
    mechanism = "permute-and-flip" if mechanism is None else mechanism
    example = by_rank(
        NumbersInMemory(np.zeros(1)).ranks(points),
        p=percents[0],
        points=points,
        neighbours=neighbours,
    )
    each = _validate.positive("epsilon", epsilon) / len(percents)
    draw = by_name(mechanism, each).for_objective(example)
    increasing = bool((np.diff(points) > 0).all())
    fits = increasing and type(draw) in PROPORTIONAL
    if method is None:
        several = len(percents) >= RECURSIVE_FROM
        method = "recursive" if several and fits else "one-by-one"
    if method == "one-by-one":
        return OneByOne(percents, points, neighbours, draw)
    if method != "recursive":
        raise ParameterError(f"method must be 'recursive' or 'one-by-one', not {method!r}")
    if not increasing:
        raise ParameterError("candidates must increase for method='recursive'")
    if not fits:
        raise ParameterError(
            "method='recursive' needs the mechanism 'exponential', 'permute-and-flip' or "
            f"'noisy-max', not {draw.name!r}"
        )
    return Recursive(percents, points, neighbours, draw, mechanism, float(epsilon))


def _of_range(
    percents: tuple[float, ...],
    points: Range,
    method: Method | None,
    epsilon: float,
    neighbours: Neighbours,
    mechanism: str | MechanismFactory | None,
) -> ByPieces:
    if method not in {None, "one-by-one"}:
        raise ParameterError("percentiles of a range are drawn one by one")
    each = _validate.positive("epsilon", epsilon) / len(percents)
    draw = by_name("exponential" if mechanism is None else mechanism, each)
    if not isinstance(draw, ExponentialMechanism):
        raise ParameterError(
            f"a range is drawn by the mechanism 'exponential', not {draw.name!r}"
        )
    return ByPieces(percents, points, neighbours, draw)


@dataclass(frozen=True, slots=True, eq=False)
class ByPieces:
    """Every percentile of a range, each with an equal part of epsilon, then sorted.

    Attributes:
        percents: In (0, 100], increasing.
        points: The candidates.
        neighbours: Add/remove or substitution.
        draw: The exponential mechanism with the epsilon of one percentile.
    """

    percents: tuple[float, ...]
    points: Range
    neighbours: Neighbours
    draw: ExponentialMechanism
    name: Method = "one-by-one"

    @property
    def mechanism(self) -> str:
        return f"{self.draw!r} by pieces of a range"

    @property
    def spends(self) -> tuple[Spend, ...]:
        return tuple(self.draw.spend(f"percentile {one:g}") for one in self.percents)

    @property
    def composition(self) -> str:
        return "sequential: the prices of all steps add up"

    @property
    def error(self) -> ErrorBound:
        return error_bound(
            self.draw,
            candidates=len(self.points) * len(self.percents),
            bound=max(rank_bound(one / 100, self.neighbours) for one in self.percents),
            unit="ranks",
            attained=0.0,
        )

    def prepared(
        self, data: object, column: str | None, on_invalid: OnInvalid
    ) -> Callable[[], Answer]:
        values = tables.numeric_column(data, column)
        if on_invalid == "raise" and np.isnan(values).any():
            raise missing_value()
        steps = [
            (self.points.pieces(values, p=one, neighbours=self.neighbours), self.decay(one))
            for one in self.percents
        ]

        def draw() -> Answer:
            from dpselect.draws.pieces import draw_position

            drawn = [draw_position(pieces, decay) for pieces, decay in steps]
            return tuple(self.points[position] for position in sorted(drawn))

        return draw

    def decay(self, p: float) -> Fraction:
        r"""Return :math:`\varepsilon / (2 \Delta)`, exactly."""
        part = exact_fraction(p)
        substitute = self.neighbours is Neighbours.SUBSTITUTE
        return Fraction(self.draw.epsilon) / (2 * (1 if substitute else max(part, 1 - part)))


@dataclass(frozen=True, slots=True, eq=False)
class OneByOne:
    """Every percentile from all records, each with an equal part of epsilon, then sorted.

    Attributes:
        percents: In (0, 100], increasing.
        points: The candidates.
        neighbours: Add/remove or substitution.
        draw: The mechanism of one percentile.
    """

    percents: tuple[float, ...]
    points: Values
    neighbours: Neighbours
    draw: Mechanism
    name: Method = "one-by-one"

    @property
    def mechanism(self) -> str:
        return repr(self.draw)

    @property
    def spends(self) -> tuple[Spend, ...]:
        return tuple(self.draw.spend(f"percentile {one:g}") for one in self.percents)

    @property
    def composition(self) -> str:
        return "sequential: the prices of all steps add up"

    @property
    def error(self) -> ErrorBound:
        ranks = NumbersInMemory(np.zeros(1)).ranks(self.points)
        return error_bound(
            self.draw,
            # The union of all candidates of all percentiles.
            candidates=self.points.size * len(self.percents),
            bound=max(one.sensitivity.bound for one in self._objectives(ranks)),
            unit="ranks",
            attained=0.0,
        )

    def prepared(
        self, data: object, column: str | None, on_invalid: OnInvalid
    ) -> Callable[[], Answer]:
        objectives = self._objectives(ranks_in(data, column, self.points, on_invalid))

        def draw() -> Answer:
            drawn = [self.draw.choose(objective)[0] for objective in objectives]
            return tuple(sorted(float(self.points[position]) for position in drawn))

        return draw

    def _objectives(self, ranks: Ranks) -> list[Objective]:
        return [
            by_rank(ranks, p=one, points=self.points, neighbours=self.neighbours)
            for one in self.percents
        ]


@dataclass(frozen=True, slots=True, eq=False)
class Recursive:
    """The recursion of halves.

    Attributes:
        percents: In (0, 100], increasing.
        points: The candidates, increasing.
        neighbours: Add/remove or substitution.
        draw: The mechanism, with any epsilon.
        factory: Of the mechanism, for the epsilon of each draw.
        epsilon: Of the whole release, in nats.
    """

    percents: tuple[float, ...]
    points: Values
    neighbours: Neighbours
    draw: Mechanism
    factory: str | MechanismFactory
    epsilon: float
    name: Method = "recursive"

    @property
    def mechanism(self) -> str:
        draw = by_name(self.factory, self.epsilon)
        return f"recursion of halves, {draw!r} in all"

    @property
    def tree(self) -> halves.Half:
        """The draws and their prices; public."""
        return halves.halves(tuple(one / 100 for one in self.percents), self.epsilon)

    @property
    def spends(self) -> tuple[Spend, ...]:
        # The zCDP parameter is convex in epsilon and 0 at 0, so weights and branches that
        # sum to 1 pay at most what one branch pays with its whole weight.
        paths = (tuple(self._spend(half) for half in path) for path in self.tree.paths())
        return max(paths, key=lambda path: sum(spend.rho_of_all for spend in path))

    @property
    def composition(self) -> str:
        branches = (
            "a person can leave one half and enter another, and each draw but the first costs "
            "half of its step"
            if self.neighbours is Neighbours.SUBSTITUTE
            else "a record is in one half of a level, or shared among several"
        )
        return (
            f"parallel in each level, sequential over levels: {branches}; the steps are those "
            "of the path with the largest rho"
        )

    @property
    def error(self) -> None:
        return None

    def prepared(
        self, data: object, column: str | None, on_invalid: OnInvalid
    ) -> Callable[[], Answer]:
        ranks = ranks_in(data, column, self.points, on_invalid)
        branch = halves.Branch.of_all(ranks, self.points, self.neighbours)

        def choose(objective: Objective, epsilon: float) -> int:
            return by_name(self.factory, epsilon).choose(objective)[0]

        def draw() -> Answer:
            drawn = halves.draw_all(
                self.tree,
                branch,
                parts=halves.parts_of(self.points.size),
                neighbours=self.neighbours,
                draw=choose,
            )
            return tuple(float(self.points[drawn[i]]) for i in range(len(self.percents)))

        return draw

    def _spend(self, half: halves.Half) -> Spend:
        return Spend(
            f"level {half.level}, percentile {self.percents[half.position]:g}",
            half.epsilon,
            rho=self.draw.draws_by.rho(half.epsilon),
        )


def checked_percents(p: Percents) -> tuple[float, ...]:
    """Return one or several percentiles that increase.

    Raises:
        ParameterError: One is out of range, or they do not increase.
    """
    if isinstance(p, Sequence | np.ndarray) and not isinstance(p, str):
        percents = tuple(percent(one) for one in p)
    else:
        percents = (percent(p),)
    if not percents or any(low >= high for low, high in pairwise(percents)):
        raise ParameterError("p must be one percentile, or several distinct ones that increase")
    return percents
