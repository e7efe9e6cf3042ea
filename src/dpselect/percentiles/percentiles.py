"""Percentiles as public values, by a method that public arguments choose.

Which one is chosen, and why, is in :mod:`dpselect.percentiles.choice`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from numpy.typing import ArrayLike

from dpselect import validation
from dpselect._numbers import in_short
from dpselect.errors import ParameterError
from dpselect.mechanisms import MechanismLike
from dpselect.neighbours import Neighbours, NeighboursLike
from dpselect.percentiles.choice import Choice
from dpselect.percentiles.first_count import AfterCount
from dpselect.percentiles.objectives import checked_candidates, percent
from dpselect.percentiles.ranges import Range
from dpselect.percentiles.ranks import passes
from dpselect.percentiles.reading import Records, records_cap
from dpselect.percentiles.single import Method, MethodName
from dpselect.plan import Plan
from dpselect.query import Design, Query, query
from dpselect.release import Release
from dpselect.typing import OnInvalid, Probabilities, Values

MOST_LISTED = 100_001
"""Values of a range up to which they are listed; more are drawn by pieces."""


@dataclass(frozen=True, repr=False)
class PercentileRelease(Release[float]):
    """Values at percentiles, ascending.

    Attributes:
        p: The percentile of each value.
        chosen: The method that the number of records chose, if one did.
    """

    p: tuple[float, ...] = ()
    chosen: str | None = None

    def __str__(self) -> str:
        chosen = "" if self.chosen is None else f"\nchosen: {self.chosen}"
        return f"{super().__str__()}{chosen}"

    def released(self) -> dict[str, Any]:
        """Return all that was released, as plain Python values by name."""
        more = {} if self.chosen is None else {"chosen": self.chosen}
        return {**super().released(), **more}

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
    ``ceil(log2(m + 1))``, splits records and candidates at it and goes on in both halves. Of
    noisy counts of bins all percentiles are read off at once. The default is the method, or
    the mixture, that errs least for the number of records: that of the worst percentile,
    relative to its error alone (:mod:`~dpselect.percentiles.choice`).

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
        max_per_user: How many records of a person are counted. They are chosen at random, as
            are those of all applications; with 1 each person counts as one.
        assumed_records: How many records there are, about, to choose the method by. The
            guarantee does not depend on it. Not to be read off the data. If it is not given,
            the number is taken where it is public, under substitution of a record; else 4 % of
            epsilon pay for a noisy one, but for one or two percentiles from 25 to 75.
        method: How they are drawn, if it is not to be chosen. ``"one-by-one"``,
            ``"above-threshold"``, ``"recursive"``, ``"joint"`` or ``"noisy-counts"``.
            By AboveThreshold each is drawn for itself, over values that grow away from 0;
            jointly all are drawn at once, from a few hundred candidates that increase. The
            recursion needs candidates that increase, and the exponential mechanism,
            permute-and-flip or report noisy max; noisy counts need candidates that increase.
        epsilon: What the release costs, in nats; finite, > 0.
        neighbours: ``"add-remove"`` or ``"substitute"``, of a record or of a person.
        mechanism: How a value is drawn. A short name
            (:data:`dpselect.mechanisms.MECHANISMS`), or a function of ``epsilon=``; then from
            3 percentiles on by the recursion, if it can be, and else one by one. The
            default is permute-and-flip, which has never a larger expected rank error than the
            exponential mechanism; and the exponential mechanism for a range that is not
            listed, whose pieces only it can weigh.
        on_invalid: ``"repair"`` or ``"raise"``, for missing values. They are dropped, at no
            price; raise if it is public that none is missing.

    Source: Smith, STOC 2011; Kaplan, Schnapp and Stemmer, ICML 2022; Durfee, NeurIPS 2023; Hay,
        Rastogi, Miklau and Suciu, VLDB 2010.

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
        method = Choice(
            percents=percents,
            points=points,
            records=records,
            epsilon=validation.positive("epsilon", self.epsilon),
            mechanism=self.mechanism,
        ).method(self.method, self.assumed_records)
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
        numbers, p = self.records.of(data), self.percents
        if not isinstance(self.method, AfterCount):
            draw_values = self.method.prepare(numbers)
            return lambda plan: PercentileRelease(draw_values(), plan, p=p)
        choose = self.method.choosing(numbers)

        def draw(plan: Plan) -> PercentileRelease:
            chosen = choose()
            return PercentileRelease(
                chosen.prepare(numbers)(), plan, p=p, chosen=in_short(chosen.mechanism)
            )

        return draw


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
