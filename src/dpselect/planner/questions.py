"""Questions about counts, scores and percentiles: the law of what is drawn.

Every question has mechanisms by name, and for each of them at an epsilon a probability of
success and an error in the user's units. Data with people can be scaled: the same shares of
more or fewer people.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dpselect import _validate
from dpselect.draws import rounds
from dpselect.errors import ParameterError
from dpselect.mechanisms import ExponentialMechanism, NoisySequence, by_name
from dpselect.neighbours import Neighbours
from dpselect.objective import Objective
from dpselect.percentiles.choosing import chosen
from dpselect.percentiles.laws import laws_of_halves, sorted_laws
from dpselect.percentiles.methods import Recursive
from dpselect.percentiles.objectives import by_rank
from dpselect.percentiles.ranks import Ranks
from dpselect.planner.question import OF_ONE, Outcome, Question, outcome_of
from dpselect.sensitivity import ElementSensitivity, GlobalSensitivity
from dpselect.typing import Probabilities, Scores, Values


@dataclass(frozen=True, kw_only=True)
class MostCommon(Question):
    """The option that most people have, or the ``k`` that most have.

    Success is the option with the largest count, or one that at most ``within`` people fewer
    have; of several all ``k`` right ones, of equal counts the earlier.

    Attributes:
        counts: People who have each option, one option a person; public.
        k: How many are released.
        within: In people.
        neighbours: ``add-remove`` or ``substitute``.
    """

    counts: Scores
    k: int = 1
    within: float = 0.0
    neighbours: Neighbours
    unit = "people"

    def __post_init__(self) -> None:
        super().__post_init__()
        _validate.table_neighbours(self.neighbours)
        if not 1 <= self.k <= self.counts.size:
            raise ParameterError("k must be from 1 to the number of options")

    @property
    def people(self) -> float:  # type: ignore[override]
        return float(self.counts.sum())

    def of(self, people: float) -> MostCommon:
        """Return the question for as many people with the same shares."""
        return replace(self, counts=self.counts * (people / self.people))

    @property
    def mechanisms(self) -> tuple[str, ...]:
        return OF_ONE if self.k == 1 else ("exponential", "noisy-sequence")

    def law(self, mechanism: str, *, epsilon: float) -> Probabilities:
        """Return the probability of each option to be released; NaN where not computed."""
        if self.k == 1:
            return by_name(mechanism, epsilon).probabilities(self._objective)
        if mechanism == "exponential":
            return rounds.included(self._unit_scores, epsilon, self.k)
        law = NoisySequence(epsilon=epsilon).inclusion(self._rounded, self.k)
        return np.full(self.counts.size, np.nan) if law is None else law

    @np.errstate(all="ignore")
    def outcome(self, mechanism: str, *, epsilon: float) -> Outcome:
        law = self.law(mechanism, epsilon=epsilon)
        if self.k == 1:
            return outcome_of(law, self.counts.max() - self.counts, self.within)
        error = float((self.counts[self._best].sum() - law @ self.counts) / self.k)
        return Outcome(self.success(mechanism, epsilon=epsilon), error)

    @np.errstate(all="ignore")
    def success(self, mechanism: str, *, epsilon: float) -> float:
        if self.k == 1:
            return self.outcome(mechanism, epsilon=epsilon).success
        if mechanism == "exponential":
            return rounds.all_before(self._unit_scores, epsilon, self._best)
        return NoisySequence(epsilon=epsilon).set_probability(self._rounded, self._best)

    @cached_property
    def _best(self) -> NDArray[np.bool_]:
        best = np.zeros(self.counts.size, dtype=bool)
        best[np.argsort(-self.counts, kind="stable")[: self.k]] = True
        return best

    def rho(self, mechanism: str, *, epsilon: float) -> float:
        if mechanism == "noisy-sequence":
            sequence = NoisySequence(epsilon=epsilon).for_objective(self._rounded)
            return sequence.spend(mechanism).rho_of_all
        return self.k * super().rho(mechanism, epsilon=epsilon / self.k)

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
        bound: What one individual changes of a score at most.
        bounds: The same for each candidate, if they differ; then ``bound`` is the largest.
        local: The same at distances 0, 1, ... from these data; ``bound`` beyond.
        monotone: Whether all scores move in one direction.
        within: In score units.
        neighbours: What one individual is.
        unit: Of the scores.
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

    def law(self, mechanism: str, *, epsilon: float) -> Probabilities:
        """Return the probability of each candidate to be released."""
        objective = self._with_bounds if mechanism == "generalized" else self._objective
        if mechanism in {"local-dampening", "shifted"}:
            objective = self._with_local
        return by_name(mechanism, epsilon).probabilities(objective)

    def outcome(self, mechanism: str, *, epsilon: float) -> Outcome:
        gaps = self.scores.max() - self.scores
        return outcome_of(self.law(mechanism, epsilon=epsilon), gaps, self.within)

    @cached_property
    def _objective(self) -> Objective:
        return Objective(
            self.scores, GlobalSensitivity(self._most, self.neighbours), monotone=self.monotone
        )

    @cached_property
    def _with_bounds(self) -> Objective:
        assert self.bounds is not None  # noqa: S101 -- else it is not among the mechanisms
        return Objective(self.scores, GlobalSensitivity(self.bounds, self.neighbours))

    @cached_property
    def _with_local(self) -> Objective:
        sensitivity = ElementSensitivity(
            self.local.__getitem__, self._most, len(self.local), self.neighbours
        )
        return Objective(self.scores, sensitivity, direction="non-decreasing")

    @property
    def _most(self) -> float:
        return self.bound if self.bounds is None else float(self.bounds.max())


@dataclass(frozen=True, kw_only=True)
class Percentile(Question):
    """A public value near a percentile of private numbers, or several.

    Success is a value within ``within`` of the one that is best without noise; of several the
    least likely of these counts, and their mean error.

    Attributes:
        values: The different numbers, ascending; public.
        counts: How many people have each.
        candidates: The values that may be released, ascending.
        p: The percentiles, ascending.
        within: In the unit of the values.
        neighbours: ``add-remove`` or ``substitute``.
        unit: Of the values.
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

    def of(self, people: float) -> Percentile:
        """Return the question for as many people with the same shares."""
        return replace(self, counts=self.counts * (people / self.people))

    @property
    def mechanisms(self) -> tuple[str, ...]:
        if len(self.p) == 1:
            return OF_ONE
        return (
            "exponential, recursive", "permute-and-flip, one-by-one",
            "exponential, one-by-one",
        )  # fmt: skip

    def laws(self, mechanism: str, *, epsilon: float) -> Probabilities:
        """Return the probability of each candidate, a row for each percentile."""
        name, _, method = mechanism.partition(", ")
        if method == "recursive":
            return laws_of_halves(self._recursion(name, epsilon), self._ranks)
        each = by_name(name, epsilon / len(self.p))
        return sorted_laws(
            self.candidates, [each.probabilities(one) for one in self._objectives]
        )

    def rho(self, mechanism: str, *, epsilon: float) -> float:
        name, _, method = mechanism.partition(", ")
        if method == "recursive":
            spends = self._recursion(name, epsilon).spends
            return sum(spend.rho_of_all for spend in spends)
        times = len(self.p)
        return times * super().rho(name, epsilon=epsilon / times)

    def _recursion(self, name: str, epsilon: float) -> Recursive:
        drawn = chosen(
            percents=self.p,
            points=self.candidates,
            method="recursive",
            per_user=1,
            assumed_records=None,
            epsilon=epsilon,
            neighbours=self.neighbours,
            mechanism=name,
        )
        assert isinstance(drawn, Recursive)  # noqa: S101 -- for type checkers
        return drawn

    def outcome(self, mechanism: str, *, epsilon: float) -> Outcome:
        rows = self.laws(mechanism, epsilon=epsilon)
        each = [
            outcome_of(law, gaps, self.within)
            for law, gaps in zip(rows, self._distances, strict=True)
        ]
        mean = sum(one.error for one in each) / len(each)
        return Outcome(min(one.success for one in each), mean)

    @cached_property
    def _objectives(self) -> list[Objective]:
        return [
            by_rank(self._ranks, p=one, points=self.candidates, neighbours=self.neighbours)
            for one in self.p
        ]

    @cached_property
    def _distances(self) -> list[Values]:
        """How far each candidate is from the nearest that is best, for each percentile."""
        found = []
        for objective in self._objectives:
            best = self.candidates[objective.scores == objective.scores.max()]
            found.append(np.abs(self.candidates[:, None] - best).min(axis=1))
        return found

    @cached_property
    def _ranks(self) -> Ranks:
        held = self.counts > 0
        upto = np.concatenate([[0.0], np.cumsum(self.counts[held])])
        ends = np.concatenate([[-np.inf], self.values[held], [np.inf]])
        left = np.searchsorted(self.values[held], self.candidates, side="left")
        right = np.searchsorted(self.values[held], self.candidates, side="right")
        return Ranks(
            below=upto[left],
            upto=upto[right],
            nearest_below=ends[left],
            nearest_above=ends[right + 1],
            numbers=round(self.people),
            missing=0,
        )
