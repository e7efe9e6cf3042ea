"""What one release costs, and the line that a budget writes about it."""

from __future__ import annotations

from dataclasses import dataclass

from dpselect.budget import amount, zcdp
from dpselect.neighbours import Neighbours


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """The guarantee of one release.

    Outside an event of probability ``delta`` (none, when it is 0) the release is both
    ``epsilon``-DP and ``rho``-zCDP; an (epsilon, delta)-DP release is so by Kairouz, Oh &
    Viswanath (2015), arXiv:1311.0776.

    Attributes:
        epsilon: In nats; finite, > 0.
        delta: In [0, 1).
        rho: Finite, > 0, and never more than what ``epsilon`` implies.
    """

    epsilon: float
    delta: float
    rho: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry(Cost):
    """One recorded spend; public.

    Attributes:
        sequence: 1 for the first spend of the budget, 2 for the second, ...
        time: When it was recorded: UTC, ISO 8601.
        neighbours: The relation that the guarantee is stated for.
        mechanism: What was released, as the caller named it.
        note: Whatever the caller wished to add.
        version: The version of dpselect that recorded it.
    """

    sequence: int
    time: str
    neighbours: Neighbours
    mechanism: str
    note: str
    version: str


def cost(epsilon: object, delta: object, rho: object) -> Cost:
    """Return the checked cost of a release; ``rho=None`` means what epsilon implies.

    Raises:
        ParameterError: An amount is not a number, or out of its range.
    """
    pure = amount.positive("epsilon", epsilon)
    implied = zcdp.rho_of_pure(pure)
    given = implied if rho is None else amount.positive("rho", rho)
    return Cost(
        epsilon=pure,
        delta=amount.probability("delta", delta),
        rho=min(implied, given),
    )
