"""Objectives on the same candidates, and ranges of their scores within some neighbour steps.

In any database that ``k`` neighbour steps lead to, the score of a candidate is at most the
*radius* ``R(k) = ∑_(t<k) δ(x, t, r)`` away from the score at hand. If ``x ~ y``,

    |u(x) - u(y)| + R_y(k) ≤ R_x(k + 1),

so the range around ``u(y)`` in ``k`` steps lies in the range around ``u(x)`` in ``k + 1``.
Every conclusion from comparing ranges rests on this inequality, and rounding must not break it:
a Pareto score compares floats, and one flipped comparison moves it by a whole candidate. So
``κ k (|u| + ∑_(t<k) δ)`` is added, with ``κ = 2^-36``. The bracket obeys the same inequality
(what ``|u|`` gains, the sum loses), so each further step adds at least κ times the bracket:
room for scores and sums that are wrong by ``2^-38`` of it, thousands of roundings. At 5,000
steps the addition is less than one millionth of the bracket.
"""

from collections.abc import Hashable, Iterator, Sequence
from itertools import count
from operator import eq

import numpy as np

from dpselect import validation
from dpselect.errors import ParameterError
from dpselect.objective import Objective
from dpselect.sensitivity import Sensitivity
from dpselect.sensitivity.summation import RunningSum
from dpselect.typing import Indices, Values

SLACK = 2.0**-36

MOST_CELLS = 2**20
"""Sums of sensitivities that are held at a time."""


def aligned(objectives: Sequence[Objective]) -> tuple[Objective, ...]:
    """Return objectives that score the same candidates under the same neighbour relation.

    Raises:
        ParameterError: There is no objective, something else among them, or they are for
            different candidates.
        NeighboursError: Their neighbour relations differ.
    """
    parts = validation.listed("objectives", objectives) or ()
    validation.some("objectives", parts)
    for part in parts:
        validation.instance("each of objectives", part, Objective)
    sizes = {len(part) for part in parts}
    if len(sizes) > 1:
        raise ParameterError(
            "`objectives` must score the same candidates; these score "
            + ", ".join(str(len(part)) for part in parts)
        )
    if not all(_equal(parts[0].candidates, part.candidates) for part in parts[1:]):
        raise ParameterError(
            "`objectives` must score the same candidates in the same order; give each of them "
            "the same candidates"
        )
    validation.one_relation("combined objectives", (part.neighbours for part in parts))
    return parts


def _equal(one: Sequence[Hashable], other: Sequence[Hashable]) -> bool:
    if one is other:
        return True
    if isinstance(one, range) and isinstance(other, range):
        return one == other
    return all(map(eq, one, other))


def share(objective: Objective) -> float:
    """Return the part of a sum by which each of two candidates approaches the other.

    If all scores move in the same direction, each by at most ``δ(x, t)``, then no difference of
    two moves by more than that, and each is charged with half of it.
    """
    return 0.5 if objective.monotone and objective.sensitivity.flat else 1.0


def radius(objective: Objective, sums: Values, steps: int | Indices) -> Values:
    """Return the radius of every score in ``steps``, given ``cumulative(steps)``.

    Several numbers of steps are a column, shape ``(d, 1)``, as their sums are rows.
    """
    slack = steps * SLACK * (np.abs(objective.scores) + sums)
    return share(objective) * sums + slack


def running_sums(sensitivity: Sensitivity) -> Iterator[Values]:
    """Yield ``cumulative(0)``, ``cumulative(1)``, ... in one pass over the distances."""
    if sensitivity.closed_form:
        first, size = 0, 4
        while True:
            block = sensitivity.sums(np.arange(first, first + size))
            yield from block
            first, size = first + size, max(1, min(2 * size, MOST_CELLS // block.shape[1]))
    running = RunningSum()
    for distance in range(sensitivity.horizon):
        yield running.total
        running.add(sensitivity.at(distance))
    for beyond in count():
        yield running.total + beyond * sensitivity.bound
