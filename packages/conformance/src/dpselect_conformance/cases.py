"""Cases of the contract: a query with databases to release from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from dpselect import Neighbours, Plan, Query
from dpselect.budget import Budget


def _itself(database: Any) -> Any:  # noqa: ANN401 -- of any query
    return database


@dataclass(frozen=True)
class ReleaseCase:
    """One query with databases to release from.

    Attributes:
        name: Unique; what tells the case from others of its query.
        query: The query.
        pair: Two neighbouring databases, small and synthetic, drawn anew at each call.
        delta: Of the whole release.
        data: What the query reads of a database, such as its objective.
        run: How a release is made of a database and a budget or None, if not by the query.
        secret: Whether the draws have no private input and stay secret: no replay says more.
        repeats: Whether the same question is answered once more from the ledger.
    """

    name: str
    query: Query[Any]
    pair: Callable[[np.random.Generator], tuple[Any, Any]]
    delta: float = 0.0
    data: Callable[[Any], Any] = _itself
    run: Callable[[Any, Budget | None], Any] | None = None
    secret: bool = False
    repeats: bool = True

    @property
    def neighbours(self) -> Neighbours:
        """The relation of the guarantee."""
        return self.query.plan.neighbours

    def plan(self) -> Plan:
        """Return the plan, which needs no data."""
        return self.query.plan

    def release(self, database: Any, budget: Budget | None) -> Any:  # noqa: ANN401
        """Make one release."""
        if self.run is not None:
            return self.run(database, budget)
        return self.query.release(self.data(database), budget=budget)


def pairs_of_persons(
    rows: Callable[[dict[int, Any]], Any],
    drawn: Callable[[np.random.Generator], Any],
    persons: int,
) -> dict[Neighbours, Callable[[np.random.Generator], tuple[Any, Any]]]:
    """Return how pairs are made by relation: with one person more, or other rows of one."""

    def pair(relation: Neighbours, rng: np.random.Generator) -> tuple[Any, Any]:
        held = {person: drawn(rng) for person in range(persons)}
        changed = persons if relation is Neighbours.ADD_REMOVE else 0
        return rows(held), rows({**held, changed: drawn(rng)})

    return {one: partial(pair, one) for one in (Neighbours.ADD_REMOVE, Neighbours.SUBSTITUTE)}
