"""Keys of persons who have many: weights that fall with a person's number of keys.

A person with ``t`` keys adds ``w_t = 1/√t`` to the weight of each, so that all of them together
are a vector of length 1 whatever ``t`` is. A key of weight ``W > 0`` is released with the
probability that Gaussian noise brings it to a threshold,

    π(W) = P(W + σ Z ≥ T),
    T = max_(t ≤ m) w_t + σ Φ^-1((1 - δ_2)^(1/t)),

by a coin of this probability, in one round or in several; after each the released keys are
taken away and the persons' weights are spread over the keys that are left. The noise of rounds
``i`` with ``σ_i`` is as private as that of one with ``μ^2 = ∑_i σ_i^-2``, whose exact price is

    δ_1 = Φ(μ/2 - ε/μ) - e^ε Φ(-μ/2 - ε/μ).

Weights are rounded down to multiples of a power of 1/2, and coins to multiples of ``2^-256``.
``docs/methods.md`` has the proof.

Source: Gopi, Gulhane, Kulkarni, Shen, Shokouhi and Yekhanin 2020, arXiv:2002.09745 (weights);
    Swanberg, Desfontaines and Haney 2023, arXiv:2301.01998 (rounds); Balle and Wang 2018,
    arXiv:1805.06530 (price); Dong, Roth and Su 2022, arXiv:1905.02383 (rounds together).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import cached_property
from math import ceil, erf, erfc, exp, isqrt, log1p, log2, pi, sqrt
from statistics import NormalDist
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpselect._numbers import least
from dpselect.draws.exact.bernoulli import BITS, Chances, select, up_to
from dpselect.keys.counts import PeoplePerKey
from dpselect.plan import Spend
from dpselect.typing import Indices, Probabilities, Values

MARGIN = 1e-9
"""Relative, far above the rounding of the normal law's tails and of the coins."""

ROUNDING = 2.0**-50
"""Relative, of a tail of the normal law."""

SPLITS = 25
"""Ways to split delta that are tried."""

FINEST = 2**15
"""Entries of a round's table of probabilities, about; the weights are as fine as that."""

SHARES = {"weighted": (1.0,), "rounds": (0.1, 0.9)}
"""Shares of the price of the noise, by round; of the pairs tried the one that wins most."""


@dataclass(frozen=True)
class GaussianChances:
    """Probabilities that Gaussian noise brings a weight to a threshold; of weight 0 it is 0.

    Attributes:
        threshold: In steps.
        scale: Scale of the noise, in steps.
    """

    threshold: int
    scale: float

    @property
    def sure(self) -> int:
        """A weight whose probability is 1."""
        # The normal tail beyond 19 scales is below 2^-256.
        return self.threshold + ceil(19 * self.scale)

    def __getitem__(self, weight: int) -> int:
        """Return the probability of a weight in steps, over 2^256."""
        z = (self.threshold - weight) / self.scale
        tail = int(erfc(abs(z) / sqrt(2)) / 2 * 2.0**BITS)
        return 0 if weight == 0 else tail if z > 0 else (1 << BITS) - tail


class Round(NamedTuple):
    """The public law of one round.

    Attributes:
        weights: By a person's number of keys, from 0 to the most; integers, in steps.
        chances: By the weight of a key in steps: the probability of its release.
    """

    weights: Indices
    chances: Chances


class Noise(NamedTuple):
    """Parameters of the noise of all rounds.

    Attributes:
        mu: Mu of all rounds together: the length of one step's change in scales.
        delta: Delta of the noise.
        scales: By round, in units of weight.
        thresholds: By round, in units of weight.
    """

    mu: float
    delta: float
    scales: list[float]
    thresholds: list[float]


