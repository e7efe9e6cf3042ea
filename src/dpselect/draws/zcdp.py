r"""Zero-concentrated DP parameters of the draws, rounded upwards.

A draw is :math:`\rho`-zCDP if the Renyi divergence of its laws on neighbouring databases is at
most :math:`\alpha\rho` for every order :math:`\alpha > 1`. The theorems that are cited by
number are those of ``docs/theory.md``.
"""

from __future__ import annotations

from math import exp, expm1, log
from sys import float_info

SLACK = 2.0**-40
"""Relative margin above the rounding errors of a few elementary functions (2^-50)."""

SMALL = 2.0**-7
"""Below it a difference of elementary functions loses digits, and its series is used."""


def of_laplace(epsilon: float) -> float:
    r"""Return :math:`\varepsilon + e^{-\varepsilon} - 1`, the least rho of Laplace noise.

    Also of permute-and-flip, and of the noisy maximum with any noise whose hazard rate is at
    most :math:`\varepsilon/2` (Theorems 3 to 5). Below ``SMALL`` the series is cut after a
    positive term, which is an upper bound, as it alternates.

    Args:
        epsilon: In nats; finite, > 0.

    Returns:
        Finite, > 0, rounded up; at most :math:`\varepsilon^2/2` up to rounding.
    """
    if epsilon < SMALL:
        rho = epsilon * epsilon * (1 / 2 - epsilon / 6 + epsilon * epsilon / 24)
    else:
        rho = epsilon + expm1(-epsilon)
    return max(rho * (1 + SLACK), float_info.min)


def of_bounded_range(epsilon: float) -> float:
    r"""Return :math:`y - 1 - \ln y`, :math:`y = \varepsilon/(e^\varepsilon - 1)`.

    The least rho of all mechanisms of bounded range epsilon, at every order (Theorem 6); at
    most :math:`\varepsilon^2/8`.

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
