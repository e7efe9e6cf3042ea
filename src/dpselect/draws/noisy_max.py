"""The position of the largest noisy score, with noise from Gumbel, exponential or Laplace.

All three add independent noise to ``(ε/2) s_r`` and release the position of the largest sum.
Gumbel noise is the exponential mechanism, ``P(r) ∝ exp(ε s_r / 2)``; its ``k`` largest equal
``k`` rounds without replacement. Exponential noise is permute-and-flip: visit candidates in
random order, and release the first one that is accepted, with probability
``p_r = exp(ε (s_r - s_*)/2)``; its expected error is never above the exponential mechanism's.
Laplace noise is the baseline that most libraries offer, worse than either, for comparisons.

Source: McSherry and Talwar, FOCS 2007; one round of Gumbel noise: Yellott 1977, Efraimidis and
Spirakis 2006; bounded range: Durfee and Rogers 2019; its Kullback-Leibler divergence: Dong et
al. 2020, arXiv:1909.13830, and Cesar and Rogers 2021, arXiv:2004.07223; its zCDP: Harrison and
Manurangsi 2026, arXiv:2510.25746, and Theorem 8 of ``docs/report``. Permute-and-flip: McKenna
and Sheldon 2020, arXiv:2010.12603; its noise: Ding et al. 2021, arXiv:2105.07260. Laplace
noise: Dwork and Roth 2014, section 3.3.
"""

from abc import abstractmethod
from functools import lru_cache
from math import ceil, exp, expm1, log, log1p
from sys import float_info

from dpselect._numbers import boundary
from dpselect._optional import np
from dpselect.budget.zcdp import SLACK
from dpselect.draws.base import CHUNK, NEGLIGIBLE, Draw
from dpselect.draws.exact import selection
from dpselect.draws.grid import STEPS_PER_UNIT
from dpselect.typing import Indices, Probabilities, Scores, Values

DIRECT = 256
"""Up to here one Gauss-Legendre rule is exact and cheap: n^2 / 2 factors."""

SMALL = 2.0**-6
TERMS = 10
"""SMALL**TERMS is below 2^-59: the power series in numbers below SMALL end here."""

MOST_PANELS = 1024

LEAST = 2.0**-7
"""Below it a difference of elementary functions loses digits, and rho is by a series."""


class _NoisyMax(Draw):
    """The largest of noisy scores, whose distribution has the factor ``e^(-gap)``."""

    def probabilities(self, scores: Scores, epsilon: float) -> Probabilities:
        gaps = (scores.max() - scores) * (epsilon / 2)
        law = np.exp(-gaps) * self._relative(gaps)
        return law / law.sum()

    def log_probabilities(self, scores: Scores, epsilon: float) -> Scores:
        gaps = (scores.max() - scores) * (epsilon / 2)
        relative = self._relative(gaps)
        return np.log(relative) - gaps - log((np.exp(-gaps) * relative).sum())

    @abstractmethod
    def _relative(self, gaps: Values) -> Values:
        """Return the distribution over ``e^(-gap)``, a quotient that does not underflow.

        Args:
            gaps: ``(ε/2) (s_* - s_r)``, shape ``(n,)``, >= 0.
        """


class Exponential(_NoisyMax):
    """The exponential mechanism on unit scores.

    Guarantee:
        ``epsilon``-DP and ``epsilon``-bounded-range.
    """

    name = "exponential"

    def _relative(self, gaps: Values) -> Values:
        return np.ones_like(gaps)

    def sample(self, scores: Scores, epsilon: float, k: int) -> list[int]:
        return selection.top_k_gumbel_noise(scores, epsilon, k)

    def rho(self, epsilon: float) -> float:
        """Return ``y - 1 - ln y``, ``y = ε/(e^ε - 1)``."""
        return bounded_range_rho(epsilon)

    def noise(self, shape: tuple[int, int], rng: "np.random.Generator") -> Values:
        return -np.log(rng.standard_exponential(shape))

    def _simulate_rounds(
        self, exponents: Values, block: Indices, rng: "np.random.Generator"
    ) -> None:
        k = block.shape[1]
        noisy = exponents + self.noise((len(block), exponents.size), rng)
        top = np.argpartition(noisy, -k, axis=1)[:, -k:]
        order = np.argsort(-np.take_along_axis(noisy, top, axis=1), axis=1)
        block[:] = np.take_along_axis(top, order, axis=1)


class PermuteAndFlip(_NoisyMax):
    """Permute-and-flip on unit scores.

    Guarantee:
        ``epsilon``-DP. Not bounded-range. Its trade-off function is that of the Laplace
        mechanism with sensitivity 1 and scale ``1 / epsilon`` (Theorem 4 of
        ``docs/report``).
    """

    name = "permute-and-flip"

    def _relative(self, gaps: Values) -> Values:
        return unrefused(np.exp(-gaps))

    def sample(self, scores: Scores, epsilon: float, k: int) -> list[int]:
        return selection.top_k_exponential_noise(scores, epsilon, k)

    def rho(self, epsilon: float) -> float:
        """Return the least rho, that of two candidates (Theorem 6 of ``docs/report``)."""
        return permute_and_flip_rho(epsilon)

    def noise(self, shape: tuple[int, int], rng: "np.random.Generator") -> Values:
        return rng.standard_exponential(shape)


