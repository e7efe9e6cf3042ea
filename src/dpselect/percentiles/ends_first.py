"""Percentiles from both ends inwards: each record pays for the part that it is in.

Going down from the largest candidate, AboveThreshold stops at the highest percentile. All that
it looked at are counts of records at or above the value where it stopped. So the next one is
sought among the records below that value, with the whole epsilon again, and so on; percentiles
near 0 are found in the same way from the smallest candidate upwards. What is left are the
percentiles of the middle, which are drawn by halves among the records in between.

How many records a part holds gets noise, too, and the number of all records was released with
noise before: the ranks that are wanted next are counted from these, so errors of the stops do
not add up. A percentile whose rank lies in a part from the other end, by these numbers, is not
sought: its value is the end of that part.

Guarantee:
    Given all that was released before, the next stop depends on the records of one part alone:
    of those beyond the value where it stops, up to the part before. So does the noisy count of
    the part, and the middle depends on the records in no part. A record more or less is in one
    part, or in the middle, for each outcome, and changes the distribution of what is drawn
    there by a factor of at most ``e^ε``: in a part its counts grow with the candidates visited
    and each changes by at most 1, in one direction, so noise of scale ``1/ε_a`` on the
    threshold and on each count is enough (``thresholds``, with a share of 0), and the noisy
    count costs ``ε - ε_a``. It holds for whatever number of records was released. A record that
    is replaced leaves one part and enters another: two steps; and so many for each record of a
    person.

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
from dpselect.percentiles.reading import Records
from dpselect.percentiles.single import Method, named
from dpselect.percentiles.thresholds import COARSEST, EULER, fewer_alarms
from dpselect.plan import Spend
from dpselect.typing import Indices, Values

COUNTS = 3 / 8
"""Share of epsilon for the noisy count of each part."""

APART = 2.0**-20
"""Parts of one by which percentiles of the middle differ, at least."""


@dataclass(frozen=True, slots=True, eq=False)
class Left:
    """The candidates that are left in each group, and the records beyond them; released.

    Attributes:
        low: Position of the lowest candidate that is left.
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

    @property
    def rest(self) -> Indices:
        """The records that are left, by the noisy numbers."""
        return self.records - self.below - self.above


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Draws:
    """What is drawn in each group, by the exact samplers or for experiments.

    Attributes:
        stop: Where AboveThreshold stops: at the first of the counts, less what is wanted, that
            is at least 0 with noise; of so many of each row, or that number if at none.
        count: The noisy count of a part.
    """

    stop: Callable[[Indices, Indices], Indices]
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
        epsilon: Epsilon of the part that a record is in, in nats.
        assumed: About how many records there are.

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
        check_scale(max(self.count_scale, self.noise_scale))

    @property
    def percents(self) -> tuple[float, ...]:
        """All percentiles, increasing."""
        return (*self.below, *self.middle, *self.above)

    @property
    def steps(self) -> int:
        """How many records come or go by one neighbour step."""
        replaced = self.records.neighbours is Neighbours.SUBSTITUTE
        return self.records.per_user * (2 if replaced else 1)

    @property
    def count_scale(self) -> float:
        """Scale of the noise on the count of a part."""
        return scale_for(self.epsilon * COUNTS, self.steps)

    @property
    def noise_scale(self) -> float:
        """Scale of the noise on a threshold, and of that on each count below it."""
        return scale_for(self.epsilon * (1 - COUNTS), self.steps)

    @property
    def mechanism(self) -> str:
        number = len(self.below) + len(self.above)
        said = f"{number} part{'s' * (number > 1)} (epsilon={self.epsilon!r} each)"
        inside = f", then {len(self.middle)} by halves between them" if self.middle else ""
        return (
            f"AboveThreshold from both ends over {self.points.size} candidates, {said}{inside}"
        )

    @property
    def spends(self) -> tuple[Spend, ...]:
        return (Spend(named(self.percents), self.epsilon),)

    @property
    def composition(self) -> str:
        return "parallel over the parts, each record in one"

    def wanted(self, p: float, left: Left) -> tuple[Any, int]:
        """Return how many records are wanted up to a percentile: numerators, denominator."""
        part = exact_fraction(p)
        records = np.maximum(left.records, 1).astype(object)
        return part.denominator + 2 * part.numerator * (records - 1), 2 * part.denominator

    def needed(self, p: float, left: Left) -> Indices:
        """Return how many of the records left a part of this percentile should hold; public."""
        wanted, of = self.wanted(p, left)
        if p in self.below:
            needed = -(-wanted // of) - left.below
        else:
            needed = np.maximum(left.records, 1).astype(object) - wanted // of - left.above
        most = above_threshold.LARGEST
        return np.asarray(np.clip(needed, -most, most).astype(np.int64))

    def counts(self, p: float, ranks: Ranks, left: Left) -> tuple[Indices, Indices]:
        """Return the records left up to each candidate that is visited, in order, and these.

        Returns:
            Counts, private, and positions, public; shapes ``(groups, k)``.
        """
        visited = np.arange(self.points.size)
        if p in self.below:
            at = (left.low[:, None] + visited).clip(max=visited.size - 1)
            before = _at(ranks.upto, left.low - 1, 0)
            return np.take_along_axis(ranks.upto, at, axis=1) - before[:, None], at
        at = (left.high[:, None] - 1 - visited).clip(min=0)
        beyond = _at(ranks.below, left.high, ranks.numbers)
        return beyond[:, None] - np.take_along_axis(ranks.below, at, axis=1), at

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
        found, rest = np.empty((len(self.middle), left.records.size)), left.rest
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

    def follow(self, ranks: Ranks, records: Indices, by: Draws, middle: Middle) -> Values:
        """Return all values of each group, drawn one after the other.

        Args:
            ranks: Ranks of the candidates; private.
            records: The noisy number of records of each group; public.
            by: What is drawn.
            middle: Returns values of percentiles of the records that are left.

        Returns:
            Shape ``(groups, m)``.
        """
        left, found = Left.of_all(self.points.size, records), {}
        for p in (*self.above[::-1], *self.below):
            left, at = self._part(p, ranks, left, by)
            found[p] = self.points[at.clip(0, self.points.size - 1)]
        if self.middle:
            between = self._between(left, middle, found)
            found |= dict(zip(self.middle, between.T, strict=True))
        return np.column_stack([found[p] for p in self.percents])

    def _part(self, p: float, ranks: Ranks, left: Left, by: Draws) -> tuple[Left, Indices]:
        """Draw the part of a percentile; return what is left, and the position of its end.

        Where the parts that were found hold as many records as are wanted nothing is drawn.
        """
        up, needed = p in self.below, self.needed(p, left)
        sizes = np.maximum(left.high - left.low, 0)
        inside = (needed > 0) & (needed <= left.rest)
        whole = (left.below == 0) & (left.above == 0) & (sizes == self.points.size)
        groups = np.flatnonzero((sizes > 0) & (inside | whole))
        edges, parts = (left.low, left.below) if up else (left.high, left.above)
        edges, parts = edges.copy(), parts.copy()
        beyond = (sizes > 0) & (needed > left.rest)
        if groups.size:
            counts, at = self.counts(p, ranks.some(groups), left.some(groups))
            queries = counts - self._raises[p][at] - needed[groups, None]
            stops = by.stop(queries, sizes[groups])
            beyond[groups] = stops == sizes[groups]
            stops = np.minimum(stops, sizes[groups] - 1)
            edges[groups] += (1 + stops) * (1 if up else -1)
            parts[groups] += by.count(counts[np.arange(groups.size), stops])
        if up:
            at = np.where(beyond, left.high, edges - 1)
            return replace(left, low=edges, below=parts), at
        return replace(left, high=edges, above=parts), np.where(beyond, left.low - 1, edges)

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

    def prepare_groups(self, ranks: Ranks, records: Indices) -> Callable[[], Values]:
        def middle(
            groups: Indices, shares: Values, first: Indices, last: Indices, left: Left
        ) -> Values:
            some = ranks.some(groups)
            here = some.between(*self.records_left(some, left))
            # Beyond these there is no record.
            branches = replace(Branches.of_all(here), first=first, last=last)
            return self.points[draw_halves(branches, shares, self.of_middle, self._of_middle)]

        return lambda: self.follow(ranks, records, self._exact, middle)

    @property
    def of_middle(self) -> float:
        """Epsilon of the middle, for records that come or go.

        Of a person with ``m`` records of which one is in the middle, the scores there move by a
        part of ``m``, and the rounding of the grid moves them in full, in each half.
        """
        most, halves = self.records.per_user, 2 ** (len(self.middle).bit_length() - 1)
        rounding = halves * ROUNDING_STEPS / STEPS_PER_UNIT
        return self.epsilon * most / self.steps / (1 + (most - 1) * rounding)

    @property
    def _of_middle(self) -> Records:
        """Records of the middle: those that come or go."""
        return replace(self.records, neighbours=Neighbours.ADD_REMOVE)

    def by_halves(self, shares: Values, first: Indices, last: Indices) -> Recursive:
        """Return the method of the middle of one group, by what ``Middle`` gets."""
        percents, low, high = tuple((100 * shares[:, 0]).tolist()), int(first[0]), int(last[0])
        of = self._of_middle, self.of_middle
        return Recursive(percents, self.points[low : high + 1], *of)

    def records_left(self, ranks: Ranks, left: Left) -> tuple[Indices, Indices]:
        """Return the first of the sorted records in no part, and the one after the last."""
        start = _at(ranks.upto, left.low - 1, 0)
        return start, np.maximum(start, _at(ranks.below, left.high, ranks.numbers))

    @property
    def _exact(self) -> Draws:
        """Draws by the exact samplers."""
        noise = self.noise_scale
        return Draws(
            lambda queries, sizes: above_threshold.first_above_of_each(
                queries, 0, noise, noise, sizes
            ),
            lambda counts: discrete_laplace(counts, self.count_scale),
        )

    def simulated(self, rng: np.random.Generator) -> Draws:
        """Return draws from a generator of NumPy: for experiments."""

        def stop(queries: Indices, sizes: Indices) -> Indices:
            late = _geometric(rng, self.noise_scale, (len(queries), 1))
            above = queries + _geometric(rng, self.noise_scale, queries.shape) >= late
            above &= np.arange(queries.shape[1]) < sizes[:, None]
            return np.where(above.any(axis=1), above.argmax(axis=1), sizes)

        return Draws(stop, lambda counts: simulated_laplace(rng, counts, self.count_scale))


def simulated_laplace(rng: np.random.Generator, counts: Indices, scale: float) -> Indices:
    """Return counts with discrete Laplace noise of NumPy: for experiments."""
    return counts + _geometric(rng, scale, counts.shape) - _geometric(rng, scale, counts.shape)


def _geometric(rng: np.random.Generator, scale: float, shape: tuple[int, ...]) -> Indices:
    return np.asarray(rng.geometric(-expm1(-1 / scale), shape) - 1)


def _at(counts: Indices, column: Indices, otherwise: Indices | int) -> Indices:
    """Return the count of each group in a column, or another number beyond the columns."""
    inside = column.clip(0, counts.shape[1] - 1)
    found = counts[np.arange(len(counts)), inside]
    return np.where(inside == column, found, otherwise)
