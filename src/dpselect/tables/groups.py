"""Groups of rows, public or released first, and what one answer for each group costs.

A public rule sends each row to at most one group. Let the answer of one group be ``ε_1``-DP for
one row more or less, and let one neighbour step be made of ``c`` such steps: one row that comes
or goes, two where a row is replaced, since it may leave one group and enter another, and
``most`` times as many for a person of whom so many rows count. All answers together then cost
``c ε_1``, however many groups there are: each of the ``c`` steps changes the rows of one group
alone, by one row. So ``ε_1`` is ``ε / c``, and a zCDP parameter ``ρ_1`` of an answer becomes
``c^2 ρ_1``.

Groups that are not public are released first, as by ``Keys``; only then the rows of a person
are limited, to those of released groups. Each of the two releases is private for the whole
person, whatever the first one released, so their prices add up. All other rows, also those
without a group, may be one more group: the rule sends a row to one, so it costs nothing more.

Source: McSherry 2009, Theorem 4 (disjoint parts); group privacy for the steps of a person.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import inf
from typing import Any, Generic, TypeVar

from dpselect import tables, validation
from dpselect._optional import nw
from dpselect.budget.zcdp import rho_of_pure
from dpselect.errors import ParameterError, missing_value
from dpselect.neighbours import Neighbours
from dpselect.plan import Plan, Spend
from dpselect.query import Design
from dpselect.release import Release
from dpselect.tables.engine import engine_of
from dpselect.tables.kinds import KeyColumns, check_parts, checked_names
from dpselect.tables.opening import kinds_of
from dpselect.tables.people import USER, PeopleCap, changed_rows, people_cap

GROUPS_SHARE = 0.2
"""Share of epsilon for groups that are released first."""

GROUP = "group"
"""The column of groups in rows that are read."""

OTHER = None
"""Stands for the group of all rows whose group was not released."""

Out = TypeVar("Out", bound=Release[Any])
Answer = TypeVar("Answer")
Placed = Callable[["nw.LazyFrame[Any]"], "nw.LazyFrame[Any]"]
"""Repairs or drops rows, each by itself."""


def listed_groups(by: tuple[str, ...], groups: object) -> tuple[Hashable, ...] | None:
    """Return public groups, from a list of them or a list for each column.

    Args:
        by: The columns of the groups.
        groups: Values, or tuples of one for each column; or a mapping from each column to its
            values, of which all combinations are groups. None if they are not public.

    Raises:
        ParameterError: They are none, not different, or not of these columns.
    """
    if isinstance(groups, Mapping):
        if sorted(groups) != sorted(by):
            raise ParameterError(
                "`groups` by column must list the values of each column of `by`"
            )
        lists = [validation.listed("groups", groups[name]) or () for name in by]
        groups = list(product(*lists)) if len(by) > 1 else lists[0]
    found: Any = validation.listed("groups", groups)  # type: ignore[arg-type] # checked there
    if found is None:
        return None
    if not by:
        raise ParameterError("`groups` are of a column: name it with `by`")
    validation.different("groups", found)
    check_parts("groups", found, by)
    return tuple(found)


def columns_of_groups(
    by: tuple[str, ...], groups: Sequence[Hashable], *, other: str | None = None
) -> dict[str, list[Any]]:
    """Return groups as columns of a table, ``other`` in place of the group of all others."""
    if len(by) == 1:
        return {by[0]: [other if one is OTHER else one for one in groups]}
    blank: tuple[Any, ...] = (other, *[None if other is None else ""] * (len(by) - 1))
    rows: list[Any] = [blank if one is OTHER else one for one in groups]
    return {name: [row[at] for row in rows] for at, name in enumerate(by)}


@dataclass(frozen=True, kw_only=True)
class Groups:
    """How rows are grouped, what is spent on that, and how the rows are read; public.

    Attributes:
        by: The columns of the groups; a group of several is a tuple.
        listed: The public groups; empty where they are released first.
        first: The release of the groups; None where they are public.
        other: Whether all other rows, of no released group, are one group more.
        cap: The column of persons, and how many rows of a person count, over all groups.
        epsilon: Epsilon of all answers together.
        neighbours: The relation of the whole.
    """

    by: tuple[str, ...]
    listed: tuple[Hashable, ...]
    first: Design[Any] | None
    other: bool
    cap: PeopleCap | None
    epsilon: float
    neighbours: Neighbours

    @classmethod
    def of(cls, asked: Any, first: Callable[[Any], Design[Any]]) -> Groups:  # noqa: ANN401
        """Return the groups of a query that has ``by``.

        Args:
            asked: The query, with the fields ``by``, ``groups``, ``groups_share``, ``other``,
                ``user``, ``max_per_user``, ``epsilon``, ``delta`` and ``neighbours``.
            first: Returns the design that releases groups which are not public, of the query:
                ``dpselect.keys.keys.groups_first``.

        Raises:
            ParameterError: A field is out of its range, or does not go with another.
        """
        by, cap = checked_names(asked.by, "by"), people_cap(asked.user, asked.max_per_user)
        if cap is not None and cap.user in by:
            raise ParameterError(f"column {cap.user!r} cannot be the user and the group")
        relation = validation.table_neighbours(asked.neighbours)
        epsilon = validation.positive("epsilon", asked.epsilon)
        groups, released = listed_groups(by, asked.groups), None
        if groups is None:
            released = first(asked)
            epsilon -= released.plan.epsilon
        else:
            why = "is for groups that are not public: leave it out, or `groups`"
            validation.left_out(asked, "groups_share", "other", "delta", why=why)
            if any(None in (one if isinstance(one, tuple) else (one,)) for one in groups):
                raise ParameterError("`groups` must be different values, and none missing")
        return cls(
            by=by,
            listed=groups or (),
            first=released,
            other=asked.other,
            cap=cap,
            epsilon=epsilon,
            neighbours=relation,
        )

    @property
    def changed(self) -> int:
        """Number of rows that come or go in one neighbour step."""
        return changed_rows(1 if self.cap is None else self.cap.most, self.neighbours)

    @property
    def in_each(self) -> dict[str, Any]:
        """Fields of the query of one group: of single rows, that come or go."""
        none = dict.fromkeys(("by", "groups", "groups_share", "user", "max_per_user"))
        each = {"epsilon": self.epsilon / self.changed, "delta": 0.0, "other": False}
        return {**none, **each, "neighbours": Neighbours.ADD_REMOVE}

    def plan(self, each: Plan) -> Plan:
        """Return the plan of the whole from one group's.

        Raises:
            ParameterError: The answer of a group has a delta of its own.
        """
        if any(spend.delta for spend in each.spends):
            raise ParameterError("with `by`, `mechanism` must cost no delta")
        error, first = each.error, self.first
        plan = Plan(
            mechanism=each.mechanism,
            spends=tuple(map(self._price, each.spends)),
            epsilon=self.epsilon + (0.0 if first is None else first.plan.epsilon),
            neighbours=self.neighbours,
            public=(
                *["the groups"] * bool(self.listed),
                *(one for one in each.public if "number of" not in one),
            ),
            composition=f"{self._composition}; of one group: {each.composition}",
            error=error and replace(error, unit=f"{error.unit} in each group"),
            passes=1,
        )
        return plan if first is None else after_groups(first.plan, plan)

    def _price(self, spend: Spend) -> Spend:
        """Return the price of a step in all groups, for the rows of one neighbour step."""
        c = self.changed
        rho = inf if spend.rho is None else c**2 * spend.rho
        return replace(
            spend,
            purpose=f"{spend.purpose}, of each group",
            epsilon=c * spend.epsilon,
            rho=min(rho, rho_of_pure(c * spend.epsilon)),
        )

    @property
    def _composition(self) -> str:
        if self.cap is not None:
            one = f"a person has {self.cap.most} rows in all groups together"
        else:
            one = "a row is in one group"
        if self.neighbours is Neighbours.SUBSTITUTE:
            one += " and may be replaced by one of another, so that each pays half"
        return f"parallel over groups: {one}"

    def columns(self, data: object) -> KeyColumns:
        """Return how groups are written in the engine.

        Raises:
            ColumnError: A column is missing, or of a type that groups cannot have.
        """
        return KeyColumns(self.by, kinds_of(data, self.by))

    def check(self, data: object) -> None:
        """Check the columns of groups and persons; no row is read.

        Raises:
            ColumnError: One is missing, or of a type that these cannot have.
            ParameterError: A public group is not of the column's kind.
        """
        columns = self.columns(data)
        for one in self.listed:
            columns.encode(one)
        if self.cap is not None:
            self.cap.check(data)

    def rows(
        self,
        data: object,
        numeric: Mapping[str, str],
        groups: Sequence[Hashable],
        *,
        placed: Placed | None = None,
    ) -> nw.LazyFrame[Any]:
        """Return the rows of some groups; of a lazy frame or a path no row is read yet.

        Rows without a person, or without one of the numbers, are dropped, and so are those of
        other groups and of none, unless the rest is a group. Only then a person's rows are
        limited.

        Args:
            data: Private.
            numeric: Columns of numbers, by the name that they get.
            groups: Which groups, public; ``OTHER`` for the rest.
            placed: What happens to each row before those of a person are limited.

        Returns:
            The columns ``group``, the position of the group, and those of ``numeric``, as
            float64.

        Raises:
            ColumnError, DataError: The columns cannot be read.
            ParameterError: A group is not of the column's kind.
        """
        columns = self.columns(data)
        plain = [*self.by] if self.cap is None else [*self.by, self.cap.user]
        rows = tables.lazy_columns(data, numeric=list(numeric.values()), plain=plain)
        types, number = rows.collect_schema(), engine_of(rows).without_nan
        # At once: a column of the table may be called as another one is here.
        taken = {name: number(of) for name, of in numeric.items()}
        if self.cap is not None:
            taken[USER] = self.cap.persons(types)
        rows = rows.select(**taken, group=columns.expression(types)).drop_nulls([*taken])
        if placed is not None:
            rows = placed(rows)
        listed = [columns.encode(one) for one in groups if one is not OTHER]
        rows = engine_of(rows).coded({GROUP: listed})
        if OTHER in groups:
            rows = rows.with_columns(nw.col(GROUP).fill_null(len(listed)))
        else:
            rows = rows.drop_nulls(GROUP)
        if self.cap is not None:
            rows = self.cap.limited(rows, order_by=[GROUP, *numeric])
        return rows.select(GROUP, *numeric)


def refuse_missing(data: object, column: str) -> None:
    """Refuse a missing number in any row, of whatever group.

    Raises:
        PublicClaimError: One is missing.
    """
    rows = tables.lazy_columns(data, numeric=[column])
    rows = rows.filter(engine_of(rows).without_nan(column).is_null())
    found = tables.collect(rows.select(nw.len().alias("rows")), data, most=1)
    if tables.counts(found["rows"])[0] > 0:
        raise missing_value()


@dataclass(frozen=True, kw_only=True)
class GroupedDesign(Design[Out], Generic[Out, Answer]):
    """A release of one answer for each group.

    Attributes:
        each: The design of one group, for single rows that come or go.
        grouping: How rows are grouped.
    """

    each: Any
    grouping: Groups

    @abstractmethod
    def answers(self, data: object, groups: tuple[Hashable, ...]) -> Callable[[], list[Answer]]:
        """Read the rows of some groups, and return the draw of their answers."""

    @abstractmethod
    def released(self, groups: tuple[Hashable, ...], answers: list[Answer], plan: Plan) -> Out:
        """Return the release of groups, ``OTHER`` for the rest, with their answers."""

    def prepare(self, data: object) -> Callable[[Plan], Out]:
        groups, first = self.grouping.listed, self.grouping.first
        if first is None:
            of_public = self.answers(data, groups)
            return lambda plan: self.released(groups, of_public(), plan)
        # The rows of released groups are read after the charge.
        self.check(data)
        draw_groups = first.prepare(data)

        def draw(plan: Plan) -> Out:
            found = draw_groups(plan).answer + (OTHER,) * self.grouping.other
            return self.released(found, self.answers(data, found)() if found else [], plan)

        return draw


def after_groups(first: Plan, each: Plan) -> Plan:
    """Return the plan of a release of groups and what is released in each; private as both.

    Args:
        first: Plan of the groups.
        each: Plan of the whole, but for the prices, the delta and the passes of the groups.
    """
    groups = (replace(one, purpose=f"groups: {one.purpose}") for one in first.spends)
    return replace(
        each,
        mechanism=f"{first.mechanism} of groups, then {each.mechanism} in each",
        spends=(*groups, *each.spends),
        delta=first.delta,
        passes=first.passes + each.passes,
    )
