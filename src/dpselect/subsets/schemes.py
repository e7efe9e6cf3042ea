"""The distributions of the schemes, their exact delta, and how many names are wrong.

A ``DistanceDistribution`` gives each subset at distance ``a`` the same probability ``q_a``. Of
two neighbours one swap apart, the subsets that hold exactly one of the two swapped people are
at distances ``a`` and ``a + 1``, and

    binom(d-1, a) binom(n-d-1, a) = N_a (d-a)(n-d-a)/(d(n-d))

of them are at ``a`` from the one and at ``a + 1`` from the other. All others are at the same
distance from both. So

    δ(ε) = ∑_a binom(d-1, a) binom(n-d-1, a) [(q_a - e^ε q_(a+1))_+ + (q_(a+1) - e^ε q_a)_+].

Of ``d`` members, brought to the size ``s``, ``b = min(d, s)`` are left; the retrieval then
exchanges ``a`` of the ``s`` for as many of the ``n - s`` others, each set alike. So

    s - b + a b/s - a (d - b)/(n - s)

of the released names are wrong in the mean, and ``d - s`` more are missing: ``a`` counts by its
mean alone. A private ``d`` gets noise first, and the numbers are means over the noisy sizes; of
a released size, over the numbers of members that it may stem from, each as probable as another.
"""

from dataclasses import dataclass, replace
from functools import lru_cache
from math import exp, log
from sys import float_info
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from dpselect.draws.subset_distance import (
    DistanceDistribution,
    Part,
    joined,
    log_sizes,
    log_sum,
    swapped,
)
from dpselect.plan import ErrorBound
from dpselect.typing import Indices, Values

Scheme: TypeAlias = Literal["pure", "optimal", "ball", "union"]

RELATIVE_ERROR = 1e-7
"""More than the rounding of log-binomials up to n = 10^6 adds to a probability."""

SHOWN_PROBABILITY = 0.95
"""Probability of the error bound of a scheme whose number of errors has no limit below all."""

POSITIVES = (5, 20, 50, 200)
"""Numbers of members for which errors are stated where the number is private."""

SHARES = (0.02, 0.05, 0.1, 0.2, 0.3)
"""Shares of epsilon for the number that are tried."""

REACH = 12
"""Scales of the noise on both sides that are summed: e^-12 of it lies beyond."""

MOST_REACH, POINTS = 20_000, 33
SMALL = 0.01
"""Errors that are as good as none, where shares are compared."""


class Errors(NamedTuple):
    """Expected numbers of names.

    Attributes:
        wrong: Released, and no member.
        missing: Members who are not released.
    """

    wrong: float
    missing: float

    def __str__(self) -> str:
        return f"{self.wrong:.3g} names wrong and {self.missing:.3g} missing"


