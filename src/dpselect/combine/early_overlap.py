"""The objective in which the ranges of groups soon overlap all others, if there is one."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dpselect.combine.candidate_groups import GroupTable, alike
from dpselect.typing import Indices


class EarlyOverlap(NamedTuple):
    """Groups of two objectives, and the one of these in which their ranges soon overlap."""

    objective: int
    """The objective in which all ranges soon overlap, 0 or 1."""

    wide: Indices
    """The number of each group among those of the other objective alone."""

    members: Indices
    """One group of each of these numbers."""


def early_overlap(of: GroupTable, most: int, limit: float) -> EarlyOverlap | None:
    """Return how to count distance by distance, or None if that takes longer than ``limit``.

    Args:
        of: Tables of the groups.
        most: Distances to count at.
        limit: Nanoseconds.
    """
    from dpselect.combine.overlap_kernels import open_steps

    if len(of.scores) != 2:
        return None
    # Both objectives are tried, up to more and more, so that neither is followed for long
    # where the other is closed at once.
    steps, upto, objective = 1, 1, 0
    while steps >= upto:
        upto = 4 * max(upto, of.scores.shape[1])
        # Measured, in ns: 10 an open group, distance and halving.
        if 10 * upto * np.log2(upto) > limit:
            return None
        both = [open_steps(of, i, most, upto) for i in range(2)]
        steps, objective = min(zip(both, range(2), strict=True))
    found = groups(of, objective)
    # Measured, in ns: 10 a group of the other objective and distance.
    taken = 10 * (steps * np.log2(steps + 2) + most * found.members.size)
    return found if taken <= limit else None


def groups(of: GroupTable, objective: int) -> EarlyOverlap:
    """Return the groups by the other objective."""
    other = 1 - objective
    wide, members = alike(np.stack([of.rows[0, other], of.scores[other]]))
    return EarlyOverlap(objective, wide, members)
