"""Selection of keys: the probability of a release by the number of people who have the key.

A key that nobody has is never released, and one that a single person has only with a
probability that delta pays for. A selection is for persons who change the counts of at most
``m`` keys, each by one, and draws for all keys independently.

Let a person bring ``m`` keys, of which some had nobody before. Outside of the event that one of
these is released, the two distributions of the other keys are compared, so the delta of that
event and the delta of the noise add up (``docs/methods.md`` has the proof).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import ceil, exp, expm1, inf, lgamma, log, log1p, nextafter, pi, sqrt
from typing import ClassVar, Literal, Protocol, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from dpselect import validation
from dpselect._numbers import least
from dpselect.budget.zcdp import rho_for, rho_of_pure
from dpselect.draws.exact.bernoulli import BITS, select
from dpselect.draws.exact.noisy_counts import LARGEST_SCALE
from dpselect.draws.optimal_chances import OptimalChances
from dpselect.errors import ParameterError
from dpselect.keys.rounds import RoundsSelection, normal_tail, probabilities_of
from dpselect.plan import Spend
from dpselect.typing import Indices, Probabilities, Values

KeyMethod: TypeAlias = Literal["optimal", "laplace", "gaussian", "rounds"]
"""How keys are selected."""

MARGIN = 1e-9
"""Relative, on the safe side of the rounding of sums of a few thousand floats."""

LARGEST_EXPONENT = 700.0
"""Of a float."""

LARGEST_EPSILON = 1e6
"""Far beyond what leaves anything to chance."""

SPLITS = 50
"""Ways to split epsilon or delta that are tried."""

LARGEST_SUM = 2.0**12
"""Scale up to which tails of the discrete Gaussian are summed."""


class KeySelection(Protocol):
    """The probability that one key is released, and the draw for all keys."""

    @property
    def name(self) -> KeyMethod:
        """The name of the method."""

    @property
    def label(self) -> str:
        """The method with its public parameters."""

    @property
    def half(self) -> int:
        """The least number of people whose key is released with probability 1/2 or more."""

    def probabilities(self, people: Indices) -> Probabilities:
        """Return the probability that a key of so many people is released."""

    def select(self, people: Indices) -> tuple[NDArray[np.bool_], Indices | None]:
        """Draw for all keys: which are released, and noisy counts if there are any."""

    def spends(self) -> tuple[Spend, ...]:
        """Return the prices of the draw."""


Selection = TypeVar("Selection", bound=KeySelection)


@dataclass(frozen=True)
class OptimalSelection:
    """The most probable release that is private for each key: truncated geometric.

    It is that of ``OptimalChances``.

    With several keys a person ε' and δ' are such that ``m`` of these together cost epsilon and
    delta by the exact composition of (epsilon', delta')-DP mechanisms, and π reaches one half
    soonest.

    Attributes:
        epsilon: Epsilon of the whole release.
        delta: Delta of the whole release.
        changed: The number of keys that one neighbour step changes.

    Source: Desfontaines, Voss, Gipson and Mandayam 2022, arXiv:2006.03684, Theorem 1;
        Kairouz, Oh and Viswanath 2015, arXiv:1311.0776, Theorem 3.3.
    """

    epsilon: float
    delta: float
    changed: int
    name: ClassVar[KeyMethod] = "optimal"

    def __post_init__(self) -> None:
        # A delta that is too small is refused here, before anything is spent.
        OptimalChances(*self.each)

    @cached_property
    def each(self) -> tuple[float, float]:
        """Epsilon and delta of one key."""
        if self.changed == 1:
            return self.epsilon, self.delta
        return _best_split(self.epsilon, self.delta, self.changed)

    @property
    def label(self) -> str:
        epsilon, delta = self.each
        return f"optimal selection of keys (epsilon {epsilon:.6g}, delta {delta:.6g} each)"

    @property
    def half(self) -> int:
        """The least number of people whose key is released with probability 1/2 or more."""
        return self.chances.least(1 << BITS - 1)

    @cached_property
    def chances(self) -> OptimalChances:
        """The probabilities by the number of people."""
        return OptimalChances(*self.each)

    def probabilities(self, people: Indices) -> Probabilities:
        return probabilities_of(self.chances, people)

    def select(self, people: Indices) -> tuple[NDArray[np.bool_], Indices | None]:
        return select(people, self.chances), None

    def spends(self) -> tuple[Spend, ...]:
        rho = min(self.changed * rho_of_pure(self.each[0]), rho_of_pure(self.epsilon))
        return (Spend("which keys there are", self.epsilon, delta=self.delta, rho=rho),)


@dataclass(frozen=True)
class LaplaceSelection:
    """Discrete Laplace noise on every count, and a threshold for the sum.

    The noise costs epsilon; the threshold is the least integer that the noisy count 1 reaches
    with probability at most ``1 - (1 - δ)^(1/m)``.

    Attributes:
        epsilon: Epsilon of the whole release.
        delta: Delta of the whole release.
        changed: The number of keys that one neighbour step changes.

    Source: Korolova, Kenthapadi, Mishra and Ntoulas, WWW 2009.
    """

    epsilon: float
    delta: float
    changed: int
    name: ClassVar[KeyMethod] = "laplace"

    def __post_init__(self) -> None:
        _check_scale(self.scale)

    @property
    def scale(self) -> float:
        """Of the noise."""
        return nextafter(self.changed / self.epsilon, inf)

    @cached_property
    def threshold(self) -> int:
        """The least noisy count that is released."""
        each = _each_of(self.delta, self.changed)
        # P(Z >= z) = e^(-z/b) / (1 + e^(-1/b)) for z >= 1.
        z = self.scale * (-log(each) - log1p(exp(-1 / self.scale)))
        return 1 + max(1, ceil(z + MARGIN * (1 + abs(z))))

    @property
    def half(self) -> int:
        """The threshold: at least half of the noise is not negative."""
        return self.threshold

    @property
    def label(self) -> str:
        return (
            f"noisy counts of at least {self.threshold} (discrete Laplace, scale "
            f"{self.scale:.6g})"
        )

    def probabilities(self, people: Indices) -> Probabilities:
        z = self.threshold - people.astype(np.float64)
        tail = np.exp(-np.maximum(z, 0) / self.scale) / (1 + exp(-1 / self.scale))
        head = 1 - np.exp(-np.maximum(1 - z, 0) / self.scale) / (1 + exp(-1 / self.scale))
        return np.where(people > 0, np.where(z >= 1, tail, head), 0.0)

    def select(self, people: Indices) -> tuple[NDArray[np.bool_], Indices | None]:
        from dpselect.draws.exact.noisy_counts import discrete_laplace

        noisy = discrete_laplace(people, self.scale)
        return noisy >= self.threshold, noisy

    def spends(self) -> tuple[Spend, ...]:
        return (
            Spend("noise on the count of every key", self.epsilon),
            Spend("keys of one person", 0.0, delta=self.delta),
        )


@dataclass(frozen=True)
class GaussianSelection:
    """Discrete Gaussian noise on every count, and a threshold for the sum.

    The noise is ρ-zCDP with ``ρ = m/(2σ^2)``, which costs epsilon and a part of delta; the rest
    of delta is for the keys of one person. The part is the one of 50 that makes the threshold
    least.

    Attributes:
        epsilon: Epsilon of the whole release.
        delta: Delta of the whole release.
        changed: The number of keys that one neighbour step changes.

    Source: Canonne, Kamath and Steinke 2020, arXiv:2004.00010.
    """

    epsilon: float
    delta: float
    changed: int
    name: ClassVar[KeyMethod] = "gaussian"

    def __post_init__(self) -> None:
        # The largest share of delta for the noise makes the least scale.
        _check_scale(self._scale_for(self.delta))

    @cached_property
    def _chosen(self) -> tuple[float, int, float]:
        """The standard deviation parameter, the threshold and the delta of the noise."""
        shares = np.linspace(0.005, 0.995, SPLITS)
        options = (self._for(float(share)) for share in shares)
        best = min(options, key=lambda option: (option[1], option[0]))
        _check_scale(best[0])
        return best

    def _for(self, share: float) -> tuple[float, int, float]:
        of_noise = share * self.delta
        sigma = self._scale_for(of_noise)
        each = _each_of((1 - share) * self.delta * (1 - MARGIN), self.changed)
        tail = _gaussian_tail(sigma)
        z = least(lambda z: float(tail(np.array([z]))[0]) * (1 + MARGIN) <= each, 1)
        return sigma, 1 + z, of_noise

    def _scale_for(self, delta: float) -> float:
        rho = rho_for(self.epsilon, delta)
        return sqrt(self.changed / (2 * rho)) * (1 + MARGIN) if rho > 0 else inf

    @property
    def scale(self) -> float:
        """Of the noise."""
        return self._chosen[0]

    @property
    def threshold(self) -> int:
        """The least noisy count that is released."""
        return self._chosen[1]

    @property
    def half(self) -> int:
        """The threshold, by the symmetry of the noise."""
        return self.threshold

    @property
    def label(self) -> str:
        return (
            f"noisy counts of at least {self.threshold} (discrete Gaussian, scale "
            f"{self.scale:.6g})"
        )

    def probabilities(self, people: Indices) -> Probabilities:
        tail_of = _gaussian_tail(self.scale)
        z = self.threshold - people
        tail = tail_of(np.maximum(z, 0))
        head = 1 - tail_of(np.maximum(1 - z, 0))
        return np.where(people > 0, np.where(z >= 0, tail, head), 0.0)

    def select(self, people: Indices) -> tuple[NDArray[np.bool_], Indices | None]:
        from dpselect.draws.exact.noisy_counts import discrete_gaussian

        noisy = discrete_gaussian(people, self.scale)
        return noisy >= self.threshold, noisy

    def spends(self) -> tuple[Spend, ...]:
        of_noise = self._chosen[2]
        rho = self.changed / (2 * self.scale**2)
        return (
            Spend("noise on the count of every key", self.epsilon, delta=of_noise, rho=rho),
            Spend("keys of one person", 0.0, delta=self.delta - of_noise),
        )


def selection_of(
    method: KeyMethod | None, epsilon: float, delta: float, changed: int, *, persons: int = 1
) -> KeySelection | RoundsSelection:
    """Return the selection of a method; by default the one that reaches one half soonest.

    Args:
        method: The method; of weights none needs fewer people with as many keys as can be.
        epsilon: Epsilon of the whole release.
        delta: Delta of the whole release.
        changed: The number of keys that one neighbour step changes.
        persons: Of how many persons these are.

    Raises:
        ParameterError: There is no such method.
    """
    validation.within("epsilon", epsilon, 0, LARGEST_EPSILON)
    selections: dict[str, type[OptimalSelection | LaplaceSelection | GaussianSelection]] = {
        "optimal": OptimalSelection,
        "laplace": LaplaceSelection,
        "gaussian": GaussianSelection,
    }
    if method is not None:
        validation.one_of("method", method, [*selections, "rounds"])
        if method == "rounds":
            return RoundsSelection(epsilon, delta, changed // persons, persons)
        return selections[method](epsilon, delta, changed)
    return _soonest([*selections.values()], epsilon, delta, changed)


def selection_with_counts(
    epsilon: float, delta: float, changed: int
) -> LaplaceSelection | GaussianSelection:
    """Return the selection with noisy counts whose ``half`` is smallest."""
    kinds: Sequence[Callable[[float, float, int], LaplaceSelection | GaussianSelection]]
    kinds = [LaplaceSelection, GaussianSelection]
    return _soonest(kinds, epsilon, delta, changed)


def _soonest(
    kinds: Sequence[Callable[[float, float, int], Selection]],
    epsilon: float,
    delta: float,
    changed: int,
) -> Selection:
    every: list[Selection] = []
    for kind in kinds:
        # Where one method needs more noise than can be drawn, another may do.
        with suppress(ParameterError):
            every.append(kind(epsilon, delta, changed))
    if not every:
        return kinds[0](epsilon, delta, changed)
    return min(every, key=lambda selection: selection.half)


def composed_delta(epsilon: float, each: float, times: int) -> float:
    """Return the exact delta of ``m`` independent epsilon'-DP mechanisms together.

        ∑_j binom(m, j) ((e^((m - j)ε') - e^(ε + jε'))_+)/((1 + e^ε')^m)

    Source: Kairouz, Oh and Viswanath 2015, Theorem 3.3.
    """
    j, binomial = np.arange(times + 1), _log_binomials(times)
    gap = epsilon - (times - 2 * j) * each
    held = gap < 0
    log_first = (times - j[held]) * each + binomial[held] - times * np.logaddexp(0, each)
    return float((np.exp(log_first) * -np.expm1(gap[held])).sum())


@lru_cache(maxsize=4)
def _log_binomials(times: int) -> Values:
    factorials = np.array([lgamma(one) for one in range(1, times + 2)])
    logs: Values = factorials[-1] - factorials - factorials[::-1]
    return logs


def _best_split(epsilon: float, delta: float, times: int) -> tuple[float, float]:
    """Return epsilon and delta of one of several keys, for which half a chance is soonest."""
    least = epsilon / times * (1 - MARGIN)
    tried: Values = np.concatenate([[least], least * np.geomspace(1, times, SPLITS)[1:]])
    best, soonest = (least, _each_of(delta * (1 - MARGIN), times)), inf
    for each in tried.tolist():
        spent = 0.0 if each == least else composed_delta(epsilon, each, times) * (1 + 1e-6)
        if spent >= delta:
            continue
        rest = -expm1((log1p(-delta) - log1p(-spent)) / times) * (1 - MARGIN)
        half = log1p(expm1(min(each, LARGEST_EXPONENT)) / (2 * rest)) / each
        if half < soonest:
            best, soonest = (each, rest), half
    return best


def _each_of(delta: float, times: int) -> float:
    """Return ``1 - (1 - δ)^(1/m)``."""
    return delta if times == 1 else -expm1(log1p(-delta) / times) * (1 - 2.0**-40)


def _gaussian_tail(sigma: float) -> Callable[[Indices], Values]:
    """Return ``P(Z ≥ z)`` of the discrete Gaussian, as a function of ``z`` from 0 on."""
    if sigma <= LARGEST_SUM:
        # Beyond 40 standard deviations nothing is left that a float could show.
        every = np.arange(ceil(40 * sigma) + 2, dtype=np.float64)
        mass = np.exp(-(every**2) / (2 * sigma**2))
        tails: Values = np.cumsum(mass[::-1])[::-1] / (2 * mass[1:].sum() + 1)
        return lambda z: tails[np.minimum(z, tails.size - 1)]

    def tail(z: Indices) -> Values:
        # The sum by the rule of midpoints with its first correction, f'(z - 1/2)/24; the next
        # one is below 1e-11 of it, as the total is closer still to that of the normal
        # distribution.
        x = (np.asarray(z, dtype=np.float64) - 0.5) / sigma
        density = np.exp(-(x**2) / 2) / sqrt(2 * pi)
        return normal_tail(x) - x * density / (24 * sigma**2)

    return tail


def _check_scale(scale: float) -> None:
    if not scale <= LARGEST_SCALE:
        raise ParameterError("`epsilon` is too small: noise on counts would exceed 2**50")
