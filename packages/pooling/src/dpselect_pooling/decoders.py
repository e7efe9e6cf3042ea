"""Decoders: COMP, DD, SCOMP, the integer program, belief propagation.

Each takes a design of shape ``(pools, people)`` and one outcome for each pool. Pools without a
valid result are left out of both. All but belief propagation return one truth value for each
person.

The noise-tolerant forms of the first three are the same with thresholds above their noiseless
0 and 1. Without noise the program minimises the number of people such that every positive pool
holds one and no negative pool does. With an assay that errs it looks for the set of largest
posterior probability, that is of least

    |x| ln((1-π)/π) + ∑_(t wrongly positive) ln(s/(1-c)) + ∑_(t wrongly negative) ln(c/(1-s))

for prevalence π, sensitivity ``s`` and specificity ``c``. Loopy belief propagation is exact
where the graph of people and pools has no cycle, as in Dorfman's design; elsewhere it is
usually close, and reports when its messages did not converge.

Source: Chan et al. 2011 (COMP and its noisy form); Aldridge, Baldassini and Johnson 2014,
arXiv:1306.6438 (DD, SCOMP); Scarlett and Johnson 2020, arXiv:1808.04457 (noisy DD); Malioutov
and Malyutov 2012 (the program).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpselect.errors import DataError, ParameterError
from dpselect.extend import Values, validation
from dpselect_pooling import designs
from dpselect_pooling.assay import Assay, Outcomes, checked_outcomes
from dpselect_pooling.designs import Design

if TYPE_CHECKING:
    from dpselect_pooling.kernels import Links

RAREST = 1e-12
"""Replaces a probability of 0: contradictory outcomes of a perfect assay stay finite."""

DOUBT = 0.05
"""People with a posterior between this and 1 minus this are on the retest list."""

CERTAIN = 25.0
"""Log odds, in nats, of the outcome of a perfect test: wrong once in 10^11."""


def comp(
    design: ArrayLike, outcomes: ArrayLike, *, negative_allowed: int = 0
) -> NDArray[np.bool_]:
    """Return all people who are in at most ``negative_allowed`` negative pools (COMP).

    Without noise and with 0, no positive is missed.

    Args:
        design: Shape ``(pools, people)``.
        outcomes: Shape ``(pools,)``.
        negative_allowed: Number of negative pools of a positive person that are attributed to
            noise; 0 without noise.

    Raises:
        DataError: ``outcomes`` is not one truth value for each pool.
    """
    return _candidates(*_read(design, outcomes), negative_allowed)


def dd(
    design: ArrayLike, outcomes: ArrayLike, *, negative_allowed: int = 0, alone_needed: int = 1
) -> NDArray[np.bool_]:
    """Return positives that are the sole COMP candidate of some positive pool (DD).

    Without noise and with 0 and 1, there are no false positives.

    Args:
        design: Shape ``(pools, people)``.
        outcomes: Shape ``(pools,)``.
        negative_allowed: As in ``comp``.
        alone_needed: Smallest number of positive pools in which a person must be the sole
            candidate; 1 without noise.

    Raises:
        DataError: ``outcomes`` is not one truth value for each pool.
    """
    from dpselect_pooling.kernels import definite

    matrix, positive = _read(design, outcomes)
    candidates = _candidates(matrix, positive, negative_allowed)
    needed = validation.at_least("alone_needed", alone_needed, 1)
    linked, everybody = _among(matrix, candidates)
    candidates[candidates] = definite(linked, positive, everybody, needed)
    return candidates


def scomp(
    design: ArrayLike,
    outcomes: ArrayLike,
    *,
    negative_allowed: int = 0,
    alone_needed: int = 1,
    gain_needed: int = 1,
) -> NDArray[np.bool_]:
    """Add to DD the person in most unexplained positive pools, until all are explained (SCOMP).

    Args:
        design: Shape ``(pools, people)``.
        outcomes: Shape ``(pools,)``.
        negative_allowed: As in ``comp``.
        alone_needed: As in ``dd``.
        gain_needed: A person who explains fewer positive pools is not added; 1 without
            noise.

    Raises:
        DataError: ``outcomes`` is not one truth value for each pool.
    """
    from dpselect_pooling.kernels import covered, definite

    matrix, positive = _read(design, outcomes)
    candidates = _candidates(matrix, positive, negative_allowed)
    alone = validation.at_least("alone_needed", alone_needed, 1)
    gain = validation.at_least("gain_needed", gain_needed, 1)
    linked, everybody = _among(matrix, candidates)
    sure = definite(linked, positive, everybody, alone)
    if everybody.size:
        candidates[candidates] = covered(linked, positive, everybody, sure, gain)
    return candidates


def integer_program(
    design: ArrayLike,
    outcomes: ArrayLike,
    *,
    prevalence: float | None = None,
    assay: Assay | None = None,
) -> NDArray[np.bool_]:
    """Solve the integer program; exact, and in the worst case exponential in time.

    Args:
        design: Shape ``(pools, people)``.
        outcomes: Shape ``(pools,)``.
        prevalence: P[positive] before any test, in (0, 1/2); for an assay that errs.
        assay: Error probabilities of the tests. With dilution, positive pools are taken to
            hold one positive. Without errors a positive pool whose people are all in negative
            pools is left out: no set of positives explains it.

    Raises:
        ParameterError: An assay that errs has no prevalence, or one out of range.
        DataError: ``outcomes`` is not one truth value for each pool.
    """
    matrix, positive = _read(design, outcomes)
    if assay is None or assay.perfect:
        return _noiseless(matrix, positive)
    if prevalence is None:
        raise ParameterError("an assay that errs needs a `prevalence`")
    if (odds := _log_odds(prevalence)) >= 0:
        raise ParameterError("`prevalence` must be below 1/2")
    return _noisy(matrix, _chances(matrix, positive, assay), positive, odds)


@dataclass(frozen=True, slots=True, eq=False)
class Marginals:
    """Marginal posterior probabilities; as private as the outcomes.

    Attributes:
        posterior: P[positive] for each person, shape ``(people,)``.
        converged: Whether the messages converged.
        rounds: Number of rounds of messages.
    """

    posterior: Values
    converged: bool
    rounds: int

    @property
    def positives(self) -> NDArray[np.bool_]:
        """Whether each person is more likely positive than not, shape ``(people,)``."""
        return self.posterior > 0.5


def belief_propagation(
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
    from dpselect_pooling.kernels import Limits, links, propagated

    matrix, positive = _read(design, outcomes)
    prior = _log_odds(prevalence)
    if validation.within("damping", damping, 0, 1) == 1:
        raise ParameterError("`damping` must be below 1")
    limits = Limits(
        validation.at_least("rounds", rounds, 1),
        float(damping),
        validation.positive("tolerance", tolerance),
    )
    some, none = _chances(matrix, positive, assay or Assay())
    logs, converged, taken = propagated(links(matrix), some, none, prior, limits)
    return Marginals(1 / (1 + np.exp(-np.clip(logs, -700, 700))), bool(converged), int(taken))


def _candidates(design: Design, positive: Outcomes, allowed: int) -> NDArray[np.bool_]:
    if validation.at_least("negative_allowed", allowed, 0) == 0:
        return np.asarray(~design[~positive].any(axis=0))
    return np.asarray(design[~positive].sum(axis=0) <= allowed)


def _among(design: Design, candidates: NDArray[np.bool_]) -> tuple[Links, NDArray[np.bool_]]:
    """Return the design of the candidates alone, who are few, and a mark for each."""
    from dpselect_pooling.kernels import links

    among = np.ascontiguousarray(design[:, candidates])
    return links(among), np.ones(among.shape[1], dtype=np.bool_)


def _read(design: ArrayLike, outcomes: ArrayLike) -> tuple[Design, Outcomes]:
    matrix = designs.checked(design)
    return matrix, checked_outcomes(outcomes, matrix)


def _chances(design: Design, positive: Outcomes, assay: Assay) -> tuple[Values, Values]:
    """Return the probability of each outcome with one positive in the pool, and with none."""
    sizes = design.sum(axis=1)
    found = assay.chance_of_positive(np.ones(len(design)), sizes)
    false = assay.chance_of_positive(np.zeros(len(design)), sizes)
    some = np.where(positive, found, 1 - found)
    none = np.where(positive, false, 1 - false)
    return np.clip(some, RAREST, 1.0), np.clip(none, RAREST, 1.0)


def _log_odds(prevalence: float) -> float:
    """Return the log odds of a prevalence strictly between 0 and 1."""
    share = validation.within("prevalence", prevalence, 0, 1)
    if share in {0, 1}:
        raise ParameterError("`prevalence` must be strictly between 0 and 1")
    return log(share) - log(1 - share)


def _noiseless(design: Design, positive: Outcomes) -> NDArray[np.bool_]:
    tested = design.any(axis=0)
    free = np.flatnonzero(tested & ~design[~positive].any(axis=0))
    pools = design[positive][:, free]
    pools = pools[pools.any(axis=1)]
    result = np.zeros(design.shape[1], dtype=np.bool_)
    if len(pools):
        result[free] = _minimum(np.ones(free.size), pools.astype(np.float64))
    return result


def _noisy(
    design: Design,
    chances: tuple[Values, Values],
    positive: Outcomes,
    odds: float,
) -> NDArray[np.bool_]:
    """Add one variable for each pool: that its outcome is wrong."""
    some, none = chances
    price = np.clip(np.abs(np.log(some / none)), 0, CERTAIN)
    people = design.shape[1]
    cost = np.concatenate([np.full(people, -odds), price])
    wrong = np.eye(len(design))
    explained = np.hstack([design, wrong])[positive]
    # One constraint for each person of a negative pool; tighter than one for their sum.
    pool, person = np.nonzero(design & ~positive[:, None])
    refuted = np.hstack([-np.eye(people)[person], wrong[pool]])
    return _minimum(
        cost,
        np.vstack([explained, refuted]),
        at_least=np.concatenate([np.ones(len(explained)), np.zeros(len(refuted))]),
    )[:people]


def _minimum(
    cost: Values, rows: Values, *, at_least: Values | float = 1.0
) -> NDArray[np.bool_]:
    """Return the cheapest x of zeros and ones with ``rows @ x >= at_least``."""
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import csr_array

    solved = milp(
        cost,
        constraints=LinearConstraint(csr_array(rows), at_least, np.inf),
        bounds=Bounds(0, 1),
        integrality=np.ones(cost.size, dtype=np.int64),
    )
    if solved.x is None:  # pragma: no cover -- x = 1 always explains all
        raise DataError("HiGHS found no set of positives that explains the outcomes")
    # Zeros and ones up to rounding.
    return np.asarray(solved.x > 0.5)
