r"""How far apart two exact laws are: every way in which privacy is measured.

All take two laws on the same outcomes in the same order, such as
``mechanism.probabilities(objective)`` on two neighbouring databases. An outcome that neither
law can give counts nowhere. A probability too small for a float is 0 here, so a law with
scores hundreds of nats apart can look infinitely less private than it is, never more.
"""

from __future__ import annotations

from math import inf, isinf, isnan, log, log1p
from numbers import Real

import numpy as np
from numpy.typing import ArrayLike

from dpselect import _validate
from dpselect.errors import ParameterError
from dpselect.typing import Probabilities, Values

ROUNDING = 1e-6
"""How far from 1 the sum of a law may be."""


def privacy_loss(law_x: ArrayLike, law_y: ArrayLike) -> float:
    r"""Return :math:`\max_r |\ln P_x(r) - \ln P_y(r)|`, the least epsilon for this pair.

    Args:
        law_x: Probabilities, shape ``(n,)``; >= 0, sum 1.
        law_y: Likewise.

    Returns:
        Nats; infinite if one law gives an outcome that the other cannot.

    Raises:
        ParameterError: An argument is no law, or they are of different lengths.

    Examples:
        >>> round(privacy_loss([0.5, 0.5], [0.25, 0.75]), 4)
        0.6931
    """
    return float(np.abs(_losses(*_pair(law_x, law_y))[1]).max())


def bounded_range(law_x: ArrayLike, law_y: ArrayLike) -> float:
    r"""Return :math:`\max_r \ell_r - \min_r \ell_r` for :math:`\ell = \ln P_x - \ln P_y`.

    A draw for which this is at most epsilon on all neighbours is epsilon-bounded-range, and
    composes better than epsilon-DP says.

    Args:
        law_x: Probabilities, shape ``(n,)``; >= 0, sum 1.
        law_y: Likewise.

    Raises:
        ParameterError: An argument is no law, or they are of different lengths.

    Source: Durfee and Rogers, NeurIPS 2019.
    """
    losses = _losses(*_pair(law_x, law_y))[1]
    return inf if np.isinf(losses).any() else float(np.ptp(losses))


def delta(law_x: ArrayLike, law_y: ArrayLike, epsilon: float) -> float:
    r"""Return the least delta with which the pair is (epsilon, delta)-indistinguishable.

    It is the larger of :math:`\sum_r \max(0, P_x(r) - e^\varepsilon P_y(r))` and the same
    with the laws exchanged.

    Args:
        law_x: Probabilities, shape ``(n,)``; >= 0, sum 1.
        law_y: Likewise.
        epsilon: Nats; finite, >= 0.

    Raises:
        ParameterError: An argument is no law, they are of different lengths, or ``epsilon``
            is negative or not finite.
    """
    epsilon = _validate.within("epsilon", epsilon, 0, np.finfo(np.float64).max)
    p, q = _pair(law_x, law_y)
    return max(_hockey_stick(p, q, epsilon), _hockey_stick(q, p, epsilon))


def renyi(law_x: ArrayLike, law_y: ArrayLike, alpha: float) -> float:
    r"""Return the Rényi divergence of ``law_x`` from ``law_y``, in nats.

    .. math:: D_\alpha = \frac{1}{\alpha - 1} \ln \sum_r P_x(r)^\alpha P_y(r)^{1 - \alpha}

    At ``alpha=1`` it is the Kullback-Leibler divergence, at infinity the largest
    :math:`\ln P_x - \ln P_y`. A draw is rho-zCDP if it is at most ``rho * alpha`` on all
    neighbours in both orders.

    Args:
        law_x: Probabilities, shape ``(n,)``; >= 0, sum 1.
        law_y: Likewise.
        alpha: Order; >= 1, infinity allowed.

    Raises:
        ParameterError: An argument is no law, they are of different lengths, or ``alpha``
            is below 1 or NaN.
    """
    if isinstance(alpha, bool) or not isinstance(alpha, Real) or isnan(alpha) or alpha < 1:
        raise ParameterError("alpha must be a number >= 1")
    order = float(alpha)
    weights, losses = _losses(*_pair(law_x, law_y))
    weights, losses = weights[weights > 0], losses[weights > 0]
    if isinf(order) or np.isinf(losses).any():
        return float(losses.max())
    if order == 1:
        return float(weights @ losses)
    exponents = (order - 1) * losses
    # Near order 1 the sum is near 1, and its logarithm would lose what is divided by.
    if np.abs(exponents).max() < 1:
        return log1p(float(weights @ np.expm1(exponents))) / (order - 1)
    top = float(exponents.max())
    return (top + log(float(weights @ np.exp(exponents - top)))) / (order - 1)


def _hockey_stick(p: Probabilities, q: Probabilities, epsilon: float) -> float:
    weights, losses = _losses(p, q)
    return float(weights @ -np.expm1(np.minimum(epsilon - losses, 0.0)))


def _losses(p: Probabilities, q: Probabilities) -> tuple[Values, Values]:
    r"""Return :math:`P_x` and :math:`\ln P_x - \ln P_y` of the outcomes that can occur."""
    occurs = (p > 0) | (q > 0)
    with np.errstate(divide="ignore"):
        return p[occurs], np.log(p[occurs]) - np.log(q[occurs])


def _pair(law_x: ArrayLike, law_y: ArrayLike) -> tuple[Probabilities, Probabilities]:
    p, q = checked_law("law_x", law_x), checked_law("law_y", law_y)
    if p.size != q.size:
        raise ParameterError(
            f"law_x and law_y must be on the same outcomes; they have {p.size} and {q.size}"
        )
    return p, q


def checked_law(name: str, law: ArrayLike) -> Probabilities:
    """Return a law as a float64 vector.

    Raises:
        ParameterError: It is not a vector of numbers >= 0 that add up to 1.
    """
    try:
        values = np.asarray(law, dtype=np.float64)
    except (TypeError, ValueError):
        raise ParameterError(f"{name} must be probabilities, shape (n,)") from None
    if values.ndim != 1 or not (values >= 0).all() or not abs(values.sum() - 1) < ROUNDING:
        raise ParameterError(f"{name} must be probabilities: shape (n,), >= 0, sum 1")
    return values
