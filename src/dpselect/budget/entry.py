"""Totals of a budget, the cost of one release, and the entry that records it."""

from __future__ import annotations

from dataclasses import dataclass

from dpselect.budget import amount, zcdp
from dpselect.errors import NeighboursError
from dpselect.neighbours import Neighbours, NeighboursLike


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """The totals of a budget; public.

    Attributes:
        epsilon: In nats; finite, > 0.
        delta: In [0, 1).
        neighbours: The one relation that every spend must be stated for.

    Raises:
        ParameterError: ``epsilon`` or ``delta`` is out of range.
        NeighboursError: ``neighbours`` is not a neighbour relation.
    """

    epsilon: float
    delta: float
    neighbours: Neighbours

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", amount.positive("epsilon", self.epsilon))
        object.__setattr__(self, "delta", amount.probability("delta", self.delta))
        object.__setattr__(self, "neighbours", Neighbours(self.neighbours))


def same_relation(granted: Neighbours, stated: NeighboursLike) -> None:
    """Refuse a spend that is stated for another relation than the budget's.

    Raises:
        NeighboursError: ``stated`` is another relation, or none.
    """
    if Neighbours(stated) is not granted:
        raise NeighboursError(
            f"this budget protects {granted} neighbours, the spend {stated} neighbours; "
            "give each relation a budget of its own"
        )


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
        laplace: Where the release is so many adaptive rounds at ``epsilon / laplace`` each,
            all of them dominated by the Laplace mechanism of that epsilon, their number;
            else 0.
    """

    epsilon: float
    delta: float
    rho: float
    laplace: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry(Cost):
    """One recorded spend; public.

    Attributes:
        sequence: 1 for the first spend of the budget, 2 for the second, ...
        time: When it was recorded: UTC, ISO 8601.
        neighbours: The relation that the guarantee is stated for.
        mechanism: The function and the mechanism, as :meth:`Plan.charge` states them.
        note: Free text of the caller.
        version: The version of dpselect that recorded it.
    """

    sequence: int
    time: str
    neighbours: Neighbours
    mechanism: str
    note: str
    version: str


def cost(epsilon: object, delta: object, rho: object, laplace: object = 0) -> Cost:
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
        laplace=amount.count("laplace", laplace),
    )
