"""Design of a private search: all that is decided before the data are read, and its plan."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dpselect.budget.zcdp import rho_of_pure
from dpselect.errors import ParameterError
from dpselect.mechanisms import Mechanism
from dpselect.neighbours import Neighbours
from dpselect.plan import ROUNDING, Plan, Spend
from dpselect.tuning.best import plan_best
from dpselect.tuning.repetitions import Repetitions


@dataclass(frozen=True)
class Design:
    """A search whose public arguments were checked.

    Attributes:
        function: The name of the searching class.
        epsilon: Of the whole search.
        each: Of one fit.
        candidates: Unfitted estimators with that epsilon.
        repetitions: The law of the number of runs; None where every candidate is fitted once.
        mechanism: The choice among candidates that were all fitted.
        neighbours: The estimators' relation.
        share: The share of records for validation; None if candidates release a score.
    """

    function: str
    epsilon: float
    each: float
    candidates: tuple[Any, ...]
    repetitions: Repetitions | None
    mechanism: Mechanism
    neighbours: Neighbours
    share: float | None

    @property
    def plan(self) -> Plan:
        """The price of the search."""
        parts = (
            "the score is part of the fit's price"
            if self.share is None
            else "a record is for fitting or for validation, so the two are parallel"
        )
        if self.repetitions is not None:
            best = plan_best(
                repetitions=self.repetitions,
                epsilon_per_run=self.each,
                neighbours=self.neighbours,
            )
            mechanism = f"best of {self.repetitions!r}, each run at {self.each:.6g}"
            spends, composition = best.spends, f"{best.composition}; in a run {parts}"
        else:
            mechanism = f"{self._choice} of {self._number} candidates, each at {self.each:.6g}"
            spends = (Spend("all fits, and the choice", self.epsilon, rho=self._rho_of_all),)
            composition = f"the prices of the fits add up; {parts}"
        claims = ["the grid and all that the estimator declares public"]
        if self.neighbours is Neighbours.SUBSTITUTE:
            claims.append("the number of records")
        return Plan(
            function=self.function,
            arguments={
                "estimator": type(self.candidates[0]).__name__,
                "candidates": self._number,
                "validation_share": self.share,
            },
            mechanism=mechanism,
            spends=spends,
            epsilon=self.epsilon,
            neighbours=self.neighbours,
            public=tuple(claims),
            composition=composition,
        )

    @property
    def _number(self) -> int:
        return len(self.candidates)

    @property
    def _choice(self) -> str:
        return "the largest released score" if self.share is None else repr(self.mechanism)

    @property
    def _rho_of_all(self) -> float:
        fits = self._number * rho_of_pure(self.each)
        return fits if self.share is None else max(fits, self.mechanism.spend("").rho_of_all)


def check_plan(plan: Plan, epsilon: float, relation: Neighbours) -> None:
    """Check that a candidate costs no more than its share."""
    if plan.epsilon > epsilon * (1 + ROUNDING) or plan.delta > 0:
        raise ParameterError(
            f"a candidate's plan states epsilon = {plan.epsilon!r} and delta = {plan.delta!r}; "
            f"the search allows {epsilon!r} and 0"
        )
    if plan.neighbours is not relation:
        raise ParameterError(
            f"a candidate's plan is for {plan.neighbours} neighbours, the search for {relation}"
        )
    if plan.arguments.get("user") is not None:
        raise ParameterError(
            "the search divides and scores records one by one, and a candidate's plan protects "
            "persons of several: leave out user and max_per_user"
        )
