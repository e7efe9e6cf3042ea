"""The method of a release of percentiles, chosen by public facts and a noisy number of records.

Let ``m`` be the number of records beyond a percentile, on the side of the few, ``N`` that of
the candidates (of a range all, though few cells of it are drawn from), and ``Δ`` what one step
moves of a rank. What noise can lose *in values* counts:

- By rank, empty candidates can outweigh those next to the percentile; the answer is then
  anywhere in the range. It is *safe* from ``m ε/(2Δ) = RANKS ln(N/NEAR)`` on.
- AboveThreshold can stop at a false alarm on its way to the records; the answer is then off by
  the distance from the end where it starts. It is *quiet* if the records that it looks for are
  ``QUIET + ln N`` scales of its noise, which leaves less than one step to be expected.
- Bins are wrong by a part of their width at any epsilon, so they are not taken from ``EXACT``
  on, nor of more than ``NARROW`` candidates. Bins of one candidate each, of at most ``FEWEST``,
  have no width: they are taken at every epsilon.

Values are taken to be anywhere in so narrow a range, and next to ``lower`` in a wider one. The
first line that holds has the method of one percentile:

| it is | method |
| --- | --- |
| of few candidates, within ``TAIL`` of an end, with less than one scale beyond | bins |
| not safe, or at most ``TAIL`` below 100 | AboveThreshold from the side of the few, if quiet |
| safe | by rank |
| in a narrow range | AboveThreshold from the other side, if quiet |
| up to ``UPPER`` in a narrow range | bins |
| anything else | AboveThreshold upwards |

Above ``100 - TAIL`` ranks are as good from ``MANY`` records times ε beyond on.

Several of few candidates are read off bins. Others are drawn *in parts* (``sparse_vector``) if
the outermost ones are quiet; else from bins, if one of them would be with all of epsilon, or if
most are further than ``TAIL`` from both ends; else each alone, with its part of epsilon. Where
two or more would be quiet in parts they are drawn so, with one such part of epsilon for all.

*The noisy number* costs ``SHARE`` of epsilon, twice that for several percentiles, since ranks
in parts are counted from it, and is released. The method is that of the nearest power of
``√2``, less ``CAUTION`` scales of the noise, so the distribution of the whole is a sum over few
methods. One step changes the number by at most the records of a person, and discrete Laplace
noise makes it private; the second step is private for every number. Their epsilons add up.

*A range too long to list* is drawn from few cells that grow from 0 on, in which records count
as at a candidate; ``REFINED`` of epsilon then draws by rank among the candidates of the cell.
It is private for every cell, so its epsilon is added.

*Too few rows.* The noisy number says which values are noise: all, where an empty group has as
many with probability ``EMPTY``; else those with less than ``USABLE`` scales of noise beyond
them. It is a function of what was released.

``benchmarks/percentiles_default.py`` compares the choice with each method.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import log
from typing import NamedTuple

import numpy as np

from dpselect.draws.exact.noisy_counts import LARGEST_SCALE, scale_for
from dpselect.errors import ParameterError
from dpselect.percentiles.candidates import Range
from dpselect.percentiles.methods import (
    EXACT as BY_SAMPLERS,
    FEWEST,
    Asked,
    ByBins,
    ByRank,
    Draws,
    Method,
    OneByOne,
    named,
)
from dpselect.percentiles.objectives import RankScores
from dpselect.percentiles.reading import Counts
from dpselect.percentiles.sparse_vector import FINEST, ByThreshold, InParts, parts_of_record
from dpselect.plan import Spend
from dpselect.typing import Indices, Values

RANKS, NEAR = 2.0, 10.0
"""Scores of the records beyond a percentile, in logarithms of the candidates that are not near
it, from which on ranks are safe; one of ``NEAR`` candidates is near."""

QUIET = 4.3
"""Scales of noise, beyond the logarithm of ``N``, from which on AboveThreshold is quiet."""

NARROW = 500
"""Candidates up to which a range is narrow."""

TAIL, MANY = 15.0, 1000.0
"""Percentiles that are near an end, and the records beyond, times epsilon, from which on ranks
are as good there."""

UPPER = 75.0
"""Percentiles above are nearer by AboveThreshold than by bins, where both are noise."""

EXACT = 4.0
"""Epsilon of each of the binary digits of the number of percentiles, per record of a person,
from which on no bins are taken: noise is then less than their width."""

SHARE = 0.06
"""Share of epsilon for the number of records, of one percentile; of several twice as much."""

USABLE, EMPTY = 5.0, 0.02
"""Scales of noise beyond a percentile from which on its value is of use, and the probability
that an empty group is taken for one with records."""

LARGEST = 96
"""Size (``size_of``) of the largest number of records that is told apart."""

CAUTION = 1.0
"""Scales of the noise that are taken off the number: what is wrong for too many records can be
off by the whole range, and what is wrong for too few by the distance from the end."""

REFINED = 0.1
"""Share of epsilon for the draw within a cell of a range."""

CELLS = 2**15
"""Cells of a range on each side of 0, about."""


class Drawn(NamedTuple):
    """What was drawn in one group.

    Attributes:
        values: Ascending.
        records: The noisy number of its records.
        ends: Works out the intervals around the values, if they were asked for.
    """

    values: tuple[float, ...]
    records: int
    ends: Callable[[], tuple[tuple[float, float], ...]] | None = None


@dataclass(frozen=True, eq=False)
class AfterCount(Asked[Values], Method):
    """The method that a noisy number of records chooses, which is released.

    Attributes:
        values: How many values the range has, whose cells the candidates are.
    """

    values: int = 0

    def __post_init__(self) -> None:
        # Whatever the number is, the method can be drawn. None has less epsilon than one
        # percentile, of which noise in parts of a record (``ByThreshold``) has a scale of at
        # most 3 times what one step moves.
        parts = 3 * self.records.changed * FINEST * len(self.percents)
        largest = scale_for(self.left, parts)
        if max(self.scale, largest) > LARGEST_SCALE:
            raise ParameterError("`epsilon` is too small for any number of records")

    @cached_property
    def number_epsilon(self) -> float:
        """The epsilon of the number of records."""
        return SHARE * min(len(self.percents), 2) * self.epsilon

    @property
    def left(self) -> float:
        """The epsilon of all percentiles."""
        return self.epsilon - self.number_epsilon

    @cached_property
    def scale(self) -> float:
        """Scale of the noise on the number."""
        return scale_for(self.number_epsilon, self.records.per_user)

    @property
    def mechanism(self) -> str:
        return f"method chosen by a noisy number of records (scale={self.scale!r})"

    @property
    def spends(self) -> tuple[Spend, ...]:
        """What a record pays."""
        return (
            Spend("number of records", self.number_epsilon),
            Spend(named(self.percents), self.left),
        )

    def of_number(self, records: float) -> Method:
        """Return the method for a number of records; a function of public numbers."""
        of = self.points, self.records
        inner = self._quiet_in_parts(records, self.left)
        if inner == self.percents:
            return InParts(inner, *of, self.left, records)
        if self._are_in_bins(records):
            return ByBins(self.percents, *of, self.left, records)
        # Those that are in parts share the epsilon of one that is alone.
        alone = tuple(p for p in self.percents if p not in inner)
        each = self.left / (1 + len(alone))
        if len(inner) < 2 or self._quiet_in_parts(records, each) != inner:
            inner, alone, each = (), self.percents, self.left / len(self.percents)
        asked = ((p, records, each) for p in alone)
        singles = [self.found(*one) or self._by_threshold(*one) for one in asked]
        parts = [InParts(inner, *of, each, records)] if inner else []
        return OneByOne((*parts, *singles))

    def _quiet_in_parts(self, records: float, epsilon: float) -> tuple[float, ...]:
        """Return those of several percentiles for which AboveThreshold in parts is quiet.

        Of few candidates there are none.
        """
        if self._number <= FEWEST or len(self.percents) == 1:
            return ()
        made = InParts(self.percents, self.points, self.records, epsilon, records)
        noise = {part.p: made.scale_of(1 - part.counts) for part in made.parts()}
        least = {p: self._quiet * scale for p, scale in noise.items()}
        return tuple(p for p in self.percents if self._beyond(p, records) >= least.get(p, 0))

    def of_size(self, size: int) -> Method:
        """Return the method of numbers of a size."""
        if size not in self._methods:
            least = max(2 ** (size / 2) - CAUTION * self.scale, 1.0)
            self._methods[size] = self.of_number(least)
        return self._methods[size]

    @cached_property
    def _methods(self) -> dict[int, Method]:
        """Those of sizes that were asked for: groups share few."""
        return {}

    def _are_in_bins(self, records: float) -> bool:
        """Return whether noise would hide one that had all of epsilon, as bins have."""
        several = len(self.percents)
        if self._number <= FEWEST:
            [p, *more], noise = self.percents, scale_for(self.left, self.records.changed)
            is_tail = not TAIL < p < 100 - TAIL
            return bool(more) or (is_tail and self._beyond(p, records) < noise)
        if self.left >= EXACT * several.bit_length() * self.records.per_user:
            return False
        if self._number <= NARROW and any(
            self.found(p, records, self.left) is None for p in self.percents if p <= UPPER
        ):
            return True
        return 1 < several < 2 * sum(TAIL < p < 100 - TAIL for p in self.percents)

    def found(self, p: float, records: float, epsilon: float) -> Method | None:
        """Return how one percentile is found, None if noise may hide it in each way."""
        beyond = self._beyond(p, records) * epsilon
        score = beyond / (2 * self.records.rank_bound(p))
        is_safe = score >= RANKS * log(max(self._number / NEAR, 1.0))
        is_tail = 100 - p <= TAIL and beyond < MANY
        from_below = p <= 50
        if is_tail or not is_safe:
            few = self._by_threshold(p, records, epsilon, upwards=from_below)
            if self._finds(few, records):
                return few
        if is_safe:
            return ByRank((p,), self.points, self.records, epsilon)
        many = self._by_threshold(p, records, epsilon, upwards=not from_below)
        return many if self._number <= NARROW and self._finds(many, records) else None

    @property
    def _number(self) -> int:
        """How many values there are, by which an answer can be off."""
        return max(self.values, len(self.points))

    @property
    def _quiet(self) -> float:
        """Scales of noise that records must have for AboveThreshold to pass none of them by."""
        return QUIET + log(self._number)

    @staticmethod
    def _beyond(p: float, records: float) -> float:
        """Return how many records are beyond a percentile, on the side of the few."""
        return min(p, 100 - p) / 100 * records

    def _finds(self, by: ByThreshold, records: float) -> bool:
        """Return whether AboveThreshold is quiet."""
        return by.records_per_noise(float(by.share) * records) >= self._quiet

    def _by_threshold(
        self, p: float, records: float, epsilon: float, *, upwards: bool = True
    ) -> ByThreshold:
        """Return AboveThreshold; the largest record is sought upwards alone."""
        upwards |= parts_of_record(p) == 1
        return ByThreshold((p,), self.points, self.records, epsilon, upwards, records)

    def are_usable(self, number: int) -> list[bool]:
        """Return which percentiles of so many records, by the noisy number, are no noise."""
        if number < self.scale * log(1 / (2 * EMPTY)):
            return [False for _ in self.percents]
        method = self.of_size(int(size_of(number)))
        shares = len(method.singles) if isinstance(method, OneByOne) else 1
        least = USABLE * self.records.changed * shares / self.left
        return [(min(p, 100 - p) or p) / 100 * number >= least for p in self.percents]

    def draw(self, counts: Counts, records: Indices, by: Draws = BY_SAMPLERS) -> Values:
        """Draw the values of each group, by the method of its noisy number."""
        sizes = size_of(records)
        values = np.empty((sizes.size, len(self.percents)))
        for size in sorted({*sizes.tolist()}):
            which = np.flatnonzero(sizes == size)
            some = counts if which.size == sizes.size else counts.some(which)
            values[which] = self.of_size(size).draw(some, records[which], by)
        return values


class Refined(Asked[Range]):
    """Percentiles among the candidates of cells of a range, by rank."""

    @cached_property
    def edges(self) -> Indices:
        """The first position of each cell, and the number of all candidates."""
        return self.points.cells(CELLS)

    @property
    def first(self) -> Values:
        """The first candidate of each cell."""
        return np.asarray(self.points[self.edges[:-1]])

    @property
    def spend(self) -> Spend:
        """What all of them cost."""
        return Spend("candidates of a cell, by rank", self.epsilon)

    def draw(self, cells: Values, counts: Counts, by: Draws = BY_SAMPLERS) -> Values:
        """Draw a candidate of each cell, ascending, for the first ones of cells of groups."""
        at = np.searchsorted(self.first, cells)
        drawn = np.empty_like(at)
        for i, p in enumerate(self.percents):
            low, high = self.edges[at[:, i]], self.edges[at[:, i] + 1] - 1
            # Records of other cells are next to it, so that few candidates are between two.
            place = counts.place.clip(low[counts.group] - 1, high[counts.group] + 1)
            scores = RankScores(
                counts.moved(place),
                p=p,
                points=self.points,
                bound=self.records.rank_bound(p),
                drawn=(low, high),
            )
            drawn[:, i] = by.largest(scores, self.epsilon / len(self.percents))
        return np.asarray(self.points[np.sort(drawn)])


def size_of(records: int | Indices) -> Indices:
    """Return the logarithms of numbers to the base ``√2``, rounded; 0 of less than one."""
    return np.rint(2 * np.log2(np.clip(records, 1, 2**62))).clip(max=LARGEST).astype(np.int64)
