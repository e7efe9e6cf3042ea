"""The most common keys of an unknown domain, by noisy counts above a threshold.

All keys that there are get noise on their counts, those below a threshold are dropped, and the
largest of the noisy counts are released with their keys. The choice of the largest looks at
noisy counts alone, so it costs nothing; in groups the keys are pairs of a group and a key, and
every group has its own largest.

Guarantee:
    That of ``Keys`` of the pairs by the same noise: a key that a single person has passes the
    threshold with a probability that delta pays for.

Source: Korolova, Kenthapadi, Mishra and Ntoulas, WWW 2009.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dpselect import validation
from dpselect.errors import ParameterError
from dpselect.keys.counts import KeyCounts, PeoplePerKey
from dpselect.keys.parts import Parts, largest
from dpselect.keys.question import Question, changed_keys, checked_delta
from dpselect.keys.release import Chances, KeyRelease
from dpselect.keys.rest import Rest, price_of, without
from dpselect.keys.selection import (
    LARGEST_EPSILON,
    GaussianSelection,
    LaplaceSelection,
    selection_with_counts,
)
from dpselect.neighbours import Neighbours
from dpselect.plan import Plan

if TYPE_CHECKING:
    from dpselect.keys.top import TopKeys

MOST = 10**8
"""Keys of a release, at most."""


@dataclass(frozen=True, kw_only=True)
class TopAboveThreshold(KeyCounts):
    """The public inputs of the draw.

    Attributes:
        selection: How each key is selected.
        k: How many keys are released, of each group.
    """

    selection: LaplaceSelection | GaussianSelection
    k: int

    def drawing(self, people: PeoplePerKey) -> Callable[[Plan], KeyRelease]:
        parts = Parts.of(people, self.question)
        return parts.drawing(self.selection, largest(self.k), rest=self.rest)

    def chances(self) -> tuple[Chances, ...]:
        """Return the chances of a key to pass the threshold."""
        return (Chances("a value", self.selection.probabilities),)


def above_threshold(
    asked: TopKeys, question: Question, relation: Neighbours
) -> TopAboveThreshold:
    """Return the design of a release without candidates.

    Raises:
        ParameterError: A field is out of its range, or for public candidates.
    """
    for name in ("above", "groups_share", "counts_share", "mechanism"):
        if getattr(asked, name) != getattr(type(asked), name):
            raise ParameterError(
                f"`{name}` is for public `candidates`: list these, or leave it out; without "
                "them the largest of all noisy counts are released"
            )
    if asked.k is None:
        raise ParameterError("without `candidates` give `k`, or see dp.Keys")
    epsilon = validation.positive("epsilon", asked.epsilon)
    validation.within("epsilon", epsilon, 0, LARGEST_EPSILON)
    delta = checked_delta(asked.delta)
    changed = changed_keys(question.max_per_user, relation)
    rest = Rest.of(asked, epsilon, changed)
    selection = selection_with_counts(without(epsilon, rest), delta, changed)
    k = validation.at_least("k", asked.k, 1, MOST)
    of_each = " of each group" if question.by is not None else ""
    return TopAboveThreshold(
        plan=Plan(
            mechanism=f"{selection.label}, then the {k} largest{of_each}",
            spends=(*selection.spends(), *price_of(rest)),
            epsilon=epsilon,
            delta=delta,
            neighbours=relation,
            public=(*["the groups"] * bool(question.groups), "k"),
            passes=1,
        ),
        question=question,
        rest=rest,
        selection=selection,
        k=k,
    )
