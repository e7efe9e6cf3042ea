"""Totals of a budget, the cost of one release, and the entry that records it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import Any

from dpselect.budget import amount, zcdp
from dpselect.errors import NeighboursError
from dpselect.neighbours import Neighbours, NeighboursLike, relation


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
    if relation(stated) is not granted:
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
        refunded: What was given back of ``epsilon`` when the outcome was known, in nats
            (:mod:`~dpselect.budget.filter`).
    """

    epsilon: float
    delta: float
    rho: float
    laplace: int = 0
    refunded: float = 0.0


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
        source: The file or table that was read, as the caller named it.
        analyst: Who made the request, as the caller named them.
        asked: Function, public arguments, steps and public claims of the plan; plain values.
        answer: What was released; None if the process ended before it was kept, or if
            nothing but the spend was recorded. Plain values.
    """

    sequence: int
    time: str
    neighbours: Neighbours
    mechanism: str
    note: str
    version: str
    source: str = ""
    analyst: str = ""
    asked: Mapping[str, object] = field(default_factory=dict, hash=False)
    answer: Mapping[str, object] | None = field(default=None, hash=False)


LONGEST = 20_000
"""Characters of an answer as JSON; of a longer one the ledger keeps a summary and its hash."""

_PLAIN = frozenset({bool, float, int, str, type(None)})
"""Types that need no second look; most values are of one of them."""


def plain(value: object) -> Any:  # noqa: ANN401 -- any JSON value
    """Return a value as strict JSON can hold it: numbers, texts, lists and objects."""
    if type(value) not in _PLAIN and hasattr(value, "tolist"):
        return plain(value.tolist())
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if isfinite(value) else str(value)
    if isinstance(value, Mapping):
        return {str(name): plain(one) for name, one in value.items()}
    if isinstance(value, Sequence):
        return [plain(one) for one in value]
    return str(value)


def kept(answer: Mapping[str, object]) -> dict[str, object]:
    """Return an answer whole, or a summary with the SHA-256 of its JSON."""
    whole: dict[str, object] = plain(answer)
    text = json.dumps(whole)
    if len(text) <= LONGEST:
        return whole
    digest = hashlib.sha256(text.encode()).hexdigest()
    return {**{name: _summary(one) for name, one in whole.items()}, "sha256": digest}


def _summary(value: object) -> object:
    if isinstance(value, list) and len(value) > 1:
        return f"{len(value)} values from {_end(value[0])} to {_end(value[-1])}"
    return f"{value[:200]} ..." if isinstance(value, str) and len(value) > 200 else value


def _end(value: object) -> str:
    """Return a value of a longer list as text, numbers without what rounding adds to them."""
    if isinstance(value, float):
        return f"{value:.10g}"
    if isinstance(value, list):
        return f"[{', '.join(map(_end, value))}]"
    return str(value)


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