class LaplaceNoisyMax(_NoisyMax):
    """Report noisy max with Laplace noise on unit scores.

    Guarantee:
        ``epsilon``-DP.
    """

    name = "laplace"

    def _relative(self, gaps: Values) -> Values:
        # Above the best score every noisy score has an exponential tail of mass e^-gap / 2: the
        # same race as in permute-and-flip, with halved acceptance.
        return unrefused(np.exp(-gaps) / 2) / 2 + _won_below_the_best(gaps)

    def sample(self, scores: Scores, epsilon: float, k: int) -> list[int]:
        return selection.top_k_laplace_noise(scores, epsilon, k)

    def rho(self, epsilon: float) -> float:
        """Return ``ε + e^(-ε) - 1``, that of Laplace noise.

        The integer noise of ``sample`` is covered: with ``h = epsilon / 2S`` for scores that
        move by ``S`` steps of the grid, it is dominated by the Laplace mechanism at
        ``ε + h^2/4`` (Theorem 3 of ``docs/report``).
        """
        # Beyond 10^12 the rho of any epsilon-DP draw, which is at most epsilon, is less.
        return min(laplace_rho(epsilon * (1 + epsilon / (16 * STEPS_PER_UNIT**2))), epsilon)

    def noise(self, shape: tuple[int, int], rng: "np.random.Generator") -> Values:
        return rng.laplace(size=shape)


def unrefused(accept: Values) -> Values:
    """Return the probability that each candidate arrives before any other is accepted.

    Let every candidate arrive at a uniform time. The one that arrives at time ``z`` wins if it
    accepts and all earlier arrivals refused, so

        P(r) = p_r ∫_0^1 ∏_(j ≠ r) (1 - p_j z) dz,

    and this is the integral, which unlike the product with ``p_r`` does not underflow.

    Args:
        accept: Acceptance probabilities ``p``, shape ``(n,)``, in [0, 1].

    Returns:
        Shape ``(n,)``. In O(n).
    """
    return _by_one_rule(accept) if accept.size <= DIRECT else _by_panels(accept)


def _by_one_rule(accept: Values) -> Values:
    # The integrand is a polynomial of degree n - 1: ceil(n / 2) nodes are exact.
    nodes, weights = gauss_legendre(ceil(accept.size / 2))
    refuse = 1 - np.outer((nodes + 1) / 2, accept)
    others = refuse.prod(axis=1, keepdims=True) / refuse
    return weights @ others / 2


def _by_panels(accept: Values) -> Values:
    # The product is below exp(-z sum p), so the integral ends where that is negligible.
    # Up to there p z < SMALL for all but NEGLIGIBLE / SMALL candidates at most: the others
    # enter the product, and leave it again, through power series in p z.
    end = min(1.0, NEGLIGIBLE / accept.sum())
    small = accept * end < SMALL
    # Over one of 16 panels the integrand falls by at most exp(3) per candidate at 1, far from
    # what 16 nodes integrate to rounding error.
    nodes, weights = on_panels(np.linspace(0.0, end, 17), 16)
    powers = np.arange(1, TERMS + 1)
    moments = np.array([(accept[small] ** power).sum() for power in powers])
    series = (nodes[:, None] ** powers) @ (moments / powers)
    large = 1 - np.outer(nodes, accept[~small])
    mass = weights * np.exp(np.log(large).sum(axis=1) - series)
    first = np.empty(accept.size)
    first[~small] = mass @ (1 / large)
    first[small] = np.polynomial.polynomial.polyval(
        accept[small], [mass @ nodes**power for power in range(TERMS)]
    )
    return first


@lru_cache(maxsize=256)
def gauss_legendre(order: int) -> tuple[Values, Values]:
    """Return nodes and weights on [-1, 1], kept between calls and hence read-only."""
    nodes, weights = np.polynomial.legendre.leggauss(order)
    nodes.setflags(write=False)
    weights.setflags(write=False)
    return nodes, weights


def on_panels(edges: Values, order: int) -> tuple[Values, Values]:
    """Return Gauss-Legendre nodes and weights on the panels between ascending edges."""
    nodes, weights = gauss_legendre(order)
    widths = np.diff(edges)[:, None]
    places = edges[:-1, None] + widths * (nodes + 1) / 2
    return places.ravel(), (widths * weights / 2).ravel()


