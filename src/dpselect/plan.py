"""Plans: what a release will spend, made from public arguments alone.

A plan is made before any data are read. It lists every noisy step with its price, so that the
budget is charged once, in one place (:meth:`Plan.charge`), before anything is drawn; a dry run
prints the same plan. A release carries the plan it was made by.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import Any, Protocol

import numpy as np

from dpselect.budget.zcdp import rho_of_pure
from dpselect.errors import NeighboursError, ParameterError
from dpselect.neighbours import Neighbours

ROUNDING = 1e-9
"""Relative excess of the spends' sum over the total that floating point may cause."""

SHOWN = 8
"""Values of a longer sequence are summarised where a plan is printed or stored."""


class SupportsSpend(Protocol):
    """What a plan needs of a budget; :class:`dpselect.Budget` has it."""

    @property
    def neighbours(self) -> Neighbours:
        """The relation that all spends are stated for."""

    @property
    def remaining(self) -> float:
        """What is left, in nats."""

    def spend(
        self,
        epsilon: float,
        *,
        neighbours: Neighbours,
        delta: float = 0.0,
        rho: float | None = None,
        mechanism: str = "",
    ) -> object:
        """Record a spend, or raise and record nothing."""

    def remaining_after(
        self, epsilon: float, *, delta: float = 0.0, rho: float | None = None
    ) -> float:
        """Return what would remain after a spend, without spending."""


@dataclass(frozen=True, slots=True)
class Spend:
    """The price of one kind of noisy step, under the plan's neighbour relation.

    Attributes:
        purpose: What is drawn, such as ``"noisy class counts of a leaf"``.
        epsilon: The price of one step, in nats; >= 0.
        times: How many such steps a single individual can take part in.
        delta: Of one step, in [0, 1).
        rho: zCDP parameter of one step; if not given, that of any ``epsilon``-DP step.
    """

    purpose: str
    epsilon: float
    times: int = 1
    delta: float = 0.0
    rho: float | None = None

    @property
    def rho_of_all(self) -> float:
        """The zCDP parameter of all steps of this kind together."""
        return self.times * (rho_of_pure(self.epsilon) if self.rho is None else self.rho)


@dataclass(frozen=True, slots=True)
class ErrorBound:
    """An error that a release does not exceed with some probability, whatever the data are.

    Attributes:
        value: In ``unit``; infinite where nothing can be said without the data.
        unit: Such as ``"ranks"`` or ``"days"``.
        probability: That the error is at most ``value``.
    """

    value: float
    unit: str
    probability: float = 0.95

    def __str__(self) -> str:
        if not isfinite(self.value):
            return "no bound that holds on all data"
        return (
            f"at most {self.value:.4g} {self.unit} with probability {self.probability:g}, on "
            "any data"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What a release will spend, on what, under which neighbour relation; public.

    Attributes:
        function: The releasing function or class, such as ``"release_nodes"``.
        arguments: What it is asked: the public arguments, with the columns that are read.
        mechanism: How the answer is drawn, with its public parameters.
        spends: Every kind of noisy step. Their sum is at most ``epsilon`` and ``delta``.
        epsilon: What the whole release costs, in nats; >= 0.
        delta: What it costs besides, in [0, 1).
        neighbours: The relation that all of it is stated for.
        public: What the caller declares public by asking, in words.
        composition: Why the spends add up to the whole, in words.
        error: A bound on the error, where one is known without the data.

    Raises:
        ParameterError: The spends add up to more than the whole.
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

    def __post_init__(self) -> None:
        epsilon = sum(spend.times * spend.epsilon for spend in self.spends)
        delta = sum(spend.times * spend.delta for spend in self.spends)
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
        """The zCDP parameter of all spends together, outside of an event of ``delta``."""
        return sum(spend.rho_of_all for spend in self.spends)

    def charge(self, budget: SupportsSpend | None) -> None:
        """Record the whole price in a budget, once; to be called before anything is drawn.

        No other function of the library spends. A plan that costs nothing is not recorded.

        Raises:
            InsufficientBudgetError: The budget does not allow it; nothing was recorded.
            NeighboursError: The budget is kept for another neighbour relation.
            LedgerError: The ledger cannot be read or written.
        """
        if budget is None or (self.epsilon == 0 and self.delta == 0):
            return
        budget.spend(
            self.epsilon,
            neighbours=self.neighbours,
            delta=self.delta,
            rho=self.rho or None,
            mechanism=self.description,
        )

    def remaining_after(self, budget: SupportsSpend) -> float:
        """Return what :meth:`charge` would leave in a budget, without spending.

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
        """The release in one line, as the ledger has it."""
        return f"{self.function}: {self.mechanism}"

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
                {"purpose": s.purpose, "epsilon": s.epsilon, "times": s.times, "delta": s.delta}
                for s in self.spends
            ],
            "composition": self.composition,
            "public": list(self.public),
            "error_bound": None
            if self.error is None or not isfinite(self.error.value)
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
        lines = [f"{self.description}", f"{price}, {self.neighbours} neighbours"]
        lines += [f"  {s.times} x {s.epsilon:.6g}  {s.purpose}" for s in self.spends]
        lines.append(f"composition: {self.composition}")
        if self.error is not None:
            lines.append(f"error: {self.error}")
        if self.public:
            lines.append(f"declared public: {', '.join(self.public)}")
        return "\n".join(lines)


def shown(value: object) -> object:
    """Return a public argument as plain values, a long sequence as its length and ends."""
    if isinstance(value, np.generic | np.ndarray):
        return shown(value.tolist())
    if isinstance(value, str | bool | int | float) or value is None:
        return value
    if isinstance(value, Mapping):
        return {str(name): shown(one) for name, one in value.items()}
    if isinstance(value, Sequence):
        if len(value) > SHOWN:
            return f"{len(value)} values from {shown(value[0])} to {shown(value[-1])}"
        return [shown(one) for one in value]
    return str(value)
