"""Permute-and-flip: visit candidates in random order, release the first accepted one.

Candidate ``r`` is accepted with probability ``p_r = exp(ε (s_r - s_*)/2)``. Its distribution is
that of report-noisy-max with exponential noise, and its expected error is never above the
exponential mechanism's.

Source: McKenna and Sheldon 2020, arXiv:2010.12603; the noise: Ding et al. 2021,
arXiv:2105.07260.
"""

from __future__ import annotations

from functools import lru_cache
from math import ceil, exp, expm1, log, log1p

import numpy as np

from dpselect._numbers import boundary
from dpselect.budget.zcdp import SLACK
from dpselect.draws.base import NEGLIGIBLE, Draw
from dpselect.draws.exponential import bounded_range_rho
from dpselect.typing import Probabilities, Scores, Values

DIRECT = 256
"""Up to here one Gauss-Legendre rule is exact and cheap: n^2 / 2 factors."""

SMALL = 2.0**-6
TERMS = 10
"""SMALL**TERMS is below 2^-59: the power series in numbers below SMALL end here."""


LEAST = 2.0**-7
"""Below it the difference of elementary functions that rho is loses digits."""


class PermuteAndFlip(Draw):
    """Permute-and-flip on unit scores.

    Guarantee:
        ``epsilon``-DP. Not bounded-range. Its trade-off function is that of the Laplace
        mechanism with sensitivity 1 and scale ``1 / epsilon`` (Theorem 4 of
        ``docs/report``).
    """

    name = "permute-and-flip"
    laplace = True

    def probabilities(self, scores: Scores, epsilon: float) -> Probabilities:
        accept = np.exp((scores - scores.max()) * (epsilon / 2))
        law = accept * unrefused(accept)
        return law / law.sum()

    def log_probabilities(self, scores: Scores, epsilon: float) -> Scores:
        exponents = (scores - scores.max()) * (epsilon / 2)
        accept = np.exp(exponents)
        first = unrefused(accept)
        return exponents + np.log(first) - log((accept * first).sum())

    def sample(self, scores: Scores, epsilon: float, k: int) -> list[int]:
        from dpselect.draws.exact import selection

        return selection.top_k_exponential_noise(scores, epsilon, k)

    def rho(self, epsilon: float) -> float:
        """Return the least rho, that of two candidates (Theorem 6 of ``docs/report``)."""
        return permute_and_flip_rho(epsilon)

    def noise(self, shape: tuple[int, int], rng: np.random.Generator) -> Values:
        return rng.standard_exponential(shape)


def unrefused(accept: Values) -> Values:
    """Return the probability that each candidate arrives before any other is accepted.

    Let every candidate arrive at a uniform time. The one that arrives at time ``z`` wins if it
    accepts and all earlier arrivals refused, so

        P(r) = p_r ∫_0^1 ∏_(j ≠ r) (1 - p_j z) dz,

    and this is the integral, which unlike the product with ``p_r`` does not underflow.

    Args:
        accept: Acceptance probabilities ``p``, shape ``(n,)``, in [0, 1].

    Returns:
        Shape ``(n,)``. In O(n).
    """
    return _by_one_rule(accept) if accept.size <= DIRECT else _by_panels(accept)


def _by_one_rule(accept: Values) -> Values:
    # The integrand is a polynomial of degree n - 1: ceil(n / 2) nodes are exact.
    nodes, weights = gauss_legendre(ceil(accept.size / 2))
    refuse = 1 - np.outer((nodes + 1) / 2, accept)
    others = refuse.prod(axis=1, keepdims=True) / refuse
    return weights @ others / 2


def _by_panels(accept: Values) -> Values:
    # The product is below exp(-z sum p), so the integral ends where that is negligible.
    # Up to there p z < SMALL for all but NEGLIGIBLE / SMALL candidates at most: the others
    # enter the product, and leave it again, through power series in p z.
    end = min(1.0, NEGLIGIBLE / accept.sum())
    small = accept * end < SMALL
    nodes, weights = _panels(end)
    powers = np.arange(1, TERMS + 1)
    moments = np.array([(accept[small] ** power).sum() for power in powers])
    series = (nodes[:, None] ** powers) @ (moments / powers)
    large = 1 - np.outer(nodes, accept[~small])
    mass = weights * np.exp(np.log(large).sum(axis=1) - series)
    first = np.empty(accept.size)
    first[~small] = mass @ (1 / large)
    first[small] = np.polynomial.polynomial.polyval(
        accept[small], [mass @ nodes**power for power in range(TERMS)]
    )
    return first


@lru_cache(maxsize=256)
def gauss_legendre(order: int) -> tuple[Values, Values]:
    """Return nodes and weights on [-1, 1], kept between calls and hence read-only."""
    nodes, weights = np.polynomial.legendre.leggauss(order)
    nodes.setflags(write=False)
    weights.setflags(write=False)
    return nodes, weights


def _panels(end: float, *, panels: int = 16, order: int = 16) -> tuple[Values, Values]:
    """Return Gauss-Legendre nodes and weights on equal panels of ``[0, end]``.

    Over one panel the integrand falls by at most exp(3) per candidate at 1, far from what
    16 nodes integrate to rounding error.
    """
    nodes, weights = gauss_legendre(order)
    width = end / panels
    starts = width * np.arange(panels)
    return (starts[:, None] + width * (nodes + 1) / 2).ravel(), np.tile(
        weights * width / 2, panels
    )


@lru_cache(maxsize=4096)
def permute_and_flip_rho(epsilon: float) -> float:
    """Return the least rho of permute-and-flip, at every order (Theorem 6).

    It is the largest divergence of two candidates that change places,

        max_(0 ≤ v ≤ ε) (1 - b) ln((1 - b)/q) + b ln(b/(1 - q)),
        b = (1/2) e^(-v), q = (1/2) e^(v - ε),

    which is concave in ``v``: a tangent is an upper bound. Below ``LEAST`` it is bounded by
    that of a bounded range of ``2 ln(2e^(ε/2) - 1)``, the largest change of the log odds, which
    is larger by less than two parts in a million there.

    Args:
        epsilon: In nats; finite, > 0.

    Returns:
        Finite, > 0, rounded up; 0.84 to 1 of that of Laplace noise.
    """
    if epsilon < LEAST:
        widest = 2 * log1p(2 * expm1(epsilon / 2)) * (1 + SLACK)
        return bounded_range_rho(max(widest, epsilon))
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
    """Return the derivative of the divergence of ``permute_and_flip_rho`` by ``v``."""
    b, q = exp(-v) / 2, exp(v - epsilon) / 2
    log_odds = epsilon + 2 * log(2) + log1p(-b) + log1p(-q)
    return b * log_odds - (1 - b) + q * b / (1 - q)
