"""Questions about sets: of keys, of people, and of the answers of people."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from dpselect import _validate
from dpselect.categories.asked import changed_keys, checked_delta
from dpselect.categories.laws import GaussianLaw, KeyLaw, LaplaceLaw, OptimalLaw
from dpselect.neighbours import Neighbours
from dpselect.planner.question import Outcome, Question
from dpselect.retrieval import SubsetRetrieval

KEY_LAWS: dict[str, type[OptimalLaw | LaplaceLaw | GaussianLaw]] = {
    "optimal": OptimalLaw,
    "laplace": LaplaceLaw,
    "gaussian": GaussianLaw,
}
GAUSSIAN_FROM = 4
"""Keys of a person from which on Gaussian noise can be the best."""


@dataclass(frozen=True, kw_only=True)
class Keys(Question):
    """Which keys there are: success is that a key is shown.

    Attributes:
        people: How many people have the key.
        delta: Of the release.
        max_per_user: How many keys of a person are counted.
        neighbours: ``add-remove`` or ``substitute``.
    """

    people: float = 1.0
    delta: float
    max_per_user: int = 1
    neighbours: Neighbours
    unit = ""

    @property
    def mechanisms(self) -> tuple[str, ...]:
        return (
            "optimal",
            "laplace",
            *(("gaussian",) if self._changed >= GAUSSIAN_FROM else ()),
        )

    def of(self, people: float) -> Keys:
        """Return the question for a key of as many people."""
        return replace(self, people=people)

    def law(self, mechanism: str, *, epsilon: float) -> KeyLaw:
        """Return the law of a method."""
        return KEY_LAWS[mechanism](epsilon, checked_delta(self.delta), self._changed)

    def outcome(self, mechanism: str, *, epsilon: float) -> Outcome:
        law = self.law(mechanism, epsilon=epsilon)
        return Outcome(float(law.probabilities(np.array([int(self.people)]))[0]), np.nan)

    @property
    def _changed(self) -> int:
        return changed_keys(self.max_per_user, _validate.table_neighbours(self.neighbours))


@dataclass(frozen=True, kw_only=True)
class Subset(Question):
    """A subset of people near a private one, under ``swap``.

    Success is at most ``beta`` errors, at an epsilon whose delta is at most ``delta``; the
    error is delta.

    Attributes:
        n: Number of people.
        d: Number of members.
        beta: Errors that are allowed, in swaps.
        delta: The largest delta that is allowed.
    """

    n: int
    d: int
    beta: int
    delta: float
    neighbours: Neighbours = field(default=Neighbours.SWAP, init=False)
    unit = "delta"
    people = None

    @property
    def mechanisms(self) -> tuple[str, ...]:
        return ("optimal", "distance", "ball")

    def retrieval(self, mechanism: str, *, epsilon: float) -> SubsetRetrieval:
        """Return the scheme."""
        asked: dict[str, Any] = {"n": self.n, "d": self.d, "beta": self.beta}
        return SubsetRetrieval(**asked, epsilon=epsilon, scheme=mechanism)  # type: ignore[arg-type]

    def outcome(self, mechanism: str, *, epsilon: float) -> Outcome:
        scheme = self.retrieval(mechanism, epsilon=epsilon)
        delta = scheme.delta(epsilon)
        return Outcome(scheme.accuracy() if delta <= self.delta else 0.0, delta)


@dataclass(frozen=True, kw_only=True)
class Response(Question):
    """Yes or no, each person's answer flipped by that person: success is the true answer."""

    neighbours: Neighbours = field(default=Neighbours.SUBSTITUTE, init=False)
    unit = ""
    people = None

    @property
    def mechanisms(self) -> tuple[str, ...]:
        return ("randomised-response",)

    def outcome(self, mechanism: str, *, epsilon: float) -> Outcome:  # noqa: ARG002 -- one
        return Outcome(1 / (1 + float(np.exp(-epsilon))), np.nan)
