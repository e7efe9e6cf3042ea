"""Release of the exact best candidate where it leads clearly, and of nothing elsewhere."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from dpselect import _validate, scaling
from dpselect.errors import ParameterError
from dpselect.neighbours import NeighboursLike
from dpselect.objective import Objective
from dpselect.plan import Plan, Spend, SupportsSpend
from dpselect.release import Release
from dpselect.typing import Probabilities

if TYPE_CHECKING:
    from dpselect.draws.optimal_chances import OptimalChances


@dataclass(frozen=True, kw_only=True)
class StableArgmax:
    r"""The exact best candidate, with a probability that grows with its lead, or nothing.

    The lead is the best of the pairwise unit scores (:func:`dpselect.scaling.pairwise`),
    rounded up: before so many neighbour steps no other candidate can lead. With a lead of
    :math:`n` the best is released with the largest probability :math:`\pi(n)` that is
    :math:`(\varepsilon, \delta)`-DP; the number of candidates does not matter.

    Guarantee:
        ``(epsilon, delta)``-DP under the neighbour relation of the objective's sensitivity, if
        that is admissible (Theorem 34 of ``docs/theory.md``).

    Attributes:
        epsilon: In nats; finite, > 0.
        delta: In (0, 1), far below one over the number of individuals.

    Raises:
        ParameterError: ``epsilon`` or ``delta`` is out of range.

    Source: distance to instability: Thakurta and Smith, COLT 2013; the probabilities:
        Desfontaines et al. 2022, arXiv:2006.03684; with pairwise dampened scores ours.

    Examples:
        >>> import dpselect as dp
        >>> from dpselect.tuning import StableArgmax
        >>> votes = dp.Objective(
        ...     [310, 260, 12], dp.GlobalSensitivity(1, "add-remove"), monotone=True
        ... )
        >>> StableArgmax(epsilon=0.5, delta=1e-6).probabilities(votes).round(3)
        array([1., 0., 0.])
    """

    epsilon: float
    delta: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", _validate.positive("epsilon", self.epsilon))
        delta = _validate.within("delta", self.delta, 0, 1)
        if not 0 < delta < 1:
            raise ParameterError(f"delta must be above 0 and below 1, got {delta!r}")
        object.__setattr__(self, "delta", delta)

    @cached_property
    def _chances(self) -> OptimalChances:
        from dpselect.draws.optimal_chances import OptimalChances

        return OptimalChances(self.epsilon, self.delta)

    def lead_for(self, probability: float) -> int:
        """Return the least lead with which the best is released with some probability.

        Args:
            probability: In [0, 1].

        Returns:
            In neighbour steps; needs no data.
        """
        from dpselect.draws.coins import BITS

        wanted = _validate.within("probability", probability, 0, 1)
        return self._chances.least(int(Fraction(wanted) * 2**BITS))

    def probabilities(self, objective: Objective) -> Probabilities:
        """Return the exact law of a release.

        Returns:
            Shape ``(n,)``, in the order of the candidates: one probability, and zeros. What is
            missing to 1 is the probability that nothing is released. As private as the scores.
        """
        position, lead = self._leader(objective)
        from dpselect.draws.coins import BITS

        law = np.zeros(len(objective))
        law[position] = self._chances[min(lead, self._chances.sure)] / 2**BITS
        return law

    def plan(self, *, neighbours: NeighboursLike) -> Plan:
        """Return the price of a release; needs no data.

        Args:
            neighbours: The relation of the objective's sensitivity.
        """
        return Plan(
            function="release",
            mechanism=repr(self),
            spends=(Spend("the best candidate, or nothing", self.epsilon, delta=self.delta),),
            epsilon=self.epsilon,
            delta=self.delta,
            neighbours=_validate.neighbours(neighbours),
        )

    def release(self, objective: Objective, budget: SupportsSpend | None = None) -> Release:
        """Release the best candidate, or nothing; safe to publish.

        Args:
            objective: What to choose from; at least two candidates.
            budget: Where to record the spend, before anything is drawn.

        Returns:
            With one candidate, which is the best, or with none.

        Raises:
            ParameterError: There is one candidate only, or ``delta`` is below 2^-100.
            InsufficientBudgetError: The budget does not allow it; nothing is drawn.
            NeighboursError: The budget is for another neighbour relation.
        """
        from dpselect.draws import coins

        leader, chances = self._leader(objective), self._chances
        plan = self.plan(neighbours=objective.neighbours)
        receipt = plan.charge(budget)
        found = coins.reveal(leader, chances)
        answer = () if found is None else (objective.candidates[found],)
        return Release(answer=answer, plan=plan, exact=True).recorded(receipt)

    @np.errstate(all="ignore")
    def _leader(self, objective: Objective) -> tuple[int, int]:
        """Return the position of the best candidate and its lead in whole steps; private."""
        from dpselect.draws.grid import SENSITIVITY, to_grid

        _validate.instance("objective", objective, Objective)
        if len(objective) < 2:
            raise ParameterError("a lead needs at least two candidates")
        steps = to_grid(scaling.pairwise(objective))
        best = int(steps.argmax())
        # A neighbour step moves a score on the grid by at most SENSITIVITY. Three steps of the
        # grid are more than the rounding of two scores of different leaders.
        return best, -(-max(int(steps[best]) - 3, 0) // SENSITIVITY)
