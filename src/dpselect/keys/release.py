"""Chosen keys with noisy counts where these were paid for, and the chances of a key."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from textwrap import fill
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dpselect._numbers import least
from dpselect._optional import needed
from dpselect.errors import ParameterError
from dpselect.release import Release
from dpselect.typing import Indices, Probabilities

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, repr=False)
class KeyRelease(Release[Any]):
    """A release of keys; with groups, of pairs of a group and a key.

    Attributes:
        counts: Noisy numbers of people, one for each key of ``answer``; or None.
        scale: Scale of the noise of the counts; or None.
        groups: The groups that were released, where they were not public; or None.
    """

    counts: tuple[int, ...] | None = None
    scale: float | None = None
    groups: tuple[Hashable, ...] | None = None

    @property
    def by_group(self) -> Mapping[Hashable, tuple[Hashable, ...]]:
        """The keys of each group that has any, or that was released."""
        found: dict[Hashable, tuple[Hashable, ...]] = dict.fromkeys(self.groups or (), ())
        for pair in self.answer:
            if isinstance(pair, tuple):
                found[pair[0]] = (*found.get(pair[0], ()), pair[1])
        return found

    def table(self) -> dict[str, list[Any]]:
        """Return groups, keys and noisy counts as columns; parts of a key in columns too."""
        of = self.arguments
        columns = list(_listed(of.get("column"))) or ["key"]
        if of.get("by") is not None:
            rows = [(group, *_listed(key)) for group, key in self.answer]
            columns = [str(of["by"]), *columns]
        else:
            rows = [_listed(key) for key in self.answer]
        found = {name: [row[place] for row in rows] for place, name in enumerate(columns)}
        if self.counts is not None:
            found["people, noisy"] = [*self.counts]
        return found | self.ends()

    def released(self) -> dict[str, Any]:
        """Return all that was released, as plain Python values by name."""
        more: dict[str, Any] = {}
        if self.counts is not None:
            more = {"counts": list(self.counts), "scale_of_counts": self.scale}
        if self.groups is not None:
            more["groups"] = list(self.groups)
        return {**super().released(), **more}


def _listed(one: Any) -> tuple[Any, ...]:  # noqa: ANN401 -- of any type
    return () if one is None else tuple(one) if isinstance(one, list | tuple) else (one,)


MOST_PEOPLE = 10**12
"""Beyond it no number of people is shown."""

LEGEND = 26
"""Characters of a line of a legend."""


class Chances(NamedTuple):
    """The probability that a value which is not public is released; public.

    Attributes:
        of: What is released, such as ``"a value"``.
        probabilities: Probabilities of numbers of people, any shape.
        more_than: What the people are counted from, if not from 0.
    """

    of: str
    probabilities: Callable[[Indices], Probabilities]
    more_than: str = ""

    def people_for(self, probability: float) -> int:
        """Return the least number of people whose value is released with a probability.

        Returns:
            At most ``MOST_PEOPLE``.
        """

        def enough(people: int) -> bool:
            if people >= MOST_PEOPLE:
                return True
            return float(self.probabilities(np.array([people]))[0]) >= probability

        return least(enough)


def plot_chances(
    chances: Sequence[Chances], *, title: str = "", ax: Axes | None = None
) -> Axes:
    """Draw probabilities of release against the number of people, one line for each kind.

    Args:
        chances: From ``Keys.chances`` or ``TopKeys.chances``.
        title: Title of a picture with one line.
        ax: Axes to draw into; a new figure if not given.

    Raises:
        ParameterError: There are no chances: everything is public.
    """
    if not chances:
        raise ParameterError(
            "`plot` shows P(released) of keys that are not public: of a release without "
            "candidates, or without groups"
        )
    needed("matplotlib", extra="standard")
    from matplotlib import pyplot as plt

    if ax is None:
        ax = plt.subplots(layout="constrained")[1]
    end = max(64, *(one.people_for(0.999) for one in chances))
    people = np.unique(np.linspace(0, end, 500).astype(np.int64))
    for one in chances:
        label = fill(f"{one.of}, by people{one.more_than}", LEGEND)
        ax.plot(people, one.probabilities(people), drawstyle="steps-post", label=label)
    ax.set(xlabel="people who have it", ylabel="P(released)", ylim=(0, 1))
    if len(chances) > 1:
        ax.legend()
    else:
        ax.set_xlabel(f"people{chances[0].more_than}")
        # A mechanism with its parameters is longer than the axes' free space.
        ax.set_title(title, fontsize="small", wrap=True)
    return ax
