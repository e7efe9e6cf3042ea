r"""Renyi divergences and zCDP of the best of several runs.

Source: Papernot and Steinke 2022, arXiv:2110.03620, Theorems 2 and 6; the conversion to a delta
is Canonne, Kamath and Steinke 2020, arXiv:2004.00010, Proposition 12.
"""

from __future__ import annotations

from math import cosh, exp, inf, log, log1p

import numpy as np
from numpy.typing import ArrayLike

from dpselect import _validate
from dpselect.budget.zcdp import SLACK, rho_of_pure
from dpselect.errors import ParameterError
from dpselect.tuning.repetitions import Poisson, Repetitions, TruncatedNegativeBinomial
from dpselect.typing import Values

ORDERS = 1 + np.logspace(-3, 5, 2000)
"""Orders at which a zCDP parameter is computed; neighbouring ones are 1 % apart."""


def renyi_of_best(
    orders: ArrayLike, divergences: ArrayLike, *, repetitions: Repetitions
) -> Values:
    r"""Return bounds on the Renyi divergences of the best of several runs.

    For a truncated negative binomial number of runs with :math:`\gamma` = ``stop`` the bound is

    .. math:: \varepsilon'(\lambda) = \varepsilon(\lambda) + \frac{\ln E[K]}{\lambda - 1}
        + (1 + \eta) \min_{\hat\lambda \ge 1} \Big(\big(1 - \tfrac{1}{\hat\lambda}\big)
        \varepsilon(\hat\lambda) + \frac{\ln(1/\gamma)}{\hat\lambda}\Big),

    and for a Poisson number :math:`\varepsilon(\lambda) + \mu\hat\delta +
    \ln\mu / (\lambda - 1)`, where a run is :math:`(\hat\varepsilon, \hat\delta)`-DP with
    :math:`e^{\hat\varepsilon} = 1 + 1/(\lambda - 1)`. The minimum is over the given orders, and
    as divergences rise with the order, each bound holds for smaller orders, too.

    Args:
        orders: :math:`\lambda` >= 1, increasing, shape ``(m,)``.
        divergences: :math:`\varepsilon(\lambda)` of one run, under the relation that the
            result is for, >= 0, shape ``(m,)``.
        repetitions: The law of the number of runs.

    Returns:
        Shape ``(m,)``; infinite where no bound is known.

    Raises:
        ParameterError: The arrays do not fit, or a Poisson mean is below 1, where the theorem
            states nothing.
    """
    at, one = np.asarray(orders, dtype=np.float64), np.asarray(divergences, dtype=np.float64)
    if at.ndim != 1 or at.shape != one.shape or not at.size:
        raise ParameterError("orders and divergences must be two lists of the same length")
    if not ((at >= 1).all() and (np.diff(at) > 0).all() and (one >= 0).all()):
        raise ParameterError("orders must increase from at least 1, and divergences be >= 0")
    beyond = at > 1
    above = np.where(beyond, at - 1, 1.0)
    if isinstance(repetitions, TruncatedNegativeBinomial):
        stop, shape = repetitions.stop, repetitions.shape
        least = np.min((1 - 1 / at) * one - log(stop) / at)
        constant = np.full(at.shape, (1 + shape) * least)
    elif isinstance(repetitions, Poisson):
        if repetitions.mean < 1:
            raise ParameterError("a Poisson mean below 1 has no bound on Renyi divergences")
        failures = [delta_of(at, one, log1p(1 / step)) for step in above]
        constant = repetitions.mean * np.array(failures)
    else:
        raise ParameterError("repetitions must be a law of dpselect.tuning")
    bounds = np.where(beyond, one + log(repetitions.mean) / above + constant, inf)
    return np.minimum.accumulate(bounds[::-1])[::-1]


def delta_of(orders: Values, divergences: Values, epsilon: float) -> float:
    """Return a delta such that a mechanism of such divergences is ``(epsilon, delta)``-DP."""
    # By the divergence of order 1 and the inequality of Bretagnolle and Huber, and by each
    # larger order.
    logs = 0.5 * np.log1p(-np.exp(-np.maximum(divergences, np.finfo(np.float64).tiny)))
    far = orders > 1.01
    at, one = orders[far], divergences[far]
    if at.size:
        logs[far] = np.minimum(
            logs[far], (at - 1) * (one - epsilon + np.log1p(-1 / at)) - np.log(at)
        )
    return min(exp(float(logs.min())), 1.0)


def rho_of_best(epsilon_per_run: float, rho_per_run: float, repetitions: Repetitions) -> float:
    """Return a zCDP parameter of the best of several runs, rounded up.

    Args:
        epsilon_per_run: Of one run, in nats; finite, > 0.
        rho_per_run: Of one run; finite, > 0.
        repetitions: The law of the number of runs.

    Returns:
        The least of what the pure epsilon of the whole implies, and of the largest bound of
        :func:`renyi_of_best` over its order.
    """
    epsilon = _validate.positive("epsilon_per_run", epsilon_per_run)
    whole = repetitions.epsilon_of(epsilon)
    implied = rho_of_pure(whole)
    if isinstance(repetitions, Poisson) and repetitions.mean < 1:
        return implied
    rho = _validate.positive("rho_per_run", rho_per_run)
    one = np.minimum(rho * ORDERS, [renyi_of_pure(epsilon, order) for order in ORDERS])
    bounds = np.minimum(renyi_of_best(ORDERS, one, repetitions=repetitions), whole)
    # The divergence of an order is at most that of the next one listed; beyond the last one
    # it is at most the pure epsilon.
    below = np.concatenate([[1.0], ORDERS])
    return min(float((np.append(bounds, whole) / below).max()) * (1 + SLACK), implied)


def renyi_of_pure(epsilon: float, order: float) -> float:
    r"""Return the largest Renyi divergence of an :math:`\varepsilon`-DP mechanism.

    .. math:: \frac{\ln\cosh((\lambda - \tfrac12)\varepsilon) - \ln\cosh(\varepsilon/2)}
        {\lambda - 1}

    that of randomised response.

    Args:
        epsilon: In nats; finite, >= 0.
        order: Above 1.
    """
    gain = _log_cosh((order - 0.5) * epsilon) - _log_cosh(epsilon / 2)
    return min(gain / (order - 1) * (1 + SLACK), epsilon)


def _log_cosh(x: float) -> float:
    return log(cosh(x)) if x < 1 else x + log1p(exp(-2 * x)) - log(2)