@dataclass(frozen=True)
class WeightedLaw:
    """The law of a release of keys by weights, in rounds.

    Attributes:
        name: ``"weighted"``, one round, or ``"rounds"``, two.
        epsilon: Epsilon of the whole release.
        delta: Delta of the whole release.
        per_user: How many keys of a person are counted.
        persons: How many come or leave in one neighbour step: 2 under substitution.
    """

    name: Literal["weighted", "rounds"]
    epsilon: float
    delta: float
    per_user: int
    persons: int

    @cached_property
    def noise(self) -> Noise:
        """The parameters for which the last threshold is the lowest."""
        shares = np.linspace(0.02, 0.98, SPLITS).tolist()
        return min((self._noise(share) for share in shares), key=lambda one: one.thresholds[-1])

    def _noise(self, share: float) -> Noise:
        of_noise, parts = share * self.delta, SHARES[self.name]
        mu = _largest_mu(self.epsilon, of_noise)
        of_round = (self.delta - of_noise) / len(parts) * (1 - MARGIN)
        scales = [sqrt(self.persons / part) / mu * (1 + MARGIN) for part in parts]
        return Noise(mu, of_noise, scales, [self._threshold(one, of_round) for one in scales])

    def _threshold(self, scale: float, delta: float) -> float:
        """Return a threshold that the keys of one step's persons reach with such a delta."""
        # By ranges of sizes, of one each up to a hundred: the largest weight and tail of each.
        last = np.unique(np.ceil(np.geomspace(1, self.per_user, 400))).astype(int)
        first = np.concatenate([[1], last[:-1] + 1])
        tails = -np.expm1(log1p(-delta) / (self.persons * last))
        above = [-NormalDist().inv_cdf(tail) for tail in tails.tolist()]
        return float(np.max(1 / np.sqrt(first) + scale * np.array(above))) + MARGIN * scale

    @cached_property
    def rounds(self) -> tuple[Round, ...]:
        """The law of every round."""
        made = []
        for scale, threshold in zip(self.noise.scales, self.noise.thresholds, strict=True):
            fine = max(FINEST / (threshold + 13 * scale), 2 * sqrt(self.per_user))
            steps = 1 << ceil(log2(fine))
            sizes = range(1, self.per_user + 1)
            weights = np.array([0, *(isqrt(steps**2 // t) for t in sizes)], dtype=np.int64)
            chances = GaussianChances(ceil(threshold * steps), scale * steps)
            made.append(Round(weights, chances))
        return tuple(made)

    @property
    def label(self) -> str:
        """The method with its public parameters."""
        pairs = zip(self.noise.scales, self.noise.thresholds, strict=True)
        rounds = "; ".join(f"scale={one:.6g}, threshold={other:.6g}" for one, other in pairs)
        return f"WeightedKeys({rounds})"

    @property
    def half(self) -> int:
        """Smallest number of people, with all their counted keys, released with chance 1/2."""
        last = self.rounds[-1]
        reached = least(lambda weight: last.chances[weight] >= 1 << BITS - 1)
        return -(-reached // int(last.weights[-1]))

    def probabilities(self, people: Indices) -> Probabilities:
        """Return the probability for people with as many keys each as are counted.

        That of people with fewer keys is larger.
        """
        missed = np.ones(np.shape(people))
        for one in self.rounds:
            # Beyond what makes a release sure the product could overflow.
            each = int(one.weights[-1])
            enough = min(one.chances.sure, 2**61) // each + 1
            missed *= 1 - probabilities_of(one.chances, np.minimum(people, enough) * each)
        return 1 - missed

    def drawing(self, people: PeoplePerKey) -> Callable[[], list[Hashable]]:
        """Return the draw of the keys, after the first reading."""
        first = people.weighed(self.rounds[0].weights, ())

        def draw() -> list[Any]:
            released: list[Any] = []
            for number, one in enumerate(self.rounds):
                weighed = people.weighed(one.weights, released) if number else first
                held = select(weighed.people, one.chances)
                released += list(np.asarray(weighed.keys)[held])
            return [first.columns.decode(key) for key in released]

        return draw

    def spends(self) -> tuple[Spend, ...]:
        """Return the prices of the draw."""
        of_noise, rho = self.noise.delta, self.noise.mu**2 / 2
        return (
            Spend("noise on the weights", self.epsilon, delta=of_noise, rho=rho),
            Spend("keys of one person", 0.0, delta=self.delta - of_noise),
        )


def delta_of_gaussian(mu: float, epsilon: float) -> float:
    """Return the exact delta of Gaussian noise, ``mu`` being the sensitivity in its scales."""
    up, down = epsilon / mu - mu / 2, epsilon / mu + mu / 2
    first = erfc(up / sqrt(2)) / 2
    # Mills' ratio from below, so that delta is rounded up.
    density = exp(-(up**2) / 2) / sqrt(2 * pi)
    second = (
        exp(epsilon) * erfc(down / sqrt(2)) / 2 if down < 25 else density * down / (1 + down**2)
    )
    # Where the difference loses all digits, that for an epsilon of 0 is hardly larger.
    return min(max(0.0, first - second) + ROUNDING * first, erf(mu / sqrt(8)))


def _largest_mu(epsilon: float, delta: float) -> float:
    # Delta is at most 0.4 mu, whatever epsilon is.
    low, high = delta, 2 * sqrt(epsilon) + 10
    for _ in range(60):
        middle = sqrt(low * high)
        enough = delta_of_gaussian(middle, epsilon * (1 - MARGIN)) <= delta * (1 - MARGIN)
        low, high = (middle, high) if enough else (low, middle)
    return low


def probabilities_of(chances: Chances, counts: Indices) -> Probabilities:
    """Return the probabilities of counts of any shape."""
    used, place = np.unique(up_to(counts, chances), return_inverse=True)
    table = np.array([chances[one] / 2**BITS for one in used.tolist()])
    return table[place].reshape(np.shape(counts))


def normal_tail(x: NDArray[np.floating]) -> Values:
    """Return the probability that a standard normal number is at least ``x``."""
    tails = [erfc(one / sqrt(2)) / 2 for one in np.ravel(x).tolist()]
    return np.array(tails).reshape(np.shape(x))
