"""Exact sums of the costs of a budget's spends."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Self

from dpselect.budget.amount import exact
from dpselect.budget.entry import Cost


@dataclass(frozen=True, slots=True)
class Sums:
    """All that a privacy filter looks at of the spends so far.

    Attributes:
        number: How many spends there are.
        first_delta: Delta of the first one; 0 if there is none.
        epsilon: Sum of all epsilons, less what was refunded.
        delta: Sum of all deltas.
        rho: Sum of all rhos.
        refunded: Sum of all refunds.
    """

    number: int = 0
    first_delta: float = 0.0
    epsilon: Fraction = Fraction()
    delta: Fraction = Fraction()
    rho: Fraction = Fraction()
    refunded: Fraction = Fraction()

    @classmethod
    def of(cls, costs: Iterable[Cost]) -> Self:
        """Return the sums of costs, in the order of the spends."""
        sums = cls()
        for cost in costs:
            sums = sums.plus(cost)
        return sums

    def plus(self, cost: Cost) -> Self:
        """Return the sums with one spend more."""
        spent = replace(
            self,
            number=self.number + 1,
            first_delta=self.first_delta if self.number else cost.delta,
            epsilon=self.epsilon + exact(cost.epsilon),
            delta=self.delta + exact(cost.delta),
            rho=self.rho + exact(cost.rho),
        )
        return spent.less(cost.refunded) if cost.refunded else spent

    def less(self, epsilon: float) -> Self:
        """Return the sums after a refund."""
        given = exact(epsilon)
        return replace(self, epsilon=self.epsilon - given, refunded=self.refunded + given)
