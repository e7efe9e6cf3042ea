"""What is public of the objective over keys: counts of public candidates."""

from __future__ import annotations

from dpselect.neighbours import Neighbours
from dpselect.objective import Facts
from dpselect.sensitivity import GlobalSensitivity


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
