"""The exponential mechanism's draw: ``P(r) ∝ exp(ε s_r / 2)``.

Source: McSherry and Talwar, FOCS 2007. It is bounded-range: Durfee and Rogers 2019; its
Kullback-Leibler divergence: Dong et al. 2020, arXiv:1909.13830, and Cesar and Rogers 2021,
arXiv:2004.07223; its zCDP: Harrison and Manurangsi 2026, arXiv:2510.25746, and Theorem 8 of
``docs/report``. One round of Gumbel noise and its ``k`` largest equal ``k`` rounds without
replacement: Yellott 1977; Efraimidis and Spirakis 2006.

With weights ``w_r`` the rounds draw in the order in which independent exponential clocks of
rates ``w_r`` ring. So their distributions are integrals over the time of one clock, here by the
trapezoidal rule in the logarithm of time, whose error is below ``e^(-9.8 / h)`` for steps
``h``.
"""

from __future__ import annotations

from math import log

import numpy as np
from numpy.typing import NDArray

from dpselect.draws import zcdp
from dpselect.draws.base import NEGLIGIBLE, Draw
from dpselect.draws.sequence import among_the_first
from dpselect.typing import Indices, Probabilities, Scores, Values

STEP = 0.1
FIRST = -42.0
"""Before exp(FIRST) no clock rings: its probability is below 2^-60."""

LEAST, MOST = -700.0, 6.0
"""Logarithms of times the rate before which a clock does not ring, or has rung."""


class Exponential(Draw):
    """The exponential mechanism on unit scores.

    Guarantee:
        ``epsilon``-DP and ``epsilon``-bounded-range.
    """

    name = "exponential"

    def probabilities(self, scores: Scores, epsilon: float) -> Probabilities:
        weights = np.exp((scores - scores.max()) * (epsilon / 2))
        return weights / weights.sum()

    def log_probabilities(self, scores: Scores, epsilon: float) -> Scores:
        exponents = (scores - scores.max()) * (epsilon / 2)
        return exponents - log(np.exp(exponents).sum())

    def sample(self, scores: Scores, epsilon: float, k: int) -> list[int]:
        from dpselect.draws.exact import selection

        return selection.top_k_gumbel_noise(scores, epsilon, k)

    def rho(self, epsilon: float) -> float:
        """Return ``y - 1 - ln y``, ``y = ε/(e^ε - 1)``."""
        return zcdp.of_bounded_range(epsilon)

    def noise(self, shape: tuple[int, int], rng: np.random.Generator) -> Values:
        return -np.log(rng.standard_exponential(shape))

    def _simulate_rounds(
        self, exponents: Values, block: Indices, rng: np.random.Generator
    ) -> None:
        k = block.shape[1]
        noisy = exponents + self.noise((len(block), exponents.size), rng)
        top = np.argpartition(noisy, -k, axis=1)[:, -k:]
        order = np.argsort(-np.take_along_axis(noisy, top, axis=1), axis=1)
        block[:] = np.take_along_axis(top, order, axis=1)


def included(scores: Scores, epsilon: float, k: int) -> Probabilities:
    """Return the probability of each candidate to be among the ``k`` drawn.

    Args:
        scores: Unit scores, shape ``(n,)``, finite.
        epsilon: Epsilon of all rounds together, in nats; > 0.
        k: How many rounds; 1 to ``n``.

    Returns:
        Shape ``(n,)``; sums to ``k``. As private as the scores. In O(n k) for each of about
        a thousand times.
    """
    rates = _log_rates(scores, epsilon, k)
    rung = _expected_rings(rates, float(np.partition(rates, rates.size - k)[rates.size - k]))
    ahead, mass = -np.expm1(-rung), STEP * rung * np.exp(-rung)
    return among_the_first(mass, ahead, ahead, k)


def all_before(scores: Scores, epsilon: float, chosen: NDArray[np.bool_]) -> float:
    """Return the probability that the drawn candidates are the chosen ones, in any order.

    Args:
        scores: Unit scores, shape ``(n,)``, finite.
        epsilon: Epsilon of as many rounds as there are chosen candidates, in nats; > 0.
        chosen: Shape ``(n,)``, boolean, at least one.
    """
    if chosen.all():
        return 1.0
    rates = _log_rates(scores, epsilon, int(chosen.sum()))
    rung = _expected_rings(rates, float(rates[chosen].min()))
    # The last of the chosen rings, after the others of them and before all the rest.
    ahead = -np.expm1(-rung[:, chosen])
    last = (rung[:, chosen] / np.expm1(rung[:, chosen])).sum(axis=1)
    none_else = np.exp(-rung[:, ~chosen].sum(axis=1))
    return min(STEP * float((ahead.prod(axis=1) * last * none_else).sum()), 1.0)


def _log_rates(scores: Scores, epsilon: float, k: int) -> Scores:
    return (scores - scores.max()) * (epsilon / (2 * k))


def _expected_rings(rates: Scores, slowest: float) -> Values:
    """Return how often each clock would have rung on average by a time, shape ``(times, n)``.

    Until one of the log rate ``slowest`` has rung.
    """
    steps = int((log(NEGLIGIBLE) - slowest - FIRST) / STEP) + 2
    exponents = rates + (FIRST + STEP * np.arange(steps))[:, None]
    return np.exp(np.clip(exponents, LEAST, MOST))
