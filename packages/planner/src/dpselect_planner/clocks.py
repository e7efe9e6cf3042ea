"""Distributions of several rounds of the exponential mechanism, as a race of clocks.

With weights ``w_r`` the rounds draw in the order in which independent exponential clocks of
rates ``w_r`` ring. So their distributions are integrals over the time of one clock, here by the
trapezoidal rule in the logarithm of time, whose error is below ``e^(-9.8 / h)`` for steps
``h``.
"""

from __future__ import annotations

from math import log

import numpy as np
from numpy.typing import NDArray

from dpselect.extend import Probabilities, Scores, Values, among_the_first

STEP = 0.1
FIRST = -42.0
"""Before exp(FIRST) no clock rings: its probability is below 2^-60."""

LATEST = 45.0
"""Mean number of rings by which a clock has rung: e^-45 is below 2^-64."""

LEAST, MOST = -700.0, 6.0
"""Logarithms of times the rate before which a clock does not ring, or has rung."""


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
    steps = int((log(LATEST) - slowest - FIRST) / STEP) + 2
    exponents = rates + (FIRST + STEP * np.arange(steps))[:, None]
    return np.exp(np.clip(exponents, LEAST, MOST))
