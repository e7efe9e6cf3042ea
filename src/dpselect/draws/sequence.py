"""Distributions of the largest of several integers with independent noise, and that noise.

Every candidate has an integer ``c_r`` and gets noise ``Z_r`` of its own, discrete Laplace or
discrete Gaussian:

    P(Z = z) = ((1 - α)/(1 + α)) α^(|z|), α = e^(-1/scale),
    P(Z = z) ∝ e^(-z^2 / 2σ^2).

Candidates are ordered by ``X_r = c_r + Z_r``, and of equal ones the earlier is first. The
distributions are sums over the values of one candidate, exact up to what is beyond the
``reach`` of the noise, at most ``e^-45``.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from math import ceil, erfc, exp, expm1, pi, sqrt
from typing import TypeAlias

from dpselect._optional import np
from dpselect.draws.base import NEGLIGIBLE
from dpselect.draws.exact import noisy_counts
from dpselect.draws.noisy_max import LaplaceNoisyMax
from dpselect.typing import Bools, Indices, Probabilities, Values

DEVIATIONS = 10.0
"""Standard deviations of Gaussian noise to either side; e^-50 is beyond."""

DISCRETE_UP_TO = 512.0
"""Above it distributions are those of continuous noise; ties have less than 1 / scale then."""

LARGEST_SUM = 2.0**12
"""Scale up to which tails of the discrete Gaussian are summed."""

FINENESS = 64
"""Points in a standard deviation of continuous noise, between which integrands are smooth."""

CELLS = 2**21
"""Numbers held at a time."""

ENDS = 2**60
"""Counts further from another are cut; no noise of the library reaches so far."""

MOST_CELLS = 2**24
"""Candidates times values times k up to which the distribution of the top k is computed."""


@dataclass(frozen=True)
class DiscreteLaplace:
    """Discrete Laplace noise.

    Attributes:
        scale: In counts; finite, > 0. Public.
    """

    scale: float
    spacing = 1.0
    """Distance of the values that are summed over."""

    @property
    def reach(self) -> float:
        """Beyond it, to either side, is a mass of less than e^-44."""
        return NEGLIGIBLE * self.scale

    @property
    def variance(self) -> float:
        """Variance of a draw, in squared counts."""
        return 2 * exp(-1 / self.scale) / expm1(-1 / self.scale) ** 2

    def mass(self, d: Values) -> Values:
        """Return the probability of noise ``d``, or near it where it is continuous."""
        return np.tanh(0.5 / self.scale) * np.exp(-np.abs(d) / self.scale)

    def log_at_most(self, d: Values) -> Values:
        """Return the log probability of at most ``d``."""
        # alpha^-d / (1 + alpha) for d < 0, else 1 - alpha^(d + 1) / (1 + alpha).
        side = np.log1p(np.exp(-1 / self.scale))
        tail = np.exp(-np.maximum(d + 1, 1) / self.scale - side)
        return np.where(d < 0, d / self.scale - side, np.log1p(-tail))

    def log_below(self, d: Values) -> Values:
        """Return the log probability of less than ``d``."""
        return self.log_at_most(d - 1)

    def tail(self, z: Indices) -> Probabilities:
        """Return the probability of at least ``z``, for integers >= 0."""
        return np.exp(self.log_at_most(-np.asarray(z, dtype=np.float64)))

    def sample(self, counts: Indices, **asked: int | None) -> Indices:
        """Return counts with noise, exactly; a release.

        Args:
            counts: Private.
            **asked: Which are asked for: the ``k`` largest, or those of at ``least`` so many.
                Others may have less than their noise. Public.
        """
        return noisy_counts.discrete_laplace(counts, self.scale, **asked)

    def simulated(self, size: int, rng: "np.random.Generator") -> Indices:
        """Return noise from a generator of NumPy: for experiments."""
        stop = -expm1(-1 / self.scale)
        return rng.geometric(stop, size) - rng.geometric(stop, size)


@dataclass(frozen=True)
class DiscreteGaussian:
    """Discrete Gaussian noise.

    Above ``DISCRETE_UP_TO`` its distributions are computed as those of continuous noise.

    Attributes:
        scale: The standard deviation of the continuous one, in counts; finite, > 0. Public.
    """

    scale: float

    @property
    def reach(self) -> float:
        return DEVIATIONS * self.scale

    @property
    def variance(self) -> float:
        # From a scale of 4 on it differs from that of continuous noise by less than e^-300.
        if self.scale > 4:
            return self.scale**2
        z = np.arange(self._masses.size) - self._masses.size // 2
        return float(self._masses @ z**2 / self._masses.sum())

    @property
    def fine(self) -> bool:
        """Whether ties hardly occur, so that the noise is taken as continuous."""
        return self.scale > DISCRETE_UP_TO

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

    @cached_property
    def tail(self) -> Callable[[Indices], Probabilities]:
        """The probability of at least ``z``, for integers >= 0: of any size, to any depth."""
        if self.scale <= LARGEST_SUM:
            # Beyond 40 standard deviations nothing is left that a float could show.
            every = np.arange(ceil(40 * self.scale) + 2, dtype=np.float64)
            mass = np.exp(-(every**2) / (2 * self.scale**2))
            tails: Values = np.cumsum(mass[::-1])[::-1] / (2 * mass[1:].sum() + 1)
            return lambda z: tails[np.minimum(z, tails.size - 1)]

        def tail(z: Indices) -> Probabilities:
            # The sum by the rule of midpoints with its first correction, f'(z - 1/2)/24; the
            # next one is below 1e-11 of it, as the total is closer still to that of the normal
            # distribution.
            x = (np.asarray(z, dtype=np.float64) - 0.5) / self.scale
            return normal_tail(x) - x * np.exp(-(x**2) / 2) / (
                sqrt(2 * pi) * 24 * self.scale**2
            )

        return tail

    def sample(self, counts: Indices, **_: int | None) -> Indices:
        return noisy_counts.discrete_gaussian(counts, self.scale)

    def simulated(self, size: int, rng: "np.random.Generator") -> Indices:
        if self.fine:
            return np.rint(rng.normal(0, self.scale, size)).astype(np.int64)
        far = self._masses.size // 2
        places = np.searchsorted(np.cumsum(self._masses) / self._masses.sum(), rng.random(size))
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


def normal_tail(x: Values) -> Probabilities:
    """Return the probability that a standard normal number is at least ``x``."""
    tails = [erfc(one / sqrt(2)) / 2 for one in np.ravel(x).tolist()]
    return np.array(tails).reshape(np.shape(x))


Noise: TypeAlias = DiscreteLaplace | DiscreteGaussian
"""Symmetric noise on an integer."""


def largest(noisy: Indices, k: int) -> list[int]:
    """Return the positions of the ``k`` largest in order, of equal ones the earlier first."""
    near = np.flatnonzero(noisy > noisy.min())
    if near.size < k:
        near = np.arange(noisy.size)
    # Of many equal ones, as where no noise was drawn, a partition takes long.
    if k < near.size:
        last = np.partition(noisy[near], near.size - k)[near.size - k]
        near = near[noisy[near] >= last]
    order = np.argsort(-noisy[near], kind="stable")[:k]
    return [int(position) for position in near[order]]


def _around(counts: Indices, one: int) -> Indices:
    """Return how far counts are from one of them, as int64: beyond all noise if cut."""
    return np.clip(counts - one, -ENDS, ENDS).astype(np.int64)


def first(counts: Indices, noise: Noise) -> Probabilities:
    """Return the probability of each candidate to be the largest.

    Args:
        counts: Shape ``(n,)``.
        noise: The noise, in counts. Laplace noise of a scale above ``DISCRETE_UP_TO`` is taken
            as continuous; the distribution differs by at most the probability of a tie.

    Returns:
        Shape ``(n,)``; sums to 1. As private as the counts.
    """
    counts = _around(counts, counts.max())
    if isinstance(noise, DiscreteLaplace) and noise.scale > DISCRETE_UP_TO:
        return LaplaceNoisyMax().probabilities(counts.astype(np.float64), 2 / noise.scale)
    law = np.zeros(counts.size)
    near = counts >= counts.max() - 2 * noise.reach
    held = counts[near]
    law[near] = sum(
        (noise.mass(d) * np.exp(_log_others_below(d, noise))).sum(axis=0)
        for x in _chunks(held.max(), held.max(), noise, held.size)
        for d in [x[:, None] - held]
    )
    return law / law.sum()


def _log_others_below(d: Values, noise: Noise) -> Values:
    """Return the log probability that all others are behind a candidate of value ``x``.

    Earlier candidates must be below ``x``, later ones at most ``x``; ``d`` is ``x`` less the
    counts, shape ``(x, n)``.
    """
    at_most = noise.log_at_most(d)
    below = noise.log_below(d) - at_most
    earlier = np.cumsum(below, axis=1) - below
    return at_most.sum(axis=1, keepdims=True) - at_most + earlier


def all_before(counts: Indices, noise: Noise, chosen: Bools) -> float:
    """Return the probability that all chosen candidates are before all others.

    Args:
        counts: Shape ``(n,)``.
        noise: The noise, in counts.
        chosen: Shape ``(n,)``, boolean.
    """
    if chosen.all() or not chosen.any():
        return 1.0
    counts = _around(counts, counts[~chosen].max())
    rest, high = counts[~chosen], counts[chosen]
    places, high_places = np.flatnonzero(~chosen), np.flatnonzero(chosen)
    near = rest >= rest.max() - 2 * noise.reach
    rest, places = rest[near], places[near]
    # Sum over the best of the rest and its value; a chosen one that is earlier may equal it.
    earlier = np.searchsorted(high_places, places)
    total = 0.0
    for x in _chunks(rest.max(), rest.max(), noise, max(rest.size, high.size)):
        d = x[:, None] - rest
        best = np.log(noise.mass(d)) + _log_others_below(d, noise)
        reach = noise.log_at_most(high - x[:, None])
        beyond = noise.log_below(high - x[:, None])
        sums = np.zeros((x.size, high.size + 1))
        np.cumsum(reach - beyond, axis=1, out=sums[:, 1:])
        above = beyond.sum(axis=1, keepdims=True) + sums[:, earlier]
        total += float(np.exp(best + above).sum())
    return min(total, 1.0)


def included(counts: Indices, noise: Noise, k: int) -> Probabilities | None:
    """Return the probability of each candidate to be among the ``k`` largest.

    Dynamic programming over the candidates before and after each: how many of them are ahead
    of a value. In O(n k) for each value; None where that is above ``MOST_CELLS``.

    Args:
        counts: Shape ``(n,)``.
        noise: The noise, in counts.
        k: 1 to ``n``.

    Returns:
        Shape ``(n,)``; sums to ``k``. As private as the counts.
    """
    counts = _around(counts, np.partition(counts, counts.size - k)[counts.size - k])
    last = 0
    near = np.flatnonzero(counts >= last - 2 * noise.reach)
    values = (counts.max() - last + 2 * noise.reach) / noise.spacing
    if near.size * values * k > MOST_CELLS:
        return None
    [x] = _chunks(counts.max(), last, noise, 1)
    d = x[:, None] - counts[near]
    law = np.zeros(counts.size)
    ahead = np.exp(noise.log_at_most(-d)), np.exp(noise.log_below(-d))
    law[near] = among_the_first(noise.mass(d), *ahead, k)
    return law


def among_the_first(mass: Values, earlier: Values, later: Values, k: int) -> Values:
    """Return the probability of each candidate to have fewer than ``k`` others ahead of it.

    Args:
        mass: The probability that a candidate is at a value, shape ``(values, n)``.
        earlier: That it is ahead of a later candidate there, likewise.
        later: That it is ahead of an earlier one.
        k: At least 1.

    Returns:
        Shape ``(n,)``.
    """
    none = np.zeros((len(mass), k))
    none[:, 0] = 1
    after, state = np.zeros((mass.shape[1], *none.shape)), none
    for r in range(len(after) - 1, -1, -1):
        after[r] = np.cumsum(state, axis=1)
        state = _one_more(state, later[:, r])
    law, state = np.zeros(len(after)), none
    for r in range(len(after)):
        law[r] = mass[:, r] @ (state * after[r, :, ::-1]).sum(axis=1)
        state = _one_more(state, earlier[:, r])
    return law


def _one_more(state: Values, ahead: Values) -> Values:
    """Return the probabilities of the number ahead, below ``k``, with one more candidate."""
    moved = state * (1 - ahead)[:, None]
    moved[:, 1:] += state[:, :-1] * ahead[:, None]
    return moved


def _chunks(high: int, low: int, noise: Noise, width: int) -> Iterator[Values]:
    """Yield all values that matter, in stretches for tables of so many columns."""
    start, end = int(low - noise.reach), int(high + noise.reach) + 2
    values = np.arange(start, end, noise.spacing)
    rows = values.size if width == 1 else max(1, CELLS // width)
    for first_row in range(0, values.size, rows):
        yield values[first_row : first_row + rows]
