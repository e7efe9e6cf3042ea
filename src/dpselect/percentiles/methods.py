"""Methods for several percentiles: one by one, and the recursion of halves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, Protocol, TypeAlias

import numpy as np

from dpselect.errors import ParameterError
from dpselect.mechanisms import Mechanism, MechanismFactory, by_name
from dpselect.neighbours import Neighbours
from dpselect.objective import Objective
from dpselect.percentiles import halves
from dpselect.percentiles.objectives import percent
from dpselect.percentiles.ranges import Range
from dpselect.percentiles.reading import Source
from dpselect.percentiles.single import Single
from dpselect.plan import ErrorBound, Spend
from dpselect.typing import Values

Percents: TypeAlias = "float | Sequence[float] | Values"
"""One percentile, or several that increase, each in (0, 100]."""

Method: TypeAlias = Literal["one-by-one", "above-threshold", "recursive", "joint"]
"""How percentiles are drawn."""

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
    def asked(self) -> tuple[Values | None, ...]:
        """The candidates whose ranks are counted together; None if all numbers are read."""

    @property
    def exact(self) -> bool:
        """Whether all is drawn by the library's own samplers."""

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

    def prepared(self, source: Source) -> Callable[[], Answer]:
        """Read the data and return the draw of all percentiles, ascending.

        Raises:
            ColumnError, DataError: As for the release.
        """


@dataclass(frozen=True, slots=True, eq=False)
class OneByOne:
    """Every percentile from all records, each with an equal part of epsilon, then sorted.

    Attributes:
        singles: One for each percentile.
        name: ``"above-threshold"`` if all are drawn so, else ``"one-by-one"``.
    """

    singles: tuple[Single, ...]
    name: Method = "one-by-one"

    @property
    def percents(self) -> tuple[float, ...]:
        return tuple(one.p for one in self.singles)

    @property
    def points(self) -> Values | Range:
        return self.singles[0].points

    @property
    def asked(self) -> tuple[Values | None, ...]:
        return tuple(one.asked for one in self.singles)

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
    def composition(self) -> str:
        return "sequential: the prices of all steps add up"

    @property
    def error(self) -> ErrorBound:
        # The union of all percentiles.
        probability = 0.95
        each = 1 - (1 - probability) / len(self.singles)
        worst = max((one.error(each) for one in self.singles), key=lambda bound: bound.value)
        return ErrorBound(worst.value, worst.unit, probability)

    def prepared(self, source: Source) -> Callable[[], Answer]:
        draws = [one.prepared(source) for one in self.singles]
        return lambda: tuple(sorted(draw() for draw in draws))


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
        per_user: How many records a person has at most.
    """

    percents: tuple[float, ...]
    points: Values
    neighbours: Neighbours
    draw: Mechanism
    factory: str | MechanismFactory
    epsilon: float
    per_user: int = 1
    name: Method = "recursive"

    @property
    def asked(self) -> tuple[Values, ...]:
        return (self.points,)

    @property
    def exact(self) -> bool:
        return self.draw.exact

    @property
    def mechanism(self) -> str:
        draw = by_name(self.factory, self.epsilon)
        levels = max(len(path) for path in self.tree.paths())
        gain = f"{levels} levels instead of {len(self.percents)} percentiles"
        return f"recursion of halves in {gain}, {draw!r} in all"

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

    def prepared(self, source: Source) -> Callable[[], Answer]:
        branch = halves.Branch.of_all(source.ranks(self.points))

        def choose(objective: Objective, epsilon: float) -> int:
            return by_name(self.factory, epsilon).choose(objective)[0]

        def draw() -> Answer:
            drawn = halves.draw_all(
                self.tree,
                branch,
                self.points.size,
                neighbours=self.neighbours,
                per_user=self.per_user,
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
        percents = tuple(percent(one) for one in np.atleast_1d(np.array(p, dtype=object)))
    else:
        percents = (percent(p),)
    if not percents or any(low >= high for low, high in pairwise(percents)):
        raise ParameterError("p must be one percentile, or several distinct ones that increase")
    return percents
