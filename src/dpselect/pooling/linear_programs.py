r"""Decoders by linear and integer programming: the smallest or likeliest set of positives.

Without noise: the fewest people such that every positive pool holds one and no negative pool
does. With an assay that errs: the set of largest posterior probability, that is of least

.. math:: |x| \ln\tfrac{1-\pi}{\pi} + \sum_{t\ \text{wrongly positive}} \ln\tfrac{s}{1-c}
    + \sum_{t\ \text{wrongly negative}} \ln\tfrac{c}{1-s}

for prevalence :math:`\pi`, sensitivity :math:`s` and specificity :math:`c`. ``ilp`` solves
the integer program, ``lp`` its linear relaxation, which it rounds. Both are solved by HiGHS.

Source: Malioutov and Malyutov 2012.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpselect.errors import DataError, ParameterError
from dpselect.pooling import designs
from dpselect.pooling.assay import Assay, Outcomes, checked_outcomes
from dpselect.pooling.belief_propagation import chances, log_odds
from dpselect.pooling.designs import Design
from dpselect.typing import Values

ROUND = 0.5
CERTAIN = 25.0
"""Log odds, in nats, of the outcome of a perfect test: wrong once in 10^11."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorModel:
    """An assay that errs, with the prevalence of positives.

    Attributes:
        assay: Error probabilities of the tests. With dilution, positive pools are taken to
            hold one positive.
        prevalence: P[positive] before any test, in (0, 1/2).
    """

    assay: Assay
    prevalence: float

    def __post_init__(self) -> None:
        if log_odds(self.prevalence) >= 0:
            raise ParameterError("prevalence must be below 1/2")


def lp(
    design: ArrayLike, outcomes: ArrayLike, *, model: ErrorModel | None = None
) -> NDArray[np.bool_]:
    """Solve the linear relaxation and return those with a value of at least 1/2.

    Args:
        design: Shape ``(pools, people)``.
        outcomes: Shape ``(pools,)``.
        model: For tests that err. Without it, a positive pool whose people are all in
            negative pools is left out: no set of positives explains it.

    Raises:
        DataError: ``outcomes`` is not one truth value for each pool.
    """
    return _solved(design, outcomes, model, integral=0) >= ROUND


def ilp(
    design: ArrayLike, outcomes: ArrayLike, *, model: ErrorModel | None = None
) -> NDArray[np.bool_]:
    """Solve the integer program; exact, and in the worst case exponential in time.

    Args:
        design: Shape ``(pools, people)``.
        outcomes: Shape ``(pools,)``.
        model: As in :func:`lp`.

    Raises:
        DataError: ``outcomes`` is not one truth value for each pool.
    """
    return _solved(design, outcomes, model, integral=1) >= ROUND


def _solved(
    design: ArrayLike, outcomes: ArrayLike, model: ErrorModel | None, *, integral: int
) -> Values:
    matrix = designs.checked(design)
    positive = checked_outcomes(outcomes, matrix)
    if model is None:
        return _noiseless(matrix, positive, integral)
    return _noisy(matrix, positive, model, integral)


def _noiseless(design: Design, positive: Outcomes, integral: int) -> Values:
    tested = design.any(axis=0)
    free = np.flatnonzero(tested & ~design[~positive].any(axis=0))
    pools = design[positive][:, free]
    pools = pools[pools.any(axis=1)]
    result = np.zeros(design.shape[1])
    if len(pools):
        result[free] = _minimum(np.ones(free.size), pools.astype(np.float64), integral)
    return result


def _noisy(design: Design, positive: Outcomes, model: ErrorModel, integral: int) -> Values:
    """Add one variable for each pool: that its outcome is wrong."""
    some, none = chances(design, positive, model.assay)
    price = np.clip(np.abs(np.log(some / none)), 0, CERTAIN)
    people = design.shape[1]
    cost = np.concatenate([np.full(people, -log_odds(model.prevalence)), price])
    wrong = np.eye(len(design))
    explained = np.hstack([design, wrong])[positive]
    # One constraint for each person of a negative pool; tighter than one for their sum.
    pool, person = np.nonzero(design & ~positive[:, None])
    refuted = np.hstack([-np.eye(people)[person], wrong[pool]])
    return _minimum(
        cost,
        np.vstack([explained, refuted]),
        integral,
        at_least=np.concatenate([np.ones(len(explained)), np.zeros(len(refuted))]),
    )[:people]


def _minimum(
    cost: Values, rows: Values, integral: int, *, at_least: Values | float = 1.0
) -> Values:
    """Return the cheapest x in [0, 1] with ``rows @ x >= at_least``."""
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import csr_array

    solved = milp(
        cost,
        constraints=LinearConstraint(csr_array(rows), at_least, np.inf),
        bounds=Bounds(0, 1),
        integrality=np.full(cost.size, integral),
    )
    if solved.x is None:  # pragma: no cover -- x = 1 always explains all
        raise DataError("HiGHS found no set that explains the outcomes")
    return solved.x
