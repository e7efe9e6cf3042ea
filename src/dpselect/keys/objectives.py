"""The objective over keys: counts of public candidates."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from dpselect.neighbours import Neighbours
from dpselect.objective import Objective
from dpselect.sensitivity import GlobalSensitivity
from dpselect.typing import Indices


def by_count(
    people: Indices, candidates: Sequence[Hashable], neighbours: Neighbours, changed: int
) -> Objective:
    """Return the objective of the counts of public candidates.

    One person moves every count by at most 1, and at most ``changed`` counts: all in one
    direction if added or removed.
    """
    return Objective(
        people,
        GlobalSensitivity(1, neighbours, l1=min(changed, len(candidates))),
        candidates,
        monotone=neighbours is Neighbours.ADD_REMOVE,
        step=1,
    )
