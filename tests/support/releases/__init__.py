"""Every releasing function of the library, with data to release from, for contract tests.

Each module of this folder lists the :class:`ReleaseCase` of one room as ``CASES``.
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

import numpy as np

from dpselect.budget import Budget
from dpselect.neighbours import Neighbours
from dpselect.plan import Plan


@dataclass(frozen=True)
class ReleaseCase:
    """One releasing function under one relation, mechanism or method.

    Attributes:
        name: Unique; the function, the relation and what else tells it from others.
        neighbours: The relation of its guarantee.
        release: Called with a database and a budget or None; makes one release.
        plan: Its plan, from the same public arguments and no data.
        pair: Two neighbouring databases, small and synthetic, drawn anew at each call.
        delta: Of the whole release.
    """

    name: str
    neighbours: Neighbours
    release: Callable[[Any, Budget | None], Any]
    plan: Callable[[], Plan]
    pair: Callable[[np.random.Generator], tuple[Any, Any]]
    delta: float = 0.0


def all_cases() -> list[ReleaseCase]:
    """Return the cases of every room."""
    rooms = [module.name for module in iter_modules(__path__)]
    return [case for room in rooms for case in import_module(f"{__name__}.{room}").CASES]
