"""Zero-concentrated DP parameters of the draws, rounded upwards.

A draw is ρ-zCDP if the Renyi divergence of its distributions on neighbouring databases is at
most ``αρ`` for every order ``α > 1``. The theorems that are cited by number are those of
``docs/report``.
"""

from __future__ import annotations

from functools import lru_cache
from math import exp, expm1, log, log1p
from sys import float_info

from dpselect._numbers import boundary
from dpselect.budget.zcdp import SLACK

SMALL = 2.0**-7
"""Below it a difference of elementary functions loses digits, and its series is used."""


def of_laplace(epsilon: float) -> float:
    """Return ``ε + e^(-ε) - 1``, the least rho of Laplace noise.

    Also of the noisy maximum with any noise whose hazard rate is at most ``ε/2`` (Theorems 3
    and 7). Below ``SMALL`` the series is cut after a positive term, which is an upper bound, as
    it alternates.

    Args:
        epsilon: In nats; finite, > 0.

    Returns:
        Finite, > 0, rounded up; at most ``ε^2/2`` up to rounding.
    """
    if epsilon < SMALL:
        rho = epsilon * epsilon * (1 / 2 - epsilon / 6 + epsilon * epsilon / 24)
    else:
        rho = epsilon + expm1(-epsilon)
    return max(rho * (1 + SLACK), float_info.min)


def of_bounded_range(epsilon: float) -> float:
    """Return ``y - 1 - ln y``, ``y = ε/(e^ε - 1)``.

    The least rho of all mechanisms of bounded range epsilon, at every order (Theorem 8); at
    most ``ε^2/8``.

    Args:
        epsilon: In nats; finite, > 0.

    Returns:
        Finite, > 0, rounded up.
    """
    # y = epsilon e^-epsilon / rest and ln y = ln(epsilon / rest) - epsilon: nothing overflows.
    rest = -expm1(-epsilon)
    terms = (epsilon * exp(-epsilon) / rest, -1.0, epsilon, log(rest / epsilon))
    rho = sum(terms) + 2.0**-49 * sum(map(abs, terms))
    return max(min(rho, epsilon * epsilon / 8 * (1 + SLACK)), float_info.min)


@lru_cache(maxsize=4096)
def of_permute_and_flip(epsilon: float) -> float:
    """Return the least rho of permute-and-flip, at every order (Theorem 6).

    It is the largest divergence of two candidates that change places,

        max_(0 ≤ v ≤ ε) (1 - b) ln((1 - b)/q) + b ln(b/(1 - q)),
        b = (1/2) e^(-v), q = (1/2) e^(v - ε),

    which is concave in ``v``: a tangent is an upper bound. Below ``SMALL`` it is bounded by
    that of a bounded range of ``2 ln(2e^(ε/2) - 1)``, the largest change of the log odds, which
    is larger by less than two parts in a million there.

    Args:
        epsilon: In nats; finite, > 0.

    Returns:
        Finite, > 0, rounded up; 0.84 to 1 of that of Laplace noise.
    """
    if epsilon < SMALL:
        widest = 2 * log1p(2 * expm1(epsilon / 2)) * (1 + SLACK)
        return of_bounded_range(max(widest, epsilon))
    # Where v is above log(epsilon / 2 + 2) the divergence falls.
    furthest = min(epsilon, log(epsilon / 2 + 2))
    v, _ = boundary(lambda v: _slope(v, epsilon) <= 0, 0.0, furthest)
    b, q = exp(-v) / 2, exp(v - epsilon) / 2
    terms = (
        (1 - b) * (epsilon + log(2) + log1p(-b)),
        -b * (log(2) + log1p(-q)),
        -v,
        abs(_slope(v, epsilon)) * furthest,
    )
    return min(sum(terms) + 2.0**-48 * sum(map(abs, terms)), epsilon)


def _slope(v: float, epsilon: float) -> float:
    """Return the derivative of the divergence of ``of_permute_and_flip`` by ``v``."""
    b, q = exp(-v) / 2, exp(v - epsilon) / 2
    log_odds = epsilon + 2 * log(2) + log1p(-b) + log1p(-q)
    return b * log_odds - (1 - b) + q * b / (1 - q)
