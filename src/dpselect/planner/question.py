"""A choice to plan for: its mechanisms, and what each does at an epsilon."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple

from dpselect import _validate
from dpselect.budget.zcdp import rho_of_pure
from dpselect.mechanisms import by_name
from dpselect.neighbours import Neighbours
from dpselect.typing import Probabilities, Values

OF_ONE = ("permute-and-flip", "exponential", "noisy-max")


class Outcome(NamedTuple):
    """What one mechanism does at one epsilon."""

    success: float
    """Probability."""

    error: float
    """Expected, in the unit of the question."""


class Question(ABC):
    """A choice to plan for; as private as the data in it, which should be public."""

    unit: str
    """Of errors."""

    people: float | None
    """How many people the data are of; None if they cannot be scaled."""

    neighbours: Neighbours
    """The relation that epsilons are stated for; its name is taken, too."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "neighbours", _validate.neighbours(self.neighbours))

    @property
    @abstractmethod
    def mechanisms(self) -> tuple[str, ...]:
        """The mechanisms that can be compared, the usual one first."""

    @abstractmethod
    def outcome(self, mechanism: str, *, epsilon: float) -> Outcome:
        """Return the probability of success and the expected error of a mechanism."""

    def success(self, mechanism: str, *, epsilon: float) -> float:
        """Return the probability of success alone."""
        return self.outcome(mechanism, epsilon=epsilon).success

    def rho(self, mechanism: str, *, epsilon: float) -> float:
        """Return what a release costs under zCDP."""
        name = mechanism.split(",", maxsplit=1)[0]
        if name in {*OF_ONE, "local-dampening", "shifted", "generalized"}:
            return by_name(name, epsilon).draws_by.rho(epsilon)
        return rho_of_pure(epsilon)


def outcome_of(law: Probabilities, gaps: Values, within: float) -> Outcome:
    """Return the probability of a gap of at most ``within``, and the mean gap."""
    near = gaps <= within * (1 + 2.0**-40)
    return Outcome(float(law[near].sum()), float(law @ gaps))
