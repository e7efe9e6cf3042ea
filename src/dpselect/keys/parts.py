"""All keys of each group with their people, and what is released of them.

In groups the keys are pairs of a group and a key: a method that releases a key by its own count
alone releases pairs as well, whether groups are public or not. Every group then has its own
order and number of keys, which are functions of what was released.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dpselect.keys.question import Question
from dpselect.keys.release import KeyRelease
from dpselect.keys.selection import KeySelection
from dpselect.plan import Plan
from dpselect.tables.groups import OTHER, NoisyNumbers
from dpselect.typing import Indices

if TYPE_CHECKING:
    from dpselect.keys.reading import Counted, Rows

Order = Callable[[list[Hashable], Indices | None], Sequence[int]]
"""Which of some released keys are shown, by their noisy counts, and in which order."""


@dataclass(frozen=True, eq=False, repr=False)
class Parts:
    """The keys of every group; private.

    Attributes:
        question: What was read.
        parts: Each group, None without groups, with its keys.
    """

    question: Question
    parts: Sequence[tuple[Hashable, Counted]]

    @classmethod
    def of(cls, people: Rows, question: Question, least: int = 1) -> Parts:
        """Return the keys of at least so many people."""
        if not question.by:
            return cls(question, [(None, people.from_count(least))])
        parts = people.in_groups(question.groups, least)
        if question.groups:
            return cls(question, parts)
        return cls(question, sorted(parts, key=lambda part: in_order(part[0])))

    @cached_property
    def people(self) -> Indices:
        """Numbers of people of the keys of all groups, one group after the other."""
        none = np.zeros(0, dtype=np.int64)
        return np.concatenate([none, *(part.people for _, part in self.parts)])

    def drawing(
        self, selection: KeySelection, order: Order, *, rest: NoisyNumbers, least: int = 1
    ) -> Callable[[Plan], KeyRelease]:
        """Return the draw of the keys, and of the rest of each group.

        Args:
            selection: How each key is selected.
            order: Order of the keys of a group.
            least: A key of fewer people is never released; public.
            rest: How the rest is counted.
        """
        hides, by = self.question.hides_groups, self.question.by
        people = above_least(self.people, least)
        ends = np.cumsum([0, *(part.people.size for _, part in self.parts)]).tolist()

        def draw(plan: Plan) -> KeyRelease:
            held, noisy = selection.select(people)
            held &= people > 0
            answer: list[Hashable] = []
            counts: list[int] = []
            groups: list[Hashable] = []
            rests: dict[Hashable, int] = {OTHER: 0} if hides else {}
            for (group, part), (start, end) in zip(self.parts, pairwise(ends), strict=True):
                passed = np.flatnonzero(held[start:end])
                found = part.keys_at(passed)
                of_found = None if noisy is None else noisy[start + passed] + (least - 1)
                shown = np.array(order(found, of_found), dtype=np.int64)
                answer += [found[one] if not by else (group, found[one]) for one in shown]
                counts += [] if of_found is None else of_found[shown].tolist()
                left = int(part.people.sum() - part.people[passed[shown]].sum())
                if hides and not shown.size:
                    rests[OTHER] += left
                    continue
                groups += [group] * bool(by)
                rests[group] = left
            return KeyRelease(
                tuple(answer),
                plan,
                counts=None if noisy is None else tuple(counts),
                scale=getattr(selection, "scale", None),
                groups=tuple(groups) if by else None,
                other=_noisy(rest, rests, groups, hides=hides) if rest else None,
            )

        return draw


def _noisy(
    rest: NoisyNumbers, rests: dict[Hashable, int], groups: list[Hashable], *, hides: bool
) -> tuple[tuple[Hashable, int], ...]:
    which = [*groups, *[OTHER] * hides] if groups or hides else [OTHER]
    return tuple(zip(which, rest.noisy([rests[one] for one in which]), strict=True))


def above_least(people: Indices, least: int) -> Indices:
    """Return ``max(people - (least - 1), 0)``; one person changes it by at most 1."""
    excess: Indices = (people - (least - 1)).clip(min=0)
    return excess


def in_order(key: Hashable) -> tuple[tuple[bool, Any], ...]:
    """Return what keys of one type are sorted by: a missing part is after all others."""
    return tuple((one is None, one) for one in (key if isinstance(key, tuple) else (key,)))


def by_value(keys: list[Hashable], _noisy: Indices | None) -> Sequence[int]:
    """Return the order of the keys themselves."""
    return sorted(range(len(keys)), key=lambda place: in_order(keys[place]))


def largest(k: int) -> Order:
    """Return the order of the largest noisy counts, and of ``k`` of them."""

    def order(_keys: list[Hashable], noisy: NDArray[np.int64] | None) -> Sequence[int]:
        assert noisy is not None  # noqa: S101 -- selections of the largest have counts
        found: list[int] = np.argsort(-noisy, kind="stable")[:k].tolist()
        return found

    return order
