r"""Laws over subsets that depend only on the distance from the true subset.

The distance of two subsets of size :math:`d` of :math:`n` people is the number of swaps
between them. :math:`N_a = \binom{d}{a}\binom{n-d}{a}` subsets are at distance :math:`a`. A
law that gives each of them the same probability :math:`q_a` is told by the classes' masses
:math:`N_a q_a`, and so is its privacy: of two neighbours one swap apart, the subsets that
hold exactly one of the two swapped people are at distances :math:`a` and :math:`a + 1`, and

.. math:: \binom{d-1}{a}\binom{n-d-1}{a} = N_a \frac{(d-a)(n-d-a)}{d(n-d)}

of them are at :math:`a` from the one and at :math:`a + 1` from the other. All others are at
the same distance from both. So

.. math::

    \delta(\varepsilon) = \sum_a \binom{d-1}{a}\binom{n-d-1}{a}
        \left[(q_a - e^\varepsilon q_{a+1})_+ + (q_{a+1} - e^\varepsilon q_a)_+\right].

Everything is in logarithms: a million people have binomials of 300 000 digits.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log
from sys import float_info

import numpy as np

from dpselect.typing import Values

RELATIVE_ERROR = 1e-7
"""More than the rounding of log-binomials up to n = 10^6 adds to a probability."""


def log_sizes(n: int, d: int) -> Values:
    """Return the log of the number of subsets at each distance, 0 to ``min(d, n - d)``."""
    from scipy.special import gammaln

    a = np.arange(min(d, n - d) + 1, dtype=np.float64)
    return (
        gammaln(d + 1.0)
        - gammaln(d - a + 1)
        + gammaln(n - d + 1.0)
        - gammaln(n - d - a + 1)
        - 2 * gammaln(a + 1)
    )


@dataclass(frozen=True, slots=True)
class Part:
    r"""Distances that share one total mass, with :math:`q_a \propto e^{-\text{decay}\, a}`.

    Attributes:
        first: The smallest distance.
        last: The largest distance.
        mass: Probability of the part, > 0.
        decay: In nats per swap, >= 0.
    """

    first: int
    last: int
    mass: float
    decay: float


@dataclass(frozen=True, slots=True)
class DistanceLaw:
    """A law over the subsets of size ``d``, made of parts.

    Attributes:
        n: People.
        d: Members of the true subset; those of the released one too.
        parts: Disjoint, in the order of their distances; the masses sum to 1. Distances in
            no part have probability 0.
    """

    n: int
    d: int
    parts: tuple[Part, ...]

    def log_weights(self) -> Values:
        """Return the log of the probability of *each* subset, by distance."""
        sizes = log_sizes(self.n, self.d)
        weights = np.full(sizes.size, -np.inf)
        for part in self.parts:
            at = np.arange(part.first, part.last + 1)
            tilted = -part.decay * (at - part.first)
            weights[at] = tilted + log(part.mass) - _log_sum(tilted + sizes[at])
        return weights

    def masses(self) -> Values:
        """Return the probability of each distance."""
        return np.exp(self.log_weights() + log_sizes(self.n, self.d))

    def delta(self, epsilon: float) -> float:
        r"""Return the least :math:`\delta` for a given :math:`\varepsilon \ge 0`; O(n)."""
        log_masses, excess = self._excesses(epsilon, 0.0)
        return min(1.0, float(np.exp(log_masses) @ excess))

    def delta_rounded_up(self, epsilon: float) -> float:
        """Return a delta that no rounding made too small, as it is spent from a budget.

        It is 0 only if the law is pure; where floats cannot hold it, the smallest normal one
        stands for it.
        """
        log_masses, excess = self._excesses(epsilon, RELATIVE_ERROR)
        if not (excess > 0).any():
            return 0.0
        return max(rounded_up(float(np.exp(log_masses) @ excess)), float_info.min)

    def _excesses(self, epsilon: float, margin: float) -> tuple[Values, Values]:
        """Return the log probabilities of classes of outputs and the share each adds to delta.

        What two parts differ by at their border is known to a margin.
        """
        weights = self.log_weights()
        a = np.arange(weights.size - 1)
        moved = log_sizes(self.n, self.d)[:-1] + np.log(
            (self.d - a) / self.d * ((self.n - self.d - a) / (self.n - self.d))
        )
        drop = self._drops(weights, margin)
        rise = -self._drops(weights, -margin)
        return (
            np.concatenate([moved + weights[:-1], moved + weights[1:]]),
            np.concatenate([_excess(epsilon - drop), _excess(epsilon - rise)]),
        )

    def _drops(self, weights: Values, margin: float) -> Values:
        """Return log q_a - log q_{a+1}; inside a part it is the decay, without rounding."""
        with np.errstate(invalid="ignore"):
            drops = weights[:-1] - weights[1:] + margin
        for part in self.parts:
            drops[part.first : part.last] = part.decay
        # Between two impossible distances nothing is lost.
        return np.nan_to_num(drops, nan=0.0, posinf=np.inf, neginf=-np.inf)


def _excess(exponent: Values) -> Values:
    return -np.expm1(np.minimum(exponent, 0.0))


def _log_sum(logs: Values) -> float:
    top = float(logs.max())
    return top + log(float(np.exp(logs - top).sum()))


def log_tilted_sum(n: int, d: int, first: int, last: int, decay: float) -> float:
    r"""Return :math:`\ln \sum_{a=\text{first}}^{\text{last}} N_a e^{-\text{decay}\, a}`."""
    at = np.arange(first, last + 1)
    return _log_sum(log_sizes(n, d)[at] - decay * at)


def optimal_law(n: int, d: int, beta: int, epsilon: float, failure: float) -> DistanceLaw:
    r"""Return the law of least :math:`\delta` among all that miss by more than ``beta`` swaps
    with probability at most ``failure``.

    Mass ``1 - failure`` lies within ``beta``, the rest beyond, both tilted by
    :math:`e^{-\varepsilon a}`. Where that would let the probability of a subset jump up from
    distance ``beta`` to the next, the tail is cut until nothing jumps: the pure distance
    law, with :math:`\delta = 0`.

    Source: the optimum is ours; ``docs/pooling.md`` has the proof.
    """  # noqa: D205 -- one sentence, one name
    most = min(d, n - d)
    pure = DistanceLaw(n, d, (Part(0, most, 1.0, epsilon),))
    if beta == most:
        return pure
    ball = log_tilted_sum(n, d, 0, beta, epsilon)
    tail = log_tilted_sum(n, d, beta + 1, most, epsilon)
    # The pure law puts e^(tail - ball) times as much beyond beta as within.
    if failure > 0 and log(failure) - np.log1p(-failure) >= tail - ball:
        return pure
    parts = [Part(0, beta, 1 - failure, epsilon)]
    if failure > 0:
        parts.append(Part(beta + 1, most, failure, epsilon))
    return DistanceLaw(n, d, tuple(parts))


def union_masses(n: int, d: int, beta: int) -> Values:
    """Return P[a strangers in the output], a = 0 to ``beta``, of the union scheme.

    ``beta`` of ``n`` people are drawn without replacement, and ``n - d`` are strangers.
    """
    from scipy.stats import hypergeom

    return hypergeom.pmf(np.arange(beta + 1), n, n - d, beta)


def rounded_up(delta: float) -> float:
    """Return delta with the relative rounding error added, at most 1."""
    return min(delta * (1 + RELATIVE_ERROR), 1.0)
