"""Percentiles by AboveThreshold (sparse vector): one alone, or several in parts.

With ``a = p/100`` and ``n`` records, going up from the smallest candidate, the first one is
released that ``1/2 + a(n - 1)`` records or more are at or below, with noise on both. Going down
it is the first that ``1/2 + (1 - a)(n - 1)`` or more are at or above. Without noise both are at
the record whose rank is nearest to ``1 + a(n - 1)``.

Every candidate gets noise of its own, so the closer the visited ones are, the earlier one of
them is found above. Of a candidate whose distance to the next is ``g`` of its distance from 0,
the threshold is raised by ``b_2 ln^+(γ/g)``, which keeps the expected number of false alarms
per growth by γ the same however many are visited. Let the ``m`` assumed records beyond the
percentile fall off as ``e^(-x)``. Per growth, the candidates before the right one then hold
``m ln(n/m)`` records less, the first alarm is ``b_2 (ln(b_2 / (γ m ln(n/m))) + 0.577)`` records
early in the mean, and the noise on the threshold makes it ``b_1`` late: γ is where these two
are equal. On other data the answer is off by ``b_2`` times the logarithm of the ratio of the
densities.

In parts: going down from the largest candidate, AboveThreshold stops at the highest percentile.
All that it looked at are counts of records at or above the value where it stopped. So the next
one is sought among the records below that value, with the whole epsilon again, and so on;
percentiles below the median are found in the same way from the smallest candidate upwards, and
one near the median by its rank among the records in between. How many records a part holds gets
noise, too, and the number of all records was released with noise before: the ranks that are
wanted next are counted from these, so errors of the stops do not add up. A percentile whose
rank lies in a part from the other end, by these numbers, is not sought: its value is the end of
that part.

Guarantee:
    Alone: let ``s`` be the share that is wanted, ``1 - a`` downwards and ``a`` upwards, and let
    the queries be ``q_i = c_i - s n`` with the counts ``c_i``, which only grow from visited
    candidate to visited candidate. Under add/remove the loss is at most
    ``max{s/b_1 + 1/b_2, (1 - s)/b_1}`` for noise of scales ``b_1, b_2`` on the threshold and on
    the counts. Proof, by ``dpselect.draws.above_threshold`` with the largest rise ``u`` of an
    earlier query and the fall ``d`` of the released one. A record more raises a query by
    ``1 - s`` from the first one that counts it, and lowers those before by ``s``: if the
    released one counts it, ``u ≤ 1 - s`` and ``d = s - 1``; if not, ``u = 0`` and ``d = s``. A
    record less raises queries by ``s`` before the first one that counted it and lowers the
    others by ``1 - s``: ``u ≤ s``, and ``d = 1 - s`` or ``-s``. Under substitution ``s n`` is
    public, all counts move in one direction by at most 1, and the loss is at most
    ``1/b_1 + 1/b_2``. A person with up to ``m`` records multiplies all by ``m``. So a
    percentile near 100 costs half as much noise downwards, where ``s`` is small. By how much
    thresholds are raised is public, and changes nothing in the proof.

    In parts: given all that was released before, the next stop depends on the records of one
    part alone: of those beyond the value where it stops, up to the part before. So does the
    noisy count of the part, and the middle depends on the records in no part. A record more or
    less is in one part, or in none, for each outcome, and changes the distribution of what is
    drawn there by a factor of at most ``e^ε``: in a part its counts grow with the candidates
    visited and each changes by at most 1, in one direction, so noise of scale ``1/ε_a`` on the
    threshold and on each count is enough (as alone, with a share of 0), and the noisy count
    costs ``ε - ε_a``; without a middle the last part of each side needs none. Of the middle a
    record moves the distance of ranks from a public part of the records in no part by at most
    ``Δ`` (``objectives``). It holds for whatever number of records was released. A record that
    is replaced leaves one part and enters another: two steps; and so many for each record of a
    person.

Source: Durfee, NeurIPS 2023, upwards and with one sensitivity; the rest is ours.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, lru_cache
from math import ceil, exp, log

import numpy as np

from dpselect.draws import above_threshold
from dpselect.draws.above_threshold import Runs
from dpselect.draws.exact.noisy_counts import scale_for
from dpselect.neighbours import Neighbours
from dpselect.percentiles.methods import EXACT, Asked, Draws, Method
from dpselect.percentiles.objectives import RankScores, exact_fraction
from dpselect.percentiles.reading import Counts
from dpselect.typing import Indices, Values

FINEST = 10**6
"""Percentiles are taken to the nearest fraction of this denominator."""

NEAR = 25
"""Percentiles that are as near to the median: one of these is drawn by rank, in parts."""

COUNTS, INNER = 3 / 8, 0.3
"""Share of epsilon for the noisy count of a part, and of one that only the middle follows."""

COARSEST = 0.1
"""The largest growth."""

EULER = 0.5772156649015329
"""Mean of the largest of ``n`` exponential variables, less ``ln n``."""

LOW = 3.0
"""From the side of the many, where noise as large as ``m`` can reach beyond all records, the
growth is smaller by the exponential of so many times ``b_2/m``, since as many ranks further
from the end are nearer in value. Chosen on DPBench's HEPTH, PATENT and INCOME."""


