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
from functools import lru_cache
from math import erf, sqrt
from typing import Any

import numpy as np

from dpselect.draws.above_threshold import Runs
from dpselect.draws.exact.leading_zeros import spans
from dpselect.draws.exact.selection import Rows
from dpselect.percentiles.candidates import UNKNOWN, Range
from dpselect.percentiles.methods import Draws
from dpselect.percentiles.reading import Counts, counts_of
from dpselect.typing import Indices, Values
from dpselect.writing import digits, lines

MOST_RECORDS = 100_000
"""Assumed records, at most: of more the error in ranks is the same, in units no larger."""

DENSE = 2**9
"""Candidates near the best one that are simulated, about."""

RELEASES, LARGER = 40, 2
"""Simulated releases of each shape. The error that so many of them reach is the stated one:
that of another release is larger with probability 2/41."""

NEAR, LUMP = 512, 64
"""Records around a percentile that are simulated one by one, and others that are as one."""

AT_ONCE = 2**19
"""Candidates of releases that are simulated together, about."""

GRID: Values = np.linspace(-6, 6, 2_001)
"""Standard deviations."""


class Simulated(Draws):
    """Draws from a generator of NumPy: for experiments."""

    def __init__(self, rng: "np.random.Generator") -> None:
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
        # Values grow in a row: behind a run that is above without noise none decides. Further
        # below no query is above: the probability is below 1e-17.
        sure = queries.value - queries.lowered.max() >= noisy[row]
        is_last = np.append(row[1:] != row[:-1], True)
        near = queries.value >= threshold - 40 * noise
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
        return np.floor(scale * self.rng.exponential(size=shape)).astype(np.int64)


class WithoutNoise(Draws):
    """Counts as they are: intervals from them are about as wide as from noisy ones."""

    def laplace(self, counts: Indices, scale: float) -> Indices:  # noqa: ARG002
        return counts


@lru_cache(maxsize=4)
def shapes(records: int) -> dict[str, Values]:
    """Return ascending shares of the range, for each shape as many as there are records."""
    at = (np.arange(records) + 0.5) / records
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
    worst = np.array([predicted(design, shaped_as(design.points, one)) for one in known])
    # Of fewer rows no error is smaller, though by chance or where candidates tie it may be.
    worst[:, 0] = np.maximum.accumulate(worst[::-1, 0])[::-1]
    for one, both in zip(known, worst, strict=True):
        columns[f"{one:,} rows"] = [_in_words(design, far) for far in both.T]
    around = "" if design.intervals is None else " (in brackets the width of the interval)"
    said = f"95 % bounds{around}{each}, for shapes {', '.join(shapes(1))}"
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


def shaped_as(points: Values | Range, records: int) -> Counts:
    """Return what so many records count at, a group for each shape."""
    low, high = (float(points[place]) for place in (0, len(points) - 1))
    each = [
        counts_of(low + (high - low) * shares, points)
        for shares in shapes(min(records, MOST_RECORDS)).values()
    ]
    place, held = (
        np.concatenate([getattr(one, of) for one in each]) for of in ("place", "held")
    )
    group = np.repeat(np.arange(len(each)), [one.place.size for one in each])
    return Counts(len(each), len(points), group, place, held)


def predicted(design: Any, counted: Counts) -> Values:  # noqa: ANN401 -- a design
    """Return the error of each percentile that is not exceeded with probability 0.95.

    With it the width of each interval; 0 without intervals.

    Args:
        design: Design of a release whose method is known.
        counted: What the records are assumed to be, in groups.

    Returns:
        Shape ``(2, m)``, in units of the values: the largest over the groups.
    """
    percents, found = np.array(design.method.percents), []
    most = AT_ONCE * counted.groups // (RELEASES * counted.place.size)
    for some in counted.parts(max(most, 1)):
        by = Simulated(np.random.default_rng(0))
        sums, at = some.held.cumsum(), percents / 100 * (some.numbers[:, None] - 1)
        at += (some.numbers.cumsum() - some.numbers)[:, None]
        is_near = np.abs(sums[:, None] - at[some.group]).min(axis=1) < NEAR
        lumps = np.where(is_near, sums, sums // LUMP * LUMP) + some.group * MOST_RECORDS
        lumps = np.maximum.accumulate(lumps)
        lumped = some.moved(some.place[lumps.searchsorted(lumps)])
        copies = lumped.some(np.repeat(np.arange(some.groups), RELEASES))
        noisy = by.laplace(copies.numbers, design.method.scale)
        drawn = design.method.draw(copies, noisy, by).reshape(some.groups, RELEASES, -1)
        places = (
            sums.searchsorted(end(at), side="right") for end in (np.floor, np.ceil, np.rint)
        )
        low, high, middle = (design.points[some.place[place]] for place in places)
        far = np.maximum(np.maximum(low[:, None] - drawn, drawn - high[:, None]), 0.0)
        width = np.zeros_like(low)
        if design.intervals is not None:
            for i, one in enumerate(some.parts()):
                ends = design.intervals.draw(one, middle[i].tolist(), WithoutNoise())()
                width[i] = np.diff(ends)[:, 0]
        found.append([np.sort(far, axis=1)[:, -LARGER].max(axis=0), width.max(axis=0)])
    return np.max(found, axis=0)
