"""Percentiles by halves in the middle, and one by one at both ends, each part with its epsilon.

The values of the middle are left as they are drawn. A value above is raised to the largest one
below it, and a value below lowered to the smallest one above it, so all values ascend; and
since the draws at the ends are independent of all others, the distribution of each value is
exact.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import accumulate

import numpy as np

from dpselect.percentiles.ranks import Ranks
from dpselect.percentiles.reading import Numbers
from dpselect.percentiles.single import Answer, ForGroups, Method, OneByOne, Single
from dpselect.plan import Spend
from dpselect.typing import Probabilities, Values


@dataclass(frozen=True, slots=True, eq=False)
class Parts:
    """A method for the middle, and single draws for percentiles below and above.

    Attributes:
        below: For the percentiles below the middle, ascending.
        middle: For those of the middle.
        above: For those above, ascending.
    """

    below: tuple[Single, ...]
    middle: Method
    above: tuple[Single, ...]
    name: str = "parts"
    error: None = None

    @property
    def _ends(self) -> OneByOne:
        return OneByOne((*self.below, *self.above))

    @property
    def ranked(self) -> tuple[Values | None, ...]:
        return (*self._ends.ranked, *self.middle.ranked)

    @property
    def exact(self) -> bool:
        return self.middle.exact and self._ends.exact

    @property
    def mechanism(self) -> str:
        return f"{self._ends.mechanism}; {self.middle.mechanism}"

    @property
    def spends(self) -> tuple[Spend, ...]:
        return (*self._ends.spends, *self.middle.spends)

    @property
    def composition(self) -> str:
        return f"{self._ends.composition}; of the middle: {self.middle.composition}"

    def probabilities(self, numbers: Numbers) -> Probabilities:
        middle = self.middle.probabilities(numbers)
        order = np.argsort(np.asarray(self._ends.singles[0].points), kind="stable")
        upwards = [one.probabilities(numbers)[order] for one in self.above]
        downwards = [one.probabilities(numbers)[order[::-1]] for one in self.below[::-1]]
        laws = np.empty((len(self.below) + len(middle) + len(self.above), order.size))
        laws[len(self.below) : len(self.below) + len(middle)] = middle
        for place, law in enumerate(_largest(middle[-1][order], upwards)):
            laws[len(self.below) + len(middle) + place, order] = law
        for place, law in enumerate(_largest(middle[0][order[::-1]], downwards)):
            laws[len(self.below) - 1 - place, order[::-1]] = law
        return laws

    def prepare(self, numbers: Numbers) -> Callable[[], Answer]:
        below = [one.prepare(numbers) for one in self.below[::-1]]
        middle = self.middle.prepare(numbers)
        above = [one.prepare(numbers) for one in self.above]

        def draw() -> Answer:
            values = middle()
            high = accumulate((one() for one in above), max, initial=values[-1])
            low = list(accumulate((one() for one in below), min, initial=values[0]))
            return (*low[:0:-1], *values, *list(high)[1:])

        return draw

    def prepare_groups(self, ranks: Ranks) -> Callable[[], Values] | None:
        if not isinstance(self.middle, ForGroups):
            return None
        parts: list[ForGroups] = [self.middle, *self.below[::-1], *self.above]
        prepared = [one.prepare_groups(ranks) for one in parts]
        draws = [one for one in prepared if one is not None]
        if len(draws) < len(parts):
            return None

        def draw() -> Values:
            middle, *ends = (one() for one in draws)
            low, high = ends[: len(self.below)], ends[len(self.below) :]
            upwards = np.maximum.accumulate(np.column_stack([middle[:, -1], *high]), axis=1)
            downwards = np.minimum.accumulate(np.column_stack([middle[:, 0], *low]), axis=1)
            return np.column_stack([downwards[:, :0:-1], middle, upwards[:, 1:]])

        return draw


def _largest(first: Probabilities, laws: list[Probabilities]) -> list[Probabilities]:
    """Return the distributions of running maxima of independent draws, after a first one."""
    upto = np.cumsum(first)
    found = []
    for law in laws:
        upto = upto * np.cumsum(law)
        found.append(np.diff(upto, prepend=0.0))
    return found
