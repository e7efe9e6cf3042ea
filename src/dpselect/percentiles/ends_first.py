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

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import ceil, exp, expm1, floor, inf, log
from typing import TypeAlias

import numpy as np

from dpselect.draws import above_threshold
from dpselect.draws.exact.noisy_counts import LARGEST_SCALE, discrete_laplace, scale_for
from dpselect.errors import ParameterError
from dpselect.neighbours import Neighbours
from dpselect.percentiles.binary_tree import Recursive
from dpselect.percentiles.objectives import exact_fraction
from dpselect.percentiles.range_halves import RecursiveOfRange
from dpselect.percentiles.ranges import Range
from dpselect.percentiles.ranks import Ranks, SupportsRanks, ranks_of
from dpselect.percentiles.reading import Numbers, Records
from dpselect.percentiles.single import Answer
from dpselect.percentiles.thresholds import COARSEST, EULER, fewer_alarms, growing
from dpselect.plan import Spend
from dpselect.typing import Indices, Probabilities, Values

NUMBER = 1 / 16
"""Of epsilon, for the number of records, of which a small share is wanted at an end."""

COUNTS = 3 / 8
"""Of what is left, for the noisy count of each part."""


@dataclass(frozen=True, slots=True)
class Left:
    """The candidates that are left, and how many records were found beyond them; released.

    Attributes:
        low: Position of the lowest candidate that is left, of those visited.
        high: One more than that of the highest.
        records: The noisy number of all records.
        below: Noisy numbers of the parts below, together.
        above: Those of the parts above.
    """

    low: int
    high: int
    records: int
    below: int = 0
    above: int = 0


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Seek:
    """What AboveThreshold is drawn from.

    Attributes:
        counts: Of the records of the part up to each candidate that is visited, in their
            order; private.
        raised: By how much the threshold of each is raised; public.
        threshold: The count that is wanted; public.
    """

    counts: Indices
    raised: Indices
    threshold: int


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Draws:
    """What is drawn, by the exact samplers or for experiments.

    Attributes:
        number: The noisy number of all records.
        stop: The position where AboveThreshold stops, the last one if nowhere.
        count: The noisy count of a part.
    """

    number: Callable[[int], int]
    stop: Callable[[Seek], int]
    count: Callable[[int], int]


Middle: TypeAlias = Callable[[tuple[float, ...], int, int, Left], Answer]
"""Of percentiles of the records left, their first and last candidate, and what is left."""


