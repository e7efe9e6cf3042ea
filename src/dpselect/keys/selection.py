"""Selection of keys: the probability of a release by the number of people who have the key.

A key that nobody has is never released, and one that a single person has only with a
probability that delta pays for. A selection is for persons who change the counts of at most
``m`` keys, each by one, and draws for all keys independently.

Let a person bring ``m`` keys, of which some had nobody before. Outside of the event that one of
these is released, the two distributions of the other keys are compared, so the delta of that
event and the delta of the noise add up (``docs/report`` has the proof).
"""

from abc import ABC, abstractmethod
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from math import ceil, exp, expm1, inf, log, log1p, sqrt
from typing import ClassVar, Literal, NamedTuple, TypeAlias

from dpselect._numbers import LARGEST_EXPONENT, least
from dpselect._optional import np
from dpselect.budget.zcdp import composed_delta, rho_for, rho_of_pure
from dpselect.draws.exact import bernoulli
from dpselect.draws.exact.bernoulli import OptimalChances
from dpselect.draws.exact.noisy_counts import check_scale, scale_for
from dpselect.draws.sequence import DiscreteGaussian, DiscreteLaplace
from dpselect.errors import ParameterError
from dpselect.keys.rounds import MARGIN
from dpselect.plan import Spend
from dpselect.typing import Bools, Indices, Probabilities, Values

KeyMethod: TypeAlias = Literal["optimal", "laplace", "gaussian", "rounds"]
"""How keys are selected."""

Selected: TypeAlias = tuple[Bools, Indices | None]
"""Which keys are released, and noisy counts."""

LARGEST_EPSILON = 1e6
"""Far beyond what leaves anything to chance."""

SPLITS = 50
"""Ways to split epsilon or delta that are tried."""


@dataclass(frozen=True)
class KeySelection(ABC):
    """The probability that one key is released, and the draw for all keys.

    Attributes:
        epsilon: Epsilon of the whole release.
        delta: Delta of the whole release.
        changed: The number of keys that one neighbour step changes.
    """

    epsilon: float
    delta: float
    changed: int
    name: ClassVar[KeyMethod]

    @property
    def scale(self) -> float | None:
        """Scale of the noise of released counts; None if there are none."""
        return None

    @property
    def deviation(self) -> float:
        """Standard deviation of this noise."""
        return 0.0

    @property
    @abstractmethod
    def label(self) -> str:
        """The method with its public parameters."""

    @property
    @abstractmethod
    def half(self) -> int:
        """The least number of people whose key is released with probability 1/2 or more."""

    @abstractmethod
    def probabilities(self, people: Indices) -> Probabilities:
        """Return the probability that a key of so many people is released."""

    @abstractmethod
    def select(self, people: Indices, k: int | None) -> Selected:
        """Draw for all keys: which are released, and noisy counts if there are any.

        With ``k`` only the so many largest noisy counts are asked for.
        """

    @abstractmethod
    def spends(self) -> tuple[Spend, ...]:
        """Return the prices of the draw."""


@dataclass(frozen=True)
class OptimalSelection(KeySelection):
    """The most probable release that is private for each key: truncated geometric.

    It is that of ``OptimalChances``.

    With several keys a person ε' and δ' are such that ``m`` of these together cost epsilon and
    delta by the exact composition of (epsilon', delta')-DP mechanisms, and π reaches one half
    soonest.

    Source: Desfontaines, Voss, Gipson and Mandayam 2022, arXiv:2006.03684, Theorem 1;
        Kairouz, Oh and Viswanath 2015, arXiv:1311.0776, Theorem 3.3.
    """

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
        return self.chances.least(1 << bernoulli.BITS - 1)

    @cached_property
    def chances(self) -> OptimalChances:
        """The probabilities by the number of people."""
        return OptimalChances(*self.each)

    def probabilities(self, people: Indices) -> Probabilities:
        return bernoulli.probabilities_of(self.chances, people)

    def select(self, people: Indices, k: int | None) -> Selected:  # noqa: ARG002 -- no counts
        return bernoulli.select(people, self.chances), None

    def spends(self) -> tuple[Spend, ...]:
        rho = min(self.changed * rho_of_pure(self.each[0]), rho_of_pure(self.epsilon))
        return (Spend("which keys there are", self.epsilon, delta=self.delta, rho=rho),)


PURPOSE = "noise on the count of every key"


class Noise(NamedTuple):
    """Noise on the counts; public.

    Attributes:
        scale: Scale of the noise.
        threshold: The least noisy count that is released.
        price: Price of the noise; the rest of delta is for the keys of one person.
    """

    scale: float
    threshold: int
    price: Spend


