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

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from dpselect import validation
from dpselect.budget.zcdp import rho_of_pure
from dpselect.errors import ParameterError
from dpselect.keys.columns import OTHER
from dpselect.keys.keys import Keys, KeysDesign
from dpselect.keys.question import changed_keys, checked_delta, question_of
from dpselect.neighbours import Neighbours
from dpselect.plan import Plan, Spend
from dpselect.tables.people import PeopleCap

if TYPE_CHECKING:
    import narwhals as nw

    from dpselect.keys.group_rows import Placed

GROUPS_SHARE = 0.2
"""Of epsilon, for groups that are released first."""

Answers = TypeVar("Answers")


@dataclass(frozen=True, kw_only=True)
class Grouping:
    """How rows are grouped, and what is spent on that; public.

    Attributes:
        by: The column of groups.
        groups: The public groups; empty where they are released first.
        first: The release of the groups; None where they are public.
        other: Whether all other rows, of no released group, are one group more.
        cap: The column of persons, and how many rows of a person count, over all groups.
        epsilon: Of all answers together.
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
        """Of how many rows, that come or go, one neighbour step is made."""
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
        spends = tuple(map(self._price, each.spends))
        mechanism, epsilon, delta, passes = each.mechanism, self.epsilon, 0.0, 1
        if self.first is not None:
            first = self.first.plan
            groups = (replace(one, purpose=f"groups: {one.purpose}") for one in first.spends)
            spends = (*groups, *spends)
            mechanism = f"{first.mechanism} of groups, then {mechanism} in each"
            epsilon, delta, passes = epsilon + first.epsilon, first.delta, 1 + first.passes
        error = each.error
        return Plan(
            mechanism=mechanism,
            spends=spends,
            epsilon=epsilon,
            delta=delta,
            neighbours=self.neighbours,
            public=(
                *["the groups"] * bool(self.groups),
                *(one for one in each.public if "number of" not in one),
            ),
            composition=f"{self._composition}; of one group: {each.composition}",
            error=error and replace(error, unit=f"{error.unit} in each group"),
            passes=passes,
        )

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

    def check(self, data: object) -> None:
        """Check the columns of groups and persons; no row is read.

        Raises:
            ColumnError: One is missing, or of a type that these cannot have.
            ParameterError: A public group is not of the column's kind.
        """
        from dpselect.keys import group_rows

        group_rows.check(data, self)

    def refuse_missing(self, data: object, column: str) -> None:
        """Refuse a missing number in a row of the groups that may be released.

        Raises:
            DataError: One is missing.
        """
        from dpselect.keys import group_rows

        group_rows.refuse_missing(data, self, column)

    def prepare(
        self,
        data: object,
        answers: Callable[[tuple[Hashable, ...]], Callable[[], Answers]],
        nothing: Answers,
    ) -> Callable[[Plan], Grouped[Answers]]:
        """Return the draw of the groups, if they are not public, and of their answers.

        Args:
            data: Private.
            answers: Reads the rows of some groups, and returns the draw of their answers.
            nothing: The answers of no group.
        """
        if self.first is None:
            of_public = answers(self.groups)
            return lambda _plan: Grouped(self.groups, of_public())
        draw_groups = self.first.prepare(data)

        def draw(plan: Plan) -> Grouped[Answers]:
            found = draw_groups(plan).answer + (OTHER,) * self.other
            if not found:
                return Grouped((), nothing)
            return Grouped(found, answers(found)())

        return draw

    def rows(
        self,
        data: object,
        numeric: Mapping[str, str],
        groups: Sequence[Hashable],
        *,
        placed: Placed | None = None,
    ) -> nw.LazyFrame[Any]:
        """Return the rows of some groups that count; see ``group_rows.rows_of``."""
        from dpselect.keys import group_rows

        return group_rows.rows_of(data, self, numeric, groups, placed=placed)


@dataclass(frozen=True)
class Grouped(Generic[Answers]):
    """Groups with their answers, as they were drawn.

    Attributes:
        groups: In order; ``OTHER`` for the rest.
        answers: Of all groups.
    """

    groups: tuple[Hashable, ...]
    answers: Answers


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
    if not 0 < validation.finite("groups_share", share) < 1:
        raise ParameterError("`groups_share` must be above 0 and below 1")
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
    if any(not isinstance(one, Hashable) or one is None for one in groups):
        raise ParameterError("`groups` must be values that can be hashed, and none missing")
    if not groups or len(set(groups)) < len(groups):
        raise ParameterError("`groups` must be at least one, and different ones")


def check_ungrouped(asked: Any) -> None:  # noqa: ANN401 -- a query
    """Check that a query without ``by`` has none of the fields that go with it.

    Raises:
        ParameterError: It has one.
    """
    for name in ("groups", "groups_share", "other", "delta"):
        value = getattr(asked, name)
        if value is not None and value is not False and value != 0:
            raise ParameterError(f"`{name}` goes with groups: name their column with `by`")
