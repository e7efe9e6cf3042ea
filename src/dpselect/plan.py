"""Plans: the price of a release, computed from public arguments alone.

A plan is made before any data are read. It lists every noisy step with its price, so that the
budget is charged once, in one place (``Plan.reserve``), before anything is drawn; a dry run
prints the same plan. Every release carries its plan.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from math import ceil, exp, fsum, inf, isfinite, log, log1p
from sys import float_info
from typing import TYPE_CHECKING, Annotated, Any, Self, TypeAlias, Unpack

from dpselect import passes, validation, writing
from dpselect._numbers import exact
from dpselect.budget import words
from dpselect.budget.zcdp import rho_of_pure
from dpselect.errors import BudgetError, NeighboursError, ParameterError
from dpselect.neighbours import RECORDS, Neighbours
from dpselect.writing import summary

if TYPE_CHECKING:
    from dpselect.budget import Budget
    from dpselect.budget.entry import Entry, Kept

EPSILON, DELTA = validation.numbers(0, float_info.max), validation.numbers(0, 1)
"""Checks of prices."""

SEQUENTIAL = "sequential: the prices of all steps add up"

ROUNDING = 1e-9
"""Relative excess of the spends' sum over the total that floating point may cause."""

LARGE_EPSILON, LARGE_DELTA = 10.0, 1e-3
"""Larger ones are called large where a plan is printed."""


SupportsSpend: TypeAlias = "Budget"
"""What plans are charged to: a budget, or what has its methods."""


@dataclass(frozen=True, slots=True)
class Spend:
    """The price of one kind of noisy step, under the plan's neighbour relation.

    Attributes:
        purpose: What is drawn, such as ``"noisy class counts of a leaf"``.
        epsilon: The price of one step, in nats; >= 0.
        times: Number of such steps that a single individual can take part in.
        delta: Delta of one step, in [0, 1].
        rho: zCDP parameter of one step; if not given, that of any ``epsilon``-DP step.

    Raises:
        ParameterError: A number is out of its range.
    """

    purpose: str
    epsilon: Annotated[float, EPSILON]
    times: Annotated[int, validation.integers(1)] = 1
    delta: Annotated[float, DELTA] = 0.0
    rho: Annotated[float | None, validation.numbers(0, inf)] = None

    def __post_init__(self) -> None:
        validation.keep_checked(self)

    @property
    def rho_of_all(self) -> float:
        """The zCDP parameter of all steps of this kind together."""
        return self.times * (rho_of_pure(self.epsilon) if self.rho is None else self.rho)


