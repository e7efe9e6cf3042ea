"""What a budget grants: the guarantee that all of its spends together keep."""

from __future__ import annotations

from dataclasses import dataclass

from dpselect.budget import amount
from dpselect.errors import NeighboursError
from dpselect.neighbours import Neighbours


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """The totals of a budget, all of them public.

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
        _relation(self.neighbours)


def same_relation(granted: Neighbours, stated: object) -> None:
    """Refuse a spend that is stated for another relation than the budget's.

    Raises:
        NeighboursError: ``stated`` is another relation, or none.
    """
    if _relation(stated) is not granted:
        raise NeighboursError(
            f"this budget protects {granted} neighbours, the spend {stated} neighbours; "
            "give each relation a budget of its own"
        )


def _relation(value: object) -> Neighbours:
    if not isinstance(value, Neighbours):
        raise NeighboursError(
            "neighbours must be one of Neighbours.ADD_REMOVE, .SUBSTITUTE, .EDGE, .SWAP"
        )
    return value
