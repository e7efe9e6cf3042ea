r"""Percentiles as public values, by a method that public arguments choose.

Several percentiles are drawn by the recursion of halves, where a record pays once for every
level of a binary tree, or one by one, where it pays once for every percentile.

Of one percentile, the exponential choice can err by :math:`(2 \Delta/\varepsilon) \ln N` ranks
with ``N`` candidates. Where fewer records than that lie beyond the percentile, the empty
candidates outweigh them, and the answer is anything. AboveThreshold visits logarithmically
many candidates, and from the side of the few records its noise is half as large, but it knows
no value between two visited ones. So with ``n`` assumed records and the share :math:`t` of
those beyond the percentile, AboveThreshold is taken if :math:`t` is at most ``TAIL`` or
:math:`n t \varepsilon / (2 \Delta) < \ln N`; from the side of the few, downwards for a high
percentile, if :math:`n t / b_2` is at least ``LEAST_NOISES`` and ``MARGIN`` :math:`\ln N` with
noise of scale :math:`b_2` on a count, and else from the side of the many.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import log
from typing import Any, get_args

import numpy as np
from numpy.typing import ArrayLike

from dpselect import validation
from dpselect.errors import ParameterError
from dpselect.mechanisms import ExponentialMechanism, Mechanism, MechanismLike, by_name
from dpselect.neighbours import Neighbours, NeighboursLike
from dpselect.percentiles.binary_tree import Recursive
from dpselect.percentiles.joint import Joint
from dpselect.percentiles.objectives import by_rank, checked_candidates, percent
from dpselect.percentiles.ranges import OPEN, Range
from dpselect.percentiles.ranks import passes, ranks_of
from dpselect.percentiles.reading import Records, records_cap
from dpselect.percentiles.single import (
    PROPORTIONAL,
    ByPieces,
    ByRank,
    Method,
    MethodName,
    OneByOne,
    Single,
)
from dpselect.percentiles.thresholds import ByThreshold
from dpselect.plan import Plan
from dpselect.query import Design, Query, query
from dpselect.release import Release
from dpselect.typing import OnInvalid, Probabilities, Values

MOST_LISTED = 100_001
"""Values of a range up to which they are listed; more are drawn by pieces."""

RECURSIVE_FROM = 3
"""Percentiles from which on the levels of the recursion are fewer than the percentiles."""

TAIL = 0.15
"""Of the records beyond a percentile, up to which AboveThreshold is taken."""

LEAST_NOISES, MARGIN = 8.0, 1.15
"""Records beyond the percentile, in scales of the noise on a count, from which on it visits
them first: at least ``LEAST_NOISES``, and ``MARGIN`` times the logarithm of the number ``N`` of
candidates. A false alarm at one of the far candidates then has a probability of about
``N ** -MARGIN``. ``TAIL`` and these two were chosen on DPBench's HEPTH, PATENT and INCOME."""


@dataclass(frozen=True, repr=False)
class PercentileRelease(Release[float]):
    """Values at percentiles, ascending.

    Attributes:
        p: The percentile of each value.
    """

    p: tuple[float, ...] = ()

    def table(self) -> dict[str, list[Any]]:
        """Return the percentiles and their values as columns."""
        column = self.arguments.get("column")
        name = "value" if column in {None, "p"} else str(column)
        return {"p": list(self.p), name: list(self.answer)}


