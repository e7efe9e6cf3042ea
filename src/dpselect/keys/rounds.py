"""Keys of persons who have many: rounds of weights, after which unlikely keys drop out.

In every round a person with ``t`` keys that are still in adds ``1/√t`` to the weight of each,
so that all together are a vector of length 1 whatever ``t`` is, and every key gets noise.
After round ``r`` of ``R`` a key with the sum ``S`` of its noisy weights so far

    is released and leaves   if S ≥ r + √r σ z_r,
    drops out                if S < r (C T_R - σ/√r),

with ``T_R`` the first bound of the last round over ``R``. So the weight that persons gave to
rare keys, and to those that were found, goes to the keys between, and no evidence is lost: a
key whose weight does not change is as probable to be found as in one round of all the noise.

The vectors of all rounds are as private as one with ``μ^2 = R/σ^2``, whose exact price is

    δ_1 = Φ(μ/2 - ε/μ) - e^ε Φ(-μ/2 - ε/μ).

``z_r = Φ^-1((1 - δ_2r)^(1/m))``: a person's own keys have at most the weight 1 in each round,
so none of ``m`` is released after round ``r`` but with probability ``δ_2r``, whatever the rest
does.
``docs/report`` has the proof. The noise is exact discrete Gaussian noise on weights in
steps so fine that its density differs from the normal one by far less than ``MARGIN``.

Source: Gopi, Gulhane, Kulkarni, Shen, Shokouhi and Yekhanin 2020, arXiv:2002.09745 (weights);
    Swanberg, Desfontaines and Haney 2023, arXiv:2301.01998 (rounds); Chen, Cohen-Addad, Epasto
    and Zadimoghaddam 2025, arXiv:2502.08878 (weight that goes elsewhere); Balle and Wang 2018,
    arXiv:1805.06530 (price); Dong, Roth and Su 2022, arXiv:1905.02383 (rounds together). The
    sums over rounds and the keys that drop out are ours.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from math import ceil, expm1, floor, inf, isqrt, log, log1p, log2, pi, sqrt
from statistics import NormalDist
from typing import TYPE_CHECKING, NamedTuple

from dpselect._optional import np
from dpselect.budget.zcdp import delta_of_gaussian
from dpselect.draws.exact.noisy_counts import LARGEST_SCALE, check_scale, discrete_gaussian
from dpselect.draws.sequence import normal_tail
from dpselect.keys.release import Chances
from dpselect.keys.rows import Part, in_order
from dpselect.plan import Spend
from dpselect.typing import Indices, Probabilities

if TYPE_CHECKING:
    from dpselect.keys.rows import PersonKeys

MARGIN = 1e-9
"""Relative, far above the rounding of the normal distribution's tails and of the noise."""

GOLDEN = (sqrt(5) - 1) / 2
"""Part of an interval that a golden section leaves."""

SECTIONS = 48
"""Sections of the interval of mu; more of them change the last digits of a threshold."""

MOST_SHARE = 0.99
"""Largest share of delta for the noise; the rest is then far above the rounding of delta."""

ROUNDS = 4
"""Passes over the rows; with five of them up to 10 % more keys were found."""

LAST = 0.8
"""Share of the last round in the delta of persons' own keys."""

CUT = 0.75
"""Part of the last threshold below which a key drops out, by more than its noise."""

STEPS = 2**33
"""Steps of a weight of 1, but for noise that would not fit then."""

NODES = 96
"""Points at which the density of a sum is computed between two bounds."""


class Noise(NamedTuple):
    """Parameters of the noise of all rounds.

    Attributes:
        mu: Mu of all rounds together: the length of one step's change in scales.
        delta: Delta of the noise.
        scale: Scale of one round, in units of weight.
        released: By round, the sum from which on a key is released, in units of weight.
    """

    mu: float
    delta: float
    scale: float
    released: list[float]


class Bounds(NamedTuple):
    """What a sum of noisy weights means after a round, in steps.

    Attributes:
        dropped: A key below it drops out.
        released: From it on a key is released.
    """

    dropped: int
    released: int


