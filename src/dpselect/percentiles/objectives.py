"""Objectives of a percentile: public values by their ranks."""

from dataclasses import replace
from fractions import Fraction
from functools import cached_property, lru_cache
from math import isfinite
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from dpselect import validation
from dpselect._numbers import exact
from dpselect._twofold import exact_product
from dpselect.errors import ParameterError
from dpselect.neighbours import Neighbours, NeighboursLike
from dpselect.objective import Objective
from dpselect.percentiles.candidates import Range
from dpselect.percentiles.reading import Counts, Records
from dpselect.sensitivity import GlobalSensitivity
from dpselect.typing import Indices, OnInvalid, Values

RankForm: TypeAlias = Literal["signed", "interpolated"]
"""Whether a candidate that holds the wanted rank scores how far inside of its ranks that is."""


AROUND = 1 / 64
"""Ranks around those of its records that a candidate holds. So the record at a percentile is
ahead of all that is between records by twice as much, however far away the next one is."""


ROUNDING = 2.0**-30
"""More than what floats lose of ranks that are looked for; scores are told apart by more."""


OUT = -(2.0**30)
"""Unit score of candidates that cannot be drawn."""


def percentile_rank(
    data: object,
    *,
    column: str | None = None,
    p: float,
    candidates: ArrayLike,
    form: RankForm = "interpolated",
    neighbours: NeighboursLike,
    on_invalid: OnInvalid = "repair",
) -> Objective:
    """Return the objective whose best candidates have the percentile's rank.

    Every record counts at the candidate that is nearest to it, halfway at the larger one. With
    ``a = p/100``, ``L`` records at candidates below ``c``, ``E`` at it and ``n`` in all, a
    candidate that holds records has their ranks and ``e = 1/64`` around them,
    ``l = L + 1 - e`` to ``h = L + E + e``, and one between two that do, ``x`` and ``y``, has
    ``l = h = L + (c - x)/(y - x)``, from ``L + e`` to ``L + 1 - e``, where the smallest and the
    largest candidate stand in for those that are missing. The wanted rank is that of
    ``numpy.quantile``, ``w = 1 + a(n - 1)``, and

        u(c) = min{h - w, w - l}:

    below 0 the distance of the wanted rank from those of the candidate, above 0 how far inside
    of them it is. ``"interpolated"`` cuts the score at 0.

    Guarantee:
        Add/remove: ``Δ = max(a, 1 - a)``, and the number of records is private. Substitution:
        ``Δ = 1``. Not monotone under either. ``candidates`` and ``p`` are public. Both forms:
        one more record moves ``l`` and ``h`` up by 0 to 1 each and ``w`` by ``a``
        (``docs/report`` has the proof).

    Args:
        data: One number per record: an array, a list or a Series; or a frame, or the path
            of a Parquet or CSV file. Private. A number beyond the candidates counts at their
            end, and a missing one is dropped. Of a lazy frame only ranks leave the engine; the
            objective is the same to the last bit.
        column: The numeric column, if ``data`` is a table.
        p: The percentile, in [1, 100].
        candidates: The values that may be released, finite, at least one. Public: not derived
            from the data.
        form: ``"signed"`` or ``"interpolated"``. Releases by the exponential
            mechanism, permute-and-flip and report noisy max use the signed form, which is never
            less accurate with them; other mechanisms need the highest score.
        neighbours: ``"add-remove"`` or ``"substitute"``.
        on_invalid: ``"raise"`` if it is public that no value is missing.

    Returns:
        Scores in ranks. Unless signed they are never above 0, which is stated as ``highest``.

    Raises:
        ParameterError: ``p``, ``candidates`` or ``form`` is out of range.
        NeighboursError: Another relation.
        ColumnError: The column is missing or not numeric.
        DataError: The data cannot be read or are not numeric; under substitution also if
            there is no record.
        PublicClaimError: A value is missing and ``on_invalid="raise"``.

    Source: Smith, STOC 2011, with ties counted; interpolated as in the piecewise Laplace
        mechanism (Durfee 2025); signed is ours. Compared with each other and with
        ``|(1-a)L - aG|``, which prefers a wrong value where many records share the right one,
        in ``docs/report/measurements.md``.
    """
    p = percent(p)
    relation = validation.table_neighbours(neighbours)
    points = checked_candidates(candidates)
    form = validation.one_of("form", form, RankForm)
    on_invalid = validation.one_of("on_invalid", on_invalid, OnInvalid)
    records = Records(relation, column, on_invalid=on_invalid)
    counts = records.counted(data, np.unique(points))
    signed = by_rank(counts, p=p, points=points, neighbours=relation)
    if form == "signed":
        return signed
    return replace(signed, scores=np.minimum(signed.scores, 0.0), highest=0.0)


