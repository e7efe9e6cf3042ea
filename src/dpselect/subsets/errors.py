"""Expected numbers of wrong and of missing names of a released subset; public.

Of ``d`` members, brought to the size ``s``, ``b = min(d, s)`` are left; the retrieval then
exchanges ``a`` of the ``s`` for as many of the ``n - s`` others, each set alike. So

    s - b + a b/s - a (d - b)/(n - s)

of the released names are wrong in the mean, and ``d - s`` more are missing: ``a`` counts by its
mean alone. A private ``d`` gets noise first, and the numbers are means over the noisy sizes; of
a released size, over the numbers of members that it may stem from, each as probable as another.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from math import exp, log

import numpy as np
from numpy.typing import NDArray

from dpselect.subsets.schemes import Errors, Retrieval
from dpselect.typing import Values

POSITIVES = (5, 20, 50, 200)
"""Numbers of members for which errors are stated where the number is private."""

SHARES = (0.02, 0.05, 0.1, 0.2, 0.3)
"""Shares of epsilon for the number that are tried."""

REACH = 12
"""Scales of the noise on both sides that are summed: e^-12 of it lies beyond."""

MOST_REACH, POINTS = 20_000, 33
SMALL = 0.01
"""Errors that are as good as none, where shares are compared."""


@dataclass(frozen=True)
class NoisySizeErrors:
    """Errors where the number of members gets noise first.

    Attributes:
        n: Number of people.
        scale: Scale of the discrete Laplace noise on the number.
        retrieval: The retrieval of a size.
    """

    n: int
    scale: float
    retrieval: Callable[[int], Retrieval]

    def of(self, d: int) -> Errors:
        """Return the errors for a number of members."""
        moved, chances = self._noise()
        sizes = np.clip(d + moved, 0, self.n)
        return self._mean(np.full(sizes.size, d), sizes, chances)

    def given(self, size: int) -> Errors:
        """Return the errors of a release of so many names."""
        moved, chances = self._noise()
        numbers = size + moved
        held = (numbers >= 0) & (numbers <= self.n)
        return self._mean(numbers[held], np.full(held.sum(), size), chances[held])

    def _noise(self) -> tuple[NDArray[np.int64], Values]:
        reach = int(min(REACH * self.scale + 2, MOST_REACH))
        moved = np.arange(-reach, reach + 1)
        return moved, np.exp(-np.abs(moved) / self.scale)

    def _mean(
        self, numbers: NDArray[np.int64], sizes: NDArray[np.int64], chances: Values
    ) -> Errors:
        ends = np.linspace(sizes.min(), sizes.max(), POINTS).round().astype(int)
        known = np.unique(ends)
        means = [self.retrieval(int(one)).errors().wrong for one in known]
        exchanged = np.interp(sizes, known, means)
        left = np.minimum(numbers, sizes)
        wrong = sizes - left + exchanged * left / np.maximum(sizes, 1)
        wrong -= exchanged * (numbers - left) / np.maximum(self.n - sizes, 1)
        weights = chances / chances.sum()
        return Errors(float(weights @ wrong), float(weights @ (wrong + numbers - sizes)))


@lru_cache(maxsize=256)
def best_share(n: int, epsilon: float) -> float:
    """Return the share of epsilon for the number of members that has the fewest errors.

    By the geometric mean of the errors for ``POSITIVES``, of the pure scheme.
    """
    every = [d for d in POSITIVES if 2 * d <= n] or [max(1, n // 2)]

    def errors(share: float) -> float:
        rest = (1 - share) * epsilon
        at = NoisySizeErrors(
            n, 1 / (share * epsilon), lambda size: Retrieval("pure", n, size, rest)
        )
        return exp(sum(log(SMALL + sum(at.of(d))) for d in every) / len(every))

    return min(SHARES, key=errors)
