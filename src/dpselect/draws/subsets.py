"""Exact draws of a subset of people near a private one."""

from __future__ import annotations

from collections.abc import Sequence

from dpselect.draws.door import sampler
from dpselect.draws.swaps import DistanceLaw, draw_distance
from dpselect.draws.uniform import sample


@sampler
def swapped(members: Sequence[int], law: DistanceLaw) -> list[int]:
    """Bring a subset to the size of a law at random, and swap members by that law.

    A subset that is too large loses members, one that is too small gains strangers,
    uniformly. One that has the law's size is at once swapped.

    Args:
        members: Positions, 0 to ``law.n - 1``, each once. Private, also their number.
        law: Public.

    Returns:
        ``law.d`` positions, ascending, so that the order does not depend on the members.
    """
    if law.d <= len(members):
        brought = sample(members, law.d)
    else:
        more = sample(_strangers(members, law.n), law.d - len(members))
        brought = [*members, *more]
    distance = draw_distance(law)
    kept = sample(brought, law.d - distance)
    return sorted(kept + sample(_strangers(brought, law.n), distance))


@sampler
def joined(members: Sequence[int], n: int, beta: int) -> list[int]:
    """Return the members and ``beta`` of all ``n`` people, drawn uniformly.

    Args:
        members: Positions, 0 to ``n - 1``, each once. Private.
        n: Public.
        beta: 0 to ``n``. Public.

    Returns:
        Positions, ascending, each once.
    """
    return sorted({*members, *sample(range(n), beta)})


def _strangers(members: Sequence[int], n: int) -> list[int]:
    """Return the positions of all others, ascending."""
    inside = set(members)
    return [person for person in range(n) if person not in inside]