@dataclass(frozen=True, slots=True)
class Retrieval:
    """A scheme for public sizes; all arguments are checked by ``Subset``.

    Attributes:
        scheme: Name of the scheme.
        n: Number of people.
        d: Number of members; any where it is private.
        epsilon: In nats, under ``SWAP``.
        beta: Errors that are allowed for; unused by the pure scheme.
        failure: Probability of more, with the optimal scheme.
        scale: Scale of the discrete Laplace noise on a private number of members.
    """

    scheme: Scheme
    n: int
    d: int
    epsilon: float
    beta: int = 0
    failure: float = 0.0
    scale: float | None = None

    def distribution(self) -> DistanceDistribution:
        """Return the distribution of the number of swaps.

        The optimal one has the least δ for at most ``beta`` swaps but for ``failure``. Mass ``1
        - failure`` lies within ``beta``, the rest beyond, both tilted by ``e^(-ε a)``. Where
        that would make a subset at distance ``beta + 1`` more likely than ``e^(-ε)`` times one
        at ``beta``, the mass beyond is reduced to that ratio: the distribution of the pure
        scheme, with ``δ = 0``.

        Source: the optimum is ours; ``docs/report`` has the proof.
        """
        return DistanceDistribution(self.n, self.d, self._parts())

    def _parts(self) -> tuple[Part, ...]:
        most, beta, failure = min(self.d, self.n - self.d), self.beta, self.failure
        if self.scheme == "ball":
            return (Part(0, beta, 1.0, 0.0),)
        pure = Part(0, most, 1.0, self.epsilon)
        if self.scheme == "pure" or beta == most:
            return (pure,)
        within = Part(0, beta, 1 - failure, self.epsilon)
        if failure == 0:
            return (within,)
        tilted = log_sizes(self.n, self.d) - self.epsilon * np.arange(most + 1)
        # The pure scheme puts so many times as much beyond beta as within.
        odds = log_sum(tilted[beta + 1 :]) - log_sum(tilted[: beta + 1])
        if log(failure) - np.log1p(-failure) >= odds:
            return (pure,)
        return within, Part(beta + 1, most, failure, self.epsilon)

    def masses(self) -> Values:
        """Return P[a errors] for a = 0, 1, ...; for ``union`` a strangers in the output.

        ``beta`` of ``n`` people are drawn without replacement, and ``n - d`` are strangers.
        """
        if self.scheme != "union":
            return self.distribution().masses()
        from scipy.stats import hypergeom

        return hypergeom.pmf(np.arange(self.beta + 1), self.n, self.n - self.d, self.beta)

    def errors(self) -> Errors:
        """Return the expected numbers of names: each swap makes one wrong and one missing."""
        masses = self.masses()
        mean = float(masses @ np.arange(masses.size))
        return Errors(mean, 0.0 if self.scheme == "union" else mean)

    def of(self, d: int) -> Errors:
        """Return the errors for a private number of members."""
        moved, chances = self._noise()
        sizes = np.clip(d + moved, 0, self.n)
        return self._mean(np.full(sizes.size, d), sizes, chances)

    def given(self, size: int) -> Errors:
        """Return the errors of a release of so many names."""
        moved, chances = self._noise()
        numbers = size + moved
        held = (numbers >= 0) & (numbers <= self.n)
        return self._mean(numbers[held], np.full(held.sum(), size), chances[held])

    def _noise(self) -> tuple[Indices, Values]:
        scale = self.scale or 0.0
        reach = int(min(REACH * scale + 2, MOST_REACH))
        moved = np.arange(-reach, reach + 1)
        return moved, np.exp(-np.abs(moved) / scale)

    def _mean(self, numbers: Indices, sizes: Indices, chances: Values) -> Errors:
        known = np.unique(np.linspace(sizes.min(), sizes.max(), POINTS).round().astype(int))
        means = [replace(self, d=int(one)).errors().wrong for one in known]
        exchanged = np.interp(sizes, known, means)
        left = np.minimum(numbers, sizes)
        wrong = sizes - left + exchanged * left / np.maximum(sizes, 1)
        wrong -= exchanged * (numbers - left) / np.maximum(self.n - sizes, 1)
        weights = chances / chances.sum()
        return Errors(float(weights @ wrong), float(weights @ (wrong + numbers - sizes)))

    def delta(self, epsilon: float, margin: float = 0.0) -> float:
        """Return the least delta, or one that is larger by a margin for rounding."""
        if self.scheme != "union":
            return delta_of(self.distribution(), epsilon, margin)
        # Under the neighbour every output contains the person swapped in; outputs without them
        # have probability 0.
        delta = 1 - self.beta / self.n if 0 < self.d < self.n else 0.0
        return min(delta * (1 + margin), 1.0)

    def error(self) -> ErrorBound:
        """Return a bound on the errors."""
        if self.scheme == "union":
            return ErrorBound(float(min(self.beta, self.n - self.d)), "strangers added", 1.0)
        if self.scheme != "pure":
            return ErrorBound(float(self.beta), "swaps", 1 - self.failure)
        enough = np.cumsum(self.masses()) >= SHOWN_PROBABILITY
        # Rounding may leave the sum of all masses below 1, never below 0.95.
        return ErrorBound(float(np.argmax(enough)), "swaps", SHOWN_PROBABILITY)

    def draw(self, members: list[int]) -> tuple[int, ...]:
        """Draw exactly from sorted members.

        Where there are not ``d``, some are left out or strangers added, uniformly.
        """
        if self.scheme == "union":
            return tuple(joined(members, self.n, self.beta))
        return tuple(swapped(members, self.distribution()))


def delta_of(distribution: DistanceDistribution, epsilon: float, margin: float = 0.0) -> float:
    """Return the least δ for a given ``ε ≥ 0``; O(n).

    With a margin no rounding makes it too small, as it is spent from a budget: it is 0 only if
    the scheme is pure; where floats cannot hold it, it is the smallest normal one.

    Args:
        distribution: That of the number of swaps.
        epsilon: In nats.
        margin: ``RELATIVE_ERROR``, or 0. The probabilities at the border of two parts are known
            up to a factor of its exponential.
    """
    weights = distribution.log_weights()
    n, d, a = distribution.n, distribution.d, np.arange(weights.size - 1)
    moved = log_sizes(n, d)[:-1] + np.log((d - a) / d * ((n - d - a) / (n - d)))
    drop = _drops(distribution, weights, margin)
    rise = -_drops(distribution, weights, -margin)
    log_masses = np.concatenate([moved + weights[:-1], moved + weights[1:]])
    excess = -np.expm1(np.minimum(np.concatenate([epsilon - drop, epsilon - rise]), 0.0))
    delta = min(float(np.exp(log_masses) @ excess) * (1 + margin), 1.0)
    return max(delta, float_info.min) if margin and (excess > 0).any() else delta


def _drops(distribution: DistanceDistribution, weights: Values, margin: float) -> Values:
    """Return log q_a - log q_{a+1}; inside a part it is the decay, without rounding."""
    with np.errstate(invalid="ignore"):
        drops = weights[:-1] - weights[1:] + margin
    for part in distribution.parts:
        drops[part.first : part.last] = part.decay
    # Two impossible distances add nothing to delta.
    return np.nan_to_num(drops, nan=0.0, posinf=np.inf, neginf=-np.inf)


@lru_cache(maxsize=256)
def best_share(n: int, epsilon: float) -> float:
    """Return the share of epsilon for the number of members that has the fewest errors.

    By the geometric mean of the errors for ``POSITIVES``, of the pure scheme.
    """
    every = [d for d in POSITIVES if 2 * d <= n] or [max(1, n // 2)]

    def errors(share: float) -> float:
        at = Retrieval("pure", n, 0, (1 - share) * epsilon, scale=1 / (share * epsilon))
        return exp(sum(log(SMALL + sum(at.of(d))) for d in every) / len(every))

    return min(SHARES, key=errors)
