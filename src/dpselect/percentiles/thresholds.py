"""A percentile by AboveThreshold over candidates that grow away from 0.

With ``a = p/100`` and ``n`` records, going up from the smallest candidate, the first one is
released that ``1/2 + a(n - 1)`` records or more are at or below, with noise on both. Going down
it is the first that ``1/2 + (1 - a)(n - 1)`` or more are at or above. Without noise both are at
the record whose rank is nearest to ``1 + a(n - 1)``. Candidates are visited at distances from
0, or from the end next to it, that grow by a public factor: their number is logarithmic, and a
largest value need not be known.

Every candidate gets noise of its own, so the closer the visited ones are, the earlier one of
them is found above. Of a candidate whose distance to the next is ``g`` of its distance from 0,
the threshold is raised by ``b_2 ln^+(γ/g)``, which keeps the expected number of false alarms
per growth by γ the same however many are visited. Let the ``m`` assumed records beyond the
percentile fall off as ``e^(-x)``. Per growth, the candidates before the right one then hold
``m ln(n/m)`` records less, the first alarm is ``b_2 (ln(b_2 / (γ m ln(n/m))) + 0.577)`` records
early in the mean, and the noise on the threshold makes it ``b_1`` late: γ is where these two
are equal. On other data the answer is off by ``b_2`` times the logarithm of the ratio of the
densities.

Listed candidates are all visited. Of a range too long to list only some are, and between two of
these all records can lie: so ``REFINED`` of epsilon draws the answer by its rank among the
candidates from the stop to the one visited before it.

Guarantee:
    Let ``s`` be the share that is wanted, ``1 - a`` downwards and ``a`` upwards, and let the
    queries be ``q_i = c_i - s n`` with the counts ``c_i``, which only grow from visited
    candidate to visited candidate. Under add/remove the loss is at most
    ``max{s/b_1 + 1/b_2, (1 - s)/b_1}`` for noise of scales ``b_1, b_2`` on the threshold and on
    the counts. Proof, by ``dpselect.draws.above_threshold`` with the largest rise ``u`` of an
    earlier query and the fall ``d`` of the released one. A record more raises a query by
    ``1 - s`` from the first one that counts it, and lowers those before by ``s``: if the
    released one counts it, ``u ≤ 1 - s`` and ``d = s - 1``; if not, ``u = 0`` and ``d = s``. A
    record less raises queries by ``s`` before the first one that counted it and lowers the
    others by ``1 - s``: ``u ≤ s``, and ``d = 1 - s`` or ``-s``. Under substitution ``s n`` is
    public, all counts move in one direction by at most 1, and the loss is at most
    ``1/b_1 + 1/b_2``. A person with up to ``m`` records multiplies all by ``m``.

    So a percentile near 100 costs half as much noise downwards, where ``s`` is small. By how
    much thresholds are raised is public, and changes nothing in the proof. Of a range, the
    exponential mechanism then draws among candidates that the stop names: it is private for
    every stop, so its epsilon is added.

Source: Durfee, NeurIPS 2023, upwards and with one sensitivity; the rest is ours.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from math import ceil, exp, log

import numpy as np

from dpselect.draws import above_threshold
from dpselect.draws.range_exponential import draw_position
from dpselect.errors import ParameterError
from dpselect.mechanisms import ExponentialMechanism
from dpselect.neighbours import Neighbours
from dpselect.percentiles.objectives import FIRST, exact_fraction
from dpselect.percentiles.ranges import Range
from dpselect.percentiles.ranks import Ranks
from dpselect.percentiles.reading import Numbers
from dpselect.percentiles.single import ByPieces, Single, not_listed
from dpselect.plan import ErrorBound, Spend
from dpselect.typing import Indices, Probabilities, Values

FINEST = 10**6
"""Percentiles are taken to the nearest fraction of this denominator."""

VISITED = 2**15
"""Candidates that are visited on each side of 0, about."""

GROWTH, COARSEST = 0.003, 0.1
"""The growth if no number of records is assumed, and the largest one."""

REFINED = Fraction(1, 4)
"""Share of epsilon for the draw between the stop and the candidate before it, in a range."""

EULER = 0.5772156649015329
"""Mean of the largest of ``n`` exponential variables, less ``ln n``."""

LOW = 3.0
"""From the side of the many, where noise as large as ``m`` can reach beyond all records, the
growth is smaller by the exponential of so many times ``b_2/m``, since as many ranks further
from the end are nearer in value. Chosen on DPBench's HEPTH, PATENT and INCOME."""