@dataclass(frozen=True)
class RoundsSelection:
    """Selection of keys by weights, in rounds.

    Attributes:
        epsilon: Epsilon of the whole release.
        delta: Delta of the whole release.
        per_user: How many keys of a person are counted.
        persons: How many come or leave in one neighbour step: 2 under substitution.
    """

    epsilon: float
    delta: float
    per_user: int
    persons: int

    def __post_init__(self) -> None:
        # An epsilon that is too small is refused here, before anything is spent.
        _ = self.steps

    @cached_property
    def noise(self) -> Noise:
        """The parameters for which the last threshold is the lowest, by golden sections."""
        # By zCDP, or as delta is at most 0.4 mu, `low` costs less than a fiftieth of delta.
        root = sqrt(-log(self.delta / 50))
        by_zcdp = sqrt(2) * self.epsilon / (sqrt(root**2 + self.epsilon) + root)
        low, high = max(by_zcdp, self.delta / 50), 2 * sqrt(self.epsilon) + 10

        def at(part: float) -> Noise:
            return self._noise(low ** (1 - part) * high**part)

        left, right = at(1 - GOLDEN), at(GOLDEN)
        for _ in range(SECTIONS):
            if left.released[-1] <= right.released[-1]:
                high, right = right.mu, left
                left = at(1 - GOLDEN)
            else:
                low, left = left.mu, right
                right = at(GOLDEN)
        return min(left, right, key=lambda one: one.released[-1])

    def _noise(self, mu: float) -> Noise:
        scale = sqrt(self.persons * ROUNDS) / mu * (1 + MARGIN)
        # What this mu costs is computed, and no mu is sought for a share of delta.
        of_noise = delta_of_gaussian(mu, self.epsilon * (1 - MARGIN)) * (1 + MARGIN)
        if not of_noise <= MOST_SHARE * self.delta:
            return Noise(mu, of_noise, scale, [inf])
        rest = (self.delta - of_noise) * (1 - MARGIN)
        parts = [(1 - LAST) / (ROUNDS - 1)] * (ROUNDS - 1) + [LAST]
        released = []
        for number, part in enumerate(parts, start=1):
            tail = -expm1(log1p(-rest * part) / (self.persons * self.per_user))
            above = -NormalDist().inv_cdf(tail) + MARGIN
            released.append(number + sqrt(number) * scale * above)
        return Noise(mu, of_noise, scale, released)

    @cached_property
    def steps(self) -> int:
        """Steps of a weight of 1."""
        check_scale(self.noise.scale)
        return min(STEPS, 1 << floor(log2(LARGEST_SCALE / self.noise.scale)))

    @cached_property
    def weights(self) -> Indices:
        """By a person's number of keys, from 0 to the most; in steps."""
        sizes = range(1, self.per_user + 1)
        return np.array([0, *(isqrt(self.steps**2 // t) for t in sizes)], dtype=np.int64)

    @cached_property
    def bounds(self) -> tuple[Bounds, ...]:
        """The bounds after every round; after the last one nothing is between them."""
        _, _, scale, released = self.noise
        made = []
        for number, above in enumerate(released, start=1):
            # Sums of rounded noise are at most half a step a round above those of noise.
            high = ceil(above * self.steps) + number
            low = number * CUT * released[-1] / ROUNDS - sqrt(number) * scale
            made.append(Bounds(floor(low * self.steps) if number < ROUNDS else high, high))
        return tuple(made)

    @property
    def label(self) -> str:
        """The method with its public parameters."""
        least = self.noise.released[-1] / ROUNDS
        return (
            f"noisy weights of at least {least:.6g} in {ROUNDS} rounds (discrete "
            f"Gaussian, scale {self.noise.scale:.6g} a round)"
        )

    def probabilities(self, people: Indices, keys: int | None = None) -> Probabilities:
        """Return the probability for people with as many keys each.

        All of these keys stay in to the end. The probability is larger for people of whom other
        keys drop out.

        Args:
            people: Numbers of people, any shape.
            keys: How many keys each of them has; as many as are counted if not given, for which
                it is the least.
        """
        used, place = np.unique(people, return_inverse=True)
        root = sqrt(self.per_user if keys is None else keys)
        sure = (self.bounds[0].released / self.steps + 13 * self.noise.scale) * root
        chances = [
            1.0 if one > sure else self._chance(one / root) if one else 0.0
            for one in used.tolist()
        ]
        return np.array(chances)[place].reshape(np.shape(people))

    def _chance(self, weight: float) -> float:
        """Return the probability that a key of such a weight in every round is released."""
        scale, found = self.noise.scale, 0.0
        at, mass = np.zeros(1), np.ones(1)
        points, parts = np.polynomial.legendre.leggauss(NODES)
        for number, (dropped, released) in enumerate(self.bounds, start=1):
            low, high = dropped / self.steps, released / self.steps
            found += float(mass @ normal_tail((high - at - weight) / scale))
            mean, spread = number * weight, sqrt(number) * scale
            low, high = max(low, mean - 10 * spread), min(high, mean + 30 * spread)
            if low >= high:
                break
            nodes = (low + high) / 2 + points * (high - low) / 2
            far = (nodes[:, None] - at - weight) / scale
            density = np.exp(-(far**2) / 2) / (scale * sqrt(2 * pi))
            at, mass = nodes, parts * (high - low) / 2 * (density @ mass)
        return min(found, 1.0)

    def chances(self) -> tuple[Chances, ...]:
        """Return the chances of a key by its people: those of most keys, and those of one."""
        if self.per_user == 1:
            return (Chances("a value", self.probabilities),)
        return (
            Chances(f"a value of persons with {self.per_user} values each", self.probabilities),
            Chances("one of persons with no other value", partial(self.probabilities, keys=1)),
        )

    def prepare(self, people: PersonKeys) -> Callable[[], list[Part]]:
        """Read the weights of the first round, and return the draw, which reads the others."""
        first, scale = people.weighed(self.weights, None), self.noise.scale * self.steps

        def draw() -> list[Part]:
            released: list[int] = []
            every = np.asarray(first.keys)
            left = np.arange(every.size)
            sums = np.zeros(left.size, dtype=np.int64)
            for number, (low, high) in enumerate(self.bounds):
                keys = every[left]
                weighed = people.weighed(self.weights, keys) if number else first
                held = np.zeros(left.size, dtype=np.int64)
                held[np.searchsorted(keys, weighed.keys)] = weighed.people
                sums = sums + discrete_gaussian(held, scale)
                released += left[sums >= high].tolist()
                # With no key left the rows are counted all the same: how often they are read
                # would tell that there was a key which is not released.
                between = (sums >= low) & (sums < high)
                left, sums = left[between], sums[between]
            found = first.keys_at(np.array(released, dtype=np.int64))
            return [Part(None, sorted(found, key=in_order))]

        return draw

    def spends(self) -> tuple[Spend, ...]:
        """Return the prices of the draw."""
        of_noise, rho = self.noise.delta, self.noise.mu**2 / 2
        return (
            Spend("noise on the weights", self.epsilon, delta=of_noise, rho=rho),
            Spend("keys of one person", 0.0, delta=self.delta - of_noise),
        )
