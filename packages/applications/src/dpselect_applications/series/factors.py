"""Factors of running counts: the weighted sum that is released of each period, with its noise.

Let ``x_s`` be the count of a key in period ``s``, counting each record once, and ``A`` the
lower triangular matrix of ones, so that ``A x`` are the running counts of ``T`` periods. For a
lower triangular matrix ``W`` of integers >= 0, period ``t`` releases

    y_t = ∑_(s ≤ t) W_ts x_s + Z_t

with independent noise of one distribution, and the running counts are estimated by ``B y`` with
``B = A W^-1``. All ``y`` are public: nothing secret is carried from one period to the next. The
estimates are unbiased and linear, and their errors have the covariance ``Var(Z) B B^T``.

**Privacy.** One neighbour step changes at most ``c`` of the ``x``, over all keys and periods,
each by 1. A change in period ``s`` moves the ``y`` of its key by the column ``w_s`` of ``W``.
So all ``y`` together move by at most ``L_1 = c max_s ∑_t W_ts``, and their squares add up to
at most ``L_2^2 = c max_s ∑_t W_ts^2``: changes of one key in two periods have opposite signs,
since a person who is added or removed has a key in one period alone, and columns are not
negative. With discrete Laplace noise of scale ``L_1/ε`` all periods together are ``ε``-DP,
with discrete Gaussian noise ``(L_2^2/2σ^2)``-zCDP. Noise is drawn anew in each period, and
both bounds hold on every path, so also where later records depend on what was released before.

**Factors.** With Laplace noise it is that tree of all bases whose largest error is least. For
up to 44 periods this is ``W = 1``, which releases each period's own counts and adds them up:
the variance of a running count grows with ``t``. With Gaussian noise ``W`` is ``2^16`` times
the square root of ``A``, its columns scaled to length 1, rounded to integers. The square root
has ``(2k choose k)/4^k`` on its k-th diagonal. The largest variance then grows as
``(ln T/π)^2``.

Source: Li, Miklau, Hay, McGregor and Rastogi, VLDB Journal 2015 (the matrix mechanism);
    Denisov, McMahan, Rush, Smith and Thakurta, NeurIPS 2022, arXiv:2202.08312 (streams);
    Fichtenberger, Henzinger and Upadhyay, ICML 2023, arXiv:2202.11205 (the square root);
    Henzinger, Kalinin and Upadhyay 2025, arXiv:2509.14334 (its normalised columns).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import isqrt, log, log1p, sqrt

import numpy as np

from dpselect.extend import (
    DiscreteGaussian,
    DiscreteLaplace,
    Indices,
    Values,
    gaussian_scale,
    scale_for,
)

STEPS = 2**16
"""Steps of a weight for 1, where weights are no integers."""

POINTS = 1000
"""Arguments of the moment-generating function among which the best one is sought."""


@dataclass(frozen=True, eq=False)
class Factors:
    """What is released of each period, and the running counts that are made of it; public.

    Attributes:
        weights: ``W``: shape ``(T, T)``, lower triangular, integers >= 0.
        noise: The noise of each ``y``.
    """

    weights: Indices
    noise: DiscreteLaplace | DiscreteGaussian

    @classmethod
    def with_laplace(cls, periods: int, changed: int, epsilon: float) -> Factors:
        """Return factors that are ``epsilon``-DP for so many counts that a step changes."""
        weights = best_tree(periods)
        moved = changed * int(weights.sum(axis=0).max())
        return cls(weights, DiscreteLaplace(scale_for(epsilon, moved)))

    @classmethod
    def with_gaussian(cls, periods: int, changed: int, rho: float) -> Factors:
        """Return factors that are ``rho``-zCDP for so many counts that a step changes."""
        weights = square_root(periods)
        squares = changed * int((weights**2).sum(axis=0).max())
        return cls(weights, DiscreteGaussian(gaussian_scale(rho, 1, squares)))

    @cached_property
    def estimate(self) -> Values:
        """``B``: shape ``(T, T)``, lower triangular."""
        ones = np.tril(np.ones(self.weights.shape))
        return np.tril(np.linalg.solve(self.weights.T, ones.T).T)

    @property
    def covariance(self) -> Values:
        """Covariance of the errors of one key's running counts: shape ``(T, T)``."""
        return self.noise.variance * self.estimate @ self.estimate.T

    @property
    def standard_errors(self) -> Values:
        """Standard deviation of the error of a running count in each period: shape ``(T,)``."""
        return np.sqrt(np.diag(self.covariance))

    def running(self, sums: Indices) -> Values:
        """Return the estimates of the running counts.

        Args:
            sums: The ``y`` of the first periods: shape ``(t, n)``.

        Returns:
            Shape ``(t, n)``; integers where noise is Laplace.
        """
        return self.estimate[: len(sums), : len(sums)] @ sums

    def error_bound(self, probability: float) -> float:
        """Return a bound on the error of one running count in the last period, by Chernoff.

        Args:
            probability: That the error is at most the bound, at least.
        """
        last = self.estimate[-1]
        odds = log(2) - log1p(-probability)
        if isinstance(self.noise, DiscreteGaussian):
            # Subgaussian: E e^(sZ) <= e^(s^2 sigma^2 / 2).
            return self.noise.scale * sqrt(2 * odds * float(last @ last))
        # E e^(sZ) = (1 - a)^2 / ((1 - a e^s)(1 - a e^-s)) with a = e^(-1/scale).
        rate = 1 / self.noise.scale
        s = rate * np.arange(1, POINTS)[:, None] / POINTS
        moved = s * last
        log_mean = 2 * np.log(-np.expm1(-rate))
        log_mean = log_mean - np.log(-np.expm1(moved - rate)) - np.log(-np.expm1(-moved - rate))
        return float(((log_mean.sum(axis=1) + odds) / s[:, 0]).min())


