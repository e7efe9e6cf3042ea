"""Percentiles of groups: the answer of one group, drawn for each from one reading.

Every group is answered by the same method, with the distribution that it has for the group's
numbers alone; where a private number of records chooses it, each group has its own. Methods
that draw percentiles one by one draw those of all groups at once.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from dpselect.draws.exact.noisy_counts import discrete_laplace
from dpselect.errors import ParameterError
from dpselect.keys.grouping import Grouping, grouping_of
from dpselect.percentiles.first_count import AfterCount, size_of
from dpselect.percentiles.intervals import Ends
from dpselect.percentiles.ranges import Range
from dpselect.percentiles.ranks import Ranks
from dpselect.percentiles.reading import Numbers, checked_type
from dpselect.percentiles.release import PercentileRelease
from dpselect.percentiles.single import Answer, ForGroups, Method
from dpselect.plan import Plan
from dpselect.query import Design, keeping

if TYPE_CHECKING:
    from dpselect.percentiles.percentiles import Percentiles, PercentilesDesign

NUMBER = "number"
"""The column of numbers in the rows that are read."""

OfOne = tuple[Answer, Callable[[], Ends] | None]
"""The values of one group, and what works out intervals, if they were asked for."""


@dataclass(frozen=True, kw_only=True)
class GroupedPercentiles(Design[PercentileRelease]):
    """The method of one group, and how rows are grouped.

    Attributes:
        each: The design of one group, for single records that come or go.
        grouping: How rows are grouped.
        column: The numeric column.
        may_miss: Whether a missing number is no error.
    """

    each: PercentilesDesign
    grouping: Grouping
    column: str
    may_miss: bool

    def check(self, data: object) -> None:
        from dpselect import tables

        numbers = self.each.records.measure.of(data, self.column)
        tables.check_columns(numbers, numeric=[self.column])
        checked_type(numbers, self.column, self.each.points)
        self.grouping.check(data)

    def prepare(self, data: object) -> Callable[[Plan], PercentileRelease]:
        if self.grouping.first is not None:
            # The rows of released groups are read after the charge.
            self.check(data)
        data = self.each.records.measure.of(data, self.column)
        if not self.may_miss:
            self.grouping.refuse_missing(data, self.column)
        nothing: list[OfOne] = []
        draw = self.grouping.prepare(data, partial(self._of_groups, data), nothing)

        def draw_all(plan: Plan) -> PercentileRelease:
            found = draw(plan)
            pairs = list(zip(found.groups, found.answers, strict=True))
            in_units = self.each.in_units
            drawn = PercentileRelease(
                tuple((group, in_units(values)) for group, (values, _) in pairs),
                plan,
                p=self.each.percents,
            )
            if self.each.intervals is None:
                return drawn
            with keeping(drawn):
                each = [work() for _, (_, work) in pairs if work is not None]
                return replace(
                    drawn, interval=tuple(in_units(ends) for some in each for ends in some)
                )

        return draw_all

    def _of_groups(
        self, data: object, groups: tuple[Hashable, ...]
    ) -> Callable[[], list[OfOne]]:
        """Read the rows of groups, and return the draw of their answers."""
        from dpselect.percentiles.group_ranks import Reader

        points, records = self.each.points, self.each.records
        rows = self.grouping.rows(data, {NUMBER: self.column}, groups)
        kind = checked_type(data, self.column, points)
        reader = Reader(rows, groups, data, kind)
        if isinstance(points, Range):
            numbers = [Numbers(one, records, kind) for one in reader.numbers()]
            return lambda: [self._of_one(one) for one in numbers]
        cells = reader.cells(points)
        return lambda: [one for ranks in cells.parts(points) for one in self._of_some(ranks)]

    def _of_one(self, numbers: Numbers) -> OfOne:
        values, _, ends = self.each.values_of(numbers)()
        return values, ends

    def _of_some(self, ranks: Ranks) -> list[OfOne]:
        """Draw the answers of some groups."""
        method = self.each.method
        if self.each.intervals is None and isinstance(method, AfterCount):
            return self._after_count(method, ranks)
        if self.each.intervals is None:
            return self._by(method, ranks)
        return [self._of_one(one) for one in self._numbers(ranks)]

    def _after_count(self, method: AfterCount, ranks: Ranks) -> list[OfOne]:
        """Draw by the methods that the noisy numbers of records choose."""
        noisy, held = np.unique(
            discrete_laplace(ranks.numbers, method.scale), return_inverse=True
        )
        sizes = np.array([size_of(one) for one in noisy.tolist()])[held]
        found: list[OfOne] = [((), None)] * sizes.size
        for size in np.unique(sizes).tolist():
            which = np.flatnonzero(sizes == size)
            drawn = self._by(method.choice.of_number(2.0**size), ranks.some(which))
            for place, one in zip(which.tolist(), drawn, strict=True):
                found[place] = one
        return found

    def _by(self, method: Method, ranks: Ranks) -> list[OfOne]:
        """Draw by one method, of all groups at once where it can."""
        draw = method.prepare_groups(ranks) if isinstance(method, ForGroups) else None
        if draw is not None:
            return [(tuple(values), None) for values in draw().tolist()]
        return [(method.prepare(one)(), None) for one in self._numbers(ranks)]

    def _numbers(self, ranks: Ranks) -> Iterator[Numbers]:
        """Yield each group's numbers by their ranks."""
        points, records = np.asarray(self.each.points), self.each.records
        for group in range(ranks.numbers.size):
            yield Numbers.counted(points, ranks.some(np.array([group])), records)


def grouped(asked: Percentiles) -> GroupedPercentiles:
    """Return the design of percentiles of groups.

    Raises:
        ParameterError: A field is out of its range, or does not go with another.
    """
    if asked.column is None:
        raise ParameterError("`by` needs `column`, the name of the column of numbers")
    if asked.by == asked.column or asked.user in {asked.by, asked.column}:
        raise ParameterError("`column`, `by` and `user` must be different columns")
    if asked.minus is not None:
        raise ParameterError("with `by`, leave out `minus`: make a column of the differences")
    grouping = grouping_of(asked)
    # The design of one group knows of no persons.
    of_person = 1 if grouping.cap is None else grouping.cap.most
    if asked.interval_of == "population" and of_person > 1:
        raise ParameterError(
            "`interval_of`='population' takes records as drawn independently: count one of "
            "each person by `max_per_user`=1"
        )
    each: Any = replace(asked, **grouping.in_each, column=None, on_invalid="repair").design()
    if each.unit.moment != "number":
        raise ParameterError("with `by` values are numbers: make days of dates first")
    return GroupedPercentiles(
        plan=grouping.plan(each.plan),
        exact=each.exact,
        each=each,
        grouping=grouping,
        column=asked.column,
        may_miss=asked.on_invalid == "repair",
    )
