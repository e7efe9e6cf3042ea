"""The method of a release of percentiles, chosen by public facts and a noisy number of records.

Let ``m`` be the number of records beyond a percentile, on the side of the few, ``N`` that of
the candidates (of a range all, though it is drawn from few cells), and ``Δ`` what one step
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
| anything else | AboveThreshold upwards; around a value from the side of the many |

Above ``100 - TAIL`` ranks are as good from ``MANY`` records times ε beyond on.

Several of few candidates are read off bins. Others are drawn *in parts* (``sparse_vector``) if
the outermost ones are nearly quiet (``OF_ALL``); else from bins, if one of them would be with
all of epsilon, or if most are further than ``TAIL`` from both ends; else each alone, with its
part of epsilon (``MORE``). Where two or more would be quiet in parts they are drawn so, with
one of equal parts of epsilon for all of them.

*The noisy number* costs ``SHARE`` of epsilon, twice that for several percentiles, since ranks
in parts are counted from it, and is released. The method is that of the nearest power of
``√2``, less one or two scales of the noise (``CAUTION``), so the distribution of the whole is a
sum over few methods. One step changes the number by at most the records of a person, and
discrete Laplace noise makes it private; the second step is private for every number. Their
epsilons add up.

*A range too long to list* is drawn from few cells that grow from some value on, in which
records count as at a candidate (``Around``). The value is near the median: it is drawn first,
by rank among cells that grow from 0 on, with as much of epsilon as the number of records asks
for, so that it is amid the records however narrow they are and however far from 0. Where that
would be too much (``FEW``) it is 0. At last a candidate of each cell is drawn by rank.
Each of the steps is private whatever was drawn before, so their epsilons add up.

*Too few rows.* The noisy number says which values are noise: all, where an empty group has as
many with probability ``EMPTY``; else those with less than ``USABLE`` scales of noise beyond
them, or, in a range in which no value was drawn first, with as few as are not quiet. In a
listed range that is not narrow so are those of AboveThreshold, where it is not quiet. It is a
function of what was released.

``benchmarks/percentiles_default.py`` compares the choice with each method.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property
from math import log
from typing import Any, NamedTuple

import numpy as np

from dpselect.draws.exact.noisy_counts import check_scale, scale_for
from dpselect.percentiles import methods
from dpselect.percentiles.candidates import Range, cells
from dpselect.percentiles.objectives import RankScores
from dpselect.percentiles.reading import Counts
from dpselect.percentiles.sparse_vector import FINEST, ByThreshold, InParts, parts_of_record
from dpselect.plan import Spend
from dpselect.typing import Indices, Values

RANKS, NEAR = 2.0, 10.0
"""Scores of the records beyond a percentile, in logarithms of the candidates that are not near
it, from which on ranks are safe; one of ``NEAR`` candidates is near."""

QUIET, OF_ALL = 5.0, 2.4
"""Scales of noise, beyond the logarithm of ``N``, from which on AboveThreshold is quiet; and
those that are enough where all percentiles are drawn in parts, since alone each would have but
its part of epsilon."""

MORE = 0.2
"""Power of the records beyond percentiles in proportion to which each that is drawn alone has a
part of epsilon: where noise hides what is beyond, more of epsilon finds little more."""

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

CLOSE = 8.0
"""Scales of noise beyond percentiles from which on parts of cells around a value are nearer
than bins, although they are not quiet: a false alarm is not far from the value."""

USABLE, EMPTY = 5.0, 0.02
"""Scales of noise beyond a percentile from which on its value is of use, and the probability
that an empty group is taken for one with records."""

LARGEST = 96
"""Size (``size_of``) of the largest number of records that is told apart."""

CAUTION = 6.0
"""Units of the logarithm of the listed candidates for which a scale of the noise is taken off
the number, one at least: what is wrong for too many records can be off by the whole range, and
what is wrong for too few by the distance from the end."""

MEDIAN, FEW, MOST_AROUND = 17.0, 34.0, 0.35
"""Score of half of the records by which a value near the median is drawn, above the logarithm
of the cells; the least one that all of epsilon must have for it; and its largest share."""

WITHIN, CLEAR = 0.05, 100.0
"""Share of epsilon for the candidates of cells, at least, and the epsilon by which it grows to
half: where noise is far below one record, cells are all that is left of an error."""

CELLS = 2**14
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
class AfterCount(methods.Asked[Values | Range]):
    """The method that a noisy number of records chooses, which is released."""

    def __post_init__(self) -> None:
        # Whatever the number is, the method can be drawn. None has less epsilon than one
        # percentile, by ``MORE`` less than half of an equal part, of which noise in parts of a
        # record (``ByThreshold``) has a scale of at most 3 times what one step moves; of a
        # range half of epsilon is for other draws.
        parts = 7 * self.records.changed * FINEST * len(self.percents)
        largest = scale_for(self.left, parts * (1 + isinstance(self.points, Range)))
        check_scale(max(self.scale, largest))

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
    def spends(self) -> tuple[Spend, ...]:
        """What a record pays."""
        return (
            Spend("number of records", self.number_epsilon),
            Spend(methods.named(self.percents), self.left),
        )

    def of_number(self, records: float) -> methods.Method:
        """Return the method for a number of records; a function of public numbers."""
        points, of = self.points, (self.records, self.left, records)
        if isinstance(points, Range):
            return Around(self.percents, points, *of)
        return Choice(self.percents, points, *of, points.size).method

    @cached_property
    def of_size(self) -> Callable[[int], methods.Method]:
        """Returns the method of numbers of a size, which groups share."""
        listed = 1 if isinstance(self.points, Range) else self.points.size
        less = max(log(listed) / CAUTION, 1.0) * self.scale
        return cache(lambda size: self.of_number(max(2 ** (size / 2) - less, 1.0)))

    def are_usable(self, number: int) -> list[bool]:
        """Return which percentiles of so many records, by the noisy number, are no noise."""
        if number < self.scale * log(1 / (2 * EMPTY)):
            return [False for _ in self.percents]
        method, values = self.of_size(int(size_of(number))), len(self.points)
        inner = method.inner if isinstance(method, Around) else method
        singles: Any = getattr(inner, "singles", (inner,))
        alone = singles if inner is method and values > NARROW else ()
        by = [one for one in alone if isinstance(one, ByThreshold)]
        lost = {one.p for one in by if not _is_quiet(one, number, values)}
        is_from_0 = isinstance(method, Around) and not method.first
        least = QUIET + log(values) if is_from_0 else USABLE
        least *= self.records.changed / self.left * sum(one.epsilon for one in singles)
        noise = {p: least / one.epsilon for one in singles for p in one.percents}
        beyond = {p: (min(p, 100 - p) or p) / 100 * number for p in self.percents}
        return [p not in lost and few >= noise[p] for p, few in beyond.items()]

    def draw(
        self, counts: Counts, records: Indices, by: methods.Draws = methods.EXACT
    ) -> Values:
        """Draw the values of each group, by the method of its noisy number."""
        sizes = size_of(records)
        values = np.empty((sizes.size, len(self.percents)))
        for size in sorted({*sizes.tolist()}):
            which = np.flatnonzero(sizes == size)
            some = counts if which.size == sizes.size else counts.some(which)
            values[which] = self.of_size(size).draw(some, records[which], by)
        return values


@dataclass(frozen=True, eq=False)
class Choice(methods.Asked[Values]):
    """The choice of a method, of listed candidates.

    Attributes:
        assumed: About how many records there are.
        values: How many values there are, by which an answer can be off: more than there are
            candidates where these are cells.
        is_amid: Whether 0 is amid the records, and not at an end.
    """

    assumed: float
    values: int
    is_amid: bool = False

    @property
    def method(self) -> methods.Method:
        """The method; a function of public numbers."""
        of = self.points, self.records
        inner = self._quiet_in_parts(self.epsilon, OF_ALL)
        if inner == self.percents:
            return InParts(inner, *of, self.epsilon, self.assumed)
        if self._are_in_bins():
            least = min(map(self._beyond, self.percents)) * self.epsilon
            made = InParts if self.is_amid and least > CLOSE else methods.ByBins
            return made(self.percents, *of, self.epsilon, self.assumed)
        # Those that are in parts share the epsilon of one that is alone.
        alone = [p for p in self.percents if p not in inner]
        each = self.epsilon / (1 + len(alone))
        parts, of_each = [InParts(inner, *of, each, self.assumed)], dict.fromkeys(alone, each)
        if len(inner) < 2 or self._quiet_in_parts(each, QUIET) != inner:
            weights = {p: max(min(p, 100 - p), 1.0) ** MORE for p in self.percents}
            total, parts = sum(weights.values()), []
            of_each = {p: one / total * self.epsilon for p, one in weights.items()}
        # From the side of the many a false alarm is not beyond 0, if that is amid them.
        singles = [
            self.found(p, its)
            or self._by_threshold(p, its, upwards=p >= 50 or not self.is_amid)
            for p, its in of_each.items()
        ]
        return methods.OneByOne((*parts, *singles))

    def _quiet_in_parts(self, epsilon: float, quiet: float) -> tuple[float, ...]:
        """Return those of several percentiles for which AboveThreshold in parts is quiet.

        Of few candidates there are none.
        """
        if self.values <= methods.FEWEST or len(self.percents) == 1:
            return ()
        made = InParts(self.percents, self.points, self.records, epsilon, self.assumed)
        noise = {part.p: made.scale_of(1 - part.counts) for part in made.parts()}
        least = {p: (quiet + log(self.values)) * scale for p, scale in noise.items()}
        return tuple(p for p in self.percents if self._beyond(p) >= least.get(p, 0))

    def _are_in_bins(self) -> bool:
        """Return whether noise would hide one that had all of epsilon, as bins have."""
        several = len(self.percents)
        if self.values <= methods.FEWEST:
            [p, *more], noise = self.percents, scale_for(self.epsilon, self.records.changed)
            is_tail = not TAIL < p < 100 - TAIL
            return bool(more) or (is_tail and self._beyond(p) < noise)
        if self.epsilon >= EXACT * several.bit_length() * self.records.per_user:
            return False
        if self.values <= NARROW and any(
            self.found(p, self.epsilon) is None for p in self.percents if p <= UPPER
        ):
            return True
        return 1 < several < 2 * sum(TAIL < p < 100 - TAIL for p in self.percents)

    def found(self, p: float, epsilon: float) -> methods.Method | None:
        """Return how one percentile is found, None if noise may hide it in each way."""
        beyond = self._beyond(p) * epsilon
        score = beyond / (2 * self.records.rank_bound(p))
        is_safe = score >= RANKS * log(max(self.values / NEAR, 1.0))
        is_tail = 100 - p <= TAIL and beyond < MANY
        if is_tail or not is_safe:
            few = self._by_threshold(p, epsilon, upwards=p <= 50)
            if _is_quiet(few, self.assumed, self.values):
                return few
        if is_safe:
            return methods.ByRank((p,), self.points, self.records, epsilon)
        many = self._by_threshold(p, epsilon, upwards=p > 50)
        is_found = self.values <= NARROW and _is_quiet(many, self.assumed, self.values)
        return many if is_found else None

    def _beyond(self, p: float) -> float:
        """Return how many records are beyond a percentile, on the side of the few."""
        return min(p, 100 - p) / 100 * self.assumed

    def _by_threshold(self, p: float, epsilon: float, *, upwards: bool) -> ByThreshold:
        """Return AboveThreshold; the largest record is sought upwards alone."""
        upwards |= parts_of_record(p) == 1
        return ByThreshold((p,), self.points, self.records, epsilon, upwards, self.assumed)


@dataclass(frozen=True, eq=False)
class Around(methods.Asked[Range], methods.Method):
    """Percentiles of a range, from cells around a value that is drawn before.

    Attributes:
        assumed: About how many records there are.
    """

    assumed: float

    @cached_property
    def first(self) -> float:
        """Share of epsilon for the value near the median; 0 if it is 0."""
        score = self.assumed * self.epsilon / (4 * self.records.rank_bound(50))
        return min(MEDIAN / score, MOST_AROUND) if score >= FEW else 0.0

    @cached_property
    def last(self) -> float:
        """Share of epsilon for the candidates of cells."""
        return min(max(self.epsilon / CLEAR, WITHIN), 0.5)

    @cached_property
    def _zero(self) -> tuple[int, Indices]:
        """The position that is nearest to the value 0, and edges of cells from there."""
        zero, size = int(self.points.places(np.zeros(1))[0]), len(self.points)
        return zero, cells(zero, size - zero, CELLS)

    @cached_property
    def edges(self) -> Indices:
        """The edges of cells of candidates, in steps from the value that is drawn before."""
        return cells(len(self.points), len(self.points), CELLS) if self.first else self._zero[1]

    @cached_property
    def inner(self) -> methods.Method:
        """The method among cells."""
        left, starts = 1 - self.first - self.last, self.edges[:-1].astype(np.float64)
        of = self.percents, starts, self.records, left * self.epsilon, self.assumed
        return Choice(*of, len(self.points), is_amid=self.first > 0).method

    @property
    def mechanism(self) -> str:
        around = f", around a value near the median (epsilon={self.first * self.epsilon!r})"
        return f"{self.inner.mechanism}{around * (self.first > 0)}, then within a cell"

    def draw(
        self, counts: Counts, records: Indices, by: methods.Draws = methods.EXACT
    ) -> Values:
        zero, edges = self._zero
        start = np.full(counts.groups, zero)
        if self.first:
            of = edges[:-1].astype(np.float64), self.records, self.first * self.epsilon
            near = methods.ByRank((50.0,), *of).draw(counts.in_cells(edges, start), records, by)
            start += near[:, 0].astype(np.int64)
        found = self.inner.draw(counts.in_cells(self.edges, start), records, by)
        at, last = self.edges.searchsorted(found), len(self.points) - 1
        lows, highs = (start[:, None] + self.edges[at + i] - i for i in (0, 1))
        for i, p in enumerate(self.percents):
            low, high = ends = lows[:, i].clip(0, last), highs[:, i].clip(0, last)
            # Records of other cells are next to it, so that few candidates are between two.
            place = counts.place.clip(low[counts.group] - 1, high[counts.group] + 1)
            held, bound = counts.moved(place), self.records.rank_bound(p)
            scores = RankScores(held, p=p, points=self.points, bound=bound, drawn=ends)
            at[:, i] = by.largest(scores, self.last * self.epsilon / len(self.percents))
        return np.asarray(self.points[np.sort(at)])


def _is_quiet(by: ByThreshold, records: float, values: int) -> bool:
    """Return whether AboveThreshold passes no records by."""
    return by.records_per_noise(float(by.share) * records) >= QUIET + log(values)


def size_of(records: int | Indices) -> Indices:
    """Return the logarithms of numbers to the base ``√2``, rounded; 0 of less than one."""
    return np.rint(2 * np.log2(np.clip(records, 1, 2**62))).clip(max=LARGEST).astype(np.int64)
