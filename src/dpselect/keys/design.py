"""The one design of keys: a selection draws, and what is beside it is released with the answer.

A selection reads the counts and draws the keys of every group. In groups the keys are pairs of
a group and a key: a method that releases a key by its own count alone releases pairs as well,
whether groups are public or not. Every group then has its own order and number of keys, which
are functions of what was released.

Once keys are released, everything that is counted has one place: a released key, or the rest
of its group, or, where groups without a released key are not public either, the rest of all
these groups. One neighbour step moves at most ``m`` of what is counted, so it moves the rests,
numbers of parts that do not overlap, by at most ``m`` together, whatever was released before.
Discrete Laplace noise of scale ``m/ε_2`` on all of them costs ``ε_2``. The noisy total less the
``k`` released noisy counts has their noise besides its own, a variance of ``2 (m/ε_2)^2 +
2 k (m/ε_1)^2`` in place of ``2 (m/ε_2)^2``. So the rest is counted once the keys are known.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from math import ceil, exp, expm1, log
from typing import TYPE_CHECKING, Any, Protocol

from dpselect import validation
from dpselect._optional import np
from dpselect.draws.exact.noisy_counts import check_scale, discrete_laplace, scale_for
from dpselect.errors import ParameterError
from dpselect.keys.release import Chances, KeyRelease
from dpselect.keys.rows import KeyRows, Part, in_order
from dpselect.mechanisms import NoisySequence, TopK
from dpselect.mechanisms.score_intervals import ROUNDING
from dpselect.plan import Plan, Spend
from dpselect.query import Design, Query
from dpselect.tables.groups import OTHER
from dpselect.typing import Indices

if TYPE_CHECKING:
    from dpselect.keys.rows import PersonKeys
    from dpselect.keys.selection import KeySelection
    from dpselect.objective import Facts


REST_SHARE = 0.1
"""Share of epsilon for the number of the rest."""


class Selection(Protocol):
    """How keys are drawn; public."""

    def prepare(self, people: PersonKeys) -> Callable[[], list[Part]]:
        """Read what is counted, and return the draw of all groups."""

    def chances(self) -> tuple[Chances, ...]:
        """Return the chances of what is not public; none if all is."""


@dataclass(frozen=True)
class Rest:
    """Noise on the numbers of what is not released; public.

    Attributes:
        epsilon: Price of all of them together; 0 if they are not asked for.
        scale: Scale of the noise.
    """

    epsilon: float = 0.0
    scale: float = 0.0

    @classmethod
    def of(cls, asked: Any, epsilon: float, changed: int) -> Rest:  # noqa: ANN401 -- a query
        """Return the noise on the rests of a query, of which one step changes so much.

        Raises:
            ParameterError: A field is out of its range, or does not go with another.
        """
        if not asked.other:
            validation.left_out(asked, "other_share", why="goes with `other`: leave it out")
            return cls()
        if asked.missing_keys == "key":
            raise ParameterError(
                "`other` shows the rest as a row without a key, and `missing_keys`='key' has "
                "such a key: give one of the two"
            )
        share = REST_SHARE if asked.other_share is None else asked.other_share
        part = epsilon * validation.share("other_share", share)
        rest = cls(part, scale_for(part, changed))
        check_scale(rest.scale, "other_share")
        return rest

    @property
    def spends(self) -> tuple[Spend, ...]:
        """The price, if there is one."""
        purpose = f"noise of scale {self.scale:.4g} on the number of all other rows"
        return (Spend(purpose, self.epsilon),) if self.epsilon > 0 else ()

    def noisy(self, numbers: Sequence[int]) -> list[int]:
        """Return numbers with noise: a release; none if they are not asked for."""
        if self.epsilon == 0:
            return []
        return [*map(int, discrete_laplace(np.array(numbers, dtype=np.int64), self.scale))]


@dataclass(frozen=True, kw_only=True)
class KeysDesign(Design[KeyRelease]):
    """A release of keys.

    Attributes:
        rows: What is read of the rows.
        selection: How keys are drawn.
        rest: The noise on the number of what is not released.
    """

    rows: KeyRows
    selection: Selection
    rest: Rest = Rest()

    def prepare(self, data: object) -> Callable[[Plan], KeyRelease]:
        return self.drawing(self.rows.read(data))

    def drawing(self, people: PersonKeys) -> Callable[[Plan], KeyRelease]:
        """Return the draw of everything, after the first reading."""
        draw, by = self.selection.prepare(people), bool(self.rows.by)

        def release(plan: Plan) -> KeyRelease:
            every = draw()
            parts = [one for one in every if one.keys is not None]
            pairs = [(one.group, key) for one in parts for key in one.keys or ()]
            noisy = self.rest.noisy([one.left for one in every])
            beside = zip((one.group for one in every), noisy, strict=False)
            scale = every[0].scale if every else None
            return KeyRelease(
                tuple(pairs) if by else tuple(key for _, key in pairs),
                plan,
                counts=None if scale is None else _joined(parts, "counts") or (),
                scale=scale,
                groups=tuple(one.group for one in parts) if by else None,
                other=tuple(beside) or None,
                interval=_joined(parts, "interval"),
                certain=_joined(parts, "certain"),
            )

        return release


class _KeysQuery(Query[KeyRelease], ABC):
    """A query of keys, whose design has the chances of those that are not public."""

    @abstractmethod
    def design(self) -> KeysDesign:
        """Return how keys are drawn."""

    def chances(self) -> tuple[Chances, ...]:
        """Return the exact chances of release of what is not public, by number of people."""
        return self.design().selection.chances()

    def predicted(self) -> dict[str, object]:
        """Return how many people it takes until what is not public is released, in words."""
        least = getattr(self, "min_people", 1)
        said = "\n".join(one.in_words(least) for one in self.chances())
        return {"released": said} if said else {}


def _joined(parts: Sequence[Part], name: str) -> tuple[Any, ...] | None:
    """Return what all parts have, one part after the other; None if they have none."""
    found = [getattr(one, name) for one in parts]
    return None if not found or None in found else tuple(chain.from_iterable(found))


@dataclass(frozen=True)
class ByCount:
    """Keys that are selected each by its own count.

    Attributes:
        law: How one key is selected.
        k: How many keys of a group are released at most, those of the largest noisy counts; all
            in order of their values if not given.
        least: A key of fewer people is never released.
        rests: Whether what is not released is counted, so that all keys are read.
    """

    law: KeySelection
    k: int | None = None
    least: int = 1
    rests: bool = False

    def chances(self) -> tuple[Chances, ...]:
        """Return the chances of a key."""
        return (Chances("a value", lambda n: self.law.probabilities(self._excess(n))),)

    def prepare(self, people: PersonKeys) -> Callable[[], list[Part]]:
        """Read all keys, and return the draw."""
        hides = bool(people.asked.by) and not people.asked.groups
        held = people.parts(1 if self.rests else self.least)
        every = np.concatenate([np.zeros(0, np.int64), *(part.people for _, part in held)])
        excess = self._excess(every)
        ends = np.cumsum([0, *(part.people.size for _, part in held)]).tolist()

        def draw() -> list[Part]:
            # Of several groups, or if keys of few people are left out, more than k are needed.
            most = None if people.asked.by or self.least > 1 else self.k
            passed, noisy = self.law.select(excess, most)
            passed &= excess > 0
            found: list[Part] = []
            left = 0
            for (group, part), (start, end) in zip(held, pairwise(ends), strict=True):
                places = np.flatnonzero(passed[start:end])
                if noisy is not None and self.k is not None:
                    places = places[np.argsort(-noisy[start + places], kind="stable")[: self.k]]
                rest = int(part.people.sum() - part.people[places].sum())
                if hides and not places.size:
                    left += rest
                    continue
                keys = part.keys_at(places)
                if self.k is None:
                    order = sorted(range(len(keys)), key=[*map(in_order, keys)].__getitem__)
                    places, keys = places[order], [keys[at] for at in order]
                counts = [] if noisy is None else noisy[start + places] + self.least - 1
                found.append(Part(group, keys, list(map(int, counts)), self.law.scale, rest))
            return [*found, *[Part(OTHER, None, (), self.law.scale, left)] * hides]

        return draw

    def _excess(self, people: Indices) -> Indices:
        """Return ``max(people - (least - 1), 0)``; one person changes it by at most 1."""
        return np.maximum(people - (self.least - 1), 0)


@dataclass(frozen=True)
class OfCandidates:
    """The best of public candidates, in each of some public groups.

    Attributes:
        top: How the candidates of one group are drawn.
        facts: What is public of their counts.
        candidates: The public keys.
        groups: The public groups; none without groups.
        scale: Scale of the noise of the counts; None if none are released.
        interval: The probability that intervals of all counts hold, if they are asked for.
    """

    top: TopK
    facts: Facts
    candidates: tuple[Hashable, ...]
    groups: tuple[Hashable, ...]
    scale: float | None
    interval: float | None = None

    def prepare(self, people: PersonKeys) -> Callable[[], list[Part]]:
        """Count all candidates, and return the draw."""
        counted = people.of(self.candidates, self.groups)
        draws = [
            self.top.prepare_positions(
                self.facts.of(counts, self.candidates), draws=len(counted)
            )
            for counts in counted
        ]
        fresh = not isinstance(self.top.mechanism, NoisySequence)

        def draw() -> list[Part]:
            found = []
            for group, counts, one in zip(self.groups or (OTHER,), counted, draws, strict=True):
                drawn = one()
                held = counts[list(drawn.positions)]
                noisy: Any = drawn.noisy_scores or ()
                if self.scale is not None and fresh:
                    noisy = discrete_laplace(held, self.scale).tolist()
                found.append(
                    Part(
                        group,
                        [self.candidates[position] for position in drawn.positions],
                        [int(one) for one in noisy],
                        self.scale,
                        int(counts.sum() - held.sum()),
                        self._around(noisy) if fresh else drawn.interval,
                        drawn.certain,
                    )
                )
            return found

        return draw

    def _around(self, noisy: Sequence[int]) -> list[tuple[float, float]] | None:
        """Return intervals of counts whose noise was drawn after the selection, if asked for.

        No noise of ``N`` counts is beyond the reach ``r`` with the probability stated: the two
        tails of discrete Laplace noise are ``2 q^(r + 1)/(1 + q)``.
        """
        if self.interval is None or self.scale is None:
            return None
        number = self.top.k * max(1, len(self.groups))
        beyond = -expm1(log(self.interval) / number) * (1 - ROUNDING)
        reach = ceil(self.scale * log(2 / (beyond * (1 + exp(-1 / self.scale))))) - 1
        return [(one - max(reach, 0), one + max(reach, 0)) for one in noisy]

    def chances(self) -> tuple[Chances, ...]:
        """Return no chances: all keys are public."""
        return ()


@dataclass(frozen=True)
class GroupsFirst:
    """Groups that are not public, and candidates in each of those that were released.

    A person is in as many groups as keys are counted, and the keys that are counted are taken
    from the released groups: each step is private for the whole person, whatever the first one
    released, so their prices add up.

    Attributes:
        first: The release of the groups.
        within: How candidates are drawn in released groups.
    """

    first: Selection
    within: Callable[[tuple[Hashable, ...]], Selection]

    def chances(self) -> tuple[Chances, ...]:
        """Return the chances of a group; all keys are public."""
        return (self.first.chances()[0]._replace(of="a group"),)

    def prepare(self, people: PersonKeys) -> Callable[[], list[Part]]:
        """Read the groups, and return the draw, which then counts the candidates."""
        draw_groups = self.first.prepare(people.of_groups())

        def draw() -> list[Part]:
            [part] = draw_groups()
            groups = tuple(part.keys or ())
            if not groups:
                return []
            return self.within(groups).prepare(people.within(groups))()

        return draw
