"""The exact best candidate where it leads clearly, and nothing elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from dpselect import Objective, Plan, Query, Release, Spend, scaling
from dpselect.errors import ParameterError
from dpselect.extend import Design, NeighboursLike, Probabilities, query, validation

if TYPE_CHECKING:
    from dpselect.extend import OptimalChances


@query
class StableArgmax(Query[Release[Any]]):
    """The exact best candidate if its lead is clear, or nothing; the data are an objective.

    The lead is the best of the pairwise unit scores (``dpselect.scaling.pairwise``), rounded
    up: no other candidate can lead within fewer neighbour steps. Where several candidates tie
    for the best, there is none. With a lead of ``n`` the best
    is released with the largest probability ``π(n)`` that is (ε, δ)-DP; the number of
    candidates does not matter. The answer has the best candidate, or none.

    Guarantee:
        ``(epsilon, delta)``-DP under ``neighbours``, the relation of the objective's
        sensitivity, if that is admissible (Theorem 49 of ``docs/report``).

    Attributes:
        epsilon: Price of the release, in nats; finite, > 0.
        delta: Delta of the guarantee, far below one over the number of individuals; in (0, 1).
        neighbours: The relation of the objective's sensitivity.

    Source: distance to instability: Thakurta and Smith, COLT 2013; the probabilities:
        Desfontaines et al. 2022, arXiv:2006.03684; with pairwise dampened scores ours.

    Examples:
        >>> import dpselect as dp
        >>> votes = dp.Objective(
        ...     [310, 260, 12], dp.GlobalSensitivity(1, "add-remove"), monotone=True
        ... )
        >>> stable = dp.StableArgmax(epsilon=0.5, delta=1e-6, neighbours="add-remove")
        >>> stable.probabilities(votes).round(3)
        array([1., 0., 0.])
    """

    epsilon: float
    delta: float
    neighbours: NeighboursLike

    def design(self) -> _StableDesign:
        from dpselect.extend import OptimalChances

        epsilon = validation.positive("epsilon", self.epsilon)
        delta = validation.share("delta", self.delta)
        return _StableDesign(
            plan=Plan(
                mechanism=f"StableArgmax(epsilon={epsilon!r}, delta={delta!r})",
                spends=(Spend("the best candidate, or nothing", epsilon, delta=delta),),
                epsilon=epsilon,
                delta=delta,
                neighbours=validation.neighbours(self.neighbours),
            ),
            chances=OptimalChances(epsilon, delta),
        )

    def lead_for(self, probability: float) -> int:
        """Return the least lead with which the best is released with some probability.

        Args:
            probability: In [0, 1].

        Returns:
            In neighbour steps; needs no data.
        """
        from dpselect.extend import BITS

        wanted = validation.within("probability", probability, 0, 1)
        return self.design().chances.least(int(Fraction(wanted) * 2**BITS))

    def probabilities(self, objective: Objective) -> Probabilities:
        """Return the exact distribution of a release.

        Returns:
            Shape ``(n,)``, in the order of the candidates: one probability, and zeros. The
            rest, up to 1, is the probability that nothing is released. As private as the
            scores.
        """
        from dpselect.extend import BITS

        position, lead = leader(objective)
        chances = self.design().chances
        probabilities = np.zeros(len(objective))
        probabilities[position] = chances[min(lead, chances.sure)] / 2**BITS
        return probabilities


@dataclass(frozen=True, kw_only=True)
class _StableDesign(Design[Release[Any]]):
    chances: OptimalChances

    def prepare(self, data: Objective) -> Callable[[Plan], Release[Any]]:
        from dpselect.extend import bernoulli

        objective = validation.instance("data", data, Objective)
        both = (self.plan.neighbours, objective.neighbours)
        validation.one_relation("the release and the objective", both)
        found = leader(objective)

        def drawn(plan: Plan) -> Release[Any]:
            position = bernoulli.reveal(found, self.chances)
            answer = () if position is None else (objective.candidates[position],)
            return Release(answer, plan)

        return drawn


@np.errstate(all="ignore")
def leader(objective: Objective) -> tuple[int, int]:
    """Return the position of the best candidate and its lead in integer steps; private.

    Raises:
        ParameterError: There is one candidate only.
    """
    from dpselect.extend import SENSITIVITY, to_grid

    validation.instance("objective", objective, Objective)
    if len(objective) < 2:
        raise ParameterError("a lead needs at least two candidates")
    steps = to_grid(scaling.pairwise(objective))
    best = int(steps.argmax())
    # Candidates that tie are ahead of each other by the steps for which they do.
    gaps = objective.gaps()
    if np.count_nonzero((gaps.high == 0) & (gaps.low == 0)) > 1:
        return best, 0
    # A neighbour step moves a score on the grid by at most SENSITIVITY. Three steps of the
    # grid are more than the rounding of two scores of different leaders.
    return best, -(-max(int(steps[best]) - 3, 0) // SENSITIVITY)
