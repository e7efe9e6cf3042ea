"""Chosen keys with noisy counts where these were paid for, and the chances of a key."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from math import inf, log
from typing import Any, NamedTuple

from dpselect._numbers import least
from dpselect._optional import np
from dpselect.release import Release
from dpselect.tables.groups import OTHER, columns_of_groups
from dpselect.tables.kinds import checked_names
from dpselect.typing import Indices, Probabilities

FRESH = "noise on the counts of the chosen keys"
"""Purpose of the price of counts that are drawn after the selection."""

LIFTED = "small ones are too large in the mean, as the largest are chosen by them"
"""What a selection by noisy counts does to them."""

LITTLE = 0.3
"""Scale of noise that is 0 in nine of ten counts."""

SHARES = 0.5, 0.99
"""Probabilities of a release that are stated in people."""

NOTHING, REST = "(none)", "(other)"
"""What people read in place of a key, or a group: no key was released, or the rest."""


@dataclass(frozen=True, repr=False)
class ReleaseByGroup(Release[Any], ABC):
    """Candidates as the rows of a table; with groups, pairs of a group and a candidate.

    Attributes:
        groups: The groups that are answered, public ones or those that were released; None
            without groups.
        other: A group, None for all others or without groups, and the noisy number of what is
            counted there and not released, for each; None if it was not asked for.
    """

    groups: tuple[Hashable, ...] | None = None
    other: tuple[tuple[Hashable, int], ...] | None = None

    @property
    def by_group(self) -> Mapping[Hashable, tuple[Any, ...]]:
        """The candidates of each group that is answered."""
        found: dict[Hashable, list[Any]] = {group: [] for group in self.groups or ()}
        for group, one in () if self.groups is None else self.answer:
            found[group].append(one)
        return {group: tuple(some) for group, some in found.items()}

    @property
    @abstractmethod
    def _columns(self) -> tuple[list[str], str, Sequence[float] | None]:
        """The names of a candidate's parts, what is counted of it, and its noisy counts."""

    def table(self) -> dict[str, list[Any]]:
        """Return groups, parts of candidates, noisy counts and intervals as columns.

        The rest of a group is a row without a candidate, that of other groups one without a
        group as well. Where the counts are of so many rows of a person, one more column has
        that number: ``max_per_user``.
        """
        found, cap = self._rows("noisy_count", rest=None), self.arguments.get("max_per_user")
        if cap is None or self._columns[2] is None:
            return found
        return found | {"max_per_user": [cap] * len(next(iter(found.values())))}

    def shown(self) -> dict[str, list[Any]]:
        """Return the table in words: a row for a group without any, and no number below 0."""
        return self._rows(f"{self._columns[1]}, noisy", rest=REST, nothing=NOTHING)

    def _rows(
        self, of_count: str, *, rest: str | None, nothing: str | None = None
    ) -> dict[str, list[Any]]:
        names, _, counts = self._columns
        least = -inf if rest is None else 0  # people read no negative number of people
        beside = {} if counts is None else {of_count: [max(one, least) for one in counts]}
        beside |= self.ends()
        of = {group: max(one, least) for group, one in self.other or ()}
        blank: Any = None if rest is None else ""

        def special(word: str | None, count: object = blank) -> list[Any]:
            return [word, *[blank] * (len(names) - 1), count, *[blank] * (len(beside) - 1)]

        lines: list[tuple[Hashable, list[Any]]] = []
        listed = [None] if self.groups is None else [*self.groups]
        held: dict[Hashable, list[list[Any]]] = {one: [] for one in listed}
        for place, one in enumerate(self.answer):
            group, key = (None, one) if self.groups is None else one
            held[group].append([*_parts(key), *(column[place] for column in beside.values())])
        for group, rows in held.items():
            lines += [(group, row) for row in rows]
            if group in of:
                lines.append((group, special(rest, of[group])))
            elif not rows and self.groups is not None and nothing is not None:
                lines.append((group, special(nothing)))
        if self.groups is not None and None in of:
            lines.append((OTHER, special(rest, of[None])))
        found = {
            name: [row[at] for _, row in lines] for at, name in enumerate((*names, *beside))
        }
        if self.groups is None:
            return found
        if self.arguments.get("missing_keys") == "key":
            rest = None  # the group of rows without a group
        by = checked_names(self.arguments["by"])
        return columns_of_groups(by, [group for group, _ in lines], other=rest) | found

    def released(self) -> dict[str, Any]:
        """Return all that was released, as plain Python values by name."""
        more: dict[str, Any] = {} if self.groups is None else {"groups": list(self.groups)}
        if self.other is not None:
            more["other"] = [list(one) for one in self.other]
        return {**super().released(), **more}


