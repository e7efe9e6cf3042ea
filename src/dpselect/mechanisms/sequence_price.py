r"""Price of noise on all scores under zCDP, from the public facts of a sequence.

One neighbour step moves the scores, in steps of a grid, by integers :math:`m_r` with
:math:`|m_r| \le M` and :math:`\sum |m_r| \le L`. What a sum of a convex function of them, 0 at
0, is at most is attained where :math:`\lfloor L/M \rfloor` scores move by :math:`M`, and one by
the rest.
"""

from __future__ import annotations

from math import floor, inf, nextafter, sqrt

from dpselect.budget.zcdp import SLACK, rho_of_pure
from dpselect.draws.grid import Steps

OF_GRID = 3
"""Steps of a grid that rounding and floating point add to the move of one score."""


def moves(steps: Steps, l1: float, bound: float, step: float | None) -> tuple[int, int]:
    """Return what one neighbour step moves of one score and of all together, in steps.

    Args:
        steps: The scores in steps.
        l1: Largest change of all scores together, score units.
        bound: Largest change of one score, score units.
        step: A number that all scores are integer multiples of, or None.
    """
    if step is None:
        of_one = floor(bound / l1 * (steps.l1 / (1 + 2.0**-10))) + OF_GRID
    else:
        of_one = max(1, floor(bound / step * (1 + 2.0**-40)))
    return min(of_one, steps.l1), steps.l1


def laplace_rho(epsilon: float, share: float) -> float:
    r"""Return the zCDP of discrete Laplace noise of scale :math:`L/\varepsilon`.

    A score that moves by :math:`m` is :math:`e`-DP with :math:`e = \varepsilon m / L` and
    :math:`e \tanh(e/2)`-zCDP, which is convex in :math:`m`. The sum is at most :math:`L/M`
    times its value at :math:`M`.

    Args:
        epsilon: Of all scores together, in nats.
        share: At least :math:`M/L`, at most 1.
    """
    return rho_of_pure(epsilon * share) / share


def gaussian_scale(rho: float, of_one: int, of_all: int) -> float:
    r"""Return the scale of discrete Gaussian noise that is ``rho``-zCDP, rounded up.

    Noise of scale :math:`\sigma` on a score that moves by :math:`m` is
    :math:`m^2/2\sigma^2`-zCDP, and the sum of the squares is at most
    :math:`\ell_2^2 = \lfloor L/M \rfloor M^2 + (L \bmod M)^2`.

    Source: Canonne, Kamath and Steinke 2020, arXiv:2004.00010, Theorem 14.
    """
    whole, rest = divmod(of_all, of_one)
    squared = whole * of_one**2 + rest**2
    return nextafter(sqrt(squared / (2 * rho)) * (1 + SLACK), inf)
