"""How likely is everybody to be positive? Loopy belief propagation.

Exact when no two people share two pools and pools close no circle, as in Dorfman's design;
elsewhere usually close, and it says when its messages did not settle.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpselect import _validate
from dpselect.errors import ParameterError
from dpselect.pooling import designs
from dpselect.pooling.assay import Assay, Outcomes, checked_outcomes
from dpselect.pooling.designs import Design
from dpselect.pooling.kernels import Limits, links, propagated
from dpselect.typing import Values

RAREST = 1e-12
"""Stands for a chance of 0 or 1: a perfect assay that contradicts itself stays finite."""

DOUBT = 0.05
"""Whose posterior is between this and 1 minus this is on the retest list."""


@dataclass(frozen=True, slots=True, eq=False)
class Belief:
    """What belief propagation came to; as private as the outcomes.

    Attributes:
        posterior: P[positive] for each person, shape ``(people,)``.
        converged: Whether the messages settled.
        rounds: How many it took.
    """

    posterior: Values
    converged: bool
    rounds: int

    @property
    def positives(self) -> NDArray[np.bool_]:
        """Who is more likely positive than not."""
        return self.posterior > 0.5


def bp(
    design: ArrayLike,
    outcomes: ArrayLike,
    *,
    prevalence: float,
    assay: Assay | None = None,
    rounds: int = 200,
    damping: float = 0.3,
    tolerance: float = 1e-6,
) -> Belief:
    """Return everybody's chance of being positive, for independent people.

    Args:
        design: Shape ``(pools, people)``.
        outcomes: Shape ``(pools,)``.
        prevalence: P[positive] before any test, in (0, 1).
        assay: How often tests are right; always, if not given. A diluted one is taken as
            if positive pools held one positive.
        rounds: When to give up.
        damping: Share of the old message that is kept, in [0, 1).
        tolerance: Messages that move by less have settled, in nats.

    Raises:
        ParameterError: A number is out of range.
        DataError: ``outcomes`` is not one truth value for each pool.
    """
    matrix = designs.checked(design)
    positive = checked_outcomes(outcomes, matrix)
    prior = log_odds(prevalence)
    if _validate.within("damping", damping, 0, 1) == 1:
        raise ParameterError("damping must be below 1")
    limits = Limits(
        _validate.at_least("rounds", rounds, 1),
        float(damping),
        _validate.positive("tolerance", tolerance),
    )
    some, none = chances(matrix, positive, assay or Assay())
    logs, converged, taken = propagated(links(matrix), some, none, prior, limits)
    return Belief(1 / (1 + np.exp(-np.clip(logs, -700, 700))), bool(converged), int(taken))


def chances(design: Design, positive: Outcomes, assay: Assay) -> tuple[Values, Values]:
    """Return the chance of each outcome with one positive in the pool, and without any."""
    sizes = design.sum(axis=1)
    found = assay.chance_of_positive(np.ones(len(design)), sizes)
    false = assay.chance_of_positive(np.zeros(len(design)), sizes)
    some = np.where(positive, found, 1 - found)
    none = np.where(positive, false, 1 - false)
    return np.clip(some, RAREST, 1.0), np.clip(none, RAREST, 1.0)


def log_odds(prevalence: float) -> float:
    """Return the log ratio of a prevalence strictly between 0 and 1."""
    share = _validate.within("prevalence", prevalence, 0, 1)
    if share in {0, 1}:
        raise ParameterError("prevalence must be strictly between 0 and 1")
    return log(share) - log(1 - share)
