"""Distributions of published rivals, for one percentile and for selection.

They are for comparison, not for releases.

Each is a mechanism that has a distribution and no draw, so ``dpselect.compare`` shows it beside
the library's own: give an objective of ``dpselect.percentiles.percentile_rank`` and, where the
rival reads the numbers themselves, these. All are stated for substitution, as published; their
noise is continuous and its distribution is computed in floats, so nothing here may be
published.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from scipy import stats

from dpselect import Objective, Spend
from dpselect.draws import Draw
from dpselect.errors import ParameterError
from dpselect.mechanisms import Mechanism
from dpselect.percentiles import rank_of
from dpselect.typing import Probabilities, Scores, Values

DEGREES = 3
"""Degrees of freedom of Student's t in the noisy maximum, those of its authors."""

NODES = 4001
"""Points of the quadrature over the noise of one candidate."""


@dataclass(frozen=True, kw_only=True)
class Rival(Mechanism):
    """A mechanism with a distribution and no draw."""

    @property
    def draw(self) -> Draw:
        raise ParameterError(
            f"{self.name} has a distribution and no sampler: it cannot be drawn"
        )

    def unit_scores(self, objective: Objective) -> Scores:  # noqa: ARG002 -- of the base class
        raise ParameterError(
            f"{self.name} has a distribution and no sampler: it cannot be drawn"
        )

    def spend(self, purpose: str, k: int = 1) -> Spend:
        return Spend(purpose, self.epsilon / k, times=k)

    @abstractmethod
    def probabilities(self, objective: Objective) -> Probabilities:
        """Return the distribution over the candidates of an objective."""


@dataclass(frozen=True, kw_only=True)
class OfNumbers(Rival):
    """A rival that reads the numbers themselves.

    Attributes:
        values: One number per record, at least one.
        p: The percentile, in (0, 100].
        lower: The smallest number that can occur.
        upper: The largest.
    """

    values: Values = field(repr=False, compare=False)
    p: float
    lower: float
    upper: float

    @property
    def ordered(self) -> Values:
        """The numbers in order within their range, shape ``(n,)``."""
        return np.sort(np.clip(self.values, self.lower, self.upper))

    @property
    def rank(self) -> int:
        """The rank ``k`` of the percentile, from 1."""
        return rank_of(self.p, np.size(self.values))

    def probabilities(self, objective: Objective) -> Probabilities:
        points = np.array(objective.candidates, dtype=np.float64)
        order = np.argsort(points)
        law = np.empty(points.size)
        law[order] = self.probabilities_at(points[order])
        return law

    @abstractmethod
    def probabilities_at(self, points: Values) -> Probabilities:
        """Return the probabilities of a release rounded to the nearest of ascending points."""


@dataclass(frozen=True, kw_only=True)
class InverseSensitivity(OfNumbers):
    """The inverse sensitivity mechanism.

    A candidate of which ℓ numbers must be replaced until it is the percentile has probability
    ``∝ e^(-ε ℓ/2)``; one step changes ℓ by at most 1.

    Source: Asi and Duchi, NeurIPS 2020.
    """

    name: ClassVar[str] = "inverse sensitivity"

    def probabilities_at(self, points: Values) -> Probabilities:
        below = np.searchsorted(self.ordered, points, side="left")
        upto = np.searchsorted(self.ordered, points, side="right")
        moved = np.maximum(below - self.rank + 1, self.rank - upto)
        return _normal(-self.epsilon / 2 * np.maximum(moved, 0))


@dataclass(frozen=True, kw_only=True)
class PiecewiseLaplace(OfNumbers):
    """The piecewise Laplace mechanism: inverse sensitivity, linear between its steps.

    The density at ``t`` is ``∝ e^(-ε ℓ(t)/2)`` on the whole range, with ``ℓ = j`` at the number
    that is ``j`` ranks from the percentile, and linear between two numbers; at the ends of the
    range, which ``j`` replacements can reach as well, it is the number of ranks to them.

    Source: Durfee 2025, arXiv:2505.02798.
    """

    name: ClassVar[str] = "piecewise Laplace"

    def probabilities_at(self, points: Values) -> Probabilities:
        ends = np.concatenate([[self.lower], self.ordered, [self.upper]])
        steps = np.abs(np.arange(ends.size) - self.rank)
        middles = np.concatenate([[self.lower], (points[1:] + points[:-1]) / 2, [self.upper]])
        cuts = np.unique(np.concatenate([ends, np.clip(middles, self.lower, self.upper)]))
        # Of equal numbers the one nearest to the percentile counts from its side.
        sides = [np.searchsorted(ends, cuts, side=side) for side in ("left", "right")]
        starts, stops = sides[1][:-1] - 1, sides[0][1:]
        gaps = ends[stops] - ends[starts]
        at = [
            steps[starts] + (cut - ends[starts]) / gaps * (steps[stops] - steps[starts])
            for cut in (cuts[:-1], cuts[1:])
        ]
        low, moved = np.minimum(*at), np.abs(at[1] - at[0]) * self.epsilon / 2
        # The mean of e^-y over a linear stretch of y.
        mean = np.divide(-np.expm1(-moved), moved, out=np.ones(moved.size), where=moved > 0)
        mass = np.diff(cuts) * np.exp(-self.epsilon / 2 * (low - low.min())) * mean
        cell = np.searchsorted(middles[1:-1], cuts[:-1], side="right")
        law = np.bincount(cell, mass, points.size)
        return np.asarray(law / law.sum())