@query
class Percentiles(Query[PercentileRelease]):
    r"""Public values whose ranks are near those of one or several percentiles.

    A larger percentile never has a smaller value. One by one, each of ``m`` percentiles is
    drawn with ``epsilon / m``, by its rank among the candidates or by AboveThreshold, and the
    values are sorted. The recursion draws the middle one with an equal part of
    ``ceil(log2(m + 1))``, splits records and candidates at it and goes on in both halves.

    The values that may be released are ``lower``, ``lower + step`` and so on up to ``upper``,
    or the ``candidates``. More than 100,001 of a range, up to ``2**52``, are not listed: the
    column is read into memory, and a piece of values between two records is drawn and then one
    of its values.

    Data are a frame, the path of a Parquet or CSV file, or an array, list or Series. Of a lazy
    frame (polars, DuckDB, PySpark) only ranks of listed values leave the engine. The answer
    has one value for each percentile, ascending.

    The plan has one spend per percentile one by one, and one per level of the recursion: of
    the levels on the path with the largest rho, since a record is in one half of a level, or
    in several with weights that sum to 1. One by one it has an error bound in ranks, on the
    distance of a released value's ranks from the percentile's, less that of the candidate that
    is best for it; of several percentiles on the largest distance, less the largest of their
    best candidates. By AboveThreshold the bound is on the distance of the percentile's rank
    from those between the released candidate and the one visited before it.

    Guarantee:
        ``epsilon``-DP under ``neighbours``; under add/remove the number of records is
        private. All fields are public. With ``user`` a neighbour has all records of one person
        more, fewer or others. Which of a person's records are counted depends on that person's
        records alone (``dpselect.tables.people``).

    Attributes:
        column: The numeric column.
        p: The percentile, above 0 and up to 100; or several that increase.
        lower: The smallest value that may be released, by default 0; ``-inf`` if none is
            known. None says the same.
        upper: The largest value that may be released, by default unknown. Then the range ends
            ``10**15`` steps above ``lower``.
        step: The distance of two values that may be released.
        candidates: In place of a range: the values that may be released. Finite; not to be
            read off the data.
        user: The column of the person that a record belongs to. Text, integers, booleans or
            dates; each record is a person of its own if not given, and a record without a
            person is dropped.
        max_per_user: How many records of a person are counted.
        assumed_records: How many records there are, about, to choose the method by. The
            guarantee does not depend on it. Not to be read off the data.
        method: How they are drawn: ``"one-by-one"``, ``"above-threshold"``, ``"recursive"``
            or ``"joint"``.
            By AboveThreshold each is drawn for itself, over values that grow away from 0;
            jointly all are drawn at once, from a few hundred candidates that increase. If not
            given, the recursion from 3 percentiles on, where it has fewer steps to pay for, if
            the candidates and the mechanism allow it; else one by one, and where few of the
            assumed records lie beyond a percentile, or the range is open and no number is
            assumed, by AboveThreshold. The recursion needs candidates that increase, and the
            exponential mechanism, permute-and-flip or report noisy max.
        epsilon: What the release costs, in nats; finite, > 0.
        neighbours: ``"add-remove"`` or ``"substitute"``, of a record or of a person.
        mechanism: How a value is drawn. A short name
            (:data:`dpselect.mechanisms.MECHANISMS`), or a function of ``epsilon=``. The
            default is permute-and-flip, which has never a larger expected rank error than the
            exponential mechanism; and the exponential mechanism for a range that is not
            listed, whose pieces only it can weigh.
        on_invalid: ``"repair"`` or ``"raise"``, for missing values. They are dropped, at no
            price; raise if it is public that none is missing.

    Source: Smith, STOC 2011; Kaplan, Schnapp and Stemmer, ICML 2022; Durfee, NeurIPS 2023.

    Examples:
        >>> import dpselect as dp
        >>> quartiles = dp.Percentiles(
        ...     p=[25, 75], candidates=[0, 250, 500, 750], epsilon=20.0,
        ...     neighbours="add-remove",
        ... )
        >>> quartiles.release(range(1000)).answer
        (250.0, 750.0)
    """

    column: str | None = None
    p: float | Sequence[float] | Values
    lower: float | None = 0.0
    upper: float | None = None
    step: float | None = None
    candidates: ArrayLike | None = None
    user: str | None = None
    max_per_user: int | None = None
    assumed_records: int | None = None
    method: MethodName | None = None
    epsilon: float
    neighbours: NeighboursLike
    mechanism: MechanismLike | None = None
    on_invalid: OnInvalid = "repair"

    def design(self) -> PercentilesDesign:
        relation = validation.table_neighbours(self.neighbours)
        users = records_cap(self.column, self.user, self.max_per_user)
        records = Records(relation, self.column, users, self.on_invalid)
        percents, points = checked_percents(self.p), self._points()
        method = _Choice(
            percents=percents,
            points=points,
            records=records,
            assumed_records=self.assumed_records,
            epsilon=validation.positive("epsilon", self.epsilon),
            mechanism=self.mechanism,
        ).method(self.method)
        public = ["the candidates", "p"]
        if relation is Neighbours.SUBSTITUTE:
            public.append(f"the number of {'records' if users is None else 'persons'}")
        return PercentilesDesign(
            mechanism=method.mechanism,
            spends=method.spends,
            epsilon=float(self.epsilon),
            neighbours=relation,
            public=tuple(public),
            composition=method.composition,
            error=method.error,
            passes=passes(method.ranked),
            exact=method.exact,
            percents=percents,
            points=points,
            records=records,
            method=method,
        )

    def _points(self) -> Values | Range:
        """Return the values that may be released, listed unless there are too many."""
        if self.candidates is not None:
            default = isinstance(self.lower, int | float) and self.lower == 0
            if not default or self.upper is not None or self.step is not None:
                raise ParameterError(
                    "`candidates` go without a range: leave out `lower`, `upper` and `step`"
                )
            return checked_candidates(self.candidates)
        if self.step is None:
            raise ParameterError(
                "give `step`, the distance of two values that may be released, or `candidates`"
            )
        points = Range(self.lower, self.upper, self.step)
        return points.at(range(len(points))) if len(points) <= MOST_LISTED else points

    def probabilities(self, data: object) -> Probabilities:
        """Return the exact distribution of each percentile's value; as private as the data.

        Of several percentiles by the recursion every place and share that can be drawn is
        followed: in O((66 n)^L) for ``n`` candidates and ``L`` levels, 2 of up to 3
        percentiles.

        Args:
            data: As for the release.

        Returns:
            Shape ``(m, n)`` for listed candidates; each row sums to 1.

        Raises:
            ParameterError: There are too many values to list.
            ColumnError, DataError: As for the release.

        Examples:
            >>> import dpselect as dp
            >>> dp.Percentiles(
            ...     p=[25, 50], candidates=[0, 25, 50, 75], epsilon=0.1,
            ...     neighbours="add-remove",
            ... ).probabilities(range(100)).round(3)
            array([[0.206, 0.589, 0.197, 0.009],
                   [0.006, 0.115, 0.692, 0.187]])
        """
        design = self.design()
        return design.method.probabilities(design.records.of(data))


