"""Scores, sensitivities and local sensitivities of a whole universe, as arrays."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass

import numpy as np

from dpselect import _validate
from dpselect.audit.report import Witness
from dpselect.audit.universe import Universe
from dpselect.objective import Objective
from dpselect.typing import Values

TOLERANCE = 1e-9
"""What rounding may add to a condition, in units of the global bound."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Tables:
    r"""Everything that the conditions compare.

    Attributes:
        universe: ``N`` databases.
        objectives: One per database, all of ``R`` candidates.
        scores: :math:`u(x, r)`, shape ``(N, R)``.
        deltas: :math:`\delta(x, t, r)` for ``t`` up to the largest distance ``T``, shape
            ``(T + 1, N, R)``.
        local: :math:`LS(x, t, r)` by definition, shape ``(T + 1, N, R)``.
        bounds: :math:`\Delta_r` as each database states it, shape ``(N, R)``.
        tolerance: What rounding may add, in score units.
    """

    universe: Universe
    objectives: tuple[Objective, ...]
    scores: Values
    deltas: Values
    local: Values
    bounds: Values
    tolerance: float

    @property
    def max_distance(self) -> int:
        """The largest distance tabulated."""
        return len(self.deltas) - 1

    @property
    def steps(self) -> Values:
        """What every neighbour step changes of every score, shape ``(m, R)``."""
        return self.scores[self.universe.right] - self.scores[self.universe.left]

    def witness(
        self,
        x: int,
        y: int | None = None,
        *,
        distance: int | None = None,
        candidate: int | None = None,
    ) -> Witness:
        """Name a case by what it is instead of by positions."""
        names = self.universe.databases
        return Witness(
            x=names[x],
            y=None if y is None else names[y],
            distance=distance,
            candidate=None if candidate is None else self.objectives[x].candidates[candidate],
        )


def evaluate(
    universe: Universe, objective_of: Callable[[Hashable], Objective]
) -> tuple[Objective, ...]:
    """Build every objective, once."""
    return tuple(
        _validate.instance("what objective_of returns", objective_of(x), Objective)
        for x in universe.databases
    )


def tabulate(
    universe: Universe, objectives: tuple[Objective, ...], max_distance: int
) -> Tables:
    """Evaluate sensitivities at all distances and the local sensitivity by definition.

    Args:
        universe: The databases.
        objectives: One per database, all of the same number of candidates.
        max_distance: The largest distance ``T``.
    """
    scores = np.array([one.scores for one in objectives])
    deltas = np.empty((max_distance + 1, *scores.shape))
    for i, one in enumerate(objectives):
        for t in range(max_distance + 1):
            deltas[t, i] = one.sensitivity.at(t)
    local = np.empty_like(deltas)
    local[0] = _largest_step(universe, scores)
    for t in range(max_distance):
        local[t + 1] = universe.one_step_further(local[t])
    bounds = np.array(
        [np.broadcast_to(one.sensitivity.bounds, scores.shape[1:]) for one in objectives]
    )
    return Tables(
        universe, objectives, scores, deltas, local, bounds, TOLERANCE * float(bounds.max())
    )


def _largest_step(universe: Universe, scores: Values) -> Values:
    """Return ``LS(x, 0, r)``: the largest change between ``x`` and a neighbour."""
    changes = np.abs(scores[universe.right] - scores[universe.left])
    largest = np.zeros_like(scores)
    np.maximum.at(largest, universe.left, changes)
    np.maximum.at(largest, universe.right, changes)
    return largest
