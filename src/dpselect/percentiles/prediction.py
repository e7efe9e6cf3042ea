r"""Errors of percentiles in their units, predicted for assumed shapes of the data.

What a release errs in units depends on the data, so no bound in units holds for all. A
prediction is one for public data of the assumed size and of several shapes between the ends of
the candidates: even, normal, falling, and two whose largest values are far beyond most others,
as where the ends are generous. Of the errors that are exceeded with a given probability the
largest counts. Records are at the candidates that are nearest to the shape, and an error is the
distance from the two records that the percentile lies between: no error is none. It is an
assumption, and it is the same whenever it is asked for: distributions are exact, or integrated
over 200 quantiles of the noise of a threshold, or those of simulations with a fixed seed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import timedelta
from functools import partial
from math import erf, inf, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from dpselect.neighbours import Neighbours
from dpselect.percentiles.binary_tree import Recursive
from dpselect.percentiles.bins import ByBins
from dpselect.percentiles.choice import AfterCount, chances_of_sizes
from dpselect.percentiles.ends_first import EndsFirst, Left, simulated_laplace
from dpselect.percentiles.placing import places_of
from dpselect.percentiles.range_halves import RangeHalf, RecursiveOfRange
from dpselect.percentiles.ranges import Range
from dpselect.percentiles.ranks import ranks_of
from dpselect.percentiles.reading import Numbers, Records
from dpselect.percentiles.single import ByPieces, Method, OneByOne, Single
from dpselect.percentiles.split_tree import Node
from dpselect.percentiles.thresholds import ByThreshold
from dpselect.typing import Indices, Probabilities, Values
from dpselect.writing import digits, lines

if TYPE_CHECKING:
    from dpselect.percentiles.percentiles import Percentiles, PercentilesDesign

MOST_RECORDS = 100_000
"""Assumed records, at most: of more the error in ranks is the same, in units no larger."""

LIKELY = 0.02
"""Sizes of a noisy number with less probability are left out."""

SAMPLES = 2000
"""Samples of a distribution that is computed."""

WIDTHS = 5
"""Simulated intervals of each shape."""

SIMULATIONS = 60
"""Simulations of each shape, where a distribution is not computed."""

HELD = 10_000
"""Different numbers, at most, of the simulations of the recursion."""

PARTS = 16
"""Values of a piece of a range that stand for all of it."""

QUANTILES: Values = -np.log1p(-(np.arange(200) + 0.5) / 200)
"""Quantiles of the standard exponential distribution."""

GRID: Values = np.linspace(0, 1, 20_001)
"""Shares of the range."""


def shapes(records: int) -> dict[str, Values]:
    """Return ascending shares of the range, for each shape as many as there are records."""
    at = (np.arange(records) + 0.5) / records
    normal = np.interp(at, [0.5 + erf((x - 0.5) * 6 / sqrt(2)) / 2 for x in GRID], GRID)
    standard = np.interp(
        at, [0.5 + erf((12 * x - 6) / sqrt(2)) / 2 for x in GRID], 12 * GRID - 6
    )
    return {
        "even": at,
        "normal": normal,
        "falling": np.minimum(-np.log1p(-at) / 6, 1),
        "lognormal": np.minimum(np.exp(1.2 * standard) / 30, 1),
        "Pareto": np.minimum(((1 - at) ** (-1 / 1.5) - 1) / 30, 1),
    }


DURATIONS = ((86400, "days"), (3600, "hours"), (60, "minutes"), (1, "seconds"))
"""Seconds of each unit of a predicted error, the largest first."""


TYPICAL = (500, 5_000, 50_000)
"""Numbers of records for which errors are predicted where none is assumed."""


def expected(query: Percentiles, numbers: Iterable[int]) -> str | None:
    """Return how far values are from their percentiles with probability 0.95, in words.

    Args:
        query: Query of a release, for all records or for each of several groups.
        numbers: Numbers of records, for each of which it is predicted.

    Returns:
        None where an end of the range is not known.
    """
    made: Any = query.design()
    design = getattr(made, "each", made)
    ends = (None, inf, -inf)
    if query.candidates is None and (query.lower in ends or query.upper in ends):
        return None
    each = "" if query.by is None else " in each group"
    given, probability = list(numbers), "with probability 0.95, if they have one of these"
    after = f"{probability} shapes: {', '.join(shapes(1))}"
    if len(given) == 1:
        return f"{_within(design, given[0])} for {given[0]:,} records{each}, {after}"
    columns: dict[str, list[Any]] = {"p": [f"{p:g}" for p in design.percents]}
    for one in given:
        columns[f"{one:,} rows"] = found = _in_words(design, predicted(design, one, 0.95))
        if design.intervals is not None:
            pairs = zip(found, _in_words(design, widths(design, one)), strict=True)
            columns[f"{one:,} rows"] = [f"{far} ({wide})" for far, wide in pairs]
    around = "" if design.intervals is None else ", in brackets the width of the interval,"
    return "\n".join([*lines(columns), f"error{around}{each} {after}"])


def _within(design: PercentilesDesign, records: int) -> str:
    """Return the predicted errors for a number of records, in words."""
    far = _listed(design, predicted(design, records, 0.95))
    found = "0" if far == "0" else f"within about {far}"
    if design.intervals is None:
        return found
    return f"{found} in intervals of about {_listed(design, widths(design, records))}"


def _listed(design: PercentilesDesign, far: Values) -> str:
    """Return a distance, or one for each percentile."""
    found = _in_words(design, far)
    if len(found) == 1:
        return found[0]
    named = (f"{p:g}: {one}" for p, one in zip(design.percents, found, strict=True))
    return f"({', '.join(named)})"


def _in_words(design: PercentilesDesign, far: Values) -> list[str]:
    """Return a distance for each percentile with two significant digits."""
    return [_distance(design.unit.distance(one)) if one else "0" for one in far.tolist()]


def _distance(far: float | timedelta) -> str:
    """Return a distance in words, a duration in its largest unit."""
    if not isinstance(far, timedelta):
        return digits(float(f"{far:.2g}"))
    seconds = far.total_seconds()
    size, unit = next((one for one in DURATIONS if seconds >= one[0]), DURATIONS[-1])
    return f"{digits(float(f'{seconds / size:.2g}'))} {unit}"


def widths(design: PercentilesDesign, records: int) -> Values:
    """Return the mean width of each interval, of the shape where it is largest."""
    assert design.intervals is not None  # noqa: S101 -- for type checkers
    intervals, worst = design.intervals, np.zeros(len(design.percents))
    for values in _shaped(design.points, records):
        rng = np.random.default_rng(0)
        around = intervals.prepare(
            Records(Neighbours.ADD_REMOVE).of(values), partial(simulated_laplace, rng)
        )
        released = tuple(np.percentile(values, design.percents, method="nearest").tolist())
        found = np.array([around(released)() for _ in range(WIDTHS)])
        worst = np.maximum(worst, np.diff(found, axis=2)[:, :, 0].mean(axis=0))
    return worst


def _shaped(points: Values | Range, records: int) -> Iterator[Values]:
    """Yield values of each shape, ascending candidates."""
    points = points if isinstance(points, Range) else np.unique(points)
    low, high = (float(points[place]) for place in (0, len(points) - 1))
    for shares in shapes(min(records, MOST_RECORDS)).values():
        places = places_of(points, low + (high - low) * shares)
        yield points.at(places) if isinstance(points, Range) else points[places]


def predicted(design: PercentilesDesign, records: int, probability: float) -> Values:
    """Return the error of each percentile that is exceeded with the rest of a probability.

    Args:
        design: Design of a release whose method is known.
        records: How many records are assumed.
        probability: Probability of an error up to the one that is returned; in (0, 1).

    Returns:
        Shape ``(m,)``, in units of the values: the largest over the shapes.
    """
    worst = np.zeros(len(design.percents))
    methods = _methods(design.method, records)
    for values in _shaped(design.points, records):
        rng, far, chances = np.random.default_rng(0), [], []
        for chance, method, scale in methods:
            drawn = _drawn(method, values, rng, scale)
            far.append(_distances(values, design.percents, drawn))
            chances.append(np.full(len(drawn), chance / len(drawn)))
        each = zip(np.concatenate(far).T, worst, strict=True)
        of = np.concatenate(chances)
        worst = np.array([max(_quantile(one, of, probability), most) for one, most in each])
    return worst


def _methods(method: Method, records: int) -> list[tuple[float, Method, float]]:
    """Return methods with their probabilities, and the scale of the number that is noisy."""
    if not isinstance(method, AfterCount):
        return [(1.0, method, 0.0)]
    chances = chances_of_sizes(records, method.scale)
    found: dict[str, tuple[float, Method, float]] = {}
    for size in sorted(
        np.flatnonzero(chances > LIKELY).tolist(), key=lambda one: -chances[one]
    ):
        made = method.of_size(size)
        # Of sizes that choose one mechanism the likeliest stands for all.
        before, likeliest, _ = found.get(made.mechanism, (0.0, made, 0.0))
        found[made.mechanism] = before + float(chances[size]), likeliest, method.scale
    return list(found.values())


def _quantile(far: Values, chances: Probabilities, probability: float) -> float:
    """Return an error of a probability, half a standard deviation on the safe side."""
    order = np.argsort(far, kind="stable")
    upto = np.cumsum(chances[order]) / chances.sum()
    safe = sqrt(probability * (1 - probability) / far.size) / 2
    place = min(int(np.searchsorted(upto, probability + safe)), far.size - 1)
    return float(far[order[place]])


def _distances(values: Values, percents: tuple[float, ...], drawn: Values) -> Values:
    """Return how far values are from the two records that each percentile lies between."""
    low, high = (np.percentile(values, percents, method=end) for end in ("lower", "higher"))
    return np.maximum(np.maximum(low - drawn, drawn - high), 0.0)


def _drawn(
    method: Method, values: Values, rng: np.random.Generator, scale: float = 0.0
) -> Values:
    """Return simulated answers, shape ``(times, m)``, after a noisy number of a scale."""
    numbers = Records(Neighbours.ADD_REMOVE).of(values)
    if isinstance(method, OneByOne):
        each = [_samples(one, numbers, rng) for one in method.singles]
        return np.sort(np.column_stack(each), axis=1)
    if isinstance(method, ByBins):
        counts = method.counts(numbers.ranks(method.points, method.ends))
        return method.answers(
            simulated_laplace(rng, counts.repeat(5 * SIMULATIONS, axis=0), method.scale)
        )
    if isinstance(method, EndsFirst):
        return _from_ends(method, values, rng, scale)
    assert isinstance(method, Recursive | RecursiveOfRange)  # noqa: S101 -- nothing else is chosen
    return _halved(method, values, rng)


def _samples(single: Single, numbers: Numbers, rng: np.random.Generator) -> Values:
    """Return values of a percentile in proportion to their probabilities, in random order."""
    released, law = _of_single(single, numbers)
    order = np.argsort(released, kind="stable")
    upto = np.cumsum(law[order])
    at = np.searchsorted(upto, (np.arange(SAMPLES) + 0.5) / SAMPLES * upto[-1])
    return rng.permutation(released[order[at]])


def _of_single(single: Single, numbers: Numbers) -> tuple[Values, Probabilities]:
    """Return values and their probabilities."""
    if isinstance(single, ByThreshold):
        return _of_threshold(single, numbers)
    if isinstance(single, ByPieces):
        pieces = single.pieces(numbers)
        sizes, law = pieces.sizes, pieces.probabilities(single.decay)
        inside = (np.arange(PARTS) + 0.5) / PARTS
        places = (pieces.ends - sizes)[:, None] + sizes[:, None] * inside
        released = single.points.at(np.floor(places).astype(np.int64).ravel())
        return released, np.repeat(law / PARTS, PARTS)
    return np.asarray(single.points), single.probabilities(numbers)


def _of_threshold(single: ByThreshold, numbers: Numbers) -> tuple[Values, Probabilities]:
    queries, visited = single.queries(numbers) - single.threshold, single.visited
    first, second = single.scales
    # Before and after these the probabilities of a stop are below 1e-15.
    far = queries < -36 * second
    start = queries.size - 1 if far.all() else int(np.argmin(far))
    after = np.searchsorted(np.maximum.accumulate(queries[start:]), QUANTILES[-1] * first)
    near = slice(start, start + int(after) + 1)
    queries, visited = queries[near], np.append(visited[near], visited[-1])
    law = np.zeros(visited.size)
    for noise in QUANTILES * first:
        stop = np.exp(-np.maximum(noise - queries, 0) / second)
        before = np.concatenate([[1.0], np.cumprod(1 - stop)[:-1]])
        law[:-1] += stop * before / QUANTILES.size
    law[-1] += max(1 - law.sum(), 0)
    return visited, law


def _halved(
    method: Recursive | RecursiveOfRange,
    values: Values,
    rng: np.random.Generator,
    times: int = SIMULATIONS,
) -> Values:
    """Simulate the recursion by the exponential mechanism, which errs no less than others."""
    points = method.points
    by = method
    if not isinstance(by, RecursiveOfRange):
        # What is drawn depends on its prices and shares alone, and so for one candidate.
        whole = Range(0, len(points), 1)
        by = RecursiveOfRange(method.percents, whole, method.records, method.epsilon)
    size = min(values.size, HELD)
    edges = np.arange(size + 1) * values.size // max(size, 1)
    half = _whole_half(points, values[(edges[:-1] + edges[1:]) // 2], np.diff(edges))
    found = np.empty((times, len(method.percents)))
    for simulation in range(times):
        drawn = _draw(by, by.tree, half, rng)
        found[simulation] = [points[drawn[i]] for i in range(len(drawn))]
    return found


def _from_ends(
    method: EndsFirst, values: Values, rng: np.random.Generator, scale: float
) -> Values:
    ranks, by = ranks_of(values, method.points), method.simulated(rng)
    noisy = simulated_laplace(rng, np.full(SIMULATIONS, values.size), scale)

    def middle(_: Indices, shares: Values, first: Indices, last: Indices, left: Left) -> Values:
        [start], [end] = method.records_left(ranks, left)
        halves = method.by_halves(shares, first, last)
        return _halved(halves, values[start:end], rng, times=1)

    return np.concatenate(
        [method.follow(ranks, noisy[[i]], by, middle) for i in range(SIMULATIONS)]
    )


def _whole_half(points: Values | Range, values: Values, records: Indices) -> RangeHalf:
    """Return numbers that so many records have each, as the first draw has them."""
    held, which = np.unique(places_of(points, values), return_inverse=True)
    weights = np.bincount(which, records, held.size).astype(np.int64)
    return RangeHalf(held, weights, 0, len(points) - 1)


def _draw(
    by: RecursiveOfRange, node: Node, half: RangeHalf, rng: np.random.Generator
) -> dict[int, int]:
    shares = by.shares(node)
    places, decay = half.places(node, shares), by.decay(node, half.unit * shares)
    run = _one_of(places.probabilities(decay), rng)
    place = int(places.starts[run]) + int(rng.integers(max(int(places.sizes[run]), 1)))
    share = _one_of(places.probabilities_of_shares(decay, run), rng)
    drawn = {node.position: place}
    sides = half.split(place, share, shares)
    for following, side in zip((node.below, node.above), sides, strict=True):
        if following is not None:
            drawn |= _draw(by, following, side, rng)
    return drawn


def _one_of(law: Probabilities, rng: np.random.Generator) -> int:
    upto = law.cumsum()
    return min(int(np.searchsorted(upto, rng.random() * upto[-1])), law.size - 1)