@dataclass(frozen=True, kw_only=True)
class SmoothSensitivity(OfNumbers):
    """The percentile with Cauchy noise in proportion to its smooth sensitivity.

    With ``β = ε/6`` and ``A_j`` the largest change by one replacement after ``j`` others,
    ``S = max_j e^(-jβ) A_j``, and what is released is ``x_(k) + (6/ε) S Z`` with
    ``P(Z = z) ∝ 1/(1 + z^2)``, cut to the range and rounded to a candidate. Other noise has
    thinner tails and a delta.

    Source: Nissim, Raskhodnikova and Smith, STOC 2007.
    """

    name: ClassVar[str] = "smooth sensitivity"

    @property
    def smooth(self) -> float:
        """The smooth sensitivity ``S``."""
        ordered, k, beta = self.ordered, self.rank, self.epsilon / 6
        n, largest = ordered.size, 0.0
        ends = np.concatenate([np.full(n + 1, self.lower), ordered, np.full(n + 2, self.upper)])
        place = n + k
        for j in range(n + 1):
            if np.exp(-beta * j) * (self.upper - self.lower) <= largest:
                break
            high = ends[place : place + j + 2]
            low = ends[place - j - 1 : place + 1]
            largest = max(largest, float(np.exp(-beta * j) * (high - low).max()))
        return largest

    def probabilities_at(self, points: Values) -> Probabilities:
        middles = (points[1:] + points[:-1]) / 2
        scale = 6 / self.epsilon * self.smooth
        where = self.ordered[self.rank - 1]
        if scale == 0:
            upto = (middles >= where).astype(np.float64)
        else:
            upto = stats.cauchy.cdf((middles - where) / scale)
        return np.diff(np.concatenate([[0.0], upto, [1.0]]))


@dataclass(frozen=True, kw_only=True)
class ElementSmoothNoisyMax(Rival):
    """The largest score, with noise in proportion to smooth sensitivities of two candidates.

    Candidate ``r`` gets ``u_r + Z_r (S_r + max_(j ≠ r) S_j)/s`` with
    ``S_r = max_t e^(-tβ) δ_r(t)`` and Student's t with 3 degrees of freedom, for which
    ``4β + 4s/(2√3) = ε``. The authors choose β by the data, which is not private; here each of
    the two summands is half of epsilon. We have not checked the proof of the maximum;
    ``studies/tests/test_rivals.py`` enumerates small cases.

    Source: Chaves and others, repository ``iagocc/esnm``, with the noise of Bun and Steinke,
        NeurIPS 2019.
    """

    name: ClassVar[str] = "element-smooth noisy maximum"

    def probabilities(self, objective: Objective) -> Probabilities:
        beta = self.epsilon / (2 * (DEGREES + 1))
        s = self.epsilon * DEGREES**0.5 / (DEGREES + 1)
        sensitivity, smooth, t = objective.sensitivity, np.zeros(len(objective)), 0
        while np.exp(-beta * t) * np.max(sensitivity.bound) > smooth.min():
            smooth = np.maximum(smooth, np.exp(-beta * t) * sensitivity.at(t))
            t += 1
        first, second = np.sort(smooth)[[-1, -min(2, smooth.size)]]
        others = np.where(smooth == first, second, first)
        scales = (smooth + others) / s
        # Noise of each in turn, fine where the best are and coarse in the tails.
        nodes = objective.scores.max() + scales.max() * np.sinh(np.linspace(-12, 12, NODES))
        logs = np.zeros(NODES)
        density = np.empty((smooth.size, NODES))
        for r, (score, scale) in enumerate(zip(objective.scores, scales, strict=True)):
            z = (nodes - score) / scale
            log_cdf = stats.t.logcdf(z, DEGREES)
            logs += log_cdf
            density[r] = stats.t.logpdf(z, DEGREES) - np.log(scale) - log_cdf
        law = np.trapezoid(np.exp(density + logs), nodes, axis=1)
        return np.asarray(law / law.sum())


def _normal(logs: Values) -> Probabilities:
    law = np.exp(logs - logs.max())
    return np.asarray(law / law.sum())
