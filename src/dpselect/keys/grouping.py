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
from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from math import inf
from typing import Any, Generic, TypeVar

from dpselect import validation
from dpselect.budget.zcdp import rho_of_pure
from dpselect.errors import ParameterError
from dpselect.keys.columns import OTHER
from dpselect.keys.keys import Keys, KeysDesign
from dpselect.keys.question import changed_keys, checked_delta, question_of
from dpselect.neighbours import Neighbours
from dpselect.plan import Plan, Spend
from dpselect.query import Design
from dpselect.release import Release
from dpselect.tables.people import PeopleCap

GROUPS_SHARE = 0.2
"""Share of epsilon for groups that are released first."""

Out = TypeVar("Out", bound=Release[Any])
Answer = TypeVar("Answer")


@dataclass(frozen=True, kw_only=True)
class Grouping:
    """How rows are grouped, and what is spent on that; public.

    Attributes:
        by: The column of groups.
        groups: The public groups; empty where they are released first.
        first: The release of the groups; None where they are public.
        other: Whether all other rows, of no released group, are one group more.
        cap: The column of persons, and how many rows of a person count, over all groups.
        epsilon: Epsilon of all answers together.
        neighbours: The relation of the whole.
    """

    by: str
    groups: tuple[Hashable, ...]
    first: KeysDesign | None
    other: bool
    cap: PeopleCap | None
    epsilon: float
    neighbours: Neighbours

    @property
    def changed(self) -> int:
        """Number of rows that come or go in one neighbour step."""
        return changed_keys(1 if self.cap is None else self.cap.most, self.neighbours)

    @property
    def in_each(self) -> dict[str, Any]:
        """Fields of the query of one group: of single rows, that come or go."""
        return {
            "by": None,
            "groups": None,
            "groups_share": None,
            "other": False,
            "user": None,
            "max_per_user": None,
            "epsilon": self.epsilon / self.changed,
            "delta": 0.0,
            "neighbours": Neighbours.ADD_REMOVE,
        }

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
                *["the groups"] * bool(self.groups),
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
            laplace=spend.laplace and c == 1,
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


@dataclass(frozen=True, kw_only=True)
class GroupedDesign(Design[Out], Generic[Out, Answer]):
    """A release of one answer for each group.

    Attributes:
        each: The design of one group, for single rows that come or go.
        grouping: How rows are grouped.
    """

    each: Any
    grouping: Grouping

    @abstractmethod
    def answers(self, data: object, groups: tuple[Hashable, ...]) -> Callable[[], list[Answer]]:
        """Read the rows of some groups, and return the draw of their answers."""

    @abstractmethod
    def released(self, groups: tuple[Hashable, ...], answers: list[Answer], plan: Plan) -> Out:
        """Return the release of groups, ``OTHER`` for the rest, with their answers."""

    def prepare(self, data: object) -> Callable[[Plan], Out]:
        groups, first = self.grouping.groups, self.grouping.first
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


def grouping_of(asked: Any) -> Grouping:  # noqa: ANN401 -- a query
    """Return the groups of a query that has ``by``.

    Raises:
        ParameterError: A field is out of its range, or does not go with another.
    """
    question = question_of(
        column=asked.by,
        user=asked.user,
        max_per_user=asked.max_per_user,
        missing="drop",
    )
    relation = validation.table_neighbours(asked.neighbours)
    epsilon = validation.positive("epsilon", asked.epsilon)
    groups = validation.listed("groups", asked.groups)
    first = None
    if groups is None:
        first = release_of_groups(asked, checked_delta(asked.delta))
        epsilon -= first.plan.epsilon
    else:
        _check_public(asked, groups)
    return Grouping(
        by=question.columns[0],
        groups=groups or (),
        first=first,
        other=asked.other,
        cap=question.cap,
        epsilon=epsilon,
        neighbours=relation,
    )


def release_of_groups(asked: Any, delta: float) -> KeysDesign:  # noqa: ANN401 -- a query
    """Return the design by which groups that are not public are released first.

    Raises:
        ParameterError: A field is out of its range.
    """
    share = GROUPS_SHARE if asked.groups_share is None else asked.groups_share
    share = validation.share("groups_share", share)
    return Keys(
        column=asked.by,
        user=asked.user,
        max_per_user=asked.max_per_user,
        missing_keys=getattr(asked, "missing_keys", "drop"),
        epsilon=validation.positive("epsilon", asked.epsilon) * share,
        delta=delta,
        neighbours=asked.neighbours,
    ).design()


def _check_public(asked: Any, groups: tuple[Any, ...]) -> None:  # noqa: ANN401 -- a query
    for name in ("groups_share", "other", "delta"):
        if getattr(asked, name):
            raise ParameterError(
                f"`{name}` is for groups that are not public: leave it out, or `groups`"
            )
    validation.different("groups", groups)
    if None in groups:
        raise ParameterError("`groups` must be different values, and none missing")


def check_ungrouped(asked: Any) -> None:  # noqa: ANN401 -- a query
    """Check that a query without ``by`` has none of the fields that go with it.

    Raises:
        ParameterError: It has one.
    """
    for name in ("groups", "groups_share", "other", "delta"):
        value = getattr(asked, name)
        if value is not None and value is not False and value != 0:
            raise ParameterError(f"`{name}` goes with groups: name their column with `by`")
