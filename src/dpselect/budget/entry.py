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
    Viswanath (2015), arXiv:1311.0776. With an epsilon of 0 it does not depend on anybody's
    record but in that event: delta is all that it costs.

    Attributes:
        epsilon: In nats; finite, > 0, or 0 beside a delta > 0.
        delta: In [0, 1).
        rho: Finite, >= 0, and never more than what ``epsilon`` implies.
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
        ParameterError: An amount is not a number or out of its range, or epsilon and delta
            are both 0: that would be no spend.
    """
    failure = amount.probability("delta", delta)
    check = amount.non_negative if failure > 0 else amount.positive
    pure = check("epsilon", epsilon)
    implied = zcdp.rho_of_pure(pure)
    given = implied if rho is None else amount.positive("rho", rho)
    return Cost(
        epsilon=pure,
        delta=failure,
        rho=min(implied, given),
    )