@dataclass(frozen=True, eq=False)
class ByThreshold(Asked[Values], Method):
    """One percentile by AboveThreshold.

    Attributes:
        upwards: Whether the smallest candidate is visited first, as for the 100th percentile.
        assumed: About how many records there are.
    """

    upwards: bool
    assumed: float

    @cached_property
    def share(self) -> Fraction:
        """Share of the records that are wanted on the side of the visited candidates."""
        part = parts_of_record(self.p)
        return part if self.upwards else 1 - part

    @property
    def threshold(self) -> int:
        """The threshold of the counts less ``n`` times the share, in parts of a record."""
        # The middle of the ranks of the first record, of which each holds a whole one.
        return ceil(self.share.denominator / 2) - self.share.numerator

    @cached_property
    def scales(self) -> tuple[float, float]:
        """Scales of the noise on the threshold and on a query, in parts of a record."""
        whole, part = self.share.denominator, self.share.numerator
        most = self.records.per_user
        if self.records.neighbours is Neighbours.SUBSTITUTE:
            rise, least = whole, 0
        else:
            rise, least = part, whole - part
        return above_threshold.scales_for(
            self.epsilon, rise=most * rise, move=most * whole, least=most * least
        )

    def records_per_noise(self, records: float) -> float:
        """Return a number of records in scales of the noise on a query."""
        return records * self.share.denominator / self.scales[1]

    @property
    def visited(self) -> Values:
        """The candidates in the order in which they are visited."""
        return self.points if self.upwards else self.points[::-1]

    @cached_property
    def raised(self) -> Indices:
        """By how much the threshold of each visited candidate is raised, in parts."""
        few = float(min(self.share, 1 - self.share))
        first, second = self.scales
        noise = 1 / self.records_per_noise(max(few * self.assumed, 1e-9))
        late = first / second + (0 if self.share <= Fraction(1, 2) else LOW * noise)
        return fewer_alarms(self.visited, second, noise, few, late)

    @property
    def mechanism(self) -> str:
        way = "upwards" if self.upwards else "downwards"
        over = f"{way} over {self.points.size} candidates"
        return f"AboveThreshold(epsilon={self.epsilon!r}) {over}"

    def draw(self, counts: Counts, records: Indices, by: Draws = EXACT) -> Values:  # noqa: ARG002
        found = by.first_above(self.queries(counts), self.threshold, self.scales)
        return self.visited[np.minimum(found, self.points.size - 1), None]

    def queries(self, counts: Counts) -> Runs:
        """Return the counts less those that are enough, in parts of a record; private."""
        begin = np.zeros(counts.groups, dtype=np.int64)
        end = begin + self.points.size
        parts = replace(counts, held=counts.held * self.share.denominator)
        wanted = counts.numbers * self.share.numerator
        return visits(parts.visited(upwards=self.upwards), begin, end, wanted, self.raised)


