"""Report noisy max with Laplace noise: the baseline that most libraries offer.

Exponential noise gives permute-and-flip and Gumbel noise the exponential mechanism, both with
distributions in closed form; Laplace noise of the same scale ``2/ε`` is worse than either and
serves for comparisons.

Source: Dwork and Roth 2014, section 3.3.
"""

from __future__ import annotations

from math import expm1, log
from sys import float_info

import numpy as np

from dpselect._numbers import boundary
from dpselect.budget.zcdp import SLACK
from dpselect.draws.base import CHUNK, NEGLIGIBLE, Draw
from dpselect.draws.grid import STEPS_PER_UNIT
from dpselect.draws.permute_and_flip import gauss_legendre, unrefused
from dpselect.typing import Probabilities, Scores, Values

MOST_PANELS = 1024

SMALL = 2.0**-7
"""Below it a difference of elementary functions loses digits, and its series is used."""


class LaplaceNoisyMax(Draw):
    """Report noisy max with Laplace noise on unit scores.

    Guarantee:
        ``epsilon``-DP.
    """

    name = "laplace"
    laplace = True

    def probabilities(self, scores: Scores, epsilon: float) -> Probabilities:
        gaps = (scores.max() - scores) * (epsilon / 2)
        law = np.exp(-gaps) * _relative_probabilities(gaps)
        return law / law.sum()

    def log_probabilities(self, scores: Scores, epsilon: float) -> Scores:
        gaps = (scores.max() - scores) * (epsilon / 2)
        relative = _relative_probabilities(gaps)
        return np.log(relative) - gaps - log((np.exp(-gaps) * relative).sum())

    def sample(self, scores: Scores, epsilon: float, k: int) -> list[int]:
        from dpselect.draws.exact import selection

        return selection.top_k_laplace_noise(scores, epsilon, k)

    def rho(self, epsilon: float) -> float:
        """Return ``ε + e^(-ε) - 1``, that of Laplace noise.

        The integer noise of ``sample`` is covered: with ``h = epsilon / 2S`` for scores that
        move by ``S`` steps of the grid, it is dominated by the Laplace mechanism at
        ``ε + h^2/4`` (Theorem 3 of ``docs/report``).
        """
        # Beyond 10^12 the rho of any epsilon-DP draw, which is at most epsilon, is less.
        return min(laplace_rho(epsilon * (1 + epsilon / (16 * STEPS_PER_UNIT**2))), epsilon)

    def noise(self, shape: tuple[int, int], rng: np.random.Generator) -> Values:
        return rng.laplace(size=shape)


def _relative_probabilities(gaps: Values) -> Values:
    """Return the distribution over ``e^(-gap)``, a quotient that does not underflow."""
    # Above the best score every noisy score has an exponential tail of mass e^-gap / 2: the
    # same race as in permute-and-flip, with halved acceptance.
    return unrefused(np.exp(-gaps) / 2) / 2 + _won_below_the_best(gaps)


def _won_below_the_best(gaps: Values) -> Values:
    """Return the probability that each wins with a noisy score below the best score.

    Over ``e^(-gap)``.

    With ``y`` the distance below the best score in units of the noise,

        P(r) = ∫_0^∞ (f_r(y)/(F_r(y))) ∏_j F_j(y) dy,

    by Gauss-Legendre between the kinks, which are at the gaps. With more than
    ``MOST_PANELS`` different gaps the panels are equal and the distribution is right to 1e-6.
    """
    end = _negligible_from(gaps)
    # The product falls by at most a factor e^-45 up to the end: 64 panels follow it.
    even = np.linspace(0.0, end, 65)
    edges = np.unique(np.concatenate([even, gaps[gaps < end]]))
    if edges.size > MOST_PANELS:
        edges = np.linspace(0.0, end, MOST_PANELS + 1)
    nodes, weights = gauss_legendre(8)
    widths = np.diff(edges)[:, None]
    distances = (edges[:-1, None] + widths * (nodes + 1) / 2).ravel()
    shares = (widths * weights / 2).ravel()
    law = np.zeros(gaps.size)
    rows = max(1, CHUNK // gaps.size)
    for first in range(0, distances.size, rows):
        y = distances[first : first + rows, None]
        tail = np.exp(-np.abs(gaps - y)) / 2
        below = np.where(gaps <= y, tail, 1 - tail)
        mass = shares[first : first + rows] * np.exp(np.log(below).sum(axis=1))
        # The tail over e^-gap is e^y / 2 where the gap is beyond y.
        law += mass @ (np.exp(np.minimum(2 * gaps - y, y)) / 2 / below)
    return law


def _negligible_from(gaps: Values) -> float:
    """Return a distance below the best score at which the product is negligible."""
    near = np.sort(gaps[gaps <= NEGLIGIBLE])
    sums = np.cumsum(near)

    def negligible(distance: float) -> bool:
        passed = int(np.searchsorted(near, distance, side="right"))
        return bool(passed * (log(2) + distance) - sums[passed - 1] > NEGLIGIBLE)

    return boundary(negligible, 0.0, NEGLIGIBLE)[1]


def laplace_rho(epsilon: float) -> float:
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