def by_rank(counts: Counts, *, p: float, points: Values, neighbours: Neighbours) -> Objective:
    """Return the signed objective of ``percentile_rank`` from the counts of its numbers.

    Args:
        counts: Where numbers count among the different candidates, ascending. Private.
        p: The percentile.
        points: The candidates.
        neighbours: Add/remove or substitution.
    """
    ascending, at = np.unique(points, return_inverse=True)
    return Objective(
        RankScores(counts, p=p, points=ascending).in_ranks(np.zeros_like(at), at),
        GlobalSensitivity(Records(neighbours).rank_bound(p), neighbours),
        candidates=points.tolist(),
        # One sensitivity for all candidates: both directions hold.
        direction="non-decreasing",
    )


class RankScores:
    """Unit scores of candidates by their ranks, in groups, less the best; private.

    From candidate to candidate the ranks grow, so scores do up to the wanted rank, and fall
    from there on: those that are near the best are at positions next to each other. Numbers and
    the gaps after them are what is held.

    Attributes:
        shape: How many groups and candidates there are.
    """

    def __init__(
        self,
        counts: Counts,
        *,
        p: float | Values,
        points: Values | Range,
        bound: float | Values = 1.0,
        drawn: tuple[Indices, Indices] | None = None,
    ) -> None:
        """Take the ranks of all candidates.

        Args:
            counts: Where numbers count.
            p: The percentile, or that of each group.
            points: The candidates, increasing.
            bound: What one step moves, of all groups or of each.
            drawn: The first position of each group that can be drawn, and the last; public.
        """
        groups, size = self.shape = counts.groups, counts.candidates
        self._points, self._bound = points, np.broadcast_to(bound, groups)
        every: Indices = np.zeros(groups, dtype=np.int64)
        self._low, self._high = drawn or (every, every + size - 1)
        # Each group begins before all candidates and ends after them.
        ends = counts.group.searchsorted(np.arange(groups + 1))
        both = np.repeat(ends, 2)[1:-1]
        at = both + np.arange(2 * groups)
        self._first, self._end = at[::2], at[1::2] + 1
        self._place = np.insert(counts.place, both, np.tile([-1, size], groups))
        self._held = np.insert(counts.held, both, 0)
        self._sums = self._held.cumsum()
        self._sums_before = self._sums[self._first]
        # The integers of both ranks are subtracted first: next to the wanted one no digit is
        # lost, however many records there are.
        self._whole, self._part = _wanted(np.asarray(p) / 100, counts.numbers)
        self._keys = np.repeat(np.arange(groups), self._end - self._first) * (size + 2)
        self._keys += self._place

    def __array__(self, dtype: Any = None, copy: Any = None) -> Values:  # noqa: ANN401 -- NumPy's
        """Return all scores."""
        row, place = np.indices(self.shape).reshape(2, -1)
        return self.at(row, place).reshape(self.shape)

    @cached_property
    def best(self) -> Values:
        """The best of what can be drawn, in ranks, shape ``(groups,)``."""
        at = self._sums.searchsorted(self._sums_before + self._whole)
        at = at.clip(self._first, self._end - 1)
        # It is at the number of the wanted rank, or in the gap before it or after, between two
        # candidates: up to there scores grow from both sides.
        gap = np.array([at - 1, at]).clip(self._first, self._end - 2)
        low, high, middle = self._in_gap(gap, self._part)
        near = (middle + np.arange(-2, 2)[:, None, None]).clip(low, high)
        place = np.append(near.reshape(8, -1), [self._place[at]], axis=0)
        row = np.zeros_like(place) + np.arange(self.shape[0])
        return self.in_ranks(row, place.clip(self._low, self._high)).max(axis=0)

    def _in_gap(self, at: Indices, rank: Values) -> tuple[Indices, Indices, Indices]:
        """Return the positions of numbers and of those after them, and where a rank is between.

        Args:
            at: The numbers, of each group.
            rank: The rank, less the whole one that is wanted.
        """
        low, high = (self._place[at + i].clip(0, self.shape[1] - 1) for i in (0, 1))
        part = (self._whole - (self._sums[at] - self._sums_before) + rank).clip(0, 1)
        # Ranks around those of a number are its own.
        part = np.where(np.abs(part - 0.5) > 0.5 - AROUND, np.rint(part), part)
        start = self._points[low]
        return low, high, self._points.searchsorted(start + part * (self._points[high] - start))

    def near(self, reach: Values) -> tuple[Indices, Indices]:
        """Return the first position of each group, and the end, of all that reach the best.

        Args:
            reach: By how much less they are, at most; a row of the answer for each.
        """
        worst = (self.best - reach[:, None] * self._bound).clip(-(2.0**52)) - ROUNDING
        rank = self._part + np.array([worst, -worst])
        whole = self._whole + np.ceil(rank).astype(np.int64)
        # Before the last number with a lower rank, and after the next one, there is none.
        at = self._sums.searchsorted(self._sums_before + whole) - 1
        first, end = self._in_gap(at.clip(self._first, self._end - 2), rank)[2]
        return np.maximum(first - 2, self._low), np.minimum(end + 3, self._high + 1)

    def at(self, row: Indices, place: Indices) -> Values:
        """Return the scores of some candidates of some groups, of one shape."""
        scores = (self.in_ranks(row, place) - self.best[row]) / self._bound[row]
        return np.where((place < self._low[row]) | (place > self._high[row]), OUT, scores)

    def in_ranks(self, row: Indices, place: Indices) -> Values:
        """Return the signed scores of some candidates, neither less the best nor in units."""
        at = self._keys.searchsorted(row * (self.shape[1] + 2) + place, side="right") - 1
        holds = self._place[at] == place
        upto = self._sums[at] - self._sums_before[row]
        below = upto - np.where(holds, self._held[at], 0)
        # The ends of the candidates stand in for numbers that are missing.
        low, high = (
            self._points[self._place[at + i].clip(0, self.shape[1] - 1)] for i in (0, 1)
        )
        between = np.full(low.shape, 0.5)
        np.divide(self._points[place] - low, high - low, out=between, where=high > low)
        between = between.clip(AROUND, 1 - AROUND)
        whole, part = self._whole[row], self._part[row]
        beyond = (upto - whole) + (np.where(holds, AROUND, between) - part)
        before = (whole - below) + (part - np.where(holds, 1 - AROUND, between))
        return np.minimum(beyond, before)