@dataclass(frozen=True, slots=True)
class Part:
    """One percentile of several, sought from its end; public.

    Attributes:
        p: The percentile.
        place: Its position among all.
        upwards: Whether from the smallest candidate.
        counts: Share of epsilon for the noisy count of its records; 0 if nothing needs it.
    """

    p: float
    place: int
    upwards: bool
    counts: float

    def wanted(self, records: Indices) -> Indices:
        """Return how many records a noisy number wants from the end up to the percentile."""
        part, number = exact_fraction(self.p), np.maximum(records, 1).astype(object)
        twice, of = part.denominator + 2 * part.numerator * (number - 1), 2 * part.denominator
        found = -(-twice // of) if self.upwards else number - twice // of
        return np.asarray(np.minimum(found, above_threshold.LARGEST).astype(np.int64))


@dataclass(frozen=True, eq=False)
class InParts(Asked[Values], Method):
    """Several percentiles by AboveThreshold in parts from both ends, the middle one by rank.

    Each is below 100, and ``epsilon`` is that of the part that a record is in.

    Attributes:
        assumed: About how many records there are.
    """

    assumed: float

    def scale_of(self, share: float) -> float:
        """Scale of the noise for a share of epsilon."""
        return scale_for(self.epsilon * share, self.records.changed)

    @property
    def middle(self) -> int | None:
        """The position of the percentile that is nearest to the median, if that is near."""
        far = [abs(p - 50) for p in self.percents]
        return far.index(min(far)) if min(far) <= NEAR else None

    def parts(self) -> Iterator[Part]:
        """Yield all percentiles but the middle one as they are sought: the highest first."""
        middle, places = self.middle, range(len(self.percents))
        low = sum(p < 50 for p in self.percents) if middle is None else middle
        high = low if middle is None else middle + 1
        for place in (*places[high:][::-1], *places[:low]):
            inner = INNER if middle is not None else 0.0
            counts = inner if place in {high, low - 1} else COUNTS
            yield Part(self.percents[place], place, place < low, counts)

    @property
    def mechanism(self) -> str:
        return (
            f"AboveThreshold(epsilon={self.epsilon!r} each) from both ends in "
            f"{len(self.percents)} parts over {self.points.size} candidates"
        )

    def raised(self, part: Part) -> Indices:
        """Return by how much the threshold at each visited candidate is raised."""
        scale, few = self.scale_of(1 - part.counts), min(part.p, 100 - part.p) / 100
        visited = self.points[:: 1 if part.upwards else -1]
        return fewer_alarms(visited, scale, scale / max(few * self.assumed, 1e-9), few, late=1)

    def draw(self, counts: Counts, records: Indices, by: Draws = EXACT) -> Values:
        found = np.empty((records.size, len(self.percents)), dtype=np.int64)
        # How many candidates are in parts, and noisy numbers of their records: in the first row
        # from the largest candidate on, in the second from the smallest.
        both = np.zeros((2, 2, records.size), dtype=np.int64)
        for part in self.parts():
            found[:, part.place] = self._sought(part, counts, records, both, by)
        if self.middle is not None:
            found[:, self.middle] = self._by_rank(counts, records, both, by)
        return np.sort(self.points[found], axis=1)

    def _sought(
        self, part: Part, counts: Counts, records: Indices, both: Indices, by: Draws
    ) -> Indices:
        """Draw the positions of a part's end, and count it off what is left.

        Where the parts that were found hold as many records as are wanted nothing is drawn.
        """
        edges, taken = both[:, int(part.upwards)]
        last = self.points.size - 1
        in_parts, number = both.sum(axis=1)
        size = last + 1 - in_parts
        needed = part.wanted(records) - taken
        # Where no candidate is left, records that are wanted are in parts from the other end.
        beyond = needed > np.where(size > 0, records - number, 0)
        at = np.where(beyond, edges + size, edges - 1)
        sought = ((needed > 0) & ~beyond) | (size > last)
        some = np.flatnonzero(sought & (size > 0))
        if some.size:
            begin, end = edges[some], edges[some] + size[some]
            counted = counts.some(some).visited(upwards=part.upwards)
            queries = visits(counted, begin, end, needed[some], self.raised(part))
            scale = self.scale_of(1 - part.counts)
            stop = by.first_above(queries, 0, (scale, scale))
            at[some] = stop
            edges[some] = np.minimum(stop + 1, end)
            if part.counts:
                rows = np.arange(some.size)
                inside = queries.values(rows, np.minimum(stop, end - 1)) + needed[some]
                taken[some] += by.laplace(inside, self.scale_of(part.counts))
        at = at.clip(0, last)
        return at if part.upwards else last - at

    def _by_rank(self, counts: Counts, records: Indices, both: Indices, by: Draws) -> Indices:
        """Draw the positions of the middle percentile among what is left, or at its end."""
        (down, up), taken = both
        last = self.points.size - 1
        low, high = np.maximum(up - 1, 0), np.minimum(last + 1 - down, last)
        wanted = float(self.percents[self.middle or 0]) / 100 * (records.clip(1) - 1)
        before, number = wanted - taken[1], records - taken.sum(axis=0)
        fraction = (before / np.maximum(number - 1, 1)).clip(0, 1)
        # Of all numbers, those in no part; all candidates of the parts are out of reach.
        scores = RankScores(
            counts.between(up, last + 1 - down),
            p=100 * fraction,
            points=self.points,
            bound=np.maximum(fraction, 1 - fraction),
            drawn=(low, high),
        )
        at = by.largest(scores, self.epsilon / self.records.changed)
        # Of parts that overlap by noise, the nearer one.
        below = before + 0.5 <= np.minimum(number / 2, 0)
        above = before + 0.5 > np.maximum(number / 2, number)
        return np.where(below, low, np.where(above, high, at))


def visits(
    counts: Counts, begin: Indices, end: Indices, wanted: Indices, raised: Indices
) -> Runs:
    """Return how many more numbers than are wanted were met on the way; private.

    Args:
        counts: Where numbers count among the candidates as they are visited.
        begin: How many candidates are left out before, in each group.
        end: How many are visited or left out before.
        wanted: How many numbers are wanted in each group.
        raised: By how much the threshold of each visited candidate is raised.
    """
    counts = counts.between(begin, end)
    group, every = counts.group, np.arange(counts.groups)
    # The first run of each group, which has none, and behind it those of its numbers.
    first, at = group.searchsorted(every) + every, np.arange(group.size) + group + 1
    row, start, sums = np.zeros((3, group.size + counts.groups), dtype=np.int64)
    row[first], start[first] = every, begin
    row[at], start[at], sums[at] = group, counts.place, counts.held
    sums = sums.cumsum()
    return Runs(row, start, sums - (sums[first] + wanted)[row], begin, end, raised)


@lru_cache(maxsize=1024)
def parts_of_record(p: float) -> Fraction:
    """Return a percentile as the nearest fraction of few enough parts."""
    return exact_fraction(p).limit_denominator(FINEST)


def fewer_alarms(
    visited: Values, scale: float, noise: float, few: float, late: float
) -> Indices:
    """Return by how much the threshold of each candidate is raised, in units of its noise.

    The growth of distances within which one false alarm is as likely is that at which false
    alarms are as early as the threshold is late.

    Args:
        visited: Candidates in their order, at least one.
        scale: Scale of the noise on a count.
        noise: The same, relative to the records beyond the percentile.
        few: Share of these among all records.
        late: Mean of the noise on the threshold, in these scales.
    """
    growth = min(noise / log(1 / few) * exp(EULER - late), COARSEST) if few else COARSEST
    steps = np.abs(np.diff(visited))
    apart = np.concatenate([steps[:1], steps]) if steps.size else np.zeros(1)
    away = np.abs(visited - min(max(0.0, visited.min()), visited.max()))
    close = np.divide(apart, away, out=np.full(visited.size, np.inf), where=away > 0)
    many = (close > 0) & (close < growth)
    logs = np.log(growth / close, out=np.zeros(visited.size), where=many)
    return np.rint(scale * logs).astype(np.int64)
