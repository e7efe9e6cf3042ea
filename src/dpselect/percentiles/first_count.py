r"""A method that the number of records chooses: a noisy one, or a public one.

Where neither a number is assumed nor it is public, a small share of epsilon pays for the noisy
number of records, and what is left for the method that is chosen by it. The number is rounded
to a power of two, by which methods differ little, so that the distribution of the whole is a
sum over few methods.

Guarantee:
    One step changes the number by at most the records of a person, and discrete Laplace noise
    makes it private; the second step is private for every number. Their epsilons add up.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import exp, log2
from typing import TYPE_CHECKING

import numpy as np

from dpselect.draws.exact.noisy_counts import check_scale, discrete_laplace, scale_for
from dpselect.percentiles.ranges import Range
from dpselect.percentiles.reading import Numbers
from dpselect.percentiles.single import Answer, Method
from dpselect.plan import SEQUENTIAL, Spend
from dpselect.typing import Probabilities, Values

if TYPE_CHECKING:
    from dpselect.percentiles.choice import Choice

SHARE = 0.04
"""Share of epsilon for the noisy number."""

LARGEST = 48
"""Binary logarithm of the largest number of records that is told apart."""

NEGLIGIBLE = 1e-15
"""Numbers that are less likely are left out of distributions."""


@dataclass(frozen=True, slots=True, eq=False)
class AfterCount:
    """The method that the number of records chooses.

    Attributes:
        choice: Choice of the methods, with what is left of epsilon.
        epsilon: Epsilon of the number of records; 0 if it is public.
    """

    choice: Choice
    epsilon: float
    name: str = "after-count"
    exact: bool = True
    error: None = None
    composition: str = SEQUENTIAL

    @classmethod
    def of(cls, choice: Choice) -> AfterCount:
        """Return it with a share of epsilon for the number of records, unless it is public.

        Raises:
            ParameterError: Epsilon is too small.
        """
        epsilon = 0.0 if choice.records.are_public else SHARE * choice.epsilon
        made = cls(replace(choice, epsilon=choice.epsilon - epsilon), epsilon)
        # Whatever the number is, the method can be drawn.
        check_scale(max(made.scale, made.choice.largest_scale))
        return made

    @property
    def scale(self) -> float:
        """Scale of the noise; 0 if the number is public."""
        return scale_for(self.epsilon, self.choice.records.per_user) if self.epsilon else 0.0

    @property
    def ranked(self) -> tuple[Values | None, ...]:
        points = self.choice.points
        return (None if isinstance(points, Range) else points,)

    @property
    def mechanism(self) -> str:
        if not self.epsilon:
            return "the method that the public number of records chooses"
        return f"method chosen by a noisy number of records (scale={self.scale!r})"

    @property
    def spends(self) -> tuple[Spend, ...]:
        left = self.choice.epsilon
        percentiles = Spend(
            f"percentiles {', '.join(f'{p:g}' for p in self.choice.percents)}", left
        )
        if not self.epsilon:
            return (percentiles,)
        number = Spend("number of records, to choose the method by", self.epsilon)
        return number, percentiles

    def probabilities(self, numbers: Numbers) -> Probabilities:
        points = np.asarray(self.choice.points)
        ranks = numbers.ranks(points)
        # How many records have no number is private, where that of all is public.
        records = int(ranks.numbers[0]) if self.epsilon else ranks.records
        chances = chances_of_sizes(records, self.scale)
        law = np.zeros((len(self.choice.percents), points.size))
        for size in np.flatnonzero(chances > NEGLIGIBLE).tolist():
            law += chances[size] * self.choice.of_number(2.0**size).probabilities(numbers)
        return law

    def choosing(self, numbers: Numbers) -> Callable[[], tuple[Method, int]]:
        """Count all that any method needs, and return the draw of the method and of the number.

        Raises:
            ColumnError, DataError: As for the release.
        """
        records = numbers.number(self.choice.points)

        def choose() -> tuple[Method, int]:
            noisy = records
            if self.epsilon:
                noisy = int(discrete_laplace(np.array([records]), self.scale)[0])
            found = 2 ** size_of(noisy)
            return self.choice.of_number(float(found)), found

        return choose

    def prepare(self, numbers: Numbers) -> Callable[[], Answer]:
        choose = self.choosing(numbers)

        def draw() -> Answer:
            chosen, _ = choose()
            return chosen.prepare(numbers)()

        return draw


def size_of(records: int) -> int:
    """Return the binary logarithm of a number of records, rounded; 0 of less than one."""
    return min(round(log2(max(records, 1))), LARGEST)


def chances_of_sizes(records: int, scale: float) -> Probabilities:
    """Return the probability of every size of a noisy number; shape ``(LARGEST + 1,)``.

    Args:
        records: The number.
        scale: Scale of its noise; 0 for none.
    """
    upto = np.ones(LARGEST + 1)
    for size in range(LARGEST):
        # The largest number of this size.
        last = int(2.0 ** (size + 0.5))
        upto[size] = _laplace_upto(last - records, scale)
    return np.diff(upto, prepend=0.0)


def _laplace_upto(z: int, scale: float) -> float:
    """Return ``P(Z ≤ z)`` of discrete Laplace noise."""
    if scale == 0:
        return float(z >= 0)
    q = exp(-1 / scale)
    return 1 - exp(-(z + 1) / scale) / (1 + q) if z >= 0 else exp(z / scale) / (1 + q)
