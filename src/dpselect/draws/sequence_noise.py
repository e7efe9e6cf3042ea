r"""Noise of a sequence: discrete Laplace and discrete Gaussian, in counts.

.. math::

    P(Z = z) = \frac{1 - \alpha}{1 + \alpha} \alpha^{|z|}, \quad
    \alpha = e^{-1/\text{scale}}, \qquad
    P(Z = z) \propto e^{-z^2 / 2\sigma^2}.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import ceil, expm1
from typing import Protocol

import numpy as np

from dpselect.typing import Indices, Values

TAIL = 45.0
"""Scales of Laplace noise to either side; e^-45 is beyond."""

DEVIATIONS = 10.0
"""Standard deviations of Gaussian noise to either side; e^-50 is beyond."""

LARGEST_SCALE = 512.0
"""Above it laws are those of continuous noise; ties have less than 1 / scale then."""

FINENESS = 64
"""Points in a standard deviation of continuous noise, between which integrands are smooth."""


class Noise(Protocol):
    """Symmetric noise on an integer, and how far and how finely its values are summed."""

    @property
    def reach(self) -> float:
        """Beyond it, to either side, is a mass of less than e^-44."""

    @property
    def spacing(self) -> float:
        """Of the values that are summed over; 1 where these are integers."""

    def mass(self, d: Values) -> Values:
        """Return the probability of noise ``d``, or near it where it is continuous."""

    def log_at_most(self, d: Values) -> Values:
        """Return the log probability of at most ``d``."""

    def log_below(self, d: Values) -> Values:
        """Return the log probability of less than ``d``."""

    def sample(self, counts: Indices) -> Indices:
        """Return counts with noise, exactly; a release."""

    def simulated(self, shape: tuple[int, int], rng: np.random.Generator) -> Indices:
        """Return noise from a generator of NumPy: for experiments."""


@dataclass(frozen=True)
class DiscreteLaplace:
    """Discrete Laplace noise.

    Attributes:
        scale: In counts; finite, > 0. Public.
    """

    scale: float
    spacing = 1.0

    @property
    def reach(self) -> float:
        return TAIL * self.scale

    def mass(self, d: Values) -> Values:
        return np.tanh(0.5 / self.scale) * np.exp(-np.abs(d) / self.scale)

    def log_at_most(self, d: Values) -> Values:
        # alpha^-d / (1 + alpha) for d < 0, else 1 - alpha^(d + 1) / (1 + alpha).
        side = np.log1p(np.exp(-1 / self.scale))
        tail = np.exp(-np.abs(d + 1) / self.scale - side)
        return np.where(d < 0, d / self.scale - side, np.log1p(-tail))

    def log_below(self, d: Values) -> Values:
        return self.log_at_most(d - 1)

    def sample(self, counts: Indices) -> Indices:
        from dpselect.draws import noisy_counts

        return noisy_counts.discrete_laplace(counts, self.scale)

    def simulated(self, shape: tuple[int, int], rng: np.random.Generator) -> Indices:
        stop = -expm1(-1 / self.scale)
        return rng.geometric(stop, shape) - rng.geometric(stop, shape)


@dataclass(frozen=True)
class DiscreteGaussian:
    """Discrete Gaussian noise; its laws are those of continuous noise above ``LARGEST_SCALE``.

    Attributes:
        scale: The standard deviation of the continuous one, in counts; finite, > 0. Public.
    """

    scale: float

    @property
    def reach(self) -> float:
        return DEVIATIONS * self.scale

    @property
    def fine(self) -> bool:
        """Whether ties hardly occur, so that the noise is taken as continuous."""
        return self.scale > LARGEST_SCALE

    @property
    def spacing(self) -> float:
        return self.scale / FINENESS if self.fine else 1.0

    def mass(self, d: Values) -> Values:
        # The sum over all integers, or over the values of a fine grid.
        weights = np.exp(-((d / self.scale) ** 2) / 2)
        return weights / (FINENESS * np.sqrt(2 * np.pi) if self.fine else self._masses.sum())

    def log_at_most(self, d: Values) -> Values:
        if self.fine:
            from scipy.special import log_ndtr

            return np.asarray(log_ndtr(d / self.scale), dtype=np.float64)
        far = self._log_sums.size // 2
        places = np.clip(np.rint(d), -far, far).astype(np.int64) + far
        return self._log_sums[places]

    def log_below(self, d: Values) -> Values:
        return self.log_at_most(d if self.fine else d - 1)

    def sample(self, counts: Indices) -> Indices:
        from dpselect.draws import noisy_counts

        return noisy_counts.discrete_gaussian(counts, self.scale)

    def simulated(self, shape: tuple[int, int], rng: np.random.Generator) -> Indices:
        if self.fine:
            return np.rint(rng.normal(0, self.scale, shape)).astype(np.int64)
        far = self._masses.size // 2
        places = np.searchsorted(
            np.cumsum(self._masses) / self._masses.sum(), rng.random(shape)
        )
        return places - far

    @cached_property
    def _masses(self) -> Values:
        far = ceil(2 * self.reach) + 1
        z = np.arange(-far, far + 1)
        # Not 0, so that no logarithm of a sum is infinite.
        return np.exp(np.maximum(-((z / self.scale) ** 2) / 2, -600))

    @cached_property
    def _log_sums(self) -> Values:
        return np.minimum(np.log(np.cumsum(self._masses)) - np.log(self._masses.sum()), 0)