@dataclass(frozen=True)
class NoisyCountSelection(KeySelection):
    """Discrete noise on every count, and a threshold for the sum.

    Attributes:
        law: The distribution of the noise, by its scale.
    """

    law: ClassVar[type[DiscreteLaplace | DiscreteGaussian]]

    @cached_property
    @abstractmethod
    def noise(self) -> Noise:
        """The noise, and the threshold that delta allows with it."""

    @property
    def scale(self) -> float:
        return self.noise.scale

    @property
    def deviation(self) -> float:
        return sqrt(self.law(self.scale).variance)

    @property
    def half(self) -> int:
        # At least half of the noise is not negative.
        return self.noise.threshold

    @property
    def label(self) -> str:
        noise = f"discrete {self.name.capitalize()}, scale {self.scale:.6g}"
        return f"noisy counts of at least {self.half} ({noise})"

    def probabilities(self, people: Indices) -> Probabilities:
        z = self.noise.threshold - people
        of = self.law(self.scale).tail
        tail, head = of(np.maximum(z, 0)), 1 - of(np.maximum(1 - z, 0))
        return np.where(people > 0, np.where(z >= 1, tail, head), 0.0)

    def select(self, people: Indices, k: int | None) -> Selected:
        noisy = self.law(self.scale).sample(people, k=k, least=self.noise.threshold)
        return noisy >= self.noise.threshold, noisy

    def spends(self) -> tuple[Spend, ...]:
        price = self.noise.price
        return price, Spend("keys of one person", 0.0, delta=self.delta - price.delta)


@dataclass(frozen=True)
class LaplaceSelection(NoisyCountSelection):
    """Discrete Laplace noise.

    The noise costs epsilon; the threshold is the least integer that the noisy count 1 reaches
    with probability at most ``1 - (1 - δ)^(1/m)``.

    Source: Korolova, Kenthapadi, Mishra and Ntoulas, WWW 2009.
    """

    name: ClassVar[KeyMethod] = "laplace"
    law = DiscreteLaplace

    def __post_init__(self) -> None:
        check_scale(scale_for(self.epsilon, self.changed))

    @cached_property
    def noise(self) -> Noise:
        scale = scale_for(self.epsilon, self.changed)
        each = _each_of(self.delta, self.changed)
        # P(Z >= z) = e^(-z/b) / (1 + e^(-1/b)) for z >= 1.
        z = scale * (-log(each) - log1p(exp(-1 / scale)))
        threshold = 1 + max(1, ceil(z + MARGIN * (1 + abs(z))))
        return Noise(scale, threshold, Spend(PURPOSE, self.epsilon))


@dataclass(frozen=True)
class GaussianSelection(NoisyCountSelection):
    """Discrete Gaussian noise.

    The noise is ρ-zCDP with ``ρ = m/(2σ^2)``, which costs epsilon and a part of delta; the rest
    of delta is for the keys of one person. The part is the one of 50 that makes the threshold
    least.

    Source: Canonne, Kamath and Steinke 2020, arXiv:2004.00010.
    """

    name: ClassVar[KeyMethod] = "gaussian"
    law = DiscreteGaussian

    def __post_init__(self) -> None:
        # The largest share of delta for the noise makes the least scale.
        check_scale(self._scale_for(self.delta))

    @cached_property
    def noise(self) -> Noise:
        best = self._noise(0.995)
        for share in np.linspace(0.005, 0.995, SPLITS)[-2::-1].tolist():
            best = self._noise(share, best)
        check_scale(best.scale)
        return best

    def _noise(self, share: float, best: Noise | None = None) -> Noise:
        """Return the noise of a share of delta, or the best of larger ones: of less scale."""
        of_noise = share * self.delta
        sigma = self._scale_for(of_noise)
        each = _each_of((1 - share) * self.delta * (1 - MARGIN), self.changed)
        tail = DiscreteGaussian(sigma).tail

        def is_far(z: int) -> bool:
            return float(tail(np.array([z]))[0]) * (1 + MARGIN) <= each

        if best is not None and not is_far(best.threshold - 2):
            return best
        price = Spend(PURPOSE, self.epsilon, delta=of_noise, rho=self.changed / (2 * sigma**2))
        return Noise(sigma, 1 + least(is_far, 1), price)

    def _scale_for(self, delta: float) -> float:
        rho = rho_for(self.epsilon, delta)
        return sqrt(self.changed / (2 * rho)) * (1 + MARGIN) if rho > 0 else inf


BY_COUNT: list[type[KeySelection]] = [OptimalSelection, LaplaceSelection, GaussianSelection]
"""Selections of a key by the number of its people alone; the first releases no counts."""


def selection_of(
    method: KeyMethod | None, epsilon: float, delta: float, changed: int, k: int | None = None
) -> KeySelection:
    """Return the selection of a method that counts people, by default the best one.

    It needs the fewest people for a release with probability 1/2. The ``k`` largest noisy
    counts also have to be told from the next one, of which counts by Zipf's law are a
    ``(k + 1)``-th ahead: so many deviations of the noise are added.

    Args:
        method: The method; None for the best.
        epsilon: Epsilon of the whole release.
        delta: Delta of the whole release.
        changed: The number of keys that one neighbour step changes.
        k: How many of the largest noisy counts are wanted; 0 for all with noisy counts. If
            not given, no counts are needed.
    """
    every = BY_COUNT if k is None else BY_COUNT[1:]
    kinds = [one for one in every if method in (None, one.name)]
    made = []
    for kind in kinds:
        # Where one method needs more noise than can be drawn, another may do.
        with suppress(ParameterError):
            made.append(kind(epsilon, delta, changed))
    if not made:
        return kinds[0](epsilon, delta, changed)
    return min(made, key=lambda one: one.half + (k + 1 if k else 0) * one.deviation)


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