def tree(periods: int, base: int) -> Indices:
    """Return the sums of the largest intervals of ``base^i`` periods that end with each.

    The running count of any period is a sum of such intervals, one for each unit of the digits
    of its number.

    Returns:
        Shape ``(T, T)``, lower triangular, of 0 and 1; the identity for a base above ``T``.
    """
    ends = np.arange(1, periods + 1)
    sizes = np.ones_like(ends)
    while (longer := ends % (base * sizes) == 0).any():
        sizes[longer] *= base
    behind = ends[:, None] - ends
    return ((behind >= 0) & (behind < sizes[:, None])).astype(np.int64)


def best_tree(periods: int) -> Indices:
    """Return the tree with the smallest largest error of Laplace noise; it may be the identity.

    Of a base above ``2 √T`` one near ``√T`` has less, as it also has two levels.
    """
    bases = [periods + 1, *range(min(periods, 2 * isqrt(periods)), 1, -1)]
    return min((tree(periods, base) for base in bases), key=_largest_variance)


def _largest_variance(weights: Indices) -> int:
    """Return the largest number of intervals of a running count, times their noise."""
    intervals = [0]
    for end, size in enumerate(weights.sum(axis=1).tolist(), 1):
        intervals.append(intervals[end - size] + 1)
    return max(intervals) * int(weights.sum(axis=0).max()) ** 2


def square_root(periods: int) -> Indices:
    """Return the square root of running sums, its columns scaled to ``STEPS``, in integers.

    Returns:
        Shape ``(T, T)``, lower triangular.
    """
    k = np.arange(1, periods)
    first = np.cumprod(np.append(1.0, (2 * k - 1) / (2 * k)))
    place = np.arange(periods)
    behind = place[:, None] - place
    root = np.where(behind >= 0, first[np.maximum(behind, 0)], 0.0)
    lengths = np.sqrt((root**2).sum(axis=0))
    return np.rint(root * (STEPS / lengths)).astype(np.int64)
