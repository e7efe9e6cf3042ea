"""Totals of a budget: their terms, and the privacy filter that keeps spends within them.

An analyst chooses each release after seeing the ones before it, its parameters included. A
*privacy filter* is a rule that, whatever they choose, keeps the whole within (ε, δ)-DP. Write
``ε_i, δ_i, ρ_i`` for the cost of release i. There is one rule. It splits δ into ``δ_s + δ_z``
when the budget is made, and admits a release if after it

    ∑ δ_i ≤ δ_s and (∑ ε_i ≤ ε or ∑ ρ_i converts to at most ε at δ_z).

``either`` has ``δ_s = δ_z = δ/2``; it admits whatever one of the other two admits with its
half. ``sum`` has ``δ_z = 0``: epsilons and deltas add up. ``zcdp`` has ``δ_s = 0``: no release
may have a delta, and all of it is there to convert. Half of delta costs either side little:
noise and thresholds grow with ``ln(1/δ)``, of which a factor 2 is five per cent at ``10^-6``,
and the converted epsilon with its square root. Sums do not depend on an order, so whether all
of some releases fit does not either.

Guarantee:
    The transcript of all releases, refusals included, is (ε, δ)-DP under the budget's neighbour
    relation against an adaptive analyst.

A release may be *refunded*: its price depends on its outcome. It is spent for ``ε_i`` and, when
its outcome o is known, ``ε_i - c_i(o)`` is given back, once; ``ρ_i, δ_i`` stay. What it must
keep is, for every two neighbours in either order, ``∑_o [P(o) - e^(c_i(o)) Q(o)]_+ ≤ δ_i`` with
``0 ≤ c_i(o) ≤ ε_i``, and ``ρ_i``-zCDP if ``δ_i = 0``. Without a refund ``c_i = ε_i`` and this
is ``(ε_i, δ_i)``-DP. The sums of the rule are those of the net epsilons at every admission.

Lemma. Let P, Q be the distributions of such a release on two neighbours. There are measures
``P° ≤ P``, ``Q° ≤ Q`` of one mass, at least ``1 - δ_i``, with ``e^(-c_i(o)) Q°(o) ≤ P°(o) ≤
e^(c_i(o)) Q°(o)`` for every o; made probabilities, they are ``ρ_i``-zCDP, where beside a delta
``ρ_i`` is what ``ε_i`` implies (``rho_of_pure``). Proof. With ``δ_i = 0`` they are P and Q.
Else let ``P' = min(P, e^(c_i) Q)`` and ``Q' = min(Q, e^(c_i) P)``. Both have a mass of at least
``1 - δ_i``, and ``P' ≤ e^(c_i) Q'``, ``Q' ≤ e^(c_i) P'``. Let P' be the one of larger mass. The
mass of Q' lies between those of ``e^(-c_i) Q'`` and P', and ``e^(-c_i) Q' ≤ P'``; so some
``P°`` between these two has it, and ``Q° = Q'``. Of equal mass, they keep their factors, at
most ``e^(ε_i)``, when they are made probabilities.

Proof of the guarantee. Fix the analyst's strategy (a random one is a mixture) and two
neighbours; let P and Q be the distributions of the transcript. Put ``P°_i, Q°_i`` of the lemma
for the distributions of every release, given what was drawn before: on a path y their products
are ``P°(y) ≤ P(y)`` and ``Q°(y) ≤ Q(y)``. Which releases are admitted, and so their ``δ_i``, is
determined by the outcomes before. Release i takes at most ``δ_i`` off the mass of the paths
that came to it, and these sum up to at most ``δ_s`` along each path, so ``∑_y P(y) - P°(y) ≤
δ_s``, and

    ∑_y [P(y) - e^ε Q(y)]_+ ≤ δ_s + ∑_y [P°(y) - e^ε Q°(y)]_+.

On a path y the product of the factors is at most ``e^(∑ c_i(o_i))``, where ``∑ c_i(o_i)`` is at
most the net sum at the last admission. If that is at most ε, y adds nothing. Any other y was
admitted last by the zCDP limit and, sums of rho being monotone, within it all along. So the
filter with the limits of delta and of zCDP alone admits and refuses the same along y. Let ``P̂,
Q̂`` be the distributions of its transcript where each release draws from the ``P°_i, Q°_i``
made probabilities. It is ``(ε, δ_z)``-DP (Feldman & Zrnic 2021, arXiv:2008.11193, for each
Renyi order). ``P°(y)`` and ``Q°(y)`` are ``P̂(y)`` and ``Q̂(y)`` times the same product of
masses, at most 1; so these y add at most ``δ_z`` together.

Why ``δ_s + δ_z`` cannot be more than δ: few paths with a large loss may use up ``δ_z``, while
all others buy failures worth ``δ_s``. The tests let the best analyst play that game by exact
enumeration, also against rules that are wrong.

Sources: sums, Rogers, Roth, Ullman & Vadhan 2016, arXiv:1605.08294; prices by outcome, Ligett,
Neel, Roth, Waggoner & Wu 2017, arXiv:1705.10829, and for selection Durfee & Rogers 2019,
arXiv:1905.04273, Theorem 2.

Shares of a budget are filters of their own, whose totals add up to its own. Releases of several
take turns as the analysts like: what each filter lets through is an interactive mechanism that
is ``(ε_a, δ_a)``-DP, and such compose like those that are not interactive (Lyu 2022,
arXiv:2207.09397), here by their sums.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from functools import lru_cache
from math import inf
from sys import float_info
from typing import Annotated, Any, Literal, Self, TypeAlias

from dpselect import validation
from dpselect._numbers import exact, floor
from dpselect.budget import zcdp
from dpselect.budget.entry import Entry
from dpselect.errors import InsufficientBudgetError, NeighboursError, ParameterError
from dpselect.neighbours import RECORDS, Neighbours, NeighboursLike

Composition: TypeAlias = Literal["sum", "zcdp", "either"]
"""Composition of spends."""

PeriodLength: TypeAlias = Literal["day", "month", "year"]

PeriodUnit: TypeAlias = Literal["each-period", "one-period"]

DIGITS = {"day": 10, "month": 7, "year": 4}
"""Characters of an ISO 8601 time that name a period of each length."""

FOR_SPENDS = {"sum": Fraction(1), "zcdp": Fraction(), "either": Fraction(1, 2)}
"""The part of delta that is for the deltas of spends, by composition."""

BY_ZCDP = (
    "; under zCDP the price of a spend depends on the others, and together they exceed the "
    "total"
)


@dataclass(frozen=True, slots=True)
class Sums:
    """All that a privacy filter looks at of the spends so far.

    Attributes:
        epsilon: Sum of all epsilons, less what was refunded.
        delta: Sum of all deltas.
        rho: Sum of all rhos.
        refunded: Sum of all refunds.
    """

    epsilon: Fraction = Fraction()
    delta: Fraction = Fraction()
    rho: Fraction = Fraction()
    refunded: Fraction = Fraction()

    def plus(self, cost: Entry) -> Self:
        """Return the sums with one spend more."""
        spent = type(self)(
            self.epsilon + exact(cost.epsilon),
            self.delta + exact(cost.delta),
            self.rho + exact(cost.rho),
            self.refunded,
        )
        return spent.less(cost.refunded) if cost.refunded else spent

    def less(self, epsilon: float) -> Self:
        """Return the sums after a refund."""
        given = exact(epsilon)
        return replace(self, epsilon=self.epsilon - given, refunded=self.refunded + given)


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

    def spent(self, sums: Sums) -> Fraction:
        """Return the epsilon that the spends amount to, in nats: by their sum, or by zCDP."""
        to_convert = 1 - FOR_SPENDS[self.composition]
        if to_convert == 0:
            return sums.epsilon
        rho = float(min(sums.rho, Fraction(float_info.max)))
        converted = zcdp.epsilon_of(rho, self.delta * float(to_convert))
        return sums.epsilon if converted == inf else min(sums.epsilon, Fraction(converted))

    def remaining(self, sums: Sums) -> float:
        """Return the epsilon that is left, in nats, >= 0, rounded down."""
        return floor(max(Fraction(), exact(self.epsilon) - self.spent(sums)))

    def admit(self, sums: Sums, new: Entry) -> Sums:
        """Return the sums with ``new``, or refuse it.

        Raises:
            InsufficientBudgetError: ``new`` does not fit.
        """
        after = sums.plus(new)
        granted = FOR_SPENDS[self.composition] * exact(self.delta)
        if new.delta > self.delta == 0:
            raise InsufficientBudgetError(
                f"this budget was made without a `delta`, and the release needs {new.delta!r}"
            )
        if new.delta > 0 and after.delta > granted:
            kept = ""
            if granted < exact(self.delta):
                kept = (
                    f"; the rest of the total {self.delta!r} is used for composition by zCDP: "
                    "give a smaller `delta`, or make a budget with `composition`=sum"
                )
            raise InsufficientBudgetError(
                f"delta does not suffice: available for releases {float(granted)!r}, "
                f"spent {float(sums.delta)!r}, requested {new.delta!r}, "
                f"remaining {floor(granted - sums.delta)!r}{kept}"
            )
        if self.spent(after) > exact(self.epsilon):
            by_zcdp = "" if self.spent(sums) == sums.epsilon else BY_ZCDP
            raise InsufficientBudgetError(
                f"epsilon does not suffice: total {self.epsilon!r}, "
                f"spent {float(self.spent(sums))!r}, requested {new.epsilon!r}, "
                f"remaining {self.remaining(sums)!r}{by_zcdp}"
            )
        return after


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


@dataclass(frozen=True, slots=True)
class Pot:
    """Amounts of a share of a budget in the current period.

    Attributes:
        share: Whose it is; empty for all who have none, or if there are no shares.
        epsilon: What it grants, in nats.
        delta: What it grants.
        spent: Epsilon that its spends amount to.
        remaining: ``epsilon - spent``, rounded down.
    """

    share: str
    epsilon: float
    delta: float
    spent: float
    remaining: float

    @classmethod
    def of(cls, totals: Totals, share: str, sums: Sums) -> Self:
        """Return the pot of a share whose spends have these sums."""
        granted = part(totals, share)
        left = granted.remaining(sums)
        return cls(share, granted.epsilon, granted.delta, float(granted.spent(sums)), left)
