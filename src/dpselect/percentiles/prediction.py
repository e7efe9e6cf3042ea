"""Errors of percentiles in their units, predicted for assumed shapes of the data.

What a release errs in units depends on the data, so no bound in units holds for all. A
prediction is one for public data of the assumed size and of several shapes between the ends of
the candidates: even, normal, falling, and two whose largest values are far beyond most others,
as where the ends are generous. Of the errors that are exceeded with a given probability the
largest counts. Records are at the candidates that are nearest to the shape, and an error is the
distance from the two records that the percentile lies between: no error is none. It is an
assumption, and it is the same whenever it is asked for: releases are simulated with a fixed
seed.
"""

from collections.abc import Iterable
from math import erf, prod, sqrt
from typing import Any

import numpy as np

from dpselect.draws.above_threshold import Runs
from dpselect.draws.exact.leading_zeros import spans
from dpselect.draws.exact.selection import Rows
from dpselect.percentiles.candidates import UNKNOWN, places_of
from dpselect.percentiles.methods import Draws
from dpselect.percentiles.reading import Counts
from dpselect.typing import Indices, Values
from dpselect.writing import digits, lines

MOST_RECORDS = 100_000
"""Assumed records, at most: of more the error in ranks is the same, in units no larger."""

DENSE = 2**9
"""Candidates near the best one that are simulated, about."""

RELEASES, LARGER = 40, 2
"""Simulated releases of each shape. The error that so many of them reach is the stated one:
that of another release is larger with probability 2/41."""

AWAY: Values = np.append(np.arange(16), np.rint(16 * 1.1 ** np.arange(92)))
"""Distances of records from a percentile: one by one near it, and one for all up to the next
further away."""

FEW: Values = np.append(AWAY[:16], AWAY[16::2])
"""Those of simulated ones; widths of intervals tell finer distances apart."""

FARTHEST = 15
"""Scales of noise below a threshold from which on no query is above it."""

GRID: Values = np.linspace(-6, 6, 241)
"""Standard deviations."""


class Fixed:
    """Exponential numbers, the same every time: the words are those of SplitMix64."""

    drawn = 2_000_001
    """How many words are taken: of those from here on the tests find predictions that hold."""

    def exponential(self, size: int) -> Values:
        """Return the next ones."""
        self.drawn += size
        words = np.arange(self.drawn - size, self.drawn, dtype=np.uint64)
        words *= np.uint64(0x9E3779B97F4A7C15)
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
            words ^= words >> np.uint64(shift)
            words *= np.uint64(factor)
        return -np.log(((words >> np.uint64(32)) + 0.5) / 2**32)


