"""Conversions of zCDP and of pure DP, composed, to approximate DP.

A mechanism is ρ-zCDP when, on neighbouring databases, the Renyi divergence of its distributions
is at most ``α ρ`` for every order ``α > 1``. The ρ of adaptive releases add up. Both
conversions round upwards.

Source: Bun & Steinke (2016), arXiv:1605.02065.
"""

from __future__ import annotations

import sys
from functools import lru_cache
from math import erf, erfc, exp, expm1, inf, lgamma, log, log1p, pi, sqrt, tanh
from typing import TYPE_CHECKING

from dpselect._numbers import boundary

if TYPE_CHECKING:
    from dpselect.typing import Values

SLACK = 2.0**-40
"""Relative margin above the rounding errors of a few elementary functions (2^-50)."""

MOST_STEPS = 60
"""Largest number of steps of Newton's method, which takes 3 to 10."""

LARGEST_DELTA = 1 - 2.0**-40
"""Below 1, where no epsilon is needed."""

TAIL_ROUNDING = 2.0**-50
"""Relative, of a tail of the normal distribution."""


def rho_of_pure(epsilon: float) -> float:
    """Return the least rho such that every epsilon-DP mechanism is rho-zCDP.

        ρ = ε tanh(ε / 2) ≤ min(ε^2/2, ε)

    Proof: among the pairs of distributions whose log ratio stays within ``±ε``, randomised
    response diverges most. With ``f(t) = ln cosh(tε)`` its divergence of order α is
    ``[f(α - 1/2) - f(1/2)] / (α - 1)``: the mean of ``f'``, which is concave, over an interval
    around ``α/2``. So it is at most ``f'(α/2) = ε tanh(αε/2) ≤ α ε tanh(ε/2)``, with equality
    as ``α → 1``.

    Args:
        epsilon: In nats; finite, >= 0.

    Returns:
        Finite; 0 only for an epsilon of 0.

    Source:
        Bun & Steinke (2016), Proposition 3.3, has ``ε^2/2``.
    """
    rho = epsilon * tanh(epsilon / 2) * (1 + SLACK)
    return min(max(rho, sys.float_info.min), epsilon)


def epsilon_of(rho: float, delta: float) -> float:
    """Return an epsilon such that every rho-zCDP mechanism is (epsilon, delta)-DP.

        ε = min_(α > 1) αρ + ln((α - 1)/α) + (ln(1/δ) - ln α)/(α - 1)

    Each α gives a valid epsilon. The derivative has the sign of
    ``ρ(α - 1)^2 + ln α - ln(1/δ)``, which increases: its root is the best one.

    Args:
        rho: >= 0; may be infinite.
        delta: In [0, 1).

    Returns:
        In nats, >= 0; infinite when ``delta`` is 0 and ``rho`` is not.

    Source:
        Canonne, Kamath & Steinke (2020), arXiv:2004.00010, Proposition 12.
    """
    if rho == 0:
        return 0.0
    if delta == 0 or rho == inf:
        return inf
    log_inverse = -log(delta)
    # x = alpha - 1. At the first one of the two terms is all of ln(1/delta). Both are convex
    # in ln(x), in which Newton's method then goes down to the root and stops at rounding.
    x = min(sqrt(log_inverse / rho), expm1(log_inverse))
    for _ in range(MOST_STEPS):
        square = rho * x * x
        change = (square + log1p(x) - log_inverse) / (2 * square + x / (1 + x))
        if not change > SLACK:
            break
        x *= exp(-change)
    terms = (rho, rho * x, log(x), -log1p(x), (log_inverse - log1p(x)) / x)
    return max(0.0, sum(terms) + SLACK * sum(map(abs, terms)))


def delta_of(rho: float, epsilon: float) -> float:
    """Return a delta such that every rho-zCDP mechanism is (epsilon, delta)-DP.

        δ = min_(α > 1) (e^((α - 1)(αρ - ε))/(α - 1)) (1 - 1/α)^α

    Args:
        rho: >= 0; may be infinite.
        epsilon: In nats, >= 0.

    Returns:
        In [0, 1], the inverse of ``epsilon_of``, by bisection.
    """
    if rho == 0:
        return 0.0
    if rho == inf:
        return 1.0

    def enough(log_delta: float) -> bool:
        return epsilon_of(rho, min(exp(log_delta), LARGEST_DELTA)) <= epsilon

    return exp(boundary(enough, log(sys.float_info.min), 0.0)[1])


def delta_of_gaussian(mu: float, epsilon: float) -> float:
    """Return the exact delta of Gaussian noise, which is ``mu^2/2``-zCDP; rounded up.

    Args:
        mu: The sensitivity in scales of the noise; > 0.
        epsilon: In nats; finite, >= 0.

    Source:
        Balle & Wang (2018), arXiv:1805.06530, Theorem 8.
    """
    up, down = epsilon / mu - mu / 2, epsilon / mu + mu / 2
    first = erfc(up / sqrt(2)) / 2
    # Mills' ratio from below, so that delta is rounded up.
    density = exp(-(up**2) / 2) / sqrt(2 * pi)
    second = (
        exp(epsilon) * erfc(down / sqrt(2)) / 2 if down < 25 else density * down / (1 + down**2)
    )
    # Where the difference loses all digits, that for an epsilon of 0 is hardly larger.
    return min(max(0.0, first - second) + TAIL_ROUNDING * first, erf(mu / sqrt(8)))


@lru_cache(maxsize=4096)
def rho_for(epsilon: float, delta: float) -> float:
    """Return the largest rho up to epsilon that is (epsilon, delta)-DP, by bisection.

    Args:
        epsilon: In nats; > 0.
        delta: In (0, 1).

    Returns:
        0 if it is less than any float.
    """
    # With alpha - 1 = sqrt(ln(1/delta) / rho) that of epsilon_of is at most epsilon for `low`.
    root = sqrt(-log(delta))
    low = (epsilon / (sqrt(-log(delta) + epsilon) + root)) ** 2 * (1 - SLACK)
    if low == 0:
        # Less than any float.
        return 0.0
    high = low
    while high < epsilon and epsilon_of(high, delta) <= epsilon:
        low, high = high, min(2 * high, epsilon)
    return boundary(lambda rho: epsilon_of(rho, delta) > epsilon, low, high)[0]


def composed_delta(epsilon: float, each: float, times: int) -> float:
    """Return the exact delta of ``m`` independent epsilon'-DP mechanisms together.

        ∑_j binom(m, j) ((e^((m - j)ε') - e^(ε + jε'))_+)/((1 + e^ε')^m)

    Source: Kairouz, Oh and Viswanath 2015, Theorem 3.3.
    """
    import numpy as np

    j, binomial = np.arange(times + 1), _log_binomials(times)
    gap = epsilon - (times - 2 * j) * each
    held = gap < 0
    log_first = (times - j[held]) * each + binomial[held] - times * np.logaddexp(0, each)
    return float((np.exp(log_first) * -np.expm1(gap[held])).sum())


@lru_cache(maxsize=4)
def _log_binomials(times: int) -> Values:
    import numpy as np

    factorials = np.array([lgamma(one) for one in range(1, times + 2)])
    logs: Values = factorials[-1] - factorials - factorials[::-1]
    return logs
