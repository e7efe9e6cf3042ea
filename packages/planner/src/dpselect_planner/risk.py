"""Risk to one individual, of one release or of several."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, inf

from dpselect.extend import epsilon_of, rho_of_pure, validation
from dpselect_planner.questions import Question


@dataclass(frozen=True, slots=True)
class Risk:
    r"""Bounds on what an adversary can learn about one individual from several releases.

    One neighbour step is protected: under add/remove whether a person is in the data, under
    substitution the values of a person. For a person who is known to be in the data, a change
    of their values is two steps of add/remove, and is protected half as much. All bounds hold
    except with probability ``delta`` and the deltas of the releases themselves.

    Attributes:
        releases: Number of releases.
        sum: Sum of their epsilons, which holds with a delta of 0.
        zcdp: The epsilon of their composition under zCDP, at ``delta``.
        delta: For ``zcdp``.
        epsilon: The smaller of the two.
        odds: Largest factor by which the odds between two neighbouring data sets can change.
        posterior: Largest posterior probability of one of two neighbouring data sets, from a
            prior of one half.
        of_value: The same for two data sets that are two steps apart: under add/remove, for the
            values of a person who is known to be in the data.
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
        question: The question that is released each time; by default any pure release.
        releases: Number of releases.
        epsilon: Epsilon of one release, in nats.
        delta: Delta for composition by zCDP; with 0, epsilons add up.
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
