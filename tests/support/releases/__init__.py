"""Every query of the library, with data to release from, for contract tests.

Each module of this folder lists the ``ReleaseCase`` of one room as ``CASES``.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

import numpy as np

from dpselect.budget import Budget
from dpselect.neighbours import Neighbours
from dpselect.plan import Plan
from dpselect.query import Query


def _itself(database: Any) -> Any:
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
    """

    name: str
    query: Query
    pair: Callable[[np.random.Generator], tuple[Any, Any]]
    delta: float = 0.0
    data: Callable[[Any], Any] = _itself
    run: Callable[[Any, Budget | None], Any] | None = None

    @property
    def neighbours(self) -> Neighbours:
        """The relation of the guarantee."""
        return self.query.plan.neighbours

    def plan(self) -> Plan:
        """Return the plan, which needs no data."""
        return self.query.plan

    def release(self, database: Any, budget: Budget | None) -> Any:
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


def all_cases() -> list[ReleaseCase]:
    """Return the cases of every room."""
    rooms = [module.name for module in iter_modules(__path__)]
    return [case for room in rooms for case in import_module(f"{__name__}.{room}").CASES]