def _wanted(fractions: Values, numbers: Indices) -> tuple[Indices, Values]:
    """Return the wanted rank of so many numbers: integers, and what is left of them."""
    found = exact_product(np.asarray(fractions, np.float64), numbers.astype(np.float64) - 1)
    whole = np.floor(found.high)
    whole -= (whole == found.high) & (found.low < 0)
    return 1 + whole.astype(np.int64), (found.high - whole) + found.low


def percent(p: Any) -> float:  # noqa: ANN401 -- checked here
    """Return ``p`` as a float if it is in [1, 100]."""
    if type(p) in {int, float} and 1 <= p <= 100:  # at once: several take a while to make
        return float(p)
    given = validation.within("p", validation.positive("p", p), 0, 100)
    if given < 1:
        raise ParameterError(
            f"`p` {given!r} is a percentile below 1: give {100 * given:.6g} for the share "
            f"{given:.6g} of the records"
        )
    return given


@lru_cache(maxsize=1024)
def exact_fraction(p: float) -> Fraction:
    """Return ``p / 100`` through the decimal digits of ``p``."""
    return exact(p) / 100


def checked_candidates(candidates: ArrayLike) -> Values:
    """Return public values as a float64 vector of at least one, all finite."""
    # Of a range no list of integers is made.
    held = (
        np.arange(candidates.start, candidates.stop, candidates.step)
        if isinstance(candidates, range)
        else getattr(candidates, "array", candidates)
    )
    points = validation.floats("`candidates`", held)
    if points.ndim != 1 or not points.size or not isfinite(float(points.max()) - points.min()):
        raise ParameterError(
            "`candidates` must be at least one finite number, in one dimension, and span less "
            "than the largest float"
        )
    large = np.flatnonzero(np.abs(points) >= 2.0**53)
    given = np.asarray(held, dtype=object)[large] if large.size else large
    if any(
        validation.is_integer(one) and int(at) != one
        for at, one in zip(points[large], given, strict=True)
    ):
        raise ParameterError("`candidates` beyond 2**53 must be numbers that a float holds")
    return points
