"""Check that objectives score the same candidates under the same neighbour relation."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from operator import eq

from dpselect import _validate
from dpselect.errors import NeighboursError, ParameterError
from dpselect.objective import Objective


def aligned(objectives: Sequence[Objective]) -> tuple[Objective, ...]:
    """Return objectives that score the same candidates under the same neighbour relation.

    Raises:
        ParameterError: There is no objective, something else among them, or they are for
            different candidates.
        NeighboursError: Their neighbour relations differ.
    """
    parts = _validate.listed("objectives", objectives)
    if not parts:
        raise ParameterError("at least one objective is needed")
    for part in parts:
        _validate.instance("each of objectives", part, Objective)
    sizes = {len(part) for part in parts}
    if len(sizes) > 1:
        raise ParameterError(
            "objectives must score the same candidates; these score "
            + ", ".join(str(len(part)) for part in parts)
        )
    if not all(_equal(parts[0].candidates, part.candidates) for part in parts[1:]):
        raise ParameterError(
            "objectives must score the same candidates in the same order; give each of them "
            "the same candidates"
        )
    relations = {part.neighbours for part in parts}
    if len(relations) > 1:
        raise NeighboursError(
            "objectives under different neighbour relations cannot be combined: "
            + ", ".join(sorted(map(str, relations)))
        )
    return parts


def _equal(one: Sequence[Hashable], other: Sequence[Hashable]) -> bool:
    if one is other:
        return True
    if isinstance(one, range) and isinstance(other, range):
        return one == other
    return all(map(eq, one, other))
