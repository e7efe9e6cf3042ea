"""Rounds without replacement, each scaled among the candidates that are left.

Given the rounds before it, a round is a release of the objective of the candidates that are
left, so it costs what one release costs. Unit scores of this objective tell candidates apart
however far behind the drawn ones they are: only scores more than 2^30 units behind the best one
*left* are cut (``dpselect.draws.grid``).

Where other candidates only translate the scores and none is cut, one scaling serves all rounds.
Of two neighbours one may be cut and the other not. A score that is cut is raised to a threshold
that moves by at most 1 and is not raised by what was drawn before, so the scores of a round
still differ by at most 1, up to a translation.
"""

from __future__ import annotations

from math import nextafter
from typing import Protocol

import numpy as np

from dpselect import validation
from dpselect.draws import Draw
from dpselect.objective import Facts, Objective
from dpselect.typing import Indices, Scores


class Scaled(Protocol):
    """What a round needs of a mechanism."""

    @property
    def epsilon(self) -> float:
        """Epsilon of all rounds together, in nats."""

    @property
    def draw(self) -> Draw:
        """The draw of each."""

    def unit_scores(self, objective: Objective) -> Scores:
        """Return the unit scores of the candidates that are left."""


def drawn(mechanism: Scaled, objective: Objective, k: int) -> list[int]:
    """Draw ``k`` positions, each among those that are left."""
    each, left = nextafter(mechanism.epsilon / k, 0), np.arange(len(objective))
    chosen: list[int] = []
    while len(chosen) < k:
        scores = mechanism.unit_scores(objective.take(left))
        [place] = mechanism.draw.sample(scores, each, 1)
        chosen.append(int(left[place]))
        left = np.delete(left, place)
    return chosen


def simulated(
    mechanism: Scaled,
    objective: Objective,
    k: int,
    *,
    size: int,
    rng: np.random.Generator,
) -> Indices:
    """Return simulated positions, shape ``(size, k)``."""
    chosen = np.empty((size, k), dtype=np.int64)
    for i in range(k):
        # Repetitions that have drawn the same candidates draw from the same distribution.
        before = np.sort(chosen[:, :i], axis=1)
        sets, same = np.unique(before, axis=0, return_inverse=True)
        for one, gone in enumerate(sets):
            rows = np.flatnonzero(same.ravel() == one)
            left = np.delete(np.arange(len(objective)), gone)
            scores = mechanism.unit_scores(objective.take(left))
            places = mechanism.draw.simulate(
                scores, mechanism.epsilon / k, k=1, size=rows.size, rng=rng
            )
            chosen[rows, i] = left[places[:, 0]]
    return chosen


def checked_k(k: int, objective: Objective | Facts) -> int:
    """Return how many candidates to draw.

    Raises:
        ParameterError: It is not an integer from 1 to ``n``.
    """
    return validation.some_of("k", k, len(objective))
