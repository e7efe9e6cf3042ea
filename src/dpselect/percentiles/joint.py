"""Several percentiles in one draw: the joint exponential mechanism on listed candidates.

Ascending candidates ``c_1 ≤ ... ≤ c_m`` have the score

    -∑_(j=1)^(m+1) |n_j - w_j n|,

where ``n_j`` of the ``n`` records are above ``c_(j-1)`` and at or below ``c_j``, and ``w_j`` is
the share wanted there.

Guarantee:
    One record more, in part ``j``, changes term ``j`` by at most ``1 - w_j`` and the others by
    at most ``w_i``, together ``2(1 - w_j)``; so ``Δ = 2(1 - min_j w_j)`` under add/remove.
    Under substitution two terms change by 1, and ``Δ = 2``. Of a person with up to ``m``
    records both are ``m`` times as large, also where the number of records changes: a record
    removed and one added change the sum by at most 2.

Source: Gillenwater, Joseph and Kulesza, ICML 2021, on intervals between records; the exact
distribution and draw on a public grid are ours.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from dpselect.draws import Exponential
from dpselect.draws.path_exponential import Chain, marginals
from dpselect.errors import ParameterError
from dpselect.neighbours import Neighbours
from dpselect.percentiles.objectives import exact_fraction
from dpselect.percentiles.ranks import SupportsRanks
from dpselect.percentiles.reading import Numbers, Records
from dpselect.percentiles.single import Answer, MethodName
from dpselect.plan import Spend
from dpselect.typing import Probabilities, Values

MOST_STEPS = 2**21
"""Candidates squared times percentiles up to which the draw takes some seconds."""

FINEST = 10**6
"""Percentiles are taken to the nearest multiple of one in so many, so that costs stay integers
of 64 bits."""


@dataclass(frozen=True, slots=True, eq=False)
class Joint:
    """The joint exponential mechanism.

    Attributes:
        percents: In (0, 100], increasing.
        points: The candidates, increasing.
        records: How records are read.
        epsilon: Epsilon of the whole release, in nats.

    Raises:
        ParameterError: There are too many candidates.
    """

    percents: tuple[float, ...]
    points: Values
    records: Records
    epsilon: float
    name: MethodName = "joint"
    exact: bool = True
    error: None = None
    composition: str = "one draw"

    def __post_init__(self) -> None:
        if self.points.size**2 * len(self.percents) > MOST_STEPS:
            raise ParameterError(
                "`method`='joint' is for few candidates: their number squared, times the "
                f"number of percentiles, must be at most {MOST_STEPS}"
            )

    @property
    def ranked(self) -> tuple[Values, ...]:
        return (self.points,)

    @property
    def shares(self) -> tuple[Fraction, ...]:
        """Of all records that are wanted between the percentiles; they sum to 1."""
        inner = [Fraction(round(exact_fraction(one) * FINEST), FINEST) for one in self.percents]
        ends = [Fraction(0), *inner, Fraction(1)]
        return tuple(high - low for low, high in pairwise(ends))

    @property
    def decay(self) -> Fraction:
        """Return ``ε / (2 m Δ)``, exactly."""
        substitute = self.records.neighbours is Neighbours.SUBSTITUTE
        bound = 2 * (1 if substitute else 1 - min(self.shares))
        return Fraction(self.epsilon) / (2 * self.records.per_user * bound)

    @property
    def mechanism(self) -> str:
        many = f"{len(self.percents)} percentiles of {self.points.size} candidates"
        return f"joint exponential mechanism(epsilon={self.epsilon!r}), {many} in one draw"

    @property
    def spends(self) -> tuple[Spend, ...]:
        rho = Exponential().rho(self.epsilon)
        return (Spend("all percentiles in one draw", self.epsilon, rho=rho),)

    def chain(self, numbers: SupportsRanks) -> Chain:
        """Return the counts of the candidates; private."""
        ranks = numbers.ranks(self.points)
        return Chain(ranks.upto, ranks.numbers, self.shares)

    def probabilities(self, numbers: SupportsRanks) -> Probabilities:
        return marginals(self.chain(numbers), float(self.decay))

    def prepare(self, numbers: Numbers) -> Callable[[], Answer]:
        chain, decay = self.chain(numbers), self.decay

        def draw() -> Answer:
            from dpselect.draws.path_exponential import draw_path

            return tuple(float(self.points[place]) for place in draw_path(chain, decay))

        return draw