@dataclass(frozen=True, eq=False)
class EndsFirst:
    """Percentiles near both ends by parts, and those of the middle by halves.

    Attributes:
        below: Percentiles found upwards, increasing.
        middle: Those by halves, increasing.
        above: Those found downwards, increasing.
        points: The candidates, increasing.
        records: How records are read.
        epsilon: Epsilon of the whole release, in nats.
        assumed: How many records are assumed.

    Raises:
        ParameterError: Epsilon is too small.
    """

    below: tuple[float, ...]
    middle: tuple[float, ...]
    above: tuple[float, ...]
    points: Values | Range
    records: Records
    epsilon: float
    assumed: float
    name: str = "ends-first"
    exact: bool = True
    error: None = None

    def __post_init__(self) -> None:
        if max(self.count_scale, self.noise_scale, self.number_scale) > LARGEST_SCALE:
            raise ParameterError("`epsilon` is too small: noise on counts would exceed 2**50")

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

    @cached_property
    def visited(self) -> Values:
        """The candidates that can be visited, ascending."""
        return growing(self.points)

    @property
    def ranked(self) -> tuple[Values | None, ...]:
        return (None if isinstance(self.points, Range) else self.points,)

    @property
    def mechanism(self) -> str:
        of = len(self.below) + len(self.above)
        parts = f"AboveThreshold from both ends over {self.visited.size} candidates, {of} parts"
        inside = f", then {len(self.middle)} by halves between them" if self.middle else ""
        return f"{parts} (epsilon={self.of_parts!r} each){inside}"

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

    def probabilities(self, numbers: SupportsRanks) -> Probabilities:  # noqa: ARG002
        """Raise: the distribution has no closed form.

        Raises:
            ParameterError: Always.
        """
        raise ParameterError(
            "the distribution of percentiles from both ends has no closed form"
        )

    def wanted(self, p: float, left: Left) -> Fraction:
        """Return how many records are wanted up to a percentile, by the noisy number."""
        return exact_fraction(p) * (max(left.records, 0) + 1)

    def upwards(self, p: float, ranks: Ranks, left: Left) -> Seek:
        """Return what the lowest percentile that is left is sought by."""
        here = slice(left.low, left.high)
        before = int(ranks.upto[left.low - 1]) if left.low else 0
        threshold = ceil(self.wanted(p, left) - left.below)
        return Seek(ranks.upto[here] - before, self._raises[p][here], threshold)

    def downwards(self, p: float, ranks: Ranks, left: Left) -> Seek:
        """Return what the highest percentile that is left is sought by."""
        here = slice(left.low, left.high)
        beyond = ranks.numbers
        if left.high < self.visited.size:
            beyond = int(ranks.below[left.high])
        wanted = max(left.records, 0) + 1 - self.wanted(p, left) - 1 - left.above
        counts = beyond - ranks.below[here]
        return Seek(counts[::-1], self._raises[p][here][::-1], floor(wanted) + 1)

    @cached_property
    def _raises(self) -> dict[float, Indices]:
        """By how much the threshold at each candidate is raised, of each percentile."""
        scale, found = self.noise_scale, {}
        for p in (*self.below, *self.above):
            few = min(p, 100 - p) / 100
            noise = scale / max(few * self.assumed, 1e-9)
            growth = min(noise / log(1 / few) * exp(EULER - 1), COARSEST)
            way = 1 if p in self.below else -1
            found[p] = fewer_alarms(self.visited[::way], growth, scale)[::way]
        return found

    def inside(self, left: Left) -> tuple[tuple[float, ...], int]:
        """Return the percentiles of the records that are left, for those of the middle.

        Returns:
            Those that are wanted among these records, and how many lie below all of them.
        """
        records = left.records - left.below - left.above
        if records < 0:
            return tuple(
                100 * (i + 1) / (len(self.middle) + 1) for i in range(len(self.middle))
            ), 0
        shares = [(self.wanted(p, left) - left.below) / (records + 1) for p in self.middle]
        return tuple(float(100 * one) for one in shares if 0 < one <= 1), sum(
            one <= 0 for one in shares
        )

    def within(self, left: Left) -> tuple[int, int]:
        """Return the positions of the first and the last candidate of the middle."""
        grid, points = self.visited, self.points
        ends = np.array([grid[max(left.low - 1, 0)], grid[min(left.high, grid.size - 1)]])
        if isinstance(points, Range):
            low, high = (points.sides(ends) // 2).tolist()
        else:
            low, high = points.searchsorted(ends).tolist()
        # Two at least, as a range has.
        return (low, high) if low < high else (max(low - 1, 0), min(low + 1, len(points) - 1))

    def follow(self, ranks: Ranks, by: Draws, middle: Middle) -> Answer:
        """Return all values, drawn one after the other.

        Args:
            ranks: Of the candidates that can be visited; private.
            by: What is drawn.
            middle: Returns values of percentiles of the records that are left.
        """
        grid = self.visited
        left = Left(0, grid.size, by.number(ranks.numbers))
        high: list[float] = []
        for p in self.above[::-1]:
            seek = self.downwards(p, ranks, left)
            # The parts that were found hold as many as are wanted.
            if left.low < left.high and (seek.threshold > 0 or not high):
                stop = by.stop(seek)
                part = by.count(int(seek.counts[stop]))
                left = replace(left, high=left.high - 1 - stop, above=left.above + part)
            high.append(float(grid[min(left.high, grid.size - 1)]))
        low: list[float] = []
        for p in self.below:
            seek = self.upwards(p, ranks, left)
            if left.low < left.high and (seek.threshold > 0 or not low):
                stop = by.stop(seek)
                part = by.count(int(seek.counts[stop]))
                left = replace(left, low=left.low + 1 + stop, below=left.below + part)
            low.append(float(grid[max(left.low - 1, 0)]))
        if not self.middle:
            return (*low, *high[::-1])
        inner, before = self.inside(left)
        first, last = self.within(left)
        drawn = middle(inner, first, last, left) if inner else ()
        after = len(self.middle) - before - len(inner)
        least, most = (low or [float(self.points[first])])[-1], (high or [inf])[-1]
        most = min(most, float(self.points[last]))
        between = [least] * before + list(drawn) + [most] * after
        return (*low, *(min(max(one, least), most) for one in between), *high[::-1])

    def by_halves(
        self, percents: tuple[float, ...], first: int, last: int
    ) -> Recursive | RecursiveOfRange:
        """Return the method of the middle, for records that come or go."""
        of = replace(self.records, neighbours=Neighbours.ADD_REMOVE)
        epsilon = self.of_parts * self.records.per_user / self.steps
        if isinstance(self.points, Range):
            return RecursiveOfRange(percents, self.points.between(first, last), of, epsilon)
        points = self.points[first : last + 1]
        return Recursive(percents, points, of, epsilon, "permute-and-flip")

    def prepare(self, numbers: Numbers) -> Callable[[], Answer]:
        if isinstance(self.points, Range):
            values = np.sort(numbers.values())
            ranks = ranks_of(values, self.visited)
        else:
            every = numbers.ranks(self.points)
            ranks = every.at(self.points.searchsorted(self.visited))
        of = Records(Neighbours.ADD_REMOVE)

        def middle(percents: tuple[float, ...], first: int, last: int, left: Left) -> Answer:
            method = self.by_halves(percents, first, last)
            start, end = self.records_left(ranks, left)
            if isinstance(method, RecursiveOfRange):
                return method.prepare(of.of(values[start:end]))()
            here = every.at(np.arange(first, last + 1))
            inside = replace(
                here,
                below=(here.below - start).clip(0, end - start),
                upto=(here.upto - start).clip(0, end - start),
                numbers=end - start,
                missing=0,
            )
            return method.prepare(Numbers.counted(method.points, inside, of))()

        return lambda: self.follow(ranks, self._exact, middle)

    def records_left(self, ranks: Ranks, left: Left) -> tuple[int, int]:
        """Return the first of the sorted records in no part, and the one after the last."""
        start = int(ranks.upto[left.low - 1]) if left.low else 0
        end = int(ranks.below[left.high]) if left.high < len(ranks.below) else ranks.numbers
        return start, max(start, end)

    @property
    def _exact(self) -> Draws:
        """Draws by the exact samplers."""
        noise = self.noise_scale

        def stop(seek: Seek) -> int:
            queries = seek.counts - seek.raised
            found = above_threshold.first_above(queries, seek.threshold, noise, noise, 1)
            return found[0] if found else queries.size - 1

        return Draws(
            number=lambda count: int(discrete_laplace(np.array([count]), self.number_scale)[0]),
            stop=stop,
            count=lambda count: int(discrete_laplace(np.array([count]), self.count_scale)[0]),
        )

    def simulated(self, rng: np.random.Generator) -> Draws:
        """Return draws from a generator of NumPy: for experiments."""

        def geometric(scale: float, size: int) -> Indices:
            return rng.geometric(-expm1(-1 / scale), size) - 1

        def laplace(scale: float) -> Callable[[int], int]:
            def noisy(count: int) -> int:
                up, down = geometric(scale, 2).tolist()
                return count + up - down

            return noisy

        def stop(seek: Seek) -> int:
            queries = seek.counts - seek.raised - seek.threshold
            late = int(geometric(self.noise_scale, 1)[0])
            above = queries + geometric(self.noise_scale, queries.size) >= late
            return int(above.argmax()) if above.any() else queries.size - 1

        return Draws(laplace(self.number_scale), stop, laplace(self.count_scale))