@dataclass(frozen=True, repr=False)
class KeyRelease(ReleaseByGroup):
    """A release of keys; with groups, of pairs of a group and a key.

    Attributes:
        counts: Noisy numbers of people, one for each key of ``answer``; or None.
        scale: Scale of the noise of the counts; or None.
    """

    counts: tuple[int, ...] | None = None
    scale: float | None = None

    @property
    def _columns(self) -> tuple[list[str], str, Sequence[float] | None]:
        names = list(checked_names(self.arguments.get("column"))) or ["key"]
        return names, "people", self.counts

    @property
    def facts(self) -> dict[str, object]:
        """What is said of the release beside its answer, by name."""
        known: dict[str, object] = {}
        if self.groups is not None and self.arguments.get("groups") is None:
            known["groups"] = ", ".join(map(str, self.groups)) or "(none)"
        if self.query is not None:
            known |= self.query.predicted()
        if self._lifted:
            known["counts"] = self._lifted
        return {**known, **super().facts}

    @property
    def _beside_noise(self) -> tuple[Sequence[float], float] | None:
        error = self.plan.error
        if not self.counts or self.scale is None or error is None:
            return None
        if self._is_fresh:  # noise of the chosen keys alone
            return self.counts, self.scale * log(len(self.counts) / (1 - error.probability))
        return self.counts, error.value / 2

    @property
    def _is_fresh(self) -> bool:
        """Whether counts were drawn after the selection."""
        return any(spend.purpose == FRESH for spend in self.plan.spends)

    @property
    def _lifted(self) -> str | None:
        """What the selection does to counts, in words; None without counts."""
        if self.scale is None:
            return None
        said = f"noise of scale {self.scale:.3g}"
        if self.scale < LITTLE or self._is_fresh:
            return said
        return f"{said}; {LIFTED}"

    def released(self) -> dict[str, Any]:
        """Return all that was released, as plain Python values by name."""
        more: dict[str, Any] = {}
        if self.counts is not None:
            more = {"counts": list(self.counts), "scale_of_counts": self.scale}
        return {**super().released(), **more}


def _parts(one: Any) -> tuple[Any, ...]:  # noqa: ANN401 -- of any type
    return tuple(one) if isinstance(one, list | tuple) else (one,)


MOST_PEOPLE = 10**12
"""Beyond it no number of people is shown."""


class Chances(NamedTuple):
    """The probability that a value which is not public is released; public.

    Attributes:
        of: Kind of the released value, such as ``"a value"``.
        probabilities: Probabilities of numbers of people, any shape.
    """

    of: str
    probabilities: Callable[[Indices], Probabilities]

    def people_for(self, probability: float) -> int:
        """Return the least number of people whose value is released with a probability.

        Returns:
            At most ``MOST_PEOPLE``.
        """
        return least(
            lambda people: (
                people >= MOST_PEOPLE
                or float(self.probabilities(np.array([people]))[0]) >= probability
            )
        )

    def in_words(self, least: int = 1) -> str:
        """Return how many people it takes, in words.

        Args:
            least: The least number of people of a released value (``min_people``).
        """
        half, most = (self.people_for(share) for share in SHARES)
        if half >= MOST_PEOPLE:
            return f"{self.of} is released with a probability below 1/2, whoever has it"
        sure = f" (99 %: {most:,})" if most < MOST_PEOPLE else ""
        never = f"; if fewer than {least:,} have it, never" if least > 1 else ""
        people = f"if {half:,} people have it{sure}{never}"
        return f"{self.of} is released with probability 1/2 {people}"
