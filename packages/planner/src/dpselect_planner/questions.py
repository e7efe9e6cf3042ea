"""Choices to plan for, with the exact distribution of the draw.

Every question has mechanisms by name, and for each of them at an epsilon a probability of
success and an error in the user's units. Data with people can be scaled: the same shares of
more or fewer people. A question is as private as the data in it, which should be public.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import dpselect as dp
from dpselect import Neighbours, Objective
from dpselect.errors import ParameterError
from dpselect.extend import (
    SLACK,
    Probabilities,
    Scores,
    Values,
    by_rank,
    counts_at,
    places_of,
    rho_of_pure,
    validation,
)
from dpselect.mechanisms import ExponentialMechanism, NoisySequence, by_name
from dpselect.sensitivity import ElementSensitivity, GlobalSensitivity
from dpselect_planner import clocks

OF_ONE = ("permute-and-flip", "exponential", "noisy-max")

GAUSSIAN_FROM = 4
"""Keys of a person from which on Gaussian noise can be the best."""


class Outcome(NamedTuple):
    """Success and error of one mechanism at one epsilon."""

    success: float
    """Probability."""

    error: float
    """Expected, in the unit of the question."""


class Question(ABC):
    """A choice to plan for."""

    unit: str
    """Of errors."""

    people: float | None
    """How many people the data are of; None if they cannot be scaled."""

    neighbours: Neighbours
    """The relation that epsilons are stated for; its name is taken, too."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "neighbours", validation.neighbours(self.neighbours))

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

    def rho(self, mechanism: str, *, epsilon: float) -> float:  # noqa: ARG002 -- any
        """Return the price of a release under zCDP."""
        return rho_of_pure(epsilon)


def outcome_of(law: Probabilities, gaps: Values, within: float) -> Outcome:
    """Return the probability of a gap of at most ``within``, and the mean gap."""
    near = gaps <= within * (1 + SLACK)
    return Outcome(float(law[near].sum()), float(law @ gaps))


@dataclass(frozen=True, kw_only=True)
class MostCommon(Question):
    """The option that most people have, or the ``k`` that most have.

    Success is the option with the largest count, or one with at most ``within`` people fewer;
    for several options, all ``k`` right ones. Of equal counts the earlier one is right.

    Attributes:
        counts: People who have each option, one option a person; public.
        k: Number of released options.
        within: Largest shortfall of a success, in people.
        neighbours: ``add-remove`` or ``substitute``.
    """

    counts: Scores
    k: int = 1
    within: float = 0.0
    neighbours: Neighbours
    unit = "people"

    def __post_init__(self) -> None:
        super().__post_init__()
        validation.table_neighbours(self.neighbours)
        if not 1 <= self.k <= self.counts.size:
            raise ParameterError("`k` must be from 1 to the number of options")

    @property
    def people(self) -> float:  # type: ignore[override]
        return float(self.counts.sum())

    def scaled_to(self, people: float) -> MostCommon:
        """Return the question for another number of people with the same shares."""
        return replace(self, counts=self.counts * (people / self.people))

    @property
    def mechanisms(self) -> tuple[str, ...]:
        return OF_ONE if self.k == 1 else ("exponential", "noisy-sequence")

    def probabilities(self, mechanism: str, *, epsilon: float) -> Probabilities:
        """Return the probability that each option is released; NaN where not computed."""
        if self.k == 1:
            return by_name(mechanism, epsilon).probabilities(self._objective)
        if mechanism == "exponential":
            return clocks.included(self._unit_scores, epsilon, self.k)
        law = NoisySequence(epsilon=epsilon).inclusion(self._rounded, self.k)
        return np.full(self.counts.size, np.nan) if law is None else law

    @np.errstate(all="ignore")
    def outcome(self, mechanism: str, *, epsilon: float) -> Outcome:
        law = self.probabilities(mechanism, epsilon=epsilon)
        if self.k == 1:
            return outcome_of(law, self.counts.max() - self.counts, self.within)
        error = float((self.counts[self._best].sum() - law @ self.counts) / self.k)
        return Outcome(self.success(mechanism, epsilon=epsilon), error)

    @np.errstate(all="ignore")
    def success(self, mechanism: str, *, epsilon: float) -> float:
        if self.k == 1:
            return self.outcome(mechanism, epsilon=epsilon).success
        if mechanism == "exponential":
            return clocks.all_before(self._unit_scores, epsilon, self._best)
        return NoisySequence(epsilon=epsilon).set_probability(self._rounded, self._best)

    def rho(self, mechanism: str, *, epsilon: float) -> float:
        top = dp.TopKeys(
            k=self.k,
            candidates=range(self.counts.size),
            epsilon=epsilon,
            neighbours=self.neighbours,
            mechanism=mechanism,
        )
        return top.plan.rho

    @cached_property
    def _best(self) -> NDArray[np.bool_]:
        best = np.zeros(self.counts.size, dtype=bool)
        best[np.argsort(-self.counts, kind="stable")[: self.k]] = True
        return best

    @cached_property
    def _objective(self) -> Objective:
        relation = self.neighbours
        monotone = relation is Neighbours.ADD_REMOVE
        sensitivity = GlobalSensitivity(1, relation, l1=1 if monotone else 2)
        return Objective(self.counts, sensitivity, monotone=monotone)

    @property
    def _unit_scores(self) -> Scores:
        return ExponentialMechanism(epsilon=1).unit_scores(self._objective)

    @property
    def _rounded(self) -> Objective:
        whole = np.floor(self.counts + 0.5).astype(np.int64)
        return Objective(whole, self._objective.sensitivity, step=1)