@dataclass(frozen=True, kw_only=True)
class PercentilesDesign(Design[PercentileRelease]):
    """The method of a release, with its public facts.

    Attributes:
        percents: The percentiles, in (0, 100], increasing.
        points: The values that may be released.
        records: How records are read.
        method: How percentiles are drawn.
    """

    percents: tuple[float, ...]
    points: Values | Range
    records: Records
    method: Method

    def check(self, data: object) -> None:
        self.records.check(data)

    def prepare(self, data: object) -> Callable[[Plan], PercentileRelease]:
        draw = self.method.prepare(self.records.of(data))
        return lambda plan: PercentileRelease(draw(), plan, p=self.percents)


def checked_percents(p: object) -> tuple[float, ...]:
    """Return one or several percentiles that increase.

    Raises:
        ParameterError: One is out of range, or they do not increase.
    """
    percents = tuple(map(percent, p if isinstance(p, tuple | range) else (p,)))
    if not percents or any(low >= high for low, high in pairwise(percents)):
        raise ParameterError(
            "`p` must be one percentile, or several distinct ones that increase"
        )
    return percents


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class _Choice:
    """Public arguments by which the method is chosen."""

    percents: tuple[float, ...]
    points: Values | Range
    records: Records
    assumed_records: int | None
    epsilon: float
    mechanism: MechanismLike | None

    def __post_init__(self) -> None:
        if len(self.percents) > len(self.points):
            raise ParameterError(
                f"{len(self.percents)} percentiles need as many candidates, not "
                f"{len(self.points)}"
            )
        if self.assumed_records is not None:
            validation.at_least("assumed_records", self.assumed_records, 1, validation.EXACT)

    def method(self, name: MethodName | None) -> Method:
        """Return the method of a release: the one that was named, if one was.

        Raises:
            ParameterError: It is unknown or does not fit the other arguments.
        """
        if name is not None:
            validation.one_of("method", name, get_args(MethodName))
        if name in {"above-threshold", "joint"} and self.mechanism is not None:
            raise ParameterError(f"`method`={name!r} has no other `mechanism`")
        if name == "joint":
            if not self._increase:
                raise ParameterError("`method`='joint' needs listed candidates that increase")
            return Joint(self.percents, np.asarray(self.points), self.records, self.epsilon)
        if name == "above-threshold":
            return OneByOne(tuple(map(self._by_threshold, self.percents)), name)
        draw = self._mechanism(self.epsilon / len(self.percents))
        if name == "recursive" or (name is None and len(self.percents) >= RECURSIVE_FROM):
            reason = self._no_recursion(draw)
            if reason is None:
                points, factory = np.asarray(self.points), self._named("permute-and-flip")
                return Recursive(self.percents, points, self.records, self.epsilon, factory)
            if name == "recursive":
                raise ParameterError(reason)
        decided = name is None and self.mechanism is None
        return OneByOne(
            tuple(
                self._by_threshold(p)
                if decided and self._prefers_threshold(p)
                else self._by_rank(p, draw)
                for p in self.percents
            )
        )

    @property
    def _increase(self) -> bool:
        """Whether the candidates are listed and increase."""
        return not isinstance(self.points, Range) and bool((np.diff(self.points) > 0).all())

    def _no_recursion(self, draw: Mechanism) -> str | None:
        """Return why the recursion does not fit, None if it does."""
        if isinstance(self.points, Range):
            return f"percentiles of more than {MOST_LISTED:,} values are drawn one by one"
        if not self._increase:
            return "`candidates` must increase for `method`='recursive'"
        if type(draw) not in PROPORTIONAL:
            return (
                "`method`='recursive' needs the `mechanism` 'exponential', "
                f"'permute-and-flip' or 'noisy-max', not {draw.name!r}"
            )
        return None

    def _named(self, usual: str) -> MechanismLike:
        return usual if self.mechanism is None else self.mechanism

    def _mechanism(self, epsilon: float) -> Mechanism:
        """Return the mechanism of one percentile."""
        if isinstance(self.points, Range):
            draw = by_name(self._named("exponential"), epsilon)
            if not isinstance(draw, ExponentialMechanism):
                raise ParameterError(
                    f"more than {MOST_LISTED:,} values are drawn by the `mechanism` "
                    f"'exponential', not {draw.name!r}"
                )
            return draw
        example = by_rank(
            ranks_of(np.zeros(1), self.points),
            p=50,
            points=self.points,
            form="interpolated",
            neighbours=self.records.neighbours,
        )
        return by_name(self._named("permute-and-flip"), epsilon).for_objective(example)

    def _by_rank(self, p: float, draw: Mechanism) -> Single:
        """Return the exponential choice, or another mechanism, of a percentile."""
        if isinstance(self.points, Range):
            return ByPieces(p, self.points, self.records, draw)
        return ByRank(p, self.points, self.records, draw)

    def _by_threshold(self, p: float) -> ByThreshold:
        """Return AboveThreshold of a percentile, from the side that suits it."""
        beyond = self._beyond(p)
        if beyond is not None and p < 100:
            from_few = self._threshold(p, beyond, upwards=p <= 50)
            quiet = max(LEAST_NOISES, MARGIN * log(len(self.points)))
            if from_few.records_per_noise(beyond) >= quiet:
                return from_few
        return self._threshold(p, beyond, upwards=p > 50)

    def _threshold(self, p: float, beyond: float | None, *, upwards: bool) -> ByThreshold:
        epsilon = self.epsilon / len(self.percents)
        return ByThreshold(p, self.points, self.records, epsilon, upwards, beyond)

    def _prefers_threshold(self, p: float) -> bool:
        """Return whether AboveThreshold is expected to err less than the exponential choice."""
        beyond = self._beyond(p)
        if beyond is None:
            return isinstance(self.points, Range) and len(self.points) >= OPEN
        each = self.epsilon / len(self.percents)
        drowned = beyond * each / (2 * self.records.rank_bound(p)) < log(len(self.points))
        return drowned or min(p, 100 - p) / 100 <= TAIL

    def _beyond(self, p: float) -> float | None:
        """Return the assumed records beyond the percentile, on the side of the few."""
        if self.assumed_records is None:
            return None
        return min(p, 100 - p) / 100 * self.assumed_records
