"""Risk to one individual, of one release or of several."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, inf

from dpselect import validation
from dpselect.budget.zcdp import epsilon_of, rho_of_pure
from dpselect_planner.questions import Question


@dataclass(frozen=True, slots=True)
class Risk:
    r"""What releases together let an adversary learn about one individual.

    One neighbour step is protected: under add/remove whether somebody is in the data, under
    substitution what somebody says. What a person *says* who is known to be there is two steps
    of add/remove, and is protected by half as much. All of it is apart from ``delta``, and from
    the deltas of the releases themselves.

    Attributes:
        releases: How many there are.
        sum: Their epsilons added up, which holds with a delta of 0.
        zcdp: The epsilon of their composition under zCDP, at ``delta``.
        delta: For ``zcdp``.
        epsilon: The smaller of the two.
        odds: The factor by which the odds of two neighbouring data sets change at most.
        posterior: What a belief of one half in one of two neighbouring data sets can become at
            most.
        of_value: The same of two data sets that are two steps apart: under add/remove, of what
            a person says who is known to be there.
    """

    releases: int
    sum: float
    zcdp: float
    delta: float

    @property
    def epsilon(self) -> float:
        return min(self.sum, self.zcdp)

    @property
    def odds(self) -> float:
        return exp(self.epsilon) if self.epsilon < 700 else inf

    @property
    def posterior(self) -> float:
        return 1 / (1 + exp(-self.epsilon))

    @property
    def of_value(self) -> float:
        return 1 / (1 + exp(-2 * self.epsilon))


def risk_of(
    question: Question | None = None,
    *,
    releases: int = 1,
    epsilon: float,
    delta: float = 0.0,
    mechanism: str = "",
) -> Risk:
    """Return the risk of several releases at the same epsilon.

    Args:
        question: What is released each time; any pure release if not given.
        releases: How many.
        epsilon: Epsilon of one release, in nats.
        delta: That composition by zCDP may fail with; without, epsilons add up.
        mechanism: One of the question's.

    Examples:
        >>> from dpselect_planner import risk_of
        >>> risk = risk_of(epsilon=0.3, releases=5, delta=1e-6)
        >>> risk.sum, round(risk.posterior, 3), round(risk.of_value, 3)
        (1.5, 0.818, 0.953)
    """
    each = validation.positive("epsilon", epsilon)
    times = validation.at_least("releases", releases, 1)
    delta = validation.within("delta", delta, 0, 1)
    rho = rho_of_pure(each) if question is None else question.rho(mechanism, epsilon=each)
    return Risk(times, times * each, epsilon_of(times * rho, delta) if delta else inf, delta)