@dataclass(frozen=True, kw_only=True)
class BestScore(Question):
    """The candidate of the best score.

    Success is a score that is at most ``within`` below the best.

    Attributes:
        scores: One for each candidate; public.
        bound: Largest change of a score by one individual.
        bounds: The same for each candidate, if they differ; then ``bound`` is the largest.
        local: The same at distances 0, 1, ... from these data; ``bound`` beyond.
        monotone: Whether all scores move in one direction.
        within: Largest shortfall of a success, in score units.
        neighbours: The neighbour relation.
        unit: Unit of the scores.
    """

    scores: Scores
    bound: float = 1.0
    bounds: Values | None = None
    local: tuple[Values, ...] = ()
    monotone: bool = False
    within: float = 0.0
    neighbours: Neighbours
    unit: str = "score units"
    people: None = None

    @property
    def mechanisms(self) -> tuple[str, ...]:
        more = () if self.bounds is None else ("generalized",)
        return (*OF_ONE, *more, *(("local-dampening", "shifted") if self.local else ()))

    def probabilities(self, mechanism: str, *, epsilon: float) -> Probabilities:
        """Return the probability that each candidate is released."""
        return by_name(mechanism, epsilon).probabilities(self._objective(mechanism))

    def outcome(self, mechanism: str, *, epsilon: float) -> Outcome:
        gaps = self.scores.max() - self.scores
        return outcome_of(self.probabilities(mechanism, epsilon=epsilon), gaps, self.within)

    def rho(self, mechanism: str, *, epsilon: float) -> float:
        return by_name(mechanism, epsilon).spend(mechanism).rho_of_all

    def _objective(self, mechanism: str) -> Objective:
        if mechanism == "generalized" and self.bounds is not None:
            return Objective(self.scores, GlobalSensitivity(self.bounds, self.neighbours))
        most = self.bound if self.bounds is None else float(self.bounds.max())
        if mechanism in {"local-dampening", "shifted"}:
            local = ElementSensitivity(
                self.local.__getitem__,
                most,
                self.neighbours,
                horizon=len(self.local),
            )
            return Objective(self.scores, local, direction="non-decreasing")
        sensitivity = GlobalSensitivity(most, self.neighbours)
        return Objective(self.scores, sensitivity, monotone=self.monotone)


@dataclass(frozen=True, kw_only=True)
class Percentile(Question):
    """A public value near a percentile of private numbers, or several.

    Success is a value within ``within`` of the best one without noise. For several percentiles,
    the smallest of their probabilities and their mean error are taken.

    Attributes:
        values: The different numbers, ascending; public.
        counts: Number of people who have each.
        candidates: The values that may be released, ascending.
        p: The percentiles, ascending.
        within: Largest distance of a success, in the unit of the values.
        neighbours: ``add-remove`` or ``substitute``.
        unit: Unit of the values.
    """

    values: Values
    counts: Values
    candidates: Values
    p: tuple[float, ...]
    within: float = 0.0
    neighbours: Neighbours
    unit: str = "units"

    @property
    def people(self) -> float:  # type: ignore[override]
        return float(self.counts.sum())

    def scaled_to(self, people: float) -> Percentile:
        """Return the question for another number of people with the same shares."""
        return replace(self, counts=self.counts * (people / self.people))

    @property
    def mechanisms(self) -> tuple[str, ...]:
        return OF_ONE[:1]

    def query(self, *, epsilon: float) -> dp.Percentiles:
        """Return the query, whose noisy number of records may choose a nearer method."""
        return dp.Percentiles(
            p=self.p, candidates=self.candidates, epsilon=epsilon, neighbours=self.neighbours
        )

    def probabilities(self, mechanism: str, *, epsilon: float) -> Probabilities:
        """Return the probability of each candidate by rank, a row for each percentile."""
        each = by_name(mechanism, epsilon / len(self.p))
        return sorted_laws([each.probabilities(one) for one in self._objectives])

    def rho(self, mechanism: str, *, epsilon: float) -> float:  # noqa: ARG002
        return self.query(epsilon=epsilon).plan.rho

    def outcome(self, mechanism: str, *, epsilon: float) -> Outcome:
        rows = self.probabilities(mechanism, epsilon=epsilon)
        each = [
            outcome_of(law, gaps, self.within)
            for law, gaps in zip(rows, self._distances, strict=True)
        ]
        mean = sum(one.error for one in each) / len(each)
        return Outcome(min(one.success for one in each), mean)

    @cached_property
    def _distances(self) -> list[Values]:
        """How far each candidate is from the nearest that is best, for each percentile."""
        found = []
        for scores in (one.scores for one in self._objectives):
            best = self.candidates[scores == scores.max()]
            found.append(np.abs(self.candidates[:, None] - best).min(axis=1))
        return found

    @cached_property
    def _objectives(self) -> list[Objective]:
        """The objective of each percentile."""
        ascending = np.unique(self.candidates)
        places = places_of(ascending, self.values)
        held = np.bincount(places, weights=self.counts, minlength=ascending.size)
        counts = counts_at(held)
        return [
            by_rank(counts, p=p, points=self.candidates, neighbours=self.neighbours)
            for p in self.p
        ]


