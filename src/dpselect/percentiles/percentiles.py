"""Percentiles as public values, by a method that public arguments choose (``choice``).

Of groups each is answered by the same method, with the distribution that it has for the group's
numbers alone; where a noisy number of records chooses it, each group has its own. All groups
are drawn from one reading.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from decimal import Decimal
from itertools import repeat
from typing import Annotated, Any

import numpy as np
from numpy.typing import ArrayLike

from dpselect import tables, validation
from dpselect.errors import ParameterError
from dpselect.neighbours import Neighbours, NeighboursLike
from dpselect.percentiles import reading
from dpselect.percentiles.candidates import UNKNOWN, Quantity, Range, Unit
from dpselect.percentiles.choice import AfterCount, Drawn, size_of
from dpselect.percentiles.intervals import SHARE, Intervals
from dpselect.percentiles.methods import EXACT
from dpselect.percentiles.objectives import checked_candidates, percent
from dpselect.percentiles.release import PercentileRelease
from dpselect.plan import Plan
from dpselect.query import ANYTHING, Claim, Columns, Design, Query, Released, keep, query
from dpselect.tables.columns import Measure
from dpselect.tables.groups import GroupedDesign, Groups, refuse_missing
from dpselect.tables.kinds import checked_names
from dpselect.tables.people import people_cap
from dpselect.typing import OnInvalid, Values
from dpselect.writing import as_text, digits, six_digits

MOST_LISTED = 100_001
"""Values of a range up to which they are listed; more are drawn from cells."""

RANKED_AT_ONCE = 2**26
"""Candidates, of all groups together, that are ranked at a time."""


ASSUMED = validation.integers(1, validation.EXACT)
"""The check of a number of records."""


@query
class Percentiles(Query[PercentileRelease]):
    """Public values whose ranks are near those of one or several percentiles.

    Released values never decrease with the percentile. Each is drawn by its rank among the
    candidates or by AboveThreshold, and several by AboveThreshold in parts or from noisy counts
    of few bins: which of these is chosen by a noisy number of records, which costs 6 % of
    epsilon and is released (``choice``).

    The candidates are ``lower``, ``lower + step`` and so on up to ``upper``, or the values of
    ``candidates``. Every record counts at the candidate nearest to its number, halfway at the
    larger one and beyond all of them at their end (``candidates``). A range of more than
    100,001 values, up to ``2**52``, is not listed: the column is read into memory, and drawn
    are a value near the median, one of few cells of values that grow from there on, and one of
    the values of the cell (``choice``).

    Data are a frame, the path of a Parquet or CSV file, or an array, list or Series. From a
    lazy frame (polars, DuckDB, PySpark) only the ranks of listed values leave the engine. The
    answer has one value per percentile, ascending; with ``by``, pairs of a group and these
    values.

    The plan has the spend of the number of records and that of the percentiles.

    Guarantee:
        ``epsilon``-DP under ``neighbours``, or ``(epsilon, delta)``-DP if groups are released
        first. The number of records is private under add/remove, and so is that of each group.
        All fields are public. With ``user``, neighbours differ in all records of one person,
        which are added, removed or replaced. Which records of a person are counted depends on
        that person's records alone (``dpselect.tables.people``).

    Attributes:
        column: Name of the column of numbers, dates, times or durations. Its values have the
            type of the candidates.
        minus: Column to subtract row by row, such as the day of admission. The values are then
            differences; those of dates and times are durations.
        p: Percentile, from 1 to 100, as of ``numpy.percentile``; or several, increasing.
        lower: The smallest candidate, by default 0; ``-inf`` if none is known. None is the
            same as ``-inf``.
        upper: The largest candidate, by default unknown. Then the range ends ``10**15`` steps
            above ``lower``.
        step: Distance between consecutive candidates.
        candidates: The candidates, instead of a range. Finite and public: not derived from the
            data.
        by: Column of groups, or several, for groups that are tuples; each gets percentiles.
        groups: The public groups, or a list of values for each column of ``by``, of which all
            combinations are groups. Each gets an answer; other rows are dropped. If not given,
            the groups with enough people are released first, as by ``Keys``, for a part of
            epsilon and ``delta``.
        groups_share: Share of epsilon for groups that are released first; in (0, 1), by
            default 0.2.
        other: Whether to answer for all other rows together, as a group named None. Those
            without a group are among them. It has no extra cost.
        user: Column of the person that a record belongs to. Text, integers, booleans or dates.
            If not given, each record is a person of its own; records without a person are
            dropped.
        max_per_user: Maximal number of records counted per person, over all groups. They are
            selected at random, as in all applications; with 1 each person counts once. If
            groups are released first, it also limits the counted groups of a person.
        assumed_records: Number of records, with ``by`` of one group, for which errors are
            predicted. It changes neither the method nor the guarantee.
        interval: Probability with which an interval around a value contains the percentile, as
            0.95. For each percentile separately it holds on all data. It shows the effect of
            the noise, not of sampling: with ``user`` it is the percentile of the rows that are
            counted, which can be far from that of all rows.
        interval_share: Share of epsilon for all intervals together; in (0, 1), by default
            1/11.
        epsilon: Price of the release, in nats; finite, > 0. For all groups together.
        delta: Delta of the guarantee, far below one over the number of people; in (0, 1). Only
            if groups are released first.
        neighbours: ``"add-remove"`` or ``"substitute"``, of a record or of a person.
        on_invalid: ``"repair"`` or ``"raise"``, for missing values. Repair drops them, at no
            cost; use raise if it is public that none is missing.

    Source: Smith, STOC 2011; Durfee, NeurIPS 2023.

    Examples:
        >>> import dpselect as dp
        >>> quartiles = dp.Percentiles(
        ...     p=[25, 75], candidates=[0, 250, 500, 750], epsilon=20.0,
        ...     neighbours="add-remove",
        ... )
        >>> quartiles.release(range(1000)).answer
        (250, 750)
    """

    column: str | None = None
    minus: str | None = None
    p: float | Sequence[float] | Values
    lower: Quantity | None = 0.0
    upper: Quantity | None = None
    step: float | Decimal | timedelta | None = None
    candidates: ArrayLike | Sequence[Quantity] | None = None
    by: str | Sequence[str] | None = None
    groups: Iterable[Hashable] | Mapping[str, Iterable[Hashable]] | None = None
    groups_share: float | None = None
    other: bool = False
    user: str | None = None
    max_per_user: int | None = None
    assumed_records: Annotated[int | None, ASSUMED, Claim(None, can_fail=False)] = None
    interval: float | None = None
    interval_share: float | None = None
    epsilon: float
    delta: float = 0.0
    neighbours: NeighboursLike
    on_invalid: Annotated[OnInvalid, Claim("repair")] = "repair"

    def predicted(self) -> dict[str, object]:
        """Return what can be released, and how far it is from the percentiles, in words.

        With probability 0.95, for ``assumed_records`` where they are given, else for typical
        numbers of records.
        """
        from dpselect.percentiles.prediction import TYPICAL, expected

        design, records = self.each, self.assumed_records
        first, last = (
            digits(one) if isinstance(one, int | float) else as_text(one) for one in design.ends
        )
        named, units = "error", ""
        if self.column is not None:
            named, units = f"error in {self.column}", f", in units of {self.column}"
        known = {
            "values": f"{len(design.points):,} from {first} to {last}{units}",
            "values end": self.ends_early,
            named: expected(self, TYPICAL if records is None else [records]),
        }
        return {name: one for name, one in known.items() if one is not None}

    @property
    def each(self) -> PercentilesDesign:
        """The design of all records, or that of one group."""
        made: Any = self._designed
        each: PercentilesDesign = getattr(made, "each", made)
        return each

    def reads(self) -> Columns:
        column = self.column_named()
        if self.minus is not None:
            # Bounds of two columns do not bound their difference.
            return ((self.minus, ANYTHING), (column, ANYTHING))
        if self.candidates is not None:
            return ((column, Released(listed=self._values()["candidates"])),)
        low, high = self.each.ends
        if self.each.unit.moment == "number":
            low, high = float(low), float(high)
        return ((column, Released(low=low, high=high, step=self.step)),)

    def design(self) -> PercentilesDesign | GroupedPercentiles:
        validation.different_columns(column=self.column, minus=self.minus, user=self.user)
        if self.by is not None:
            return _grouped(self)
        why = "goes with groups: name their column with `by`"
        validation.left_out(self, "groups", "groups_share", "other", "delta", why=why)
        relation = validation.table_neighbours(self.neighbours)
        users = people_cap(self.user, self.max_per_user)
        if users is not None and self.column is None:
            raise validation.needs("user", "column", of="numbers")
        unit = self._unit()
        measure = Measure(unit.moment, self.minus)
        records = reading.Records(relation, self.column, users, self.on_invalid, measure)
        percents, points = checked_percents(self.p), self._points(unit)
        epsilon = left = validation.positive("epsilon", self.epsilon)
        intervals = None
        if self.interval is None:
            why = "is for intervals: say by `interval` which"
            validation.left_out(self, "interval_share", why=why)
        else:
            share = float(SHARE) if self.interval_share is None else self.interval_share
            part = epsilon * validation.share("interval_share", share)
            intervals = Intervals(percents, points, records, part, self.interval)
            left -= part
        after = AfterCount(percents, points, records, left)
        more = () if intervals is None else (intervals.spend,)
        public = ["the candidates", "p"]
        if relation is Neighbours.SUBSTITUTE:
            public.append(f"the number of {'records' if users is None else 'persons'}")
        return PercentilesDesign(
            plan=Plan(
                mechanism=f"method chosen by a noisy number of records (scale={after.scale!r})",
                spends=(*after.spends, *more),
                epsilon=epsilon,
                neighbours=relation,
                public=tuple(public),
                passes=reading.passes(points),
            ),
            points=points,
            method=after,
            intervals=intervals,
            unit=unit,
        )

    def _unit(self) -> Unit:
        """Return what values are given as."""
        if self.candidates is not None:
            listed = self.candidates if isinstance(self.candidates, tuple | range) else ()
            return Unit.of(listed, None)
        ends = [one for one in (self.lower, self.upper) if one not in UNKNOWN]
        unit = Unit.of([one for one in ends if one != 0], self.step)
        of_time = unit.moment not in {"number", "duration"}
        if unit.moment != "number" and (len(ends) < 2 or (of_time and self.lower == 0)):
            raise ParameterError("give `lower` and `upper` of dates, times and durations")
        return unit

    def _points(self, unit: Unit) -> Values | Range:
        """Return the values that may be released, listed unless there are too many."""
        if self.candidates is not None:
            why = "is of a range: leave it out, or `candidates`"
            validation.left_out(self, "lower", "upper", "step", why=why)
            listed: Any = self.candidates
            if unit.moment != "number":
                listed = [*map(unit.coded, listed)]
            points = checked_candidates(listed)
            # To sort them again takes as long as to count a million numbers.
            return points if (points[1:] > points[:-1]).all() else np.unique(points)
        if self.step is None:
            raise ParameterError(
                "give `step`, the distance between candidates, or `candidates`"
            )
        lower = 0.0 if self.lower == 0 else unit.coded(self.lower)
        range_ = Range(lower, unit.coded(self.upper), unit.span(self.step))
        return range_[np.arange(len(range_))] if len(range_) <= MOST_LISTED else range_

    @property
    def ends_early(self) -> str | None:
        """The largest value, in words, if no whole number of steps ends at ``upper``."""
        unit, last = self.each.unit, self.each.ends[1]
        if self.upper in UNKNOWN or unit.coded(last) == unit.coded(self.upper):
            return None
        end = f"{as_text(self.upper)} is not a whole number of steps above `lower`"
        return f"up to {as_text(last)}: {end}"


@dataclass(frozen=True, kw_only=True)
class PercentilesDesign(Design[PercentileRelease]):
    """The method of a release, with its public facts.

    Attributes:
        points: The values that may be released, increasing.
        method: How percentiles are drawn.
        intervals: Those around the values, if they were asked for.
        unit: What answers become.
    """

    points: Values | Range
    method: AfterCount
    intervals: Intervals | None = None
    unit: Unit

    def check(self, data: object) -> None:
        self.method.records.check(data, self.points)

    def prepare(self, data: object) -> Callable[[Plan], PercentileRelease]:
        counted, rows = self.method.records.counted(data, self.points), validation.EXACT
        if self.method.records.are_public:
            rows = int(counted.numbers[0]) + counted.missing
        return lambda plan: self.released(self.answers(counted, rows), plan)

    def released(
        self,
        answers: Sequence[Drawn],
        plan: Plan,
        groups: tuple[Hashable, ...] | None = None,
    ) -> PercentileRelease:
        """Return a release of the answers of groups, or of one without groups."""
        values = iter(self.in_units(value for one in answers for value in one.values))
        answer: tuple[Any, ...] = tuple(zip(*[values] * len(self.method.percents), strict=True))
        records: Any = tuple(one.records for one in answers)
        chosen = None
        if groups is None:
            [answer], [records] = answer, records
            chosen = six_digits(self.method.of_size(int(size_of(records))).mechanism)
        else:
            answer = tuple(zip(groups, answer, strict=True))
        drawn = PercentileRelease(
            answer, plan, p=self.method.percents, chosen=chosen, records=records, groups=groups
        )
        if self.intervals is None:
            return drawn
        # Which is kept before they are worked out.
        keep(drawn)
        ends = [one.ends() for one in answers if one.ends is not None]
        return replace(drawn, interval=tuple(self.in_units(two) for one in ends for two in one))

    def answers(self, counted: reading.Counts, rows: int = validation.EXACT) -> list[Drawn]:
        """Draw the values of each group; of all rows, where their number is public."""
        answers: list[Drawn] = []
        for part in counted.parts(RANKED_AT_ONCE // min(len(self.points), MOST_LISTED)):
            # Of so many rows there are no more numbers, whatever the noise says.
            noisy = EXACT.laplace(part.numbers, self.method.scale).clip(max=rows)
            values = self.method.draw(part, noisy)
            listed: Any = [*map(tuple, values.tolist())]
            each, draw = part.parts(), self.intervals and self.intervals.draw
            ends: Any = map(draw, each, listed) if draw else repeat(None)
            answers += map(Drawn, listed, noisy.tolist(), ends)
        return answers

    @property
    def ends(self) -> tuple[Any, ...]:
        """The smallest and the largest value that may be released."""
        return self.in_units(float(self.points[at]) for at in (0, len(self.points) - 1))

    def in_units(self, values: Iterable[float]) -> tuple[Any, ...]:
        """Return numbers in the unit that values are given in."""
        return tuple(self.unit.value(one) for one in values)


@dataclass(frozen=True, kw_only=True)
class GroupedPercentiles(GroupedDesign[PercentileRelease, Drawn]):
    """The method of one group, and how rows are grouped."""

    each: PercentilesDesign

    def check(self, data: object) -> None:
        self.each.check(data)
        self.grouping.check(data)

    def prepare(self, data: object) -> Callable[[Plan], PercentileRelease]:
        records = self.each.method.records
        if records.on_invalid == "raise":
            refuse_missing(records.measured(data), str(records.column))
        return super().prepare(data)

    def released(
        self, groups: tuple[Hashable, ...], answers: list[Drawn], plan: Plan
    ) -> PercentileRelease:
        return self.each.released(answers, plan, groups)

    def answers(self, data: object, groups: tuple[Hashable, ...]) -> Callable[[], list[Drawn]]:
        records, points = self.each.method.records, self.each.points
        data, column = records.measured(data), str(records.column)
        rows = self.grouping.rows(data, {reading.NUMBER: column}, groups)
        kind = reading.checked_type(tables.declared_float(data, column), column, points)
        counts = reading.counts_of_groups(rows, points, data, len(groups), kind)
        return lambda: self.each.answers(counts)


def _grouped(asked: Percentiles) -> GroupedPercentiles:
    """Return the design of percentiles of groups.

    Raises:
        ParameterError: A field is out of its range, or does not go with another.
    """
    if asked.column is None:
        raise validation.needs("by", "column", of="numbers")
    for name in checked_names(asked.by, "by"):
        validation.different_columns(column=asked.column, by=name, user=asked.user)
    from dpselect.keys.keys import groups_first

    grouping = Groups.of(asked, groups_first)
    each: Any = replace(asked, **grouping.in_each).design()
    return GroupedPercentiles(plan=grouping.plan(each.plan), each=each, grouping=grouping)


def checked_percents(p: object) -> tuple[float, ...]:
    """Return one or several percentiles that increase.

    Raises:
        ParameterError: One is out of range, or they do not increase.
    """
    percents = tuple(map(percent, p if isinstance(p, tuple | range) else (p,)))
    if not percents or [*percents] != sorted({*percents}):
        raise ParameterError(
            "`p` must be one percentile, or several distinct ones that increase"
        )
    return percents