@dataclass(frozen=True, slots=True)
class ErrorBound:
    """An error that a release does not exceed with some probability, whatever the data are.

    Attributes:
        value: The error, in ``unit``; infinite where no bound holds on all data.
        unit: Such as ``"ranks"`` or ``"days"``.
        probability: The probability that the error is at most ``value``.
        largest: The largest error that there can be; a bound that reaches it says nothing.
    """

    value: float
    unit: str
    probability: float = 0.95
    largest: float = inf

    @classmethod
    def of_count(cls, scale: float, unit: str, probability: float = 0.95) -> Self:
        """Return the bound on the discrete Laplace noise of one count.

        With ``q = e^(-1/b)``, ``P(|Z| > t) = 2 q^(t + 1)/(1 + q)`` for integers ``t ≥ 0``.

        Args:
            scale: ``b``.
            unit: What is counted.
            probability: The probability that the noise is at most the bound; in (0, 1).
        """
        log_two_over = log(2) - log1p(exp(-1 / scale)) - log1p(-probability)
        return cls(float(max(ceil(scale * log_two_over) - 1, 0)), unit, probability)

    @property
    def says_nothing(self) -> bool:
        """Whether every error is allowed by the bound."""
        return not isfinite(self.value) or self.value >= self.largest

    def __str__(self) -> str:
        if self.says_nothing and isfinite(self.largest):
            return (
                f"no useful bound: it is {writing.digits(self.largest)} {self.unit}, the "
                "largest possible error"
            )
        if self.says_nothing:
            return "no bound that holds on all data; compare mechanisms on public data instead"
        return (
            f"at most {writing.digits(self.value)} {self.unit} with probability "
            f"{self.probability:g}, on any data"
        )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Plan(writing.Card):
    """The price of a release, its parts and its neighbour relation; public.

    Attributes:
        name: The class of the query, such as ``"TopNodes"``.
        arguments: Its fields that were given, as plain values.
        mechanism: How the answer is drawn, with its public parameters; numbers in it are
            kept with six digits.
        spends: Every kind of noisy step. Their sum is at most ``epsilon`` and ``delta``.
        epsilon: Epsilon of the whole release, in nats; finite, >= 0.
        delta: Delta of the whole release, in [0, 1]; with 1 there is no protection, and no
            budget pays for it.
        neighbours: The relation that all amounts are stated for.
        user: The column of persons, if one neighbour step is a person with all rows; None if
            it is a record.
        public: What the caller declares public by making the query, in words.
        composition: The composition theorem by which the spends add up to the whole, in words.
        error: A bound on the error, where one holds on all data.
        passes: The most queries over the records that counting takes in an engine.
        query: The query itself; None of a plan that was put together from others.

    Raises:
        ParameterError: A number is out of its range, or the spends add up to more than the
            whole.
        NeighboursError: ``neighbours`` is not a neighbour relation.
    """

    name: str = ""
    arguments: Mapping[str, object] = field(default_factory=dict)
    mechanism: str
    spends: tuple[Spend, ...]
    epsilon: Annotated[float, EPSILON]
    delta: Annotated[float, DELTA] = 0.0
    neighbours: Neighbours
    user: str | None = None
    public: tuple[str, ...] = ()
    composition: str = SEQUENTIAL
    error: ErrorBound | None = None
    passes: int = field(default=0, compare=False)
    # A type of the module of queries would tie it to this one.
    query: Any = field(default=None, compare=False)

    def __post_init__(self) -> None:
        relation = validation.neighbours(self.neighbours)
        mechanism = writing.six_digits(self.mechanism)
        validation.keep_checked(self, neighbours=relation, mechanism=mechanism)
        for name, whole in (("epsilon", self.epsilon), ("delta", self.delta)):
            parts = fsum([spend.times * getattr(spend, name) for spend in self.spends])
            if parts > whole * (1 + ROUNDING):
                raise ParameterError(
                    f"the steps cost {name} = {parts!r} together, more than the {whole!r} "
                    "that the plan states"
                )

    @property
    def is_priced(self) -> bool:
        """Whether it costs something; a plan of price 0 is not recorded."""
        return self.epsilon > 0 or self.delta > 0

    @property
    def rho(self) -> float:
        """The zCDP parameter of all spends together, outside an event of probability delta."""
        return fsum([spend.rho_of_all for spend in self.spends])

    def reserve(self, budget: SupportsSpend | None) -> Callable[[], Receipt]:
        """Decide on the whole price, and return the function that charges it, once.

        Reserve before rows are counted, so that a refusal costs no pass over the data, and
        charge before anything is drawn. No other function of the library spends. A plan of
        price 0 is not recorded. Watchers of progress are told the passes that follow.

        Returns:
            Records the price, and returns the receipt with which the answer is recorded once
            it is drawn; raises what this raises if others spent in between.

        Raises:
            InsufficientBudgetError: The budget does not allow it; nothing was recorded.
            NeighboursError: The budget is kept for another neighbour relation.
            LedgerError: The ledger cannot be read or written.
        """
        charge = reserve([self], budget)
        return lambda: charge()[0]

    def asked(self) -> dict[str, Any]:
        """Return the price and what its entry says, as ``dpselect.Budget.reserve`` has them."""
        return {
            "epsilon": self.epsilon,
            "neighbours": self.neighbours,
            "delta": self.delta,
            "rho": self.rho or None,
            "user": self.user,
            "mechanism": self.description,
            "question": self._question,
            "repeatable": self.query is not None and self.query.is_repeatable,
        }

    def _question(self) -> dict[str, Any]:
        """Return the query and the plan, as an entry keeps them."""
        names = ("query", "arguments", "spends", "composition", "public", "error_bound")
        whole = self.to_dict()
        question = {name: whole[name] for name in names}
        if self.query is not None:
            question["written"] = self.query.written_form
        return question

    def remaining_after(self, budget: SupportsSpend) -> float:
        """Return the epsilon that would remain after the charge, without spending.

        Raises:
            InsufficientBudgetError: ``reserve`` would refuse this now.
            NeighboursError: The budget is kept for another neighbour relation or unit.
        """
        return remaining_after([self], budget)

    def answered(self, budget: SupportsSpend | None) -> Entry | None:
        """Return the entry of a budget that answers the query once more, if one does."""
        if budget is None or self.query is None or not self.query.is_repeatable:
            return None
        return budget.answered(self.query.written_form)

    @property
    def description(self) -> str:
        """The release in one line, as it is written to a ledger."""
        return f"{self.name}: {self.mechanism}"

    def to_dict(self) -> dict[str, Any]:
        """Return the plan as plain Python values; long sequences are summarised."""
        return {
            "query": self.name,
            "arguments": {name: summary(value) for name, value in self.arguments.items()},
            "mechanism": self.mechanism,
            "epsilon": self.epsilon,
            "delta": self.delta,
            "rho": self.rho,
            "neighbours": str(self.neighbours),
            "spends": [
                {**asdict(one), "rho": one.rho_of_all / one.times} for one in self.spends
            ],
            "composition": self.composition,
            "public": list(self.public),
            "error_bound": None
            if self.error is None or self.error.says_nothing
            else {one: getattr(self.error, one) for one in ("value", "unit", "probability")},
        }

    @property
    def price(self) -> str:
        """Epsilon, delta and the neighbour relation, in words."""
        return f"{words.amounts(self)} ({self.neighbours} neighbours)"

    @property
    def warning(self) -> str | None:
        """What a large epsilon or delta allows, in words; None if both are small."""
        one = "person" if self.user is not None else RECORDS[self.neighbours]
        said = []
        if self.epsilon > LARGE_EPSILON:
            factor = f"odds about one {one} change by a factor of {words.odds(self.epsilon)}"
            said.append(f"epsilon {self.epsilon:g} is large: {factor}")
        if self.delta > LARGE_DELTA:
            said.append(f"delta {self.delta:.3g} is large: one {one} may be unprotected")
        return "; ".join(said) or None

    @property
    def counted(self) -> str | None:
        """How the rows of a person are limited, in words; None without a cap."""
        most = self.arguments.get("max_per_user")
        if self.user is None or most is None:
            return None
        return f"at most {most} of each {self.user!r}; the rest is ignored"

    def __repr__(self) -> str:
        return f"<Plan of {self.description}; {self.price}>"

    def __str__(self) -> str:
        steps = [f"  {s.times} x {s.epsilon:.6g}  {s.purpose}" for s in self.spends]
        head = filter(None, [self.description, self.price, self.warning])
        facts = {
            "composition": self.composition,
            "error": self.error,
            "counted": self.counted,
            "declared public": ", ".join(self.public),
        }
        return "\n".join([*head, *steps, *writing.stated(facts)])


