"""Distributions of the number of runs of which the best is released, and what each run costs.

With ``f(x) = E[x^K]`` an outcome that a run draws with probability ``Q(y)``, and anything worse
with ``Q(<y)``, is the best of ``K`` runs with probability ``f(Q(<y) + Q(y)) - f(Q(<y))``. Costs
are stated for a run that is (ε, δ)-DP under any neighbour relation; Theorem 47 of
``docs/report`` has the proof.

Source: Liu and Talwar 2019, arXiv:1811.07971; Papernot and Steinke 2022, arXiv:2110.03620,
Theorems 2 and 6 for Renyi divergences; their conversion to a delta is Canonne, Kamath and
Steinke 2020, arXiv:2004.00010, Proposition 12.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from fractions import Fraction
from functools import cached_property
from math import cosh, exp, expm1, inf, log, log1p, nextafter, tanh
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from dpselect.errors import ParameterError
from dpselect.extend import SLACK, Values, boundary, rho_of_pure, validation
from dpselect_applications.tuning.drawing import NumberDistribution

LEAST_STOP = 2.0**-12
"""The exact draw of the number of runs takes a time in proportion to 1 / stop."""

MOST_RUNS = 1000.0
"""The largest mean of a Poisson distribution."""

ORDERS = 1 + np.logspace(-3, 5, 2000)
"""Orders at which a zCDP parameter is computed; neighbouring ones are 1 % apart."""


@dataclass(frozen=True, kw_only=True)
class Repetitions(ABC):
    """Base of the distributions of the number of runs.

    Attributes:
        mean: The mean number of runs. Public; the number itself stays hidden.

    Raises:
        ParameterError: ``mean`` is out of range.
    """

    mean: float
    name: ClassVar[str]
    """The short name by which a query is written down."""

    @property
    @abstractmethod
    def number_distribution(self) -> NumberDistribution:
        """The distribution as its exact sampler takes it."""

    @abstractmethod
    def generating_function(self, x: Values) -> Values:
        """Return the mean of ``x**number``, for ``x`` in [0, 1]."""

    @abstractmethod
    def rate(self, shares: Values) -> Values:
        """Return the derivative of the generating function at ``1 - shares``.

        It is the ratio of an outcome's probability in the release to that in one run, if a run
        beats the outcome with that probability; it decreases from ``mean`` at 0.
        """

    @abstractmethod
    def shares_better(self, steps: Values) -> Values:
        """Return shares from 0 to 1 between which ``rate`` falls by equal factors.

        Args:
            steps: Evenly from 0 to 1.
        """

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
            epsilon: Epsilon of the whole, in nats; finite, > 0.

        Examples:
            >>> from dpselect_applications.tuning import Geometric
            >>> round(Geometric(mean=10).epsilon_per_run(1.0), 4)
            0.3803
        """
        whole = validation.positive("epsilon", epsilon)
        if self.epsilon_of(whole) <= whole:
            return whole
        return boundary(lambda each: self.epsilon_of(each) > whole, 0.0, whole)[0]


