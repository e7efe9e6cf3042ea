"""Percentiles of groups: the answer of one group, drawn for each from one reading.

Every group is answered by the same method, with the distribution that it has for the group's
numbers alone; where a private number of records chooses it, each group has its own. Methods
that draw percentiles one by one draw those of all groups at once.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from dpselect import validation
from dpselect.keys.keys import groups_first
from dpselect.percentiles.choice import AfterCount
from dpselect.percentiles.intervals import Ends
from dpselect.percentiles.ranges import Range
from dpselect.percentiles.ranks import Ranks
from dpselect.percentiles.reading import Numbers, checked_type
from dpselect.percentiles.release import PercentileRelease
from dpselect.percentiles.single import Answer
from dpselect.plan import Plan
from dpselect.query import keep
from dpselect.tables.groups import GroupedDesign, Groups
from dpselect.tables.key_columns import checked_names
from dpselect.tables.moments import NUMBERS

if TYPE_CHECKING:
    from dpselect.percentiles.percentiles import Percentiles, PercentilesDesign

NUMBER = "number"
"""The column of numbers in the rows that are read."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """What was drawn of one group.

    Attributes:
        values: The percentiles.
        chosen: The mechanism, if a noisy number of records chose it.
        records: That number.
        ends: What works out intervals, if they were asked for.
    """

    values: Answer
    chosen: str | None = None
    records: int | None = None
    ends: Callable[[], Ends] | None = None


@dataclass(frozen=True, kw_only=True)
class GroupedPercentiles(GroupedDesign[PercentileRelease, Drawn]):
    """The method of one group, and how rows are grouped.

    Attributes:
        column: The numeric column.
        may_miss: Whether a missing number is no error.
    """

    each: PercentilesDesign
    column: str
    may_miss: bool

    def check(self, data: object) -> None:
        from dpselect import tables

        data = self._measured(data)
        tables.check_columns(data, numeric=[self.column])
        checked_type(data, self.column, self.each.points)
        self.grouping.check(data)

    def _measured(self, data: object) -> object:
        """Return the table with numbers of the column: of dates, or of a difference."""
        return self.each.records.measure.of(data, self.column)

    def prepare(self, data: object) -> Callable[[Plan], PercentileRelease]:
        if not self.may_miss:
            self.grouping.refuse_missing(self._measured(data), self.column)
        return super().prepare(data)

    def released(
        self, groups: tuple[Hashable, ...], answers: list[Drawn], plan: Plan
    ) -> PercentileRelease:
        in_units = self.each.in_units
        numbers = [one.records for one in answers if one.records is not None]
        drawn = PercentileRelease(
            tuple(zip(groups, (in_units(one.values) for one in answers), strict=True)),
            plan,
            p=self.each.percents,
            groups=groups,
            records=tuple(numbers) if isinstance(self.each.method, AfterCount) else None,
        )
        if self.each.intervals is None:
            return drawn
        keep(drawn)
        each = [one.ends() for one in answers if one.ends is not None]
        return replace(drawn, interval=tuple(in_units(ends) for some in each for ends in some))

    def answers(self, data: object, groups: tuple[Hashable, ...]) -> Callable[[], list[Drawn]]:
        from dpselect.percentiles.group_ranks import Reader

        points, records = self.each.points, replace(self.each.records, measure=NUMBERS)
        data = self._measured(data)
        rows = self.grouping.rows(data, {NUMBER: self.column}, groups)
        kind = checked_type(data, self.column, points)
        reader = Reader(rows, groups, data, kind)
        if isinstance(points, Range):
            numbers = [Numbers(one, records, kind) for one in reader.numbers()]
            return lambda: [self.each.values_of(one)() for one in numbers]
        cells = reader.cells(points)
        return lambda: [one for ranks in cells.parts(points) for one in self._of_some(ranks)]

    def _of_some(self, ranks: Ranks) -> list[Drawn]:
        """Draw the answers of some groups."""
        each, points = self.each, np.asarray(self.each.points)
        numbers: list[int | None] = [None] * ranks.numbers.size
        if isinstance(each.method, AfterCount):
            values, noisy = each.method.of_groups(ranks)
            numbers = noisy.tolist()
        else:
            values = each.method.prepare_groups(ranks, ranks.numbers * 0)()
        found = [
            Drawn(tuple(one), records=number)
            for one, number in zip(values.tolist(), numbers, strict=True)
        ]
        if (intervals := each.intervals) is None:
            return found
        counted = (Numbers.counted(points, one, each.records) for one in ranks.each())
        return [
            replace(drawn, ends=intervals.prepare(one)(drawn.values))
            for drawn, one in zip(found, counted, strict=True)
        ]


def grouped(asked: Percentiles) -> GroupedPercentiles:
    """Return the design of percentiles of groups.

    Raises:
        ParameterError: A field is out of its range, or does not go with another.
    """
    if asked.column is None:
        raise validation.needs("by", "column", of="numbers")
    for name in checked_names(asked.by, "by"):
        validation.different_columns(column=asked.column, by=name, user=asked.user)
    grouping = Groups.of(asked, groups_first)
    each: Any = replace(asked, **grouping.in_each, column=None, on_invalid="repair").design()
    return GroupedPercentiles(
        plan=grouping.plan(each.plan),
        exact=each.exact,
        each=each,
        grouping=grouping,
        column=asked.column,
        may_miss=asked.on_invalid == "repair",
    )
