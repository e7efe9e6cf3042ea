"""The objective over keys: counts of public candidates."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from dpselect.neighbours import Neighbours
from dpselect.objective import Facts, Objective
from dpselect.sensitivity import GlobalSensitivity
from dpselect.typing import Indices


def facts_of(candidates: int, neighbours: Neighbours, changed: int) -> Facts:
    """Return what is public of the counts of so many public candidates.

    One person moves every count by at most 1, and at most ``changed`` counts: all in one
    direction if added or removed.
    """
    return Facts(
        candidates=candidates,
        sensitivity=GlobalSensitivity(1, neighbours, l1=min(changed, candidates)),
        monotone=neighbours is Neighbours.ADD_REMOVE,
        step=1,
    )


def by_count(people: Indices, candidates: Sequence[Hashable], facts: Facts) -> Objective:
    """Return the objective of the counts of public candidates."""
    return Objective(
        people, facts.sensitivity, candidates, monotone=facts.monotone, step=facts.step
    )