@dataclass(frozen=True, eq=False)
class ByThreshold(Single):
    """A percentile by AboveThreshold.

    Attributes:
        epsilon: In nats.
        upwards: Whether the smallest candidate is visited first.
        beyond: How many records are assumed beyond the percentile, on the side of the few.

    Raises:
        ParameterError: ``epsilon`` is too small, or the 100th percentile is sought downwards.
    """

    epsilon: float
    upwards: bool
    beyond: float | None = None

    def __post_init__(self) -> None:
        if self.share == 0:
            raise ParameterError("the 100th percentile is sought upwards")
        _ = self.scales

    @cached_property
    def share(self) -> Fraction:
        """Share of the records that are wanted on the side of the visited candidates."""
        part = parts_of_record(self.p)
        return part if self.upwards else 1 - part

    @property
    def threshold(self) -> int:
        """The threshold of the counts less ``n`` times the share, in parts of a record."""
        return ceil((FIRST - self.share) * self.share.denominator)

    @cached_property
    def scales(self) -> tuple[float, float]:
        """Scales of the noise on the threshold and on a query, in parts of a record."""
        whole, part = self.share.denominator, self.share.numerator
        most = self.records.per_user
        if self.records.neighbours is Neighbours.SUBSTITUTE:
            rise, least = whole, 0
        else:
            rise, least = part, whole - part
        stop = Fraction(self.epsilon) * (1 - REFINED if isinstance(self.points, Range) else 1)
        return above_threshold.scales_for(
            stop, rise=most * rise, move=most * whole, least=most * least
        )

    def records_per_noise(self, records: float) -> float:
        """Return a number of records in scales of the noise on a query."""
        return records * self.share.denominator / self.scales[1]

    @cached_property
    def growth(self) -> float:
        """The growth γ of distances within which one false alarm is as likely."""
        if self.beyond is None:
            return GROWTH
        few = float(min(self.share, 1 - self.share))
        first, second = self.scales
        noise = 1 / self.records_per_noise(max(self.beyond, 1e-9))
        alarms = EULER - first / second - (0 if self.share <= Fraction(1, 2) else LOW * noise)
        return min(noise / log(1 / few) * exp(alarms), COARSEST) if few else COARSEST

    @property
    def ranked(self) -> Values | None:
        return None if isinstance(self.points, Range) else self.visited

    @cached_property
    def visited(self) -> Values:
        """The candidates that are visited, in order."""
        grid = (
            growing(self.points, VISITED)
            if isinstance(self.points, Range)
            else np.unique(self.points)
        )
        return grid if self.upwards else grid[::-1]

    @cached_property
    def raised(self) -> Indices:
        """By how much the threshold of each visited candidate is raised, in parts."""
        return fewer_alarms(self.visited, self.growth, self.scales[1])

    @property
    def mechanism(self) -> str:
        way = (
            f"{'upwards' if self.upwards else 'downwards'} over {self.visited.size} candidates"
        )
        is_range = isinstance(self.points, Range)
        then = ", then by rank from the stop to the one before" if is_range else ""
        return f"AboveThreshold(epsilon={self.epsilon!r}) {way}{then}"

    @property
    def spend(self) -> Spend:
        return Spend(f"percentile {self.p:g}, by AboveThreshold", self.epsilon)

    def error(self, probability: float) -> ErrorBound:
        """Return a bound on the ranks between the percentile and what was visited.

        With probability ``1 - β`` the noise on the threshold is below ``b_1 ln(2/β)``, and no
        query is above by noise that exceeds what its threshold is raised by, ``r_i``, and
        ``b_2 ln(2 ∑_i e^(-r_i/b_2)/β)`` more.
        """
        beta = 1 - probability
        first, second = self.scales
        alarms = float(np.exp(-self.raised / second).sum())
        late = first * log(2 / beta) + float(self.raised.max())
        most = max(late, second * log(2 * alarms / beta))
        unit = "ranks beyond the next candidate visited"
        return ErrorBound(most / self.share.denominator, unit, probability)

    def probabilities(self, numbers: Numbers) -> Probabilities:
        if isinstance(self.points, Range):
            raise not_listed()
        visited, law = self.visited, np.zeros(self.points.size)
        queries = self.queries(numbers)
        stops = above_threshold.stop_probabilities(queries, self.threshold, *self.scales, 1)[0]
        stops[-2] += stops[-1]
        order = np.argsort(self.points, kind="stable")
        law[order[np.searchsorted(self.points[order], visited)]] = stops[:-1]
        return law

    def prepare(self, numbers: Numbers) -> Callable[[], float]:
        queries, visited = self.queries(numbers), self.visited
        between = self.between(numbers)

        def draw() -> float:
            found = above_threshold.first_above(queries, self.threshold, *self.scales, 1)
            stop = found[0] if found else visited.size - 1
            return float(visited[stop]) if between is None else between(stop)

        return draw

    def between(self, numbers: Numbers) -> Callable[[int], float] | None:
        """Return the draw of a candidate near a stop; None if all candidates are visited."""
        by = self.near
        if by is None:
            return None
        pieces, decay = by.pieces(numbers), by.decay

        def draw(stop: int) -> float:
            first, last = self.step(stop)
            return by.points[first + draw_position(pieces.between(first, last), decay)]

        return draw

    @property
    def near(self) -> ByPieces | None:
        """The draw among all candidates of a range, of which a stop leaves some."""
        if not isinstance(self.points, Range):
            return None
        draw = ExponentialMechanism(epsilon=float(self.epsilon * REFINED))
        return ByPieces(self.p, self.points, self.records, draw)

    def step(self, stop: int) -> tuple[int, int]:
        """Return the positions from the candidate of a stop to the one visited before it."""
        positions = _positions(self.points, VISITED)  # type: ignore[arg-type] # a range
        if self.upwards:
            return positions[stop - 1] + 1 if stop else positions[0], positions[stop]
        here = len(positions) - 1 - stop
        return positions[here], positions[here + 1] - 1 if stop else positions[-1]

    def queries(self, numbers: Numbers) -> Indices:
        """Return the counts less those that are enough, in parts of a record; private."""
        return self._queries(numbers.ranks(self.points, self.visited))[0]

    def prepare_groups(self, ranks: Ranks) -> Callable[[], Values]:
        assert isinstance(self.points, np.ndarray)  # noqa: S101 -- no groups of a range
        queries, visited = self._queries(ranks.among(self.points, self.visited)), self.visited

        def draw() -> Values:
            found = above_threshold.first_above_of_each(queries, self.threshold, *self.scales)
            return visited[np.minimum(found, visited.size - 1)]

        return draw

    def _queries(self, ranks: Ranks) -> Indices:
        """Return the queries of groups of numbers, a row for each."""
        numbers = ranks.numbers[:, None]
        counts = ranks.upto if self.upwards else numbers - ranks.below
        wanted = numbers * self.share.numerator + self.raised
        return counts * self.share.denominator - wanted


