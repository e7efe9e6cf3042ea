"""What can be said of the error before any data are read."""

from __future__ import annotations

from math import inf, log

from dpselect import _validate
from dpselect.mechanisms import (
    AnchoredLocalDampening,
    ExponentialMechanism,
    LocalDampening,
    Mechanism,
    PairwiseLocalDampening,
    PermuteAndFlip,
    ReportNoisyMax,
)


def error_bound(
    mechanism: Mechanism,
    *,
    candidates: int,
    bound: float,
    best: float | None = None,
    beta: float = 0.05,
) -> float:
    r"""Return an error that is not exceeded with probability ``1 - beta``, on any data.

    The error is the best score less the drawn one. A candidate whose unit score is ``g``
    below the best is drawn with probability at most :math:`e^{-\varepsilon g/2}`, so none of
    the ``n`` is drawn from more than :math:`(2/\varepsilon) \ln(n/\beta)` below; the scaling
    says how much score that is at most. The objective is taken not to be monotone.

    Args:
        mechanism: The mechanism with its epsilon.
        candidates: How many candidates ``n`` there are; >= 1.
        bound: Global sensitivity; score units, finite, > 0.
        best: The best score, where it is the same on all data, such as 0 for a percentile.
        beta: The probability that the error is larger; in (0, 1).

    Returns:
        Score units; infinite where nothing can be said without the data. Public.

    Source: McSherry and Talwar, FOCS 2007, Theorem 6; Dwork and Roth 2014, Theorem 3.11.
    """
    n = _validate.at_least("candidates", candidates, 1)
    bound = _validate.positive("bound", bound)
    beta = _validate.within("beta", _validate.positive("beta", beta), 0, 1)
    return _share(mechanism, best) * bound * 2 / mechanism.epsilon * log(n / beta)


def _share(mechanism: Mechanism, best: float | None) -> float:
    """Return the largest score gap, in sensitivities, that is one unit of unit score."""
    if isinstance(mechanism, ReportNoisyMax):
        # Laplace noise must be small at the best candidate and at the drawn one.
        return 2.0 if mechanism.noise == "laplace" else 1.0
    if isinstance(mechanism, ExponentialMechanism | PermuteAndFlip):
        return 1.0
    if isinstance(mechanism, PairwiseLocalDampening):
        return 2.0
    # Dampening from the best score: the sums grow by at most the bound a step.
    if isinstance(mechanism, LocalDampening) and best == 0:
        return 1.0
    if isinstance(mechanism, AnchoredLocalDampening) and best == mechanism.anchor:
        return 1.0
    return inf
