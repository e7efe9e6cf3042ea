"""Posterior probabilities of being positive, by loopy belief propagation.

Exact where the graph of people and pools has no cycle, as in Dorfman's design; elsewhere
usually close, and it reports when its messages did not converge.
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
from dpselect.typing import Values

RAREST = 1e-12
"""Replaces a probability of 0: contradictory outcomes of a perfect assay stay finite."""

DOUBT = 0.05
"""People with a posterior between this and 1 minus this are on the retest list."""


@dataclass(frozen=True, slots=True, eq=False)
class Marginals:
    """Marginal posterior probabilities; as private as the outcomes.

    Attributes:
        posterior: P[positive] for each person, shape ``(people,)``.
        converged: Whether the messages converged.
        rounds: How many rounds of messages were passed.
    """

    posterior: Values
    converged: bool
    rounds: int

    @property
    def positives(self) -> NDArray[np.bool_]:
        """Whether each person is more likely positive than not, shape ``(people,)``."""
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
) -> Marginals:
    """Return the posterior probability of being positive of each person.

    The prior has people positive independently.

    Args:
        design: Shape ``(pools, people)``.
        outcomes: Shape ``(pools,)``.
        prevalence: P[positive] before any test, in (0, 1).
        assay: Error probabilities of the tests; none if not given. With dilution, positive
            pools are taken to hold one positive.
        rounds: The largest number of rounds, at least 1.
        damping: Weight of the old message in the new one, in [0, 1).
        tolerance: Messages that change by less have converged, in nats.

    Raises:
        ParameterError: A number is out of range.
        DataError: ``outcomes`` is not one truth value for each pool.
    """
    from dpselect.pooling.kernels import Limits, links, propagated

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
    return Marginals(1 / (1 + np.exp(-np.clip(logs, -700, 700))), bool(converged), int(taken))


def chances(design: Design, positive: Outcomes, assay: Assay) -> tuple[Values, Values]:
    """Return the probability of each outcome with one positive in the pool, and with none."""
    sizes = design.sum(axis=1)
    found = assay.chance_of_positive(np.ones(len(design)), sizes)
    false = assay.chance_of_positive(np.zeros(len(design)), sizes)
    some = np.where(positive, found, 1 - found)
    none = np.where(positive, false, 1 - false)
    return np.clip(some, RAREST, 1.0), np.clip(none, RAREST, 1.0)


def log_odds(prevalence: float) -> float:
    """Return the log odds of a prevalence strictly between 0 and 1."""
    share = _validate.within("prevalence", prevalence, 0, 1)
    if share in {0, 1}:
        raise ParameterError("prevalence must be strictly between 0 and 1")
    return log(share) - log(1 - share)
