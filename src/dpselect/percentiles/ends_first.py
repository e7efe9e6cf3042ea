"""Percentiles from both ends inwards: each record pays for the part that it is in.

Going down from the largest candidate, AboveThreshold stops at the highest percentile. All that
it looked at are counts of records at or above the value where it stopped. So the next one is
sought among the records below that value, with the whole epsilon again, and so on; percentiles
near 0 are found in the same way from the smallest candidate upwards. What is left are the
percentiles of the middle, which are drawn by halves among the records in between.

How many records a part holds gets noise, too, and so does the number of all records: the ranks
that are wanted next are counted from these, so errors of the stops do not add up.

Guarantee:
    Given all that was released before, the next stop depends on the records of one part alone:
    of those beyond the value where it stops, up to the part before. So does the noisy count of
    the part, and the middle depends on the records in no part. A record more or less is in one
    part, or in the middle, for each outcome, and changes the distribution of what is drawn
    there by a factor of at most ``e^(ε_1)``: in a part its counts grow with the candidates
    visited and each changes by at most 1, in one direction, so noise of scale ``1/ε_a`` on the
    threshold and on each count is enough (``thresholds``, with a share of 0), and the noisy
    count costs ``ε_1 - ε_a``. With ``ε_0`` for the number of records it is ``ε_0 + ε_1`` in
    all. A record that is replaced leaves one part and enters another: two steps; and so many
    for each record of a person.

Source: AboveThreshold as in ``thresholds``; that records pay for one
    part, as for halves in ``binary_tree``; the rest is ours.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from math import exp, expm1, log
from typing import Any, TypeAlias

import numpy as np

from dpselect.draws import above_threshold
from dpselect.draws.exact.noisy_counts import check_scale, discrete_laplace, scale_for
from dpselect.draws.grid import ROUNDING_STEPS, STEPS_PER_UNIT
from dpselect.neighbours import Neighbours
from dpselect.percentiles.binary_tree import Branches, Recursive, draw_halves
from dpselect.percentiles.objectives import exact_fraction
from dpselect.percentiles.ranks import Ranks
from dpselect.percentiles.reading import Numbers, Records
from dpselect.percentiles.single import Answer, Method
from dpselect.percentiles.thresholds import COARSEST, EULER, fewer_alarms
from dpselect.plan import Spend
from dpselect.typing import Indices, Values

NUMBER = 1 / 16
"""Share of epsilon for the number of records, of which a small share is wanted at an end."""

COUNTS = 3 / 8
"""Share of what is left for the noisy count of each part."""

APART = 2.0**-20
"""Parts of one by which percentiles of the middle differ, at least."""


@dataclass(frozen=True, slots=True, eq=False)
class Left:
    """The candidates that are left in each group, and the records beyond them; released.

    Attributes:
        low: Position of the lowest candidate that is left, of those visited.
        high: One more than that of the highest.
        records: The noisy number of all records.
        below: Noisy numbers of the parts below, together.
        above: Those of the parts above.
    """

    low: Indices
    high: Indices
    records: Indices
    below: Indices
    above: Indices

    @classmethod
    def of_all(cls, candidates: int, records: Indices) -> Left:
        """Return what is left before the first draw."""
        none = np.zeros_like(records)
        return cls(none, none + candidates, records, none, none)

    def some(self, groups: Indices) -> Left:
        """Return what is left in some groups."""
        every = (self.low, self.high, self.records, self.below, self.above)
        return Left(*(one[groups] for one in every))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Seek:
    """What AboveThreshold is drawn from in each group.

    Attributes:
        counts: Numbers of records of the part up to each candidate that is visited, in their
            order, shape ``(groups, n)``; private.
        raised: By how much the threshold of each is raised, of this shape; public.
        threshold: The count that is wanted, shape ``(groups,)``; public.
        sizes: How many candidates are visited, of this shape; public.
    """

    counts: Indices
    raised: Indices
    threshold: Indices
    sizes: Indices

    def some(self, groups: Indices) -> Seek:
        """Return what some groups are drawn from."""
        every = (self.counts, self.raised, self.threshold, self.sizes)
        return Seek(*(one[groups] for one in every))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Draws:
    """What is drawn in each group, by the exact samplers or for experiments.

    Attributes:
        number: The noisy number of all records.
        stop: The position where AboveThreshold stops, the number of candidates if nowhere.
        count: The noisy count of a part.
    """

    number: Callable[[Indices], Indices]
    stop: Callable[[Seek], Indices]
    count: Callable[[Indices], Indices]


Middle: TypeAlias = Callable[[Indices, Values, Indices, Indices, Left], Values]
"""Values of some groups, shape ``(some, m)``, by their percentiles of the records left, shape
``(m, some)``, their first and last candidates, and what is left."""


@dataclass(frozen=True, eq=False)
class EndsFirst(Method):
    """Percentiles near both ends by parts, and those of the middle by halves.

    Attributes:
        below: Percentiles found upwards, increasing.
        middle: Those by halves, increasing.
        above: Those found downwards, increasing.
        points: The candidates, listed and increasing; all are visited.
        records: How records are read.
        epsilon: Epsilon of the whole release, in nats.
        assumed: How many records are assumed.

    Raises:
        ParameterError: Epsilon is too small.
    """

    below: tuple[float, ...]
    middle: tuple[float, ...]
    above: tuple[float, ...]
    points: Values
    records: Records
    epsilon: float
    assumed: float

    def __post_init__(self) -> None:
        check_scale(max(self.count_scale, self.noise_scale, self.number_scale))

    @property
    def steps(self) -> int:
        """How many records come or go by one neighbour step."""
        replaced = self.records.neighbours is Neighbours.SUBSTITUTE
        return self.records.per_user * (2 if replaced else 1)

    @property
    def of_parts(self) -> float:
        """Epsilon of the part that a record is in."""
        return self.epsilon - self.epsilon * NUMBER

    @property
    def number_scale(self) -> float:
        """Scale of the noise on the number of records."""
        return scale_for(self.epsilon * NUMBER, self.records.per_user)

    @property
    def count_scale(self) -> float:
        """Scale of the noise on the count of a part."""
        return scale_for(self.of_parts * COUNTS, self.steps)

    @property
    def noise_scale(self) -> float:
        """Scale of the noise on a threshold, and of that on each count below it."""
        return scale_for(self.of_parts * (1 - COUNTS), self.steps)

    @property
    def ranked(self) -> tuple[Values, ...]:
        return (self.points,)

    @property
    def mechanism(self) -> str:
        number = len(self.below) + len(self.above)
        said = f"{number} part{'s' * (number > 1)} (epsilon={self.of_parts!r} each)"
        inside = f", then {len(self.middle)} by halves between them" if self.middle else ""
        return (
            f"AboveThreshold from both ends over {self.points.size} candidates, {said}{inside}"
        )

    @property
    def spends(self) -> tuple[Spend, ...]:
        every = (*self.below, *self.middle, *self.above)
        return (
            Spend("number of records", self.epsilon * NUMBER),
            Spend(f"percentiles {', '.join(f'{p:g}' for p in every)}", self.of_parts),
        )

    @property
    def composition(self) -> str:
        return "parallel over the parts, each record in one; sequential with their number"

    def wanted(self, p: float, left: Left) -> tuple[Any, int]:
        """Return how many records are wanted up to a percentile: numerators, denominator."""
        part = exact_fraction(p)
        records = np.maximum(left.records, 1).astype(object)
        return part.denominator + 2 * part.numerator * (records - 1), 2 * part.denominator

    def upwards(self, p: float, ranks: Ranks, left: Left) -> Seek:
        """Return what the lowest percentile that is left is sought by."""
        wanted, of = self.wanted(p, left)
        at = left.low[:, None] + np.arange(self.points.size)
        at = at.clip(max=self.points.size - 1)
        counts = np.take_along_axis(ranks.upto, at, axis=1)
        before = _at(ranks.upto, left.low - 1, 0)
        return Seek(
            counts - before[:, None],
            self._raises[p][at],
            _threshold(-(-wanted // of) - left.below),
            np.maximum(left.high - left.low, 0),
        )

    def downwards(self, p: float, ranks: Ranks, left: Left) -> Seek:
        """Return what the highest percentile that is left is sought by."""
        wanted, of = self.wanted(p, left)
        at = (left.high[:, None] - 1 - np.arange(self.points.size)).clip(min=0)
        beyond = _at(ranks.below, left.high, ranks.numbers)
        counts = beyond[:, None] - np.take_along_axis(ranks.below, at, axis=1)
        records = np.maximum(left.records, 1).astype(object)
        return Seek(
            counts,
            self._raises[p][at],
            _threshold(records - wanted // of - left.above),
            np.maximum(left.high - left.low, 0),
        )

    @cached_property
    def _raises(self) -> dict[float, Indices]:
        """By how much the threshold at each candidate is raised, of each percentile."""
        scale, found = self.noise_scale, {}
        for p in (*self.below, *self.above):
            few = min(p, 100 - p) / 100
            noise = scale / max(few * self.assumed, 1e-9)
            growth = min(noise / log(1 / few) * exp(EULER - 1), COARSEST)
            way = 1 if p in self.below else -1
            found[p] = fewer_alarms(self.points[::way], growth, scale)[::way]
        return found

    def inside(self, left: Left) -> Values:
        """Return the percentiles of the records left, for those of the middle.

        Returns:
            Shape ``(m, groups)``, as parts of one; 0 or 2 where a percentile is in the parts
            below or above, by their noisy numbers.
        """
        found = np.empty((len(self.middle), left.records.size))
        rest = left.records - left.below - left.above
        for place, p in enumerate(self.middle):
            wanted, of = self.wanted(p, left)
            before = (wanted / of).astype(np.float64) - left.below
            # All that are left are drawn from the middle of the first to that of the last.
            share = ((before - 0.5) / np.maximum(rest - 1, 1)).clip(0, 1)
            # Increasing, also where several are at an end.
            share = (1 - APART) * share + APART * (place + 1) / len(self.middle)
            # Of parts that overlap by noise, the nearer one.
            below = before <= np.minimum(rest / 2, 0)
            above = before > np.maximum(rest / 2, rest)
            found[place] = np.where(below, 0.0, np.where(above, 2.0, share))
        return found

    def within(self, left: Left) -> tuple[Indices, Indices]:
        """Return the positions of the first and the last candidate of the middle."""
        candidates = self.points.size
        return np.maximum(left.low - 1, 0), np.minimum(left.high, candidates - 1)

    def follow(self, ranks: Ranks, by: Draws, middle: Middle) -> Values:
        """Return all values of each group, drawn one after the other.

        Args:
            ranks: Ranks of the candidates; private.
            by: What is drawn.
            middle: Returns values of percentiles of the records that are left.

        Returns:
            Shape ``(groups, m)``.
        """
        grid = self.points
        left = Left.of_all(grid.size, by.number(ranks.numbers))
        found: dict[float, Values] = {}
        for one, p in enumerate(self.above[::-1]):
            seek = self.downwards(p, ranks, left)
            groups, stops, parts = self._stops(seek, by, first=one == 0)
            high, above = left.high.copy(), left.above.copy()
            high[groups] -= 1 + stops
            above[groups] += parts
            left = replace(left, high=high, above=above)
            found[p] = grid[np.minimum(high, grid.size - 1)]
        for one, p in enumerate(self.below):
            seek = self.upwards(p, ranks, left)
            groups, stops, parts = self._stops(seek, by, first=one == 0)
            low, below = left.low.copy(), left.below.copy()
            low[groups] += 1 + stops
            below[groups] += parts
            left = replace(left, low=low, below=below)
            found[p] = grid[np.maximum(low - 1, 0)]
        if self.middle:
            between = self._between(left, middle, found)
            found |= dict(zip(self.middle, between.T, strict=True))
        return np.column_stack([found[p] for p in (*self.below, *self.middle, *self.above)])

    def _stops(self, seek: Seek, by: Draws, *, first: bool) -> tuple[Indices, Indices, Indices]:
        """Draw where groups stop, and the noisy count of the part; not of all groups.

        Groups of which the parts that were found hold as many as are wanted do not.
        """
        groups = np.flatnonzero((seek.sizes > 0) & ((seek.threshold > 0) | first))
        if groups.size == 0:
            return groups, groups, groups
        seek = seek.some(groups)
        stops = np.minimum(by.stop(seek), seek.sizes - 1)
        return groups, stops, by.count(seek.counts[np.arange(groups.size), stops])

    def _between(self, left: Left, middle: Middle, ends: Mapping[float, Values]) -> Values:
        """Return the values of the middle, of groups with as many percentiles at a time."""
        shares, (first, last) = self.inside(left), self.within(left)
        inside = (shares > 0) & (shares <= 1)
        before, inner = (shares <= 0).sum(axis=0), inside.sum(axis=0)
        least = ends[self.below[-1]] if self.below else self.points[first]
        most = self.points[last]
        if self.above:
            most = np.minimum(ends[self.above[0]], most)
        values = np.where(shares <= 0, least, most).T
        for start, size in sorted(set(zip(before.tolist(), inner.tolist(), strict=True))):
            if size:
                groups = np.flatnonzero((before == start) & (inner == size))
                of = shares[start : start + size, groups], first[groups], last[groups]
                values[groups, start : start + size] = middle(groups, *of, left.some(groups))
        return np.minimum(np.maximum(values, least[:, None]), most[:, None])

    def prepare(self, numbers: Numbers) -> Callable[[], Answer]:
        of_one_group = self.prepare_groups(numbers.ranks(self.points))
        return lambda: tuple(of_one_group()[0].tolist())

    def prepare_groups(self, ranks: Ranks) -> Callable[[], Values]:
        """Return the draw for groups of numbers, a row of values for each.

        Args:
            ranks: Ranks of all candidates; private.
        """

        def middle(
            groups: Indices, shares: Values, first: Indices, last: Indices, left: Left
        ) -> Values:
            some = ranks.some(groups)
            here = some.between(*self.records_left(some, left))
            # Beyond these there is no record.
            branches = replace(Branches.of_all(here), first=first, last=last)
            return self.points[draw_halves(branches, shares, self.of_middle, self._of_middle)]

        return lambda: self.follow(ranks, self._exact, middle)

    @property
    def of_middle(self) -> float:
        """Epsilon of the middle, for records that come or go.

        Of a person with ``m`` records of which one is in the middle, the scores there move by a
        part of ``m``, and the rounding of the grid moves them in full, in each half.
        """
        most, halves = self.records.per_user, 2 ** (len(self.middle).bit_length() - 1)
        rounding = halves * ROUNDING_STEPS / STEPS_PER_UNIT
        return self.of_parts * most / self.steps / (1 + (most - 1) * rounding)

    @property
    def _of_middle(self) -> Records:
        """Records of the middle: those that come or go."""
        return replace(self.records, neighbours=Neighbours.ADD_REMOVE)

    def by_halves(self, shares: Values, first: Indices, last: Indices) -> Recursive:
        """Return the method of the middle of one group, by what ``Middle`` gets."""
        percents, low, high = tuple((100 * shares[:, 0]).tolist()), int(first[0]), int(last[0])
        of = self._of_middle, self.of_middle
        return Recursive(percents, self.points[low : high + 1], *of, "permute-and-flip")

    def records_left(self, ranks: Ranks, left: Left) -> tuple[Indices, Indices]:
        """Return the first of the sorted records in no part, and the one after the last."""
        start = _at(ranks.upto, left.low - 1, 0)
        return start, np.maximum(start, _at(ranks.below, left.high, ranks.numbers))

    @property
    def _exact(self) -> Draws:
        """Draws by the exact samplers."""
        noise = self.noise_scale

        def stop(seek: Seek) -> Indices:
            queries = seek.counts - seek.raised - seek.threshold[:, None]
            return above_threshold.first_above_of_each(queries, 0, noise, noise, seek.sizes)

        return Draws(
            number=lambda counts: discrete_laplace(counts, self.number_scale),
            stop=stop,
            count=lambda counts: discrete_laplace(counts, self.count_scale),
        )

    def simulated(self, rng: np.random.Generator) -> Draws:
        """Return draws from a generator of NumPy: for experiments."""

        def geometric(scale: float, shape: tuple[int, ...]) -> Indices:
            return rng.geometric(-expm1(-1 / scale), shape) - 1

        def laplace(scale: float) -> Callable[[Indices], Indices]:
            return lambda counts: (
                counts + geometric(scale, counts.shape) - geometric(scale, counts.shape)
            )

        def stop(seek: Seek) -> Indices:
            queries = seek.counts - seek.raised - seek.threshold[:, None]
            late = geometric(self.noise_scale, (len(queries), 1))
            above = queries + geometric(self.noise_scale, queries.shape) >= late
            above &= np.arange(queries.shape[1]) < seek.sizes[:, None]
            return np.where(above.any(axis=1), above.argmax(axis=1), seek.sizes)

        return Draws(laplace(self.number_scale), stop, laplace(self.count_scale))


def _at(counts: Indices, column: Indices, otherwise: Indices | int) -> Indices:
    """Return the count of each group in a column, or another number beyond the columns."""
    inside = column.clip(0, counts.shape[1] - 1)
    found = counts[np.arange(len(counts)), inside]
    return np.where(inside == column, found, otherwise)


def _threshold(wanted: Any) -> Indices:  # noqa: ANN401 -- integers of any size
    """Return integers that are cut to what counts can be."""
    return np.clip(wanted, -above_threshold.LARGEST, above_threshold.LARGEST).astype(np.int64)
