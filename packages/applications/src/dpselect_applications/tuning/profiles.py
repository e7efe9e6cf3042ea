"""Privacy profiles of one run, and of the best of several.

The *profile* of a mechanism Q under a symmetric relation is, over all neighbours,
``δ(t) = max ∑_y [Q(y) - t Q'(y)]_+`` with ``t = e^ε``. It is convex in t and at most 1, so a
line between two of its points lies above it, and a point ``(t, δ)`` implies
``(1/t, 1 - (1 - δ)/t)``, by the same inequality for the complement and the other direction. So
points that are proved bound the whole curve by the lower convex hull of them, their mirror
images and (0, 1). That of one (ε, δ) is randomised response with a failure, which is exact
(Kairouz, Oh and Viswanath 2015).

Theorem. Let K be the number of runs, ``h(s) = f'(1 - s)`` with ``f(x) = E[x^K]`` falling in s,
``T(s) = min_t t s + δ(t)`` the largest probability under a neighbour of an event of probability
s, and ``Φ(z) = max_(0 ≤ s ≤ 1) [h(s) - h(T(s)) z]_+``. Write this convex function, which falls
to 0, as ``∫ [w - z]_+ dν(w)``. The best of K runs has the profile

    δ'(t) ≤ ∫ w δ(t/w) dν(w),
    ∫ w dν(w) = Φ(0) = E[K].

Proof. An outcome y is released with probability ``Q(y) ∫_0^1 h(s_u) du``, where ``s_u`` is the
probability of what is better and of a part u of y itself (Theorem 47 of ``docs/report``).
For the neighbour ``s'_u ≤ T(s_u)``, so as h falls,

    [h(s_u) Q(y) - t h(s'_u) Q'(y)]_+ ≤ Q(y) [h(s_u) - h(T(s_u)) t Q'(y)/Q(y)]_+
        ≤ Q(y) Φ(t Q'(y)/Q(y)).

The sum over y of the last one is, by the integral, ``∫ w ∑_y [Q(y) - (t/w) Q'(y)]_+ dν(w)``.
That nothing is released, without a run, has the same probability on both sides.

With the largest ``w = h(s)/h(T(s))`` alone this is the bound ``E[K] δ(t/w)`` of Koskela,
Redberg and Wang 2024, arXiv:2402.06701 (as known from secondary sources), which is never below
the mixture, as ``Φ(z) ≤ E[K] [1 - z/w]_+``. Computed are finitely many s: between two of them h
at the first and h(T) at the second bound both.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import exp, inf
from typing import Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from dpselect.errors import ParameterError
from dpselect.extend import LARGEST_EXPONENT, Values, boundary, zcdp
from dpselect_applications.tuning.repetitions import Repetitions

ProfileLike: TypeAlias = Callable[[float], float] | Sequence[Sequence[float]]
"""A delta for each epsilon >= 0, or pairs of an epsilon and its delta."""

SAMPLED = np.concatenate(
    [
        [0.0],
        np.logspace(-4, -1, 300),
        np.linspace(0.1, 10, 2000)[1:],
        np.logspace(1, 2.5, 300)[1:],
    ]
)
"""The epsilons at which a function is looked at."""

CELLS = 20_000
"""Between how many values of s a bound holds; the epsilon of the best is 0.0005 too large."""

ROUNDING = 1 + 1e-9
"""More than the relative error of a sum of products of so many."""


@dataclass(frozen=True, slots=True, eq=False)
class Profile:
    """A privacy profile, as corners of a convex function of ``t = e^ε``.

    Attributes:
        ratios: The t of each corner, from 0 on, increasing, shape ``(n,)``.
        deltas: Delta at each corner, not increasing, from 1 on; the last one also holds beyond;
            shape ``(n,)``.
    """

    ratios: Values
    deltas: Values

    @classmethod
    def of(cls, *stated: ProfileLike) -> Self:
        """Return the profile for which all statements hold.

        Args:
            stated: Functions, or lists of pairs. Each one holds under a symmetric relation.

        Raises:
            ParameterError: One is not a profile.
        """
        points = np.concatenate([_points(one) for one in stated])
        ratios, deltas = np.exp(points[:, 0]), points[:, 1]
        mirrored = 1 - (1 - deltas) / ratios
        corners = _hull(
            np.concatenate([[0.0], 1 / ratios, ratios]),
            np.concatenate([[1.0], mirrored, deltas]),
        )
        return cls(*corners)

    def at(self, ratios: Values) -> Values:
        """Return the deltas at ratios of probabilities, >= 0."""
        return np.interp(ratios, self.ratios, self.deltas)

    def allows(self, other: Profile) -> bool:
        """Return whether another profile is nowhere above this one, up to rounding."""
        at = np.union1d(self.ratios, other.ratios)
        return bool((other.at(at) <= self.at(at) * ROUNDING + np.finfo(np.float64).eps).all())

    def largest_share(self, shares: Values) -> Values:
        """Return the largest probability under a neighbour of events of some probability."""
        # The least line is that of the corner at which the slope passes -share.
        slopes = np.diff(self.deltas) / np.diff(self.ratios)
        corner = np.searchsorted(slopes, -shares)
        return np.minimum(self.ratios[corner] * shares + self.deltas[corner], 1.0)


def of_zcdp(rho: float) -> Callable[[float], float]:
    """Return the profile of rho-zCDP runs, by ``delta_of``."""
    return lambda epsilon: zcdp.delta_of(rho, epsilon)


def profile_of_best(
    epsilons: ArrayLike, profile: Profile, *, repetitions: Repetitions
) -> Values:
    r"""Return a delta of the best of several runs for each epsilon.

    Args:
        epsilons: In nats, >= 0, shape ``(m,)`` or a number.
        profile: Privacy profile of one run, its score included.
        repetitions: Distribution of the number of runs.

    Returns:
        Deltas, rounded up, of the same shape, under the profile's relation.

    Examples:
        >>> from dpselect_applications.tuning import Geometric, Profile, profile_of_best
        >>> of_run = Profile.of([(0.5, 0.0)])
        >>> profile_of_best([1.2, 1.4], of_run, repetitions=Geometric(mean=10)).round(3)
        array([0.035, 0.   ])
    """
    places, weights = _mixture(profile, repetitions)
    at = np.asarray(epsilons, dtype=np.float64)
    found = [weights @ profile.at(exp(one) / places) for one in at.ravel()]
    return np.minimum(np.array(found) * ROUNDING, 1.0).reshape(at.shape)


def least_epsilon(profile: Profile, delta: float, repetitions: Repetitions) -> float:
    """Return the least epsilon whose ``profile_of_best`` is at most ``delta``, or inf."""

    def enough(epsilon: float) -> bool:
        return float(profile_of_best(epsilon, profile, repetitions=repetitions)) <= delta

    most = float(SAMPLED[-1])
    if not enough(most):
        return inf
    return 0.0 if enough(0.0) else boundary(enough, 0.0, most)[1] * (1 + zcdp.SLACK)


@lru_cache(maxsize=8)
def _mixture(profile: Profile, repetitions: Repetitions) -> tuple[Values, Values]:
    """Return the ``w`` of the theorem, and ``w dν(w)``."""
    steps = np.linspace(0, 1, CELLS)
    # Evenly in ln h, and in ln s, as T is steep at 0.
    shares = np.unique([*repetitions.shares_better(steps), *10 ** (-18 * steps)])
    here = repetitions.rate(np.concatenate([[0.0], shares[:-1]]))
    there = repetitions.rate(profile.largest_share(shares))
    # The line of s is here - there z. Those that are the largest one somewhere, and 0 in the
    # end, are the upper convex hull of their slopes and tops.
    slopes, tops = _hull(np.append(there, 0.0), -np.append(here, 0.0))
    weights = -np.diff(tops)
    some = weights > 0
    return (weights / np.diff(slopes))[some], weights[some]


def _hull(x: Values, y: Values) -> tuple[Values, Values]:
    """Return the corners of the lower convex hull of points, from left to right."""
    order = np.lexsort((y, x))
    found: list[tuple[float, float]] = []
    for right, height in zip(x[order].tolist(), y[order].tolist(), strict=True):
        if found and found[-1][0] == right:
            continue
        while len(found) > 1:
            (first, top), (middle, low) = found[-2:]
            if (low - top) * (right - first) < (height - top) * (middle - first):
                break
            found.pop()
        found.append((right, height))
    corners = np.array(found)
    return corners[:, 0], corners[:, 1]


def _points(stated: ProfileLike) -> Values:
    """Return pairs of an epsilon and a delta, both in order."""
    if callable(stated):
        stated = [(one, stated(one)) for one in SAMPLED.tolist()]
    try:
        pairs = np.array(stated, dtype=np.float64)
    except (TypeError, ValueError):
        pairs = np.empty(0)
    if pairs.ndim != 2 or pairs.shape[1] != 2 or not len(pairs):
        raise ParameterError("a profile must be a function, or pairs of an epsilon and a delta")
    epsilons, deltas = pairs.T
    most = LARGEST_EXPONENT
    if not ((epsilons >= 0) & (epsilons <= most) & (deltas >= -1e-9) & (deltas <= 1)).all():
        raise ParameterError(
            f"a profile must have epsilons from 0 to {most:g}, and deltas from 0 to 1"
        )
    order = np.argsort(epsilons)
    falling = np.minimum.accumulate(np.maximum(deltas[order], 0.0))
    return np.column_stack([epsilons[order], falling])