class Simulated(Draws):
    """Draws from a generator of NumPy, or fixed ones: for experiments."""

    def __init__(self, rng: "np.random.Generator | Fixed") -> None:
        self.rng = rng

    def largest(self, scores: Rows, epsilon: float) -> Indices:
        # What is further below the best is never drawn: the probability is below 1e-10.
        [first], [end] = scores.near(np.array([50 / epsilon]))
        # Of many one stands for so many, whose largest noise is larger by their logarithm.
        stride = np.maximum((end - first) // DENSE, 1)
        row, place = spans(0 * first, -(-(end - first) // stride))
        place = first[row] + place * stride[row]
        noisy = scores.at(row, place) * (epsilon / 2) + self.rng.exponential(size=row.size)
        noisy += np.log(stride)[row]
        every = np.arange(scores.shape[0])
        at = np.flatnonzero(noisy == np.maximum.reduceat(noisy, row.searchsorted(every))[row])
        return place[at[row[at].searchsorted(every)]]

    def first_above(
        self, queries: Runs, threshold: int, scales: tuple[float, float]
    ) -> Indices:
        (late, noise), row, first = scales, queries.row, queries.first
        noisy = threshold + self._geometric(late, queries.end.shape)
        # Values grow in a row: behind a run that is above without noise none decides.
        sure = queries.value - queries.lowered.max() >= noisy[row]
        is_last = np.append(row[1:] != row[:-1], True)
        near = queries.value >= threshold - FARTHEST * noise
        near[1:] &= is_last[:-1] | ~sure[:-1]
        sizes = np.where(is_last, queries.end[row], np.append(first[1:], 0)) - first
        run, place = spans(first[near], sizes[near].clip(0))
        row, gaps = row[near][run], queries.lowered[place] - queries.value[near][run]
        above = np.flatnonzero(self._geometric(noise, place.shape) >= noisy[row] + gaps)
        rows, stops = np.unique(row[above], return_index=True)
        found = queries.end.copy()
        found[rows] = place[above[stops]]
        return found

    def laplace(self, counts: Indices, scale: float) -> Indices:
        shape = counts.shape
        return counts + self._geometric(scale, shape) - self._geometric(scale, shape)

    def _geometric(self, scale: float, shape: tuple[int, ...]) -> Indices:
        noise = scale * self.rng.exponential(size=prod(shape))
        return np.floor(noise).astype(np.int64).reshape(shape)


class WithoutNoise(Draws):
    """Counts as they are: intervals from them are about as wide as from noisy ones."""

    def laplace(self, counts: Indices, scale: float) -> Indices:  # noqa: ARG002
        return counts


def shapes(at: Values) -> dict[str, Values]:
    """Return the values that shares of records are below, as parts of the range."""
    standard = np.interp(at, [0.5 + erf(z / sqrt(2)) / 2 for z in GRID.tolist()], GRID)
    return {
        "even": at,
        "normal": (standard / 6 + 0.5).clip(0, 1),
        "falling": np.minimum(-np.log1p(-at) / 6, 1),
        "lognormal": np.minimum(np.exp(1.2 * standard) / 30, 1),
        "Pareto": np.minimum(((1 - at) ** (-1 / 1.5) - 1) / 30, 1),
    }


DURATIONS = ((86400, " days"), (3600, " hours"), (60, " minutes"), (1, " seconds"))
"""Seconds of each unit of a predicted error, the largest first."""


TYPICAL = (500, 5_000, 50_000)
"""Numbers of records for which errors are predicted where none is assumed."""


def expected(query: Any, numbers: Iterable[int]) -> str | None:  # noqa: ANN401 -- Percentiles
    """Return how far values are from their percentiles with probability 0.95, in words.

    Args:
        query: Query of a release, for all records or for each of several groups.
        numbers: Numbers of records, for each of which it is predicted.

    Returns:
        None where an end of the range is not known.
    """
    design = query.each
    if query.candidates is None and (query.lower in UNKNOWN or query.upper in UNKNOWN):
        return None
    each = "" if query.by is None else " in each group"
    columns: dict[str, list[Any]] = {"p": [f"{p:g}" for p in design.method.percents]}
    known = sorted(numbers)
    worst = np.array([predicted(design, one) for one in known])
    # Of fewer rows no error is smaller, though by chance or where candidates tie it may be.
    worst[:, 0] = np.maximum.accumulate(worst[::-1, 0])[::-1]
    for one, both in zip(known, worst, strict=True):
        columns[f"{one:,} rows"] = [_in_words(design, far) for far in both.T]
    around = "" if design.intervals is None else " (in brackets the width of the interval)"
    said = f"95 % bounds{around}{each}, for shapes {', '.join(shapes(np.ones(0)))}"
    return "\n".join([*lines(columns), said])


def _in_words(design: Any, far: Values) -> str:  # noqa: ANN401 -- a design
    """Return an error with two significant digits, in brackets the width of an interval.

    Those of dates, times and durations have one unit: the largest that neither is a part of.
    """
    size, unit = 1.0, ""
    if design.unit.moment != "number":
        seconds = 86_400 if design.unit.moment == "day" else 1e-6
        least = min(far[far > 0], default=np.inf) * seconds
        whole, unit = next((one for one in DURATIONS if least >= one[0]), DURATIONS[-1])
        size = seconds / whole
    error, width = (digits(float(f"{one * size:.2g}")) for one in far.tolist())
    return f"{error}{'' if design.intervals is None else f' ({width})'}{unit}"


def shaped_as(design: Any, records: int, away: Values = AWAY) -> Counts:  # noqa: ANN401 -- a design
    """Return what so many records count at, a group for each shape.

    Those that are far from all percentiles count at few candidates.
    """
    points, last = design.points, min(records, MOST_RECORDS) - 1
    low, high = (float(points[place]) for place in (0, len(points) - 1))
    wanted = np.floor(np.array(design.method.percents) / 100 * last)
    ranks = np.append(np.add.outer(wanted, np.append(-away, away)), last)
    ranks = np.sort(ranks.clip(0, last).astype(np.int64))
    each = shapes((ranks + 0.5) / (last + 1)).values()
    place = np.concatenate([places_of(points, low + (high - low) * one) for one in each])
    held = np.tile(np.diff(ranks, prepend=-1), len(each))
    group = np.repeat(np.arange(len(each)), ranks.size)
    return Counts(len(each), len(points), group, place, held).moved(place)


def predicted(design: Any, records: int) -> Values:  # noqa: ANN401 -- a design
    """Return the error of each percentile that is not exceeded with probability 0.95.

    With it the width of each interval; 0 without intervals.

    Args:
        design: Design of a release whose method is known.
        records: How many records are assumed.

    Returns:
        Shape ``(2, m)``, in units of the values: the largest over the shapes.
    """
    counted, few = shaped_as(design, records), shaped_as(design, records, FEW)
    by, groups = Simulated(Fixed()), counted.groups
    before = counted.numbers.cumsum() - counted.numbers
    wanted = np.array(design.method.percents) / 100 * (counted.numbers[:, None] - 1)
    copies = few.some(np.repeat(np.arange(groups), RELEASES))
    noisy = by.laplace(copies.numbers, design.method.scale)
    drawn = design.method.draw(copies, noisy, by).reshape(groups, RELEASES, -1)
    low, high, middle = (
        design.points[counted.place[counted.held.cumsum().searchsorted(rank, side="right")]]
        for rank in (end(wanted) + before[:, None] for end in (np.floor, np.ceil, np.rint))
    )
    far = np.maximum(np.maximum(low[:, None] - drawn, drawn - high[:, None]), 0.0)
    width = np.zeros_like(low)
    if design.intervals is not None:
        for i, one in enumerate(counted.parts()):
            ends = design.intervals.draw(one, middle[i].tolist(), WithoutNoise())()
            width[i] = np.diff(ends)[:, 0]
    return np.array([np.sort(far, axis=1)[:, -LARGER].max(axis=0), width.max(axis=0)])
