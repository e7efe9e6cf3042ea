"""Plans: the price of a release, computed from public arguments alone.

A plan is made before any data are read. It lists every noisy step with its price, so that the
budget is charged once, in one place (:meth:`Plan.charge`), before anything is drawn; a dry run
prints the same plan. Every release carries its plan.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import fsum, inf, isfinite
from sys import float_info
from typing import Any, Protocol

import numpy as np

from dpselect import _numbers, _validate, passes
from dpselect.budget.entry import Entry
from dpselect.budget.zcdp import rho_of_pure
from dpselect.errors import BudgetError, NeighboursError, ParameterError
from dpselect.neighbours import Neighbours
from dpselect.passes import Pass

ROUNDING = 1e-9
"""Relative excess of the spends' sum over the total that floating point may cause."""

SHOWN = 8
"""Values of a longer sequence are summarised where a plan is printed or stored."""


class SupportsSpend(Protocol):
    """The part of :class:`dpselect.Budget` that plans rely on."""

    @property
    def neighbours(self) -> Neighbours:
        """The relation that all spends are stated for."""

    @property
    def remaining(self) -> float:
        """Epsilon that is left, in nats."""

    def spend(
        self,
        epsilon: float,
        *,
        neighbours: Neighbours,
        delta: float = 0.0,
        rho: float | None = None,
        mechanism: str = "",
        laplace: int = 0,
        asked: Mapping[str, object] | None = None,
    ) -> object:
        """Record a spend, or raise and record nothing."""

    def record_answer(self, entry: Entry, answer: Mapping[str, object]) -> None:
        """Keep the released answer of an entry."""

    def refund(self, entry: Entry, epsilon: float) -> None:
        """Give back a part of the epsilon of an entry, once."""

    def remaining_after(
        self, epsilon: float, *, delta: float = 0.0, rho: float | None = None
    ) -> float:
        """Return the epsilon that would remain after a spend, without spending."""