@dataclass(frozen=True, kw_only=True)
class TruncatedNegativeBinomial(Repetitions):
    """At least one run, ``P(K = k) ∝ binom(k + η - 1, k) (1 - γ)^k``.

    Guarantee:
        The best of such a number of ε-DP runs is ε'-DP with

            ε' = ε + (1 + η) ln((e^ε + γ)/(1 + γ e^ε)) ≤ (2 + η) ε.

    Attributes:
        mean: The mean number of runs, >= 1; such that ``stop`` is at least ``2**-12``.
        shape: ``η > -1``, finite. 1 is geometric, 0 logarithmic. The smaller, the cheaper, and
            the more often there is only one run.

    Source: Papernot and Steinke 2022, Definition 1, Theorem 2 and Corollary 3, which has
        ``(2 + η)ε``; the least ε' is ours.
    """

    name = "truncated-negative-binomial"
    shape: float

    def __post_init__(self) -> None:
        mean = validation.finite("mean", self.mean)
        if mean < 1:
            raise validation.must_be("mean", "at least 1", f"got {mean!r}")
        object.__setattr__(self, "mean", mean)
        shape = validation.finite("shape", self.shape)
        if not -1 < shape <= MOST_RUNS:
            raise ParameterError(f"`shape` must be above -1 and at most 1000, got {shape!r}")
        object.__setattr__(self, "shape", shape)
        most = self._mean_at(LEAST_STOP)
        if most < mean:
            raise ParameterError(
                f"`mean` must be at most {most:.4g} for this distribution, got {mean!r}"
            )

    @cached_property
    def stop(self) -> float:
        """γ, in [2^-12, 1]: the mean is ``mean`` up to rounding."""
        if self.shape == 1:
            return 1 / self.mean
        return boundary(lambda stop: self._mean_at(stop) <= self.mean, LEAST_STOP / 2, 1.0)[0]

    @property
    def number_distribution(self) -> NumberDistribution:
        return NumberDistribution(1 - Fraction(self.stop), Fraction(self.shape))

    def generating_function(self, x: Values) -> Values:
        # log(1 - (1 - stop) x), exact where x is near 1.
        logs = np.log(self.stop + (1 - self.stop) * (1 - x))
        if self.shape == 0:
            return logs / log(self.stop) if self.stop < 1 else x
        if self.stop == 1:
            return x
        return np.expm1(-self.shape * logs) / expm1(-self.shape * log(self.stop))

    def rate(self, shares: Values) -> Values:
        return self.mean * (1 + (1 / self.stop - 1) * shares) ** -(1 + self.shape)

    def shares_better(self, steps: Values) -> Values:
        if self.stop == 1:
            return steps
        return np.expm1(-log(self.stop) * steps) / (1 / self.stop - 1)

    def epsilon_of(self, epsilon_per_run: float) -> float:
        gain = (1 + self.shape) * log_odds_gain(epsilon_per_run, self.stop)
        return nextafter(epsilon_per_run + gain, inf) if gain else epsilon_per_run

    def _mean_at(self, stop: float) -> float:
        if stop == 1:
            return 1.0
        if self.shape == 0:
            return (1 / stop - 1) / -log(stop)
        return self.shape * (1 / stop - 1) / -expm1(self.shape * log(stop))


@dataclass(frozen=True, kw_only=True)
class Geometric(TruncatedNegativeBinomial):
    """At least one run; each run is the last with probability ``stop = 1 / mean``.

    Guarantee:
        At most ``3 * epsilon_per_run``.

    Attributes:
        mean: The mean number of runs, from 1 to 4096.

    Source: Liu and Talwar 2019, Algorithm 2.
    """

    name = "geometric"
    shape: float = field(default=1.0, init=False)


@dataclass(frozen=True, kw_only=True)
class Logarithmic(TruncatedNegativeBinomial):
    """At least one run, ``k`` of them with probability in proportion to ``(1 - stop)**k / k``.

    Guarantee:
        At most ``2 * epsilon_per_run``.

    Attributes:
        mean: The mean number of runs, from 1 to 492.
    """

    name = "logarithmic"
    shape: float = field(default=0.0, init=False)


@dataclass(frozen=True, kw_only=True)
class Poisson(Repetitions):
    """A Poisson number of runs; with none, nothing is released.

    Guarantee:
        The best of such a number of ε-DP runs is ε'-DP with ``ε' = ε + μ tanh(ε/2)``.

    Attributes:
        mean: μ, above 0 and at most 1000.

    Source: Papernot and Steinke 2022, Theorem 6, for Renyi divergences; the pure cost is ours.
    """

    name = "poisson"

    def __post_init__(self) -> None:
        mean = validation.positive("mean", self.mean)
        object.__setattr__(self, "mean", validation.within("mean", mean, 0, MOST_RUNS))

    @property
    def number_distribution(self) -> NumberDistribution:
        return NumberDistribution(Fraction(self.mean), None)

    def generating_function(self, x: Values) -> Values:
        return np.exp(-self.mean * (1 - x))

    def rate(self, shares: Values) -> Values:
        return self.mean * np.exp(-self.mean * shares)

    def shares_better(self, steps: Values) -> Values:
        return steps

    def epsilon_of(self, epsilon_per_run: float) -> float:
        return (epsilon_per_run + self.mean * tanh(epsilon_per_run / 2)) * (1 + SLACK)


