"""All that is decided of a release of the set of keys before the data are read."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass

from dpselect import _validate
from dpselect.categories.asked import (
    Missing,
    Question,
    asked_question,
    changed_keys,
    checked_delta,
)
from dpselect.categories.counts import PeoplePerKey
from dpselect.categories.laws import KeyLaw, KeyMethod, law_of
from dpselect.categories.release import KeyRelease
from dpselect.categories.weighted import WeightedLaw
from dpselect.errors import ParameterError
from dpselect.neighbours import NeighboursLike
from dpselect.passes import Pass
from dpselect.plan import Plan
from dpselect.typing import Indices

MOST_PEOPLE = 2**53
"""Limit of ``min_people``."""


@dataclass(frozen=True, slots=True)
class KeysDesign:
    """All that is decided before the data are read."""

    plan: Plan
    question: Question
    law: KeyLaw | WeightedLaw
    min_people: int

    def drawing(self, people: PeoplePerKey) -> Callable[[], KeyRelease]:
        """Return the draw of the keys, after the reading."""
        if isinstance(self.law, WeightedLaw):
            keys = self.law.drawing(people)
            return lambda: KeyRelease(answer=_sorted(keys()), plan=self.plan, exact=True)
        law, counted = self.law, people.from_count(self.min_people)

        def draw() -> KeyRelease:
            held, noisy = law.select(above_least(counted.people, self.min_people))
            places = held.nonzero()[0]
            released = counted.keys_at(places)
            counts = None
            if noisy is not None:
                noisy_of = dict(
                    zip(released, (noisy[places] + self.min_people - 1).tolist(), strict=True)
                )
                counts = tuple(noisy_of[key] for key in _sorted(released))
            return KeyRelease(
                answer=_sorted(released),
                plan=self.plan,
                exact=True,
                counts=counts,
                scale=getattr(law, "scale", None),
            )

        return draw


def _passes(law: KeyLaw | WeightedLaw, least: int) -> tuple[Pass, ...]:
    if isinstance(law, WeightedLaw):
        each = Pass("one for each value and number of values that a person has")
        return (each,) * len(law.rounds)
    of_many = f" of at least {least} people" if least > 1 else ""
    return (Pass(f"one for each value{of_many}"),)


def _sorted(keys: Iterable[Hashable]) -> tuple[Hashable, ...]:
    return tuple(sorted(keys, key=str))


def above_least(people: Indices, least: int) -> Indices:
    """Return by how much counts exceed the one below the least, which no key has less than.

    One person changes this by at most 1, as the count itself.
    """
    excess: Indices = (people - (least - 1)).clip(min=0)
    return excess


def design_keys(  # noqa: PLR0913 -- the public arguments
    *,
    column: str | Sequence[str] | None,
    user: str | None,
    max_per_user: int | None,
    method: KeyMethod | None,
    min_people: int,
    missing: Missing,
    epsilon: float,
    delta: float,
    neighbours: NeighboursLike,
) -> KeysDesign:
    """Return the plan of a release and the law of its draws.

    Raises:
        ParameterError, NeighboursError: As for :func:`~dpselect.categories.plan_keys`.
    """
    question = asked_question(
        column=column, user=user, max_per_user=max_per_user, missing=missing
    )
    relation = _validate.table_neighbours(neighbours)
    epsilon, delta = _validate.positive("epsilon", epsilon), checked_delta(delta)
    least = _validate.at_least("min_people", min_people, 1, MOST_PEOPLE)
    changed = changed_keys(question.max_per_user, relation)
    persons = changed // question.max_per_user
    law = law_of(method, epsilon, delta, changed, persons=persons)
    if isinstance(law, WeightedLaw) and least > 1:
        raise ParameterError("min_people is for methods that count people: leave it out")
    plan = Plan(
        function="release_keys",
        arguments={
            "column": list(question.columns) or None,
            "user": user,
            "max_per_user": max_per_user,
            "method": law.name,
            "min_people": least,
            "missing": missing,
        },
        mechanism=law.label,
        spends=law.spends(),
        epsilon=epsilon,
        delta=delta,
        neighbours=relation,
        public=("the least number of people",) if least > 1 else (),
        passes=_passes(law, least),
    )
    return KeysDesign(plan, question, law, least)