def plan_of(outcome: object) -> Plan | None:
    """Return the plan that an outcome carries as ``plan_`` or ``plan``."""
    for name in ("plan_", "plan"):
        plan = getattr(outcome, name, None)
        if plan is not None and not callable(plan):
            return validation.instance(f"what the outcome has as {name}", plan, Plan)
    return None


def sequential_plan(plans: Sequence[Plan]) -> Plan:
    """Return the plan of several releases of the same records: all prices add up.

    Raises:
        ParameterError: There is no plan.
        NeighboursError: They are for several relations, or some protect records and some
            persons.

    Examples:
        >>> import dpselect as dp
        >>> plans = [
        ...     dp.PermuteAndFlip(epsilon=epsilon).plan(neighbours="add-remove")
        ...     for epsilon in (0.1, 0.2)
        ... ]
        >>> dp.sequential_plan(plans).epsilon
        0.3
    """
    validation.some("plans", plans)
    parts = [validation.instance("plans", plan, Plan) for plan in plans]
    validation.one_relation("releases of one sum", (part.neighbours for part in parts))
    users = {part.user for part in parts}
    if len(users) > 1:
        raise NeighboursError(
            "releases of one sum must protect one unit: give all the same `user`, or none"
        )
    return Plan(
        name="sequential_plan",
        arguments={"parts": [part.description for part in parts]},
        mechanism=f"{len(parts)} releases of the same records",
        spends=tuple(spend for part in parts for spend in part.spends),
        epsilon=float(sum(exact(part.epsilon) for part in parts)),
        delta=float(sum(exact(part.delta) for part in parts)),
        neighbours=parts[0].neighbours,
        user=users.pop(),
        public=tuple(dict.fromkeys(claim for part in parts for claim in part.public)),
        passes=sum(part.passes for part in parts),
    )


def remaining_after(plans: Sequence[Plan], budget: SupportsSpend) -> float:
    """Return the epsilon that would remain after plans; see ``Plan.remaining_after``."""
    return budget.remaining_after([one.asked() for one in plans if one.is_priced])


def reserve(plans: Sequence[Plan], budget: SupportsSpend | None) -> Callable[[], list[Receipt]]:
    """Decide on the prices of plans, all or none; see ``Plan.reserve``."""
    charge: Callable[[], Sequence[Entry]] = tuple
    if budget is not None and (priced := [one.asked() for one in plans if one.is_priced]):
        charge = budget.reserve(priced)
    passes.expect(sum([plan.passes for plan in plans]))

    def charged() -> list[Receipt]:
        entries = iter(charge())
        return [
            Receipt(budget, next(entries, None) if one.is_priced else None) for one in plans
        ]

    return charged


@dataclass(frozen=True, slots=True)
class Receipt:
    """A recorded spend that waits for its answer, or nothing where nothing was recorded.

    Attributes:
        budget: What was charged.
        entry: What it recorded.
    """

    budget: SupportsSpend | None = None
    entry: Entry | None = None

    def keep(
        self, answer: Mapping[str, object], *, refund: float = 0.0, **kept: Unpack[Kept]
    ) -> None:
        """Keep released values beside the spend; call it after the last draw.

        An answer that cannot be written is a warning: it is paid for and the caller's.

        Args:
            answer: Released values, by name.
            refund: Epsilon that this outcome did not cost (``dpselect.Budget.refund``); no
                other function of the library refunds.
            kept: As for ``dpselect.Budget.record_answer``.
        """
        if self.entry is None or self.budget is None:
            return
        try:
            if refund > 0:
                self.budget.refund(self.entry, refund)
            self.budget.record_answer(self.entry, answer, **kept)
        except BudgetError as error:
            warnings.warn(f"the answer was not recorded: {error}", stacklevel=3)