def log_odds_gain(epsilon: float, stop: float) -> float:
    """Return ``ln((e^ε + γ)/(1 + γ e^ε))``, rounded up.

    How much less likely an ε-DP run can make it that a series of runs ends which stops by
    itself with probability γ after each run.
    """
    lost = exp(-epsilon)
    gain = log1p(-expm1(-epsilon) * (1 - stop) / (lost + stop))
    return min(gain * (1 + SLACK), epsilon)


DISTRIBUTIONS: dict[str, type[Repetitions]] = {
    one.name: one for one in (Geometric, Logarithmic, Poisson, TruncatedNegativeBinomial)
}
"""Every distribution by its short name."""

RepetitionsLike: TypeAlias = Repetitions | Mapping[str, Any]
"""A distribution; or a mapping of its ``name`` and parameters, as a query is written down."""


def as_repetitions(given: object) -> Repetitions:
    """Return a distribution of the number of runs.

    Args:
        given: Any ``RepetitionsLike``.

    Raises:
        ParameterError: It is none, or a parameter is missing or out of range.

    Examples:
        >>> as_repetitions({"name": "geometric", "mean": 10})
        Geometric(mean=10.0, shape=1.0)
    """
    if not isinstance(given, Mapping):
        return validation.instance("repetitions", given, Repetitions)
    options = {key: one for key, one in given.items() if key != "name"}
    kind = DISTRIBUTIONS[validation.one_of("repetitions", given.get("name"), DISTRIBUTIONS)]
    needed = [one.name for one in fields(kind) if one.init]
    if options.keys() != set(needed):
        raise ParameterError(
            f"`repetitions` named {kind.name!r} must state {' and '.join(needed)}, and no more"
        )
    return kind(**options)


def renyi_of_best(
    orders: ArrayLike, divergences: ArrayLike, *, repetitions: Repetitions
) -> Values:
    """Return bounds on the Renyi divergences of the best of several runs.

    For a truncated negative binomial number of runs with γ = ``stop`` the bound is

        ε'(λ)
            = ε(λ) + (ln E[K])/(λ - 1) + (1 + η) min_(λ̂ ≥ 1) ((1 - 1/λ̂) ε(λ̂) + (ln(1/γ))/λ̂),

    and for a Poisson number ``ε(λ) + μδ̂ + ln μ / (λ - 1)``, where a run is ``(ε̂, δ̂)``-DP
    with ``e^ε̂ = 1 + 1/(λ - 1)``. The minimum is over the given orders, and as divergences rise
    with the order, each bound holds for smaller orders, too.

    Args:
        orders: λ >= 1, increasing, shape ``(m,)``.
        divergences: ``ε(λ)`` of one run, under the relation that the result is for, >= 0, shape
            ``(m,)``.
        repetitions: Distribution of the number of runs.

    Returns:
        Shape ``(m,)``; infinite where no bound is known.

    Raises:
        ParameterError: The arrays do not fit, or a Poisson mean is below 1, for which the
            theorem has no bound.
    """
    at, one = np.asarray(orders, dtype=np.float64), np.asarray(divergences, dtype=np.float64)
    if at.ndim != 1 or at.shape != one.shape or not at.size:
        raise ParameterError("`orders` and `divergences` must be two lists of the same length")
    if not ((at >= 1).all() and (np.diff(at) > 0).all() and (one >= 0).all()):
        raise ParameterError(
            "`orders` must increase from at least 1, and `divergences` be >= 0"
        )
    beyond = at > 1
    above = np.where(beyond, at - 1, 1.0)
    if isinstance(repetitions, TruncatedNegativeBinomial):
        stop, shape = repetitions.stop, repetitions.shape
        least = np.min((1 - 1 / at) * one - log(stop) / at)
        constant = np.full(at.shape, (1 + shape) * least)
    elif isinstance(repetitions, Poisson):
        if repetitions.mean < 1:
            raise ParameterError("a Poisson mean below 1 has no bound on Renyi divergences")
        failures = [delta_of(at, one, log1p(1 / step)) for step in above]
        constant = repetitions.mean * np.array(failures)
    else:
        raise ParameterError("`repetitions` must be a distribution of dpselect.tuning")
    bounds = np.where(beyond, one + log(repetitions.mean) / above + constant, inf)
    return np.minimum.accumulate(bounds[::-1])[::-1]


