"""One draw of a whole set: the exponential mechanism over all sets of ``k`` candidates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import exp, lgamma, log
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from dpselect import scaling
from dpselect.draws import Draw, Exponential, sets
from dpselect.draws.grid import STEPS_PER_UNIT, to_grid
from dpselect.errors import ParameterError
from dpselect.mechanisms.base import Drawn, Mechanism, listed
from dpselect.objective import Objective
from dpselect.plan import Spend
from dpselect.typing import Indices, Scores

ROUNDING_STEPS = 10
"""Error of rounding and floating point in the change of a difference of two scores."""

SENSITIVITY = 2 * STEPS_PER_UNIT + ROUNDING_STEPS
"""Largest change of the difference of two unit scores on the grid, in grid steps."""


@listed
@dataclass(frozen=True, kw_only=True)
class TopSet(Mechanism):
    """Draw all ``k`` candidates at once, as a set.

    A set ``S`` is drawn with probability proportional to

        exp(ε (min_(r ∈ S) u_r - max_(r ∉ S) u_r) / (4Δ)),

    with ``2Δ`` in place of ``4Δ`` for a monotone objective: one neighbour step moves the
    difference by at most twice the bound, or once (Theorem 15 of ``docs/theory.md``).

    Epsilon is not divided by ``k``. The right ``k`` are found at a lead of about ``ln binom(n,
    k) / ε`` bounds of a monotone objective, where rounds need ``k ln(nk)/ε`` and a
    ``NoisySequence`` is made for ``l1``. At a smaller lead it finds almost none of them, and
    fails at larger leads than rounds do. It releases no order: the answer has the candidates in
    the order of the objective.

    Guarantee:
        ``epsilon``-DP and of bounded range ``epsilon``, under the neighbour relation of the
        objective's sensitivity. The candidates, their number and ``k`` are public.

    Source: the score is in the manner of Shekelyan and Loukides 2022, arXiv:2201.13376; the
        draw is ours. In O(n log n + k m) for ``m`` different scores, with integers of about
        ``k log_2 n`` bits: counts are fast, a million real scores are not.

    Examples:
        >>> import dpselect as dp
        >>> votes = dp.GlobalSensitivity(1, dp.Neighbours.ADD_REMOVE)
        >>> objective = dp.Objective([90, 0, 500, 480], votes, monotone=True)
        >>> dp.TopSet(epsilon=1.0).release(objective, k=2).answer
        (2, 3)
    """

    name: ClassVar[str] = "top-set"
    purpose: ClassVar[str] = "a set of candidates, at once"

    @property
    def draw(self) -> Draw:
        return Exponential()

    def unit_scores(self, objective: Objective) -> Scores:
        """Return half of the lead of each candidate over the best of the others."""
        scores = scaling.by_global(objective)
        if scores.size == 1:
            return scores
        best, second = np.argsort(-scores, kind="stable")[:2]
        others = np.full(scores.shape, scores[best])
        others[best] = scores[second]
        return (scores - others) / 2

    def gap_per_unit(self, attained: float | None = None) -> float:  # noqa: ARG002
        return 2.0

    def single_round(self, k: int) -> Mechanism:
        return _Sized(epsilon=self.epsilon, size=k)

    def spend(self, purpose: str, k: int = 1) -> Spend:  # noqa: ARG002 -- any k costs the same
        """Return the price of the draw, which does not depend on ``k``."""
        return Spend(purpose, self.epsilon, rho=self.draw.rho(self.epsilon))

    @property
    def decay(self) -> Fraction:
        """Decrease of the logarithm of a set's weight per grid step, in nats; public."""
        return Fraction(self.epsilon) / (2 * SENSITIVITY)

    def prepare(self, objective: Objective, k: int) -> Callable[[], Drawn]:
        steps = to_grid(scaling.by_global(objective))
        return lambda: Drawn(sets.draw_set(steps, k, self.decay))

    def set_probability(self, objective: Objective, chosen: NDArray[np.bool_]) -> float:
        """Return the exact probability that the drawn set is this one.

        Args:
            objective: The objective to choose by.
            chosen: Shape ``(n,)``: whether a candidate is among them, at least one.

        Returns:
            In [0, 1]; on the grid that a release draws on. As private as the scores.

        Raises:
            ParameterError: ``chosen`` has another shape, or no candidate is among them.
        """
        among = np.asarray(chosen, dtype=bool)
        if among.shape != (len(objective),) or not among.any():
            raise ParameterError("`chosen` must say of each candidate whether it is in the set")
        steps, positions = to_grid(scaling.by_global(objective)), np.flatnonzero(among).tolist()
        decay = float(self.decay)
        return exp(sets.log_probability(steps, len(positions), decay, positions))

    def _simulated(
        self, objective: Objective, k: int, size: int, rng: np.random.Generator
    ) -> Indices:
        steps = to_grid(scaling.by_global(objective))
        order = np.argsort(-steps, kind="stable")
        places = sets.simulated(steps[order], k, float(self.decay), size, rng)
        return np.sort(order[places], axis=1)


@dataclass(frozen=True, kw_only=True)
class _Sized(TopSet):
    """The draw of sets of a public size, for bounds that depend on it."""

    size: int

    def largest_gap(
        self,
        candidates: int,
        bound: float,
        beta: float,
        attained: float | None = None,
    ) -> float:
        """Return how far below one that is left out a drawn candidate is, for all ``k``."""
        gap = self.gap_per_unit(attained) * bound
        return gap * 2 / self.epsilon * (log_sets(candidates, self.size) - log(beta))


def log_sets(n: int, k: int) -> float:
    """Return the logarithm of the number of sets of ``k`` of ``n``."""
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)