def _won_below_the_best(gaps: Values) -> Values:
    """Return the probability that each wins with a noisy score below the best score.

    Over ``e^(-gap)``.

    With ``y`` the distance below the best score in units of the noise,

        P(r) = ∫_0^∞ (f_r(y)/(F_r(y))) ∏_j F_j(y) dy,

    by Gauss-Legendre between the kinks, which are at the gaps. With more than
    ``MOST_PANELS`` different gaps the panels are equal and the distribution is right to 1e-6.
    """
    end = _negligible_from(gaps)
    # The product falls by at most a factor e^-45 up to the end: 64 panels follow it.
    even = np.linspace(0.0, end, 65)
    edges = np.unique(np.concatenate([even, gaps[gaps < end]]))
    if edges.size > MOST_PANELS:
        edges = np.linspace(0.0, end, MOST_PANELS + 1)
    distances, shares = on_panels(edges, 8)
    law = np.zeros(gaps.size)
    rows = max(1, CHUNK // gaps.size)
    for first in range(0, distances.size, rows):
        y = distances[first : first + rows, None]
        tail = np.exp(-np.abs(gaps - y)) / 2
        below = np.where(gaps <= y, tail, 1 - tail)
        mass = shares[first : first + rows] * np.exp(np.log(below).sum(axis=1))
        # The tail over e^-gap is e^y / 2 where the gap is beyond y.
        law += mass @ (np.exp(np.minimum(2 * gaps - y, y)) / 2 / below)
    return law


def _negligible_from(gaps: Values) -> float:
    """Return a distance below the best score at which the product is negligible."""
    near = np.sort(gaps[gaps <= NEGLIGIBLE])
    sums = np.cumsum(near)

    def negligible(distance: float) -> bool:
        passed = int(np.searchsorted(near, distance, side="right"))
        return bool(passed * (log(2) + distance) - sums[passed - 1] > NEGLIGIBLE)

    return boundary(negligible, 0.0, NEGLIGIBLE)[1]


def bounded_range_rho(epsilon: float) -> float:
    """Return ``y - 1 - ln y``, ``y = ε/(e^ε - 1)``.

    The least rho of all mechanisms of bounded range epsilon, at every order (Theorem 8); at
    most ``ε^2/8``.

    Args:
        epsilon: In nats; finite, > 0.

    Returns:
        Finite, > 0, rounded up.
    """
    # y = epsilon e^-epsilon / rest and ln y = ln(epsilon / rest) - epsilon: nothing overflows.
    rest = -expm1(-epsilon)
    terms = (epsilon * exp(-epsilon) / rest, -1.0, epsilon, log(rest / epsilon))
    rho = sum(terms) + 2.0**-49 * sum(map(abs, terms))
    return max(min(rho, epsilon * epsilon / 8 * (1 + SLACK)), float_info.min)


@lru_cache(maxsize=4096)
def permute_and_flip_rho(epsilon: float) -> float:
    """Return the least rho of permute-and-flip, at every order (Theorem 6).

    It is the largest divergence of two candidates that change places,

        max_(0 ≤ v ≤ ε) (1 - b) ln((1 - b)/q) + b ln(b/(1 - q)),
        b = (1/2) e^(-v), q = (1/2) e^(v - ε),

    which is concave in ``v``: a tangent is an upper bound. Below ``LEAST`` it is bounded by
    that of a bounded range of ``2 ln(2e^(ε/2) - 1)``, the largest change of the log odds, which
    is larger by less than two parts in a million there.

    Args:
        epsilon: In nats; finite, > 0.

    Returns:
        Finite, > 0, rounded up; 0.84 to 1 of that of Laplace noise.
    """
    if epsilon < LEAST:
        widest = 2 * log1p(2 * expm1(epsilon / 2)) * (1 + SLACK)
        return bounded_range_rho(max(widest, epsilon))
    # Where v is above log(epsilon / 2 + 2) the divergence falls.
    furthest = min(epsilon, log(epsilon / 2 + 2))
    v, _ = boundary(lambda v: _slope(v, epsilon) <= 0, 0.0, furthest)
    b, q = exp(-v) / 2, exp(v - epsilon) / 2
    terms = (
        (1 - b) * (epsilon + log(2) + log1p(-b)),
        -b * (log(2) + log1p(-q)),
        -v,
        abs(_slope(v, epsilon)) * furthest,
    )
    return min(sum(terms) + 2.0**-48 * sum(map(abs, terms)), epsilon)


def _slope(v: float, epsilon: float) -> float:
    """Return the derivative of the divergence of ``permute_and_flip_rho`` by ``v``."""
    b, q = exp(-v) / 2, exp(v - epsilon) / 2
    log_odds = epsilon + 2 * log(2) + log1p(-b) + log1p(-q)
    return b * log_odds - (1 - b) + q * b / (1 - q)


def laplace_rho(epsilon: float) -> float:
    """Return ``ε + e^(-ε) - 1``, the least rho of Laplace noise.

    Also of the noisy maximum with any noise whose hazard rate is at most ``ε/2`` (Theorems 3
    and 7). Below ``LEAST`` the series is cut after a positive term, which is an upper bound, as
    it alternates.

    Args:
        epsilon: In nats; finite, > 0.

    Returns:
        Finite, > 0, rounded up; at most ``ε^2/2`` up to rounding.
    """
    if epsilon < LEAST:
        rho = epsilon * epsilon * (1 / 2 - epsilon / 6 + epsilon * epsilon / 24)
    else:
        rho = epsilon + expm1(-epsilon)
    return max(rho * (1 + SLACK), float_info.min)