def parts_of_record(p: float) -> Fraction:
    """Return a percentile as the nearest fraction of few enough parts."""
    return exact_fraction(p).limit_denominator(FINEST)


def fewer_alarms(visited: Values, growth: float, scale: float) -> Indices:
    """Return by how much the threshold of each candidate is raised, in units of its noise.

    Args:
        visited: Candidates in their order, at least one.
        growth: The growth of distances within which one false alarm is as likely.
        scale: Scale of the noise on a count.
    """
    steps = np.abs(np.diff(visited))
    apart = np.concatenate([steps[:1], steps]) if steps.size else np.zeros(1)
    away = np.abs(visited - min(max(0.0, visited.min()), visited.max()))
    close = np.divide(apart, away, out=np.full(visited.size, np.inf), where=away > 0)
    many = (close > 0) & (close < growth)
    logs = np.log(growth / close, out=np.zeros(visited.size), where=many)
    return np.rint(scale * logs).astype(np.int64)


def growing(points: Values | Range, most: int) -> Values:
    """Return candidates at growing distances from 0, or from the end next to it, ascending.

    Args:
        points: All candidates; if they are no more than ``most``, all are returned.
        most: How many are returned of each side of 0, about.
    """
    if isinstance(points, Range):
        return points.at(_positions(points, most))
    return _of_listed(points, most)


@lru_cache(maxsize=16)
def _positions(points: Range, most: int) -> Sequence[int]:
    last = len(points) - 1
    origin = min(max(round(-Fraction(points.lower) / Fraction(points.step)), 0), last)
    positions = {origin, 0, last}
    growth = _growth(float(max(origin, last - origin)), most)
    for direction, reach in ((1, last - origin), (-1, origin)):
        distance = 1
        while distance < reach:
            positions.add(origin + direction * distance)
            distance = max(distance + 1, int(distance * (1 + growth)))
    return sorted(positions)


def _of_listed(points: Values, most: int) -> Values:
    ordered = np.unique(points)
    if ordered.size <= most:
        return ordered
    origin = min(max(0.0, ordered[0]), ordered[-1])
    distances = np.abs(ordered - origin)
    growth = _growth(float(distances.max() / distances[distances > 0].min()), most)
    # One of each of a public sequence of distances, and both ends.
    kept = np.zeros(ordered.size, dtype=np.bool_)
    kept[[0, -1]] = True
    for side in (ordered >= origin, ordered <= origin):
        places = np.flatnonzero(side)[np.argsort(distances[side], kind="stable")]
        sorted_distances = distances[places]
        at = 0
        while at < places.size:
            kept[places[at]] = True
            further = sorted_distances[at] * (1 + growth)
            last = int(np.searchsorted(sorted_distances, further, side="right")) - 1
            at = max(at + 1, last)
    return ordered[kept]


def _growth(reach: float, most: int) -> float:
    """Return the growth of distances, in steps up to a reach, that visits so many of them.

    Up to 1/growth every step is visited, and beyond it ln(growth * reach)/growth distances.
    """
    growth = 1.0 / most
    for _ in range(20):
        growth = (1 + log(max(1.0, growth * reach))) / most
    return growth