@dataclass(frozen=True, kw_only=True)
class Keys(Question):
    """Keys with enough people: success is that a key is released.

    Attributes:
        people: Number of people who have the key.
        delta: Delta of the release.
        max_per_user: Maximal number of keys counted per person.
        neighbours: ``add-remove`` or ``substitute``.
    """

    people: float = 1.0
    delta: float
    max_per_user: int = 1
    neighbours: Neighbours
    unit = ""

    @property
    def mechanisms(self) -> tuple[str, ...]:
        relation = validation.table_neighbours(self.neighbours)
        changed = self.max_per_user * (2 if relation is Neighbours.SUBSTITUTE else 1)
        return ("optimal", "laplace", *(("gaussian",) if changed >= GAUSSIAN_FROM else ()))

    def scaled_to(self, people: float) -> Keys:
        """Return the question for a key of another number of people."""
        return replace(self, people=people)

    def query(self, mechanism: str, *, epsilon: float) -> dp.Keys:
        """Return the query of a method."""
        return dp.Keys(
            column="key",
            user="person",
            max_per_user=self.max_per_user,
            method=mechanism,  # type: ignore[arg-type] # checked by the query
            epsilon=epsilon,
            delta=self.delta,
            neighbours=self.neighbours,
        )

    def outcome(self, mechanism: str, *, epsilon: float) -> Outcome:
        query = self.query(mechanism, epsilon=epsilon)
        return Outcome(float(query.probabilities(np.array([int(self.people)]))[0]), np.nan)


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
        return ("optimal", "pure", "ball")

    def query(self, mechanism: str, *, epsilon: float) -> dp.Subset:
        """Return the query of a scheme."""
        return dp.Subset(
            n=self.n,
            d=self.d,
            beta=None if mechanism == "pure" else self.beta,
            scheme=mechanism,  # type: ignore[arg-type] # checked by the query
            epsilon=epsilon,
        )

    def outcome(self, mechanism: str, *, epsilon: float) -> Outcome:
        query = self.query(mechanism, epsilon=epsilon)
        delta = query.delta_at()
        return Outcome(query.accuracy(self.beta) if delta <= self.delta else 0.0, delta)


@dataclass(frozen=True, kw_only=True)
class Response(Question):
    """Randomised response: each person flips their own answer; success is the true answer."""

    neighbours: Neighbours = field(default=Neighbours.SUBSTITUTE, init=False)
    unit = ""
    people = None

    @property
    def mechanisms(self) -> tuple[str, ...]:
        return ("randomised-response",)

    def outcome(self, mechanism: str, *, epsilon: float) -> Outcome:  # noqa: ARG002 -- one
        return Outcome(1 / (1 + float(np.exp(-epsilon))), np.nan)


def sorted_laws(laws: Sequence[Probabilities]) -> Probabilities:
    """Return the distributions of the order statistics of independent draws.

    At least ``i`` values are at or below a candidate: a Poisson binomial probability.

    Args:
        laws: Over the same candidates, which increase.
    """
    counts = np.zeros((len(laws) + 1, laws[0].size))
    counts[0] = 1
    for law in laws:
        below = np.cumsum(law)
        counts[1:] = counts[1:] * (1 - below) + counts[:-1] * below
        counts[0] *= 1 - below
    upto = np.cumsum(counts[:0:-1], axis=0)[::-1]
    return np.diff(upto, axis=1, prepend=0.0)
