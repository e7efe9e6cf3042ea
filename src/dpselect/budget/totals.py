"""Terms of a budget: totals, unit of protection, composition, shares and periods."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Annotated, Any, Literal, Self, TypeAlias

from dpselect import validation
from dpselect._numbers import exact, floor
from dpselect.errors import InsufficientBudgetError, NeighboursError, ParameterError
from dpselect.neighbours import Neighbours, NeighboursLike

RECORDS = {
    Neighbours.ADD_REMOVE: "row",
    Neighbours.SUBSTITUTE: "row",
    Neighbours.EDGE: "edge",
    Neighbours.SWAP: "member",
}
"""Name of a record under each relation."""

Composition: TypeAlias = Literal["sum", "zcdp", "either"]
"""Composition of spends (``filter``)."""

PeriodLength: TypeAlias = Literal["day", "month", "year"]

PeriodUnit: TypeAlias = Literal["each-period", "one-period"]

DIGITS = {"day": 10, "month": 7, "year": 4}
"""Characters of an ISO 8601 time that name a period of each length."""


def _is_name(value: object) -> bool:
    return isinstance(value, str) and value != ""


def _checked_shares(_: str, given: object) -> tuple[tuple[str, float], ...]:
    shares: Any = given
    made = [
        (str(name), validation.positive("share", one)) for name, one in shares if _is_name(name)
    ]
    if len(made) < len(shares):
        raise ParameterError("`share` must name an analyst")
    if len(dict(made)) < len(made):
        raise ParameterError("`share` must name each analyst once")
    return tuple(made)


@dataclass(frozen=True, slots=True)
class Persons:
    """Protection of persons, with all their rows.

    Attributes:
        column: The column that names them: the ``user`` of every release.
        rows: The most rows that a person has in any one source, declared public: a release by
            rows is then charged for so many (``group``). Without it, releases by rows are
            refused.

    Raises:
        ParameterError: ``column`` is not a name, or ``rows`` is not a number above 0.
    """

    column: str
    rows: Annotated[int | None, validation.integers(1, validation.EXACT)] = None

    def __post_init__(self) -> None:
        if not _is_name(self.column):
            raise ParameterError("`protects` must be 'row', or the name of a column of persons")
        validation.keep_checked(self)


@dataclass(frozen=True, slots=True)
class Period:
    """Renewal of all totals with each day, month or year of UTC.

    A spend is charged to the period in which it is made, and never to an earlier one than the
    last that was charged, even if the clock is set back. The guarantee is that of the totals
    for the data of one period, if the releases of a period read the data of one period alone,
    and releases of other periods read none of these data.

    Attributes:
        length: ``"day"``, ``"month"`` or ``"year"``.
        unit: ``"each-period"``: the data of a person (or row) in one period are protected; a
            person with data in n periods is protected by n times the totals. ``"one-period"``:
            it is declared public that all data of a person lie in one period.

    Raises:
        ParameterError: One is none of these.
    """

    length: PeriodLength
    unit: PeriodUnit

    def __post_init__(self) -> None:
        if None in {self.length, self.unit}:
            raise ParameterError("`period` and `period_unit` go together")
        validation.one_of("period", self.length, PeriodLength)
        validation.one_of("period_unit", self.unit, PeriodUnit)

    def at(self, time: str) -> str:
        """Return the name of the period of an ISO 8601 time, such as ``"2026-07"``."""
        return time[: DIGITS[self.length]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """The totals of a budget and their terms; public.

    Attributes:
        epsilon: In nats; finite, > 0.
        delta: In [0, 1).
        neighbours: The one relation that every spend must be stated for.
        persons: Whom they protect; None for a record: a row, an edge or a member of a subset.
        composition: How spends add up; without a delta there is the sum alone.
        shares: The epsilon of each analyst who has a share, with the same part of delta; what
            is left is for all others together.
        period: How long the totals last; None for good.

    Raises:
        ParameterError: An amount is out of range, ``composition`` is none, or shares are more
            than ``epsilon`` together.
        NeighboursError: ``neighbours`` is no relation, or none for persons.
    """

    epsilon: Annotated[float, validation.positive]
    delta: Annotated[float, validation.probability] = 0.0
    neighbours: Neighbours
    persons: Persons | None = None
    composition: Composition = "either"
    shares: Annotated[tuple[tuple[str, float], ...], _checked_shares] = ()
    period: Period | None = None

    def __post_init__(self) -> None:
        validation.keep_checked(self, neighbours=validation.neighbours(self.neighbours))
        if self.delta == 0:
            object.__setattr__(self, "composition", "sum")
        if self.persons is not None and RECORDS[self.neighbours] != "row":
            raise NeighboursError(
                f"`neighbours`={self.neighbours} protects one {RECORDS[self.neighbours]}; to "
                "protect persons give `neighbours`=add-remove or substitute"
            )
        if self.left < 0:
            raise ParameterError(f"`share`s must be at most {self.epsilon!r} together")

    @classmethod
    def read(cls, *, terms: Mapping[str, Any], **amounts: Any) -> Self:  # noqa: ANN401
        """Return totals of the amounts, and of what ``terms`` returned."""
        persons, period = terms["persons"], terms["period"]
        return cls(
            **amounts,
            persons=persons and Persons(**persons),
            composition=terms["composition"],
            shares=tuple((name, epsilon) for name, epsilon in terms["shares"]),
            period=period and Period(**period),
        )

    def terms(self) -> dict[str, Any]:
        """Return all but epsilon, delta and the relation, as plain values."""
        amounts = ("epsilon", "delta", "neighbours")
        return {name: one for name, one in asdict(self).items() if name not in amounts}

    @property
    def unit(self) -> str:
        """Unit of protection: a column of persons, or ``"row"``, ``"edge"``, ``"member"``."""
        return RECORDS[self.neighbours] if self.persons is None else self.persons.column

    def steps(self, neighbours: NeighboursLike, user: str | None) -> int:
        """Return how many steps of a release one of what is protected makes.

        Args:
            neighbours: What the release is stated for.
            user: The column of the persons that it protects; None if it protects a record.

        Raises:
            NeighboursError: It protects another relation or unit, and no number is known.
        """
        if (given := validation.neighbours(neighbours)) is not self.neighbours:
            raise NeighboursError(
                f"this budget is for `neighbours`={self.neighbours}, the release for {given}: "
                "give the first, or another budget"
            )
        persons = self.persons
        if user == (None if persons is None else persons.column):
            return 1
        if persons is None or user is not None:
            raise NeighboursError(
                f"this budget protects one {self.unit}, the release one {user!r} with all "
                f"rows; make a budget with `protects`={user}"
            )
        cure = f"give `user`={persons.column} with `max_per_user`"
        if persons.rows is None:
            raise NeighboursError(
                f"this budget protects one {persons.column!r} with all rows, the release one "
                f"row: {cure}, or make a budget that states the most `rows` of one"
            )
        if self.neighbours is Neighbours.SUBSTITUTE and persons.rows > 1:
            raise NeighboursError(
                f"a release that knows the number of rows does not protect one "
                f"{persons.column!r}, who may have another number: {cure}"
            )
        return persons.rows

    def period_at(self, time: str, last: str) -> str:
        """Return the period that a spend is charged to, never one before the last charged."""
        return "" if self.period is None else max(self.period.at(time), last)

    def share_of(self, analyst: str) -> str:
        """Return the share that an analyst spends from; empty for what all others have."""
        return analyst if analyst in dict(self.shares) else ""

    @property
    def left(self) -> Fraction:
        """The epsilon that is in nobody's share."""
        return exact(self.epsilon) - sum(exact(epsilon) for _, epsilon in self.shares)


@lru_cache(maxsize=1024)
def part(totals: Totals, share: str) -> Totals:
    """Return what a share grants.

    Raises:
        InsufficientBudgetError: All of epsilon is in the shares of others.
    """
    if not totals.shares:
        return totals
    granted = exact(dict(totals.shares)[share]) if share else totals.left
    if granted == 0:
        names = ", ".join(name for name, _ in totals.shares)
        raise InsufficientBudgetError(
            f"all of this budget is shared between {names}: `analyst` must be one of them"
        )
    delta = floor(exact(totals.delta) * granted / exact(totals.epsilon))
    return replace(totals, epsilon=floor(granted), delta=delta, shares=())