@dataclass(frozen=True, slots=True)
class Spend:
    """The price of one kind of noisy step, under the plan's neighbour relation.

    Attributes:
        purpose: What is drawn, such as ``"noisy class counts of a leaf"``.
        epsilon: The price of one step, in nats; >= 0.
        times: How many such steps a single individual can take part in.
        delta: Of one step, in [0, 1].
        rho: zCDP parameter of one step; if not given, that of any ``epsilon``-DP step.
        laplace: Whether the Laplace mechanism at ``epsilon`` dominates each step (Theorem 3
            of ``docs/theory.md``).

    Raises:
        ParameterError: A number is out of its range.
    """

    purpose: str
    epsilon: float
    times: int = 1
    delta: float = 0.0
    rho: float | None = None
    laplace: bool = False

    def __post_init__(self) -> None:
        _keep_price(self)
        object.__setattr__(self, "times", _validate.at_least("times", self.times, 1))
        if self.rho is not None:
            object.__setattr__(self, "rho", _validate.within("rho", self.rho, 0, inf))

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

    @property
    def says_nothing(self) -> bool:
        """Whether every error is allowed by the bound."""
        return not isfinite(self.value) or self.value >= self.largest

    def __str__(self) -> str:
        if self.says_nothing and isfinite(self.largest):
            return (
                f"the bound says nothing: an error of {_numbers.shown(self.largest)} "
                f"{self.unit} is the largest there can be"
            )
        if self.says_nothing:
            return "no bound that holds on all data; compare mechanisms on public data instead"
        return (
            f"at most {_numbers.shown(self.value)} {self.unit} with probability "
            f"{self.probability:g}, on any data"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The price of a release, its parts and its neighbour relation; public.

    Attributes:
        function: The releasing function or class, such as ``"release_nodes"``.
        arguments: Its public arguments, with the columns that are read. Arrays are kept as
            tuples.
        mechanism: How the answer is drawn, with its public parameters; numbers in it are
            kept with six digits.
        spends: Every kind of noisy step. Their sum is at most ``epsilon`` and ``delta``.
        epsilon: Epsilon of the whole release, in nats; finite, >= 0.
        delta: Delta of the whole release, in [0, 1]; with 1 nobody is protected, and no
            budget pays for it.
        neighbours: The relation that all amounts are stated for.
        public: What the caller declares public by calling the function, in words.
        composition: Why the spends add up to the whole, in words.
        error: A bound on the error, where one holds on all data.
        passes: The most that counting takes where an engine holds the records, and nothing
            in memory.

    Raises:
        ParameterError: A number is out of its range, or the spends add up to more than the
            whole.
        NeighboursError: ``neighbours`` is not a neighbour relation.
    """

    function: str
    arguments: Mapping[str, object] = field(default_factory=dict)
    mechanism: str
    spends: tuple[Spend, ...]
    epsilon: float
    delta: float = 0.0
    neighbours: Neighbours
    public: tuple[str, ...] = ()
    composition: str = "sequential: the prices of all steps add up"
    error: ErrorBound | None = None
    passes: tuple[Pass, ...] = field(default=(), compare=False)

    def __post_init__(self) -> None:
        _keep_price(self)
        object.__setattr__(self, "neighbours", _validate.neighbours(self.neighbours))
        kept = {name: _plain(value) for name, value in self.arguments.items()}
        object.__setattr__(self, "arguments", kept)
        object.__setattr__(self, "mechanism", _numbers.in_short(self.mechanism))
        epsilon = fsum(spend.times * spend.epsilon for spend in self.spends)
        delta = fsum(spend.times * spend.delta for spend in self.spends)
        for name, parts, whole in (
            ("epsilon", epsilon, self.epsilon),
            ("delta", delta, self.delta),
        ):
            if parts > whole * (1 + ROUNDING):
                raise ParameterError(
                    f"the steps of {self.function} cost {name} = {parts!r} together, more than "
                    f"the {whole!r} that the plan states"
                )

    @property
    def rho(self) -> float:
        """The zCDP parameter of all spends together, outside an event of probability delta."""
        return fsum(spend.rho_of_all for spend in self.spends)

    @property
    def laplace(self) -> int:
        """The number of steps, if they cost the same and Laplace noise dominates each; or 0."""
        each = {spend.epsilon for spend in self.spends}
        if len(each) != 1 or self.delta > 0 or not all(s.laplace for s in self.spends):
            return 0
        steps = sum(spend.times for spend in self.spends)
        # Of a whole that costs more than its steps nothing is known but epsilon and rho.
        return steps if self.epsilon >= steps * each.pop() * (1 - ROUNDING) else 0

    def charge(self, budget: SupportsSpend | None) -> Receipt:
        """Record the whole price in a budget, once; call it before anything is drawn.

        No other function of the library spends. A plan of price 0 is not recorded.

        Returns:
            What the answer is to be kept with, once it is drawn.

        Raises:
            InsufficientBudgetError: The budget does not allow it; nothing was recorded.
            NeighboursError: The budget is kept for another neighbour relation.
            LedgerError: The ledger cannot be read or written.
        """
        if budget is None or (self.epsilon == 0 and self.delta == 0):
            return Receipt()
        entry = budget.spend(
            self.epsilon,
            neighbours=self.neighbours,
            delta=self.delta,
            rho=self.rho or None,
            mechanism=self.description,
            laplace=self.laplace,
            asked=self._asked(),
        )
        return Receipt(budget, entry) if isinstance(entry, Entry) else Receipt()

    def check(self, budget: SupportsSpend | None) -> None:
        """Raise what :meth:`charge` would raise now; call it before rows are counted.

        A refusal costs no pass over the data then. Spends of others in between are seen by
        :meth:`charge` alone. Whoever watches is told the passes that follow.
        """
        if budget is not None:
            self.remaining_after(budget)
        passes.expect(self.passes)

    def remaining_after(self, budget: SupportsSpend) -> float:
        """Return the epsilon that would remain after :meth:`charge`, without spending.

        Raises:
            InsufficientBudgetError: :meth:`charge` would refuse this now.
            NeighboursError: The budget is kept for another neighbour relation.
        """
        if budget.neighbours is not self.neighbours:
            raise NeighboursError(
                f"this budget protects {budget.neighbours} neighbours, the release "
                f"{self.neighbours} neighbours; give each relation a budget of its own"
            )
        if self.epsilon == 0 and self.delta == 0:
            return budget.remaining
        return budget.remaining_after(self.epsilon, delta=self.delta, rho=self.rho or None)

    @property
    def description(self) -> str:
        """The release in one line, as it is written to a ledger."""
        return f"{self.function}: {self.mechanism}"

    def _asked(self) -> dict[str, Any]:
        """Return what a ledger keeps of the plan beside the amounts."""
        names = ("function", "arguments", "spends", "composition", "public", "error_bound")
        whole = self.to_dict()
        return {name: whole[name] for name in names}

    def to_dict(self) -> dict[str, Any]:
        """Return the plan as plain Python values; long sequences are summarised."""
        return {
            "function": self.function,
            "arguments": {name: shown(value) for name, value in self.arguments.items()},
            "mechanism": self.mechanism,
            "epsilon": self.epsilon,
            "delta": self.delta,
            "rho": self.rho,
            "neighbours": str(self.neighbours),
            "spends": [
                {
                    "purpose": spend.purpose,
                    "epsilon": spend.epsilon,
                    "times": spend.times,
                    "delta": spend.delta,
                    "rho": spend.rho_of_all / spend.times,
                }
                for spend in self.spends
            ],
            "composition": self.composition,
            "public": list(self.public),
            "error_bound": None
            if self.error is None or self.error.says_nothing
            else {
                "value": self.error.value,
                "unit": self.error.unit,
                "probability": self.error.probability,
            },
        }

    def __str__(self) -> str:
        price = f"epsilon = {self.epsilon:g}"
        if self.delta:
            price += f", delta = {self.delta:.3g}"
        lines = [self.description, f"{price}, {self.neighbours} neighbours"]
        lines += [f"  {s.times} x {s.epsilon:.6g}  {s.purpose}" for s in self.spends]
        lines.append(f"composition: {self.composition}")
        if self.error is not None:
            lines.append(f"error: {self.error}")
        if self.public:
            lines.append(f"declared public: {', '.join(self.public)}")
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class Receipt:
    """A recorded spend that waits for its answer, or nothing where nothing was recorded.

    Attributes:
        budget: What was charged.
        entry: What it recorded.
    """

    budget: SupportsSpend | None = None
    entry: Entry | None = None

    @property
    def number(self) -> int | None:
        """The number of the entry in its budget; None if nothing was recorded."""
        return None if self.entry is None else self.entry.sequence

    def keep(self, answer: Mapping[str, object], *, refund: float = 0.0) -> None:
        """Keep released values beside the spend; call it after the last draw.

        An answer that cannot be written is a warning: it is paid for and the caller's.

        Args:
            answer: Released values, by name.
            refund: Epsilon that this outcome did not cost (:meth:`dpselect.Budget.refund`);
                no other function of the library refunds.
        """
        if self.entry is None or self.budget is None:
            return
        try:
            if refund > 0:
                self.budget.refund(self.entry, refund)
            self.budget.record_answer(self.entry, answer)
        except BudgetError as error:
            warnings.warn(f"the answer was not recorded: {error}", stacklevel=2)


def _keep_price(priced: Spend | Plan) -> None:
    """Check epsilon and delta and keep them as Python floats."""
    epsilon = _validate.within("epsilon", priced.epsilon, 0, float_info.max)
    delta = _validate.within("delta", priced.delta, 0, 1)
    object.__setattr__(priced, "epsilon", epsilon)
    object.__setattr__(priced, "delta", delta)


def _plain(value: object) -> object:
    """Return a public argument without arrays, so that plans compare by value."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, Mapping):
        return {name: _plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return tuple(_plain(one) for one in value)
    return value


def shown(value: object) -> object:
    """Return a public argument as plain values, a long sequence as its length and ends."""
    if isinstance(value, np.generic | np.ndarray):
        return shown(value.tolist())
    if isinstance(value, str | bool | int | float) or value is None:
        return value
    if isinstance(value, Mapping):
        return {str(name): shown(one) for name, one in value.items()}
    if isinstance(value, Sequence):
        return _summary(value) if len(value) > SHOWN else [shown(one) for one in value]
    return str(value)


def _summary(values: Sequence[object]) -> str:
    first, last = values[0], values[-1]
    if isinstance(first, Sequence) and not isinstance(first, str):
        return f"{len(values)} rows of {len(first)} values"
    ends = [f"{end:.10g}" if isinstance(end, float) else shown(end) for end in (first, last)]
    return f"{len(values)} values from {ends[0]} to {ends[1]}"
