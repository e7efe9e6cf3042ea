r"""Laws of the number of runs of which the best is released, and what each run then costs.

With :math:`f(x) = E[x^K]` an outcome that a run draws with probability :math:`Q(y)`, and
anything worse with :math:`Q(<y)`, is the best of :math:`K` runs with probability
:math:`f(Q(<y) + Q(y)) - f(Q(<y))`. Costs are stated for a run that is
:math:`(\varepsilon, \delta)`-DP under any neighbour relation; Theorem 32 of ``docs/theory.md``
has the proof.

Source: Liu and Talwar 2019, arXiv:1811.07971; Papernot and Steinke 2022, arXiv:2110.03620.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from math import exp, expm1, inf, log, log1p, nextafter, tanh
from typing import TYPE_CHECKING

import numpy as np

from dpselect import _validate
from dpselect.budget.zcdp import SLACK
from dpselect.errors import ParameterError
from dpselect.typing import Probabilities, Values

if TYPE_CHECKING:
    from dpselect.draws.repetitions import NumberLaw

LEAST_STOP = 2.0**-12
"""The exact draw of the number of runs takes a time in proportion to 1 / stop."""

MOST_RUNS = 1000.0
"""The largest mean of a Poisson law."""


@dataclass(frozen=True, kw_only=True)
class Repetitions(ABC):
    """Base of the laws of the number of runs.

    Attributes:
        mean: The mean number of runs. Public; the number itself stays hidden.

    Raises:
        ParameterError: ``mean`` is out of range.
    """

    mean: float

    @property
    @abstractmethod
    def number_law(self) -> NumberLaw:
        """The law as its exact sampler takes it."""

    @abstractmethod
    def generating_function(self, x: Values) -> Values:
        """Return the mean of ``x**number``, for ``x`` in [0, 1]."""

    @abstractmethod
    def epsilon_of(self, epsilon_per_run: float) -> float:
        r"""Return the least epsilon of the best of runs that are ``epsilon_per_run``-DP.

        No smaller one holds for all such runs. Rounded up.

        Args:
            epsilon_per_run: In nats; finite, >= 0.
        """

    def epsilon_per_run(self, epsilon: float) -> float:
        """Return the largest epsilon of a run such that the best costs at most ``epsilon``.

        Args:
            epsilon: Of the whole, in nats; finite, > 0.

        Examples:
            >>> from dpselect.tuning import Geometric
            >>> round(Geometric(mean=10).epsilon_per_run(1.0), 4)
            0.3803
        """
        low, high = 0.0, _validate.positive("epsilon", epsilon)
        if self.epsilon_of(high) <= high:
            return high
        while nextafter(low, inf) < high:
            middle = (low + high) / 2
            if not low < middle < high:
                break
            low, high = (middle, high) if self.epsilon_of(middle) <= epsilon else (low, middle)
        return low

    def probabilities(self, numbers: int) -> Probabilities:
        """Return the probability of 0, 1, ..., ``numbers`` runs, shape ``(numbers + 1,)``."""
        law = self.number_law
        ratios = [float(law.ratio(k)) for k in range(law.first, numbers)]
        weights = np.cumprod([self._first_probability, *ratios])
        return np.concatenate([np.zeros(law.first), weights])[: numbers + 1]

    @property
    @abstractmethod
    def _first_probability(self) -> float:
        """The probability of the smallest number of runs."""


@dataclass(frozen=True, kw_only=True)
class TruncatedNegativeBinomial(Repetitions):
    r"""At least one run, :math:`P(K = k) \propto \binom{k + \eta - 1}{k} (1 - \gamma)^k`.

    Guarantee:
        The best of such a number of :math:`\varepsilon`-DP runs is :math:`\varepsilon'`-DP with

        .. math:: \varepsilon' = \varepsilon + (1 + \eta)
            \ln \frac{e^\varepsilon + \gamma}{1 + \gamma e^\varepsilon}
            \le (2 + \eta)\, \varepsilon.

    Attributes:
        mean: The mean number of runs, >= 1; such that ``stop`` is at least ``2**-12``.
        shape: :math:`\eta > -1`, finite. 1 is geometric, 0 logarithmic. The smaller, the
            cheaper, and the more often there is only one run.

    Source: Papernot and Steinke 2022, Definition 1, Theorem 2 and Corollary 3, which has
        :math:`(2 + \eta)\varepsilon`; the least :math:`\varepsilon'` is ours.
    """

    shape: float

    def __post_init__(self) -> None:
        mean = _validate.within("mean", self.mean, 1, float(np.finfo(np.float64).max))
        object.__setattr__(self, "mean", mean)
        shape = _validate.finite("shape", self.shape)
        if not -1 < shape <= MOST_RUNS:
            raise ParameterError(f"shape must be above -1 and at most 1000, got {shape!r}")
        object.__setattr__(self, "shape", shape)
        most = self._mean_at(LEAST_STOP)
        if most < mean:
            raise ParameterError(f"mean must be at most {most:.4g} for this law, got {mean!r}")

    @cached_property
    def stop(self) -> float:
        r""":math:`\gamma`, in [2^-12, 1]: the law is that of ``mean`` up to rounding."""
        if self.shape == 1:
            return 1 / self.mean
        low, high = LEAST_STOP / 2, 1.0
        for _ in range(100):
            middle = (low + high) / 2
            low, high = (middle, high) if self._mean_at(middle) > self.mean else (low, middle)
        return low

    @property
    def number_law(self) -> NumberLaw:
        from dpselect.draws.repetitions import NumberLaw

        return NumberLaw(1 - Fraction(self.stop), Fraction(self.shape))

    def generating_function(self, x: Values) -> Values:
        # log(1 - (1 - stop) x), exact where x is near 1.
        logs = np.log(self.stop + (1 - self.stop) * (1 - x))
        if self.shape == 0:
            return logs / log(self.stop) if self.stop < 1 else x
        if self.stop == 1:
            return x
        return np.expm1(-self.shape * logs) / expm1(-self.shape * log(self.stop))

    def epsilon_of(self, epsilon_per_run: float) -> float:
        gain = (1 + self.shape) * log_odds_gain(epsilon_per_run, self.stop)
        return nextafter(epsilon_per_run + gain, inf) if gain else epsilon_per_run

    @property
    def _first_probability(self) -> float:
        if self.stop == 1:
            return 1.0
        if self.shape == 0:
            return (self.stop - 1) / log(self.stop)
        return self.shape * (1 - self.stop) / expm1(-self.shape * log(self.stop))

    def _mean_at(self, stop: float) -> float:
        if stop == 1:
            return 1.0
        if self.shape == 0:
            return (1 / stop - 1) / -log(stop)
        return self.shape * (1 / stop - 1) / -expm1(self.shape * log(stop))


@dataclass(frozen=True, kw_only=True)
class Geometric(TruncatedNegativeBinomial):
    """At least one run, and after each one the last with probability ``stop = 1 / mean``.

    Guarantee:
        At most ``3 * epsilon_per_run``.

    Attributes:
        mean: The mean number of runs, from 1 to 4096.

    Source: Liu and Talwar 2019, Algorithm 2.
    """

    shape: float = field(default=1.0, init=False)


@dataclass(frozen=True, kw_only=True)
class Logarithmic(TruncatedNegativeBinomial):
    """At least one run, ``k`` of them with probability in proportion to ``(1 - stop)**k / k``.

    Guarantee:
        At most ``2 * epsilon_per_run``.

    Attributes:
        mean: The mean number of runs, from 1 to 492.
    """

    shape: float = field(default=0.0, init=False)


@dataclass(frozen=True, kw_only=True)
class Poisson(Repetitions):
    r"""A Poisson number of runs; with none, nothing is released.

    Guarantee:
        The best of such a number of :math:`\varepsilon`-DP runs is :math:`\varepsilon'`-DP with
        :math:`\varepsilon' = \varepsilon + \mu \tanh(\varepsilon/2)`.

    Attributes:
        mean: :math:`\mu`, above 0 and at most 1000.

    Source: Papernot and Steinke 2022, Theorem 6, for Renyi divergences; the pure cost is ours.
    """

    def __post_init__(self) -> None:
        mean = _validate.positive("mean", self.mean)
        object.__setattr__(self, "mean", _validate.within("mean", mean, 0, MOST_RUNS))

    @property
    def number_law(self) -> NumberLaw:
        from dpselect.draws.repetitions import NumberLaw

        return NumberLaw(Fraction(self.mean), None)

    def generating_function(self, x: Values) -> Values:
        return np.exp(-self.mean * (1 - x))

    def epsilon_of(self, epsilon_per_run: float) -> float:
        return (epsilon_per_run + self.mean * tanh(epsilon_per_run / 2)) * (1 + SLACK)

    @property
    def _first_probability(self) -> float:
        return exp(-self.mean)


def log_odds_gain(epsilon: float, stop: float) -> float:
    r"""Return :math:`\ln \frac{e^\varepsilon + \gamma}{1 + \gamma e^\varepsilon}`, rounded up.

    How much less likely an :math:`\varepsilon`-DP run can make it that a series of runs ends
    which stops by itself with probability :math:`\gamma` after each run.
    """
    lost = exp(-epsilon)
    gain = log1p(-expm1(-epsilon) * (1 - stop) / (lost + stop))
    return min(gain * (1 + SLACK), epsilon)