def delta_of(orders: Values, divergences: Values, epsilon: float) -> float:
    """Return a delta such that a mechanism of such divergences is ``(epsilon, delta)``-DP."""
    # By the divergence of order 1 and the inequality of Bretagnolle and Huber, and by each
    # larger order.
    logs = 0.5 * np.log1p(-np.exp(-np.maximum(divergences, np.finfo(np.float64).tiny)))
    far = orders > 1.01
    at, one = orders[far], divergences[far]
    if at.size:
        logs[far] = np.minimum(
            logs[far], (at - 1) * (one - epsilon + np.log1p(-1 / at)) - np.log(at)
        )
    return min(exp(float(logs.min())), 1.0)


def rho_of_best(epsilon_per_run: float, rho_per_run: float, repetitions: Repetitions) -> float:
    """Return a zCDP parameter of the best of several runs, rounded up.

    Args:
        epsilon_per_run: Epsilon of one run, in nats; finite, > 0.
        rho_per_run: Rho of one run; finite, > 0.
        repetitions: Distribution of the number of runs.

    Returns:
        The smaller of the rho that the pure epsilon of the whole implies, and the largest bound
        of ``renyi_of_best`` over its order.
    """
    epsilon = validation.positive("epsilon_per_run", epsilon_per_run)
    whole = repetitions.epsilon_of(epsilon)
    implied = rho_of_pure(whole)
    if isinstance(repetitions, Poisson) and repetitions.mean < 1:
        return implied
    rho = validation.positive("rho_per_run", rho_per_run)
    one = np.minimum(rho * ORDERS, [renyi_of_pure(epsilon, order) for order in ORDERS])
    bounds = np.minimum(renyi_of_best(ORDERS, one, repetitions=repetitions), whole)
    # The divergence of an order is at most that of the next one listed; beyond the last one
    # it is at most the pure epsilon.
    below = np.concatenate([[1.0], ORDERS])
    return min(float((np.append(bounds, whole) / below).max()) * (1 + SLACK), implied)


def renyi_epsilon(rho_per_run: float, delta: float, repetitions: Repetitions) -> float:
    """Return an epsilon of the best of several zCDP runs, by ``renyi_of_best``, or inf."""
    if isinstance(repetitions, Poisson) and repetitions.mean < 1:
        return inf
    bounds = renyi_of_best(ORDERS, rho_per_run * ORDERS, repetitions=repetitions)

    def enough(epsilon: float) -> bool:
        return delta_of(ORDERS, bounds, epsilon) <= delta

    most = float(bounds[-1])
    return boundary(enough, 0.0, most)[1] if enough(most) else inf


def renyi_of_pure(epsilon: float, order: float) -> float:
    """Return the largest Renyi divergence of an ε-DP mechanism.

        (ln cosh((λ - 1/2)ε) - ln cosh(ε/2))/(λ - 1)

    that of randomised response.

    Args:
        epsilon: In nats; finite, >= 0.
        order: Above 1.
    """
    gain = _log_cosh((order - 0.5) * epsilon) - _log_cosh(epsilon / 2)
    return min(gain / (order - 1) * (1 + SLACK), epsilon)


def _log_cosh(x: float) -> float:
    return log(cosh(x)) if x < 1 else x + log1p(exp(-2 * x)) - log(2)
