"""Base class of all mechanisms: law, plan, release and simulation."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from math import inf, log
from typing import ClassVar, NamedTuple, Protocol, Self

import numpy as np

from dpselect import _validate
from dpselect.draws import Draw, Exponential, LaplaceNoisyMax, PermuteAndFlip
from dpselect.errors import NeighboursError, ParameterError
from dpselect.neighbours import NeighboursLike
from dpselect.objective import Objective
from dpselect.passes import Pass
from dpselect.plan import ErrorBound, Plan, Spend, SupportsSpend
from dpselect.release import Release, Simulation
from dpselect.typing import Indices, Probabilities, Scores

SMALLEST_EPSILON = 1e-200
"""Of all draws of a mechanism together; its noise, for any number of draws, is a float."""

EXACT_SAMPLES = frozenset({Exponential.sample, LaplaceNoisyMax.sample, PermuteAndFlip.sample})
"""The methods behind which only the samplers of :mod:`dpselect.draws` draw."""


class Drawn(NamedTuple):
    """What was drawn: a release."""

    positions: list[int]
    """In the order drawn."""

    noisy_scores: tuple[float, ...] | None = None
    """Of these positions, where the price covers them."""


class MechanismFactory(Protocol):
    """Callable that returns a mechanism for a given epsilon: a class, or a partial of one."""

    def __call__(self, *, epsilon: float) -> Mechanism:
        """Return the mechanism."""


@dataclass(frozen=True, kw_only=True)
class Mechanism(ABC):
    """Base of all mechanisms; a subclass gives the unit scores and the draw.

    To add a mechanism of your own, derive from this class and give :attr:`name`,
    :attr:`draws_by` and :meth:`unit_scores`; ``dpselect.audit.check_private`` checks it.

    Attributes:
        epsilon: Epsilon of one release, in nats, under the neighbour relation of the
            objective; finite, > 0.

    Raises:
        ParameterError: ``epsilon`` is not finite and > 0.
    """

    epsilon: float
    name: ClassVar[str]
    """The short name, as on the command line."""
    paid_for: ClassVar[str] = "one candidate, without replacement"
    """What one spend of a release is for."""

    def __post_init__(self) -> None:
        # A float of Python: every computation and every record has the same number.
        epsilon = _validate.positive("epsilon", self.epsilon)
        if epsilon < SMALLEST_EPSILON:
            # A draw at less could not be made, and by then it would be paid for.
            raise ParameterError(
                f"epsilon must be at least {SMALLEST_EPSILON:g}, got {epsilon!r}"
            )
        object.__setattr__(self, "epsilon", epsilon)

    @property
    def label(self) -> str:
        """The name, with the public parameters that distinguish variants of that name."""
        return self.name

    @property
    @abstractmethod
    def draws_by(self) -> Draw:
        """The draw from unit scores."""

    @property
    def exact(self) -> bool:
        """Whether it draws by the library's own samplers; a draw of your own does not."""
        return type(self.draws_by).sample in EXACT_SAMPLES

    @abstractmethod
    def unit_scores(self, objective: Objective) -> Scores:
        """Return the scaled scores, which one neighbour step moves by at most 1.

        Returns:
            Shape ``(n,)``, up to a common translation. As private as the scores.
        """

    def for_objective(self, objective: Objective) -> Self:  # noqa: ARG002 -- for subclasses
        """Return the mechanism with the public facts of an objective filled in.

        Raises:
            ParameterError: It needs a fact that neither states.
        """
        return self

    # Whether NumPy warns of an overflow depends on scores, so it never does.
    @np.errstate(all="ignore")
    def probabilities(self, objective: Objective) -> Probabilities:
        """Return the exact law of a release of one candidate.

        Returns:
            Shape ``(n,)``, in the order of the candidates; sums to 1. As private as the
            scores. A release rounds scores to a grid, which takes five millionths of
            epsilon (see ``dpselect.draws.grid``); this is the law without the rounding.
        """
        return self.draws_by.law(self.unit_scores(objective), self.epsilon)

    @np.errstate(all="ignore")
    def log_probabilities(self, objective: Objective) -> Scores:
        """Return the natural logarithms of :meth:`probabilities`, also of the smallest.

        Returns:
            Shape ``(n,)``; finite for scores within 1e300 units. As private as the scores.
        """
        return self.draws_by.log_law(self.unit_scores(objective), self.epsilon)

    @np.errstate(all="ignore")
    def expected_error(self, objective: Objective) -> float:
        """Return the exact mean of ``max(scores) - scores[drawn]``; private."""
        gaps = objective.scores.max() - objective.scores
        return float(self.probabilities(objective) @ gaps)

    @np.errstate(all="ignore")
    def error_tail(self, objective: Objective, threshold: float) -> float:
        """Return the exact ``P(max(scores) - scores[drawn] >= threshold)``; private.

        Raises:
            ParameterError: ``threshold`` is not finite.
        """
        at = _validate.finite("threshold", threshold)
        gaps = objective.scores.max() - objective.scores
        return min(1.0, float(self.probabilities(objective)[gaps >= at].sum()))

    def gap_per_unit(self, attained: float | None = None) -> float:  # noqa: ARG002 -- for subclasses
        """Return the largest score gap to the best that one unit of unit score can hide.

        The basis of error bounds that hold on all data. A mechanism of your own may override
        it; infinite, which states no bound, if not.

        Args:
            attained: The best score, if it is the same on all data; score units.

        Returns:
            In units of the objective's global sensitivity.
        """
        return inf

    def largest_gap(
        self, candidates: int, bound: float, beta: float, attained: float | None = None
    ) -> float:
        """Return how far below the best one drawn candidate is with probability ``1 - beta``.

        On any data; at most, in score units; infinite where no bound holds. The objective is
        assumed not to be monotone.

        Args:
            candidates: How many there are.
            bound: Global sensitivity, score units.
            beta: In (0, 1).
            attained: As for :meth:`gap_per_unit`.
        """
        gap = self.gap_per_unit(attained) * bound
        return gap * 2 / self.epsilon * log(candidates / beta)

    def of_one_round(self, k: int) -> Mechanism:
        """Return the mechanism by which one of ``k`` candidates is drawn."""
        return replace(self, epsilon=self.epsilon / k)

    def spend(self, purpose: str, k: int = 1) -> Spend:
        """Return the price of ``k`` rounds, each at ``epsilon / k``."""
        each = self.epsilon / k
        draw = self.draws_by
        return Spend(purpose, each, times=k, rho=draw.rho(each), laplace=draw.laplace)

    def plan(
        self,
        k: int = 1,
        *,
        neighbours: NeighboursLike,
        function: str = "release",
        arguments: Mapping[str, object] | None = None,
        public: tuple[str, ...] = (),
        error: ErrorBound | None = None,
        passes: tuple[Pass, ...] = (),
    ) -> Plan:
        """Return the price of a release of ``k`` candidates; needs no data.

        Args:
            k: How many candidates will be drawn.
            neighbours: The relation of the objective's sensitivity.
            function: The releasing function, as written to a ledger.
            arguments: Its public arguments.
            public: What is declared public, in words.
            error: A bound on the error that holds on all data.
            passes: What counting takes in an engine.
        """
        k = _validate.at_least("k", k, 1)
        spend = self.spend(self.paid_for, k)
        return Plan(
            function=function,
            arguments={"k": k} if arguments is None else arguments,
            mechanism=repr(self),
            spends=(spend,),
            epsilon=self.epsilon,
            delta=spend.times * spend.delta,
            neighbours=_validate.neighbours(neighbours),
            public=public,
            error=error,
            passes=passes,
        )

    @np.errstate(all="ignore")
    def choose(self, objective: Objective, k: int = 1) -> list[int]:
        """Draw ``k`` positions without replacement, exactly; spends nothing.

        For functions that charged a plan which has :meth:`spend` among its spends.
        """
        return self.drawing(objective, checked_k(k, objective))().positions

    def drawing(self, objective: Objective, k: int) -> Callable[[], Drawn]:
        """Return the draw, after everything that can fail."""
        scores = self.unit_scores(objective)
        return lambda: Drawn(self.draws_by.sample(scores, self.epsilon, k))

    @np.errstate(all="ignore")
    def release(
        self,
        objective: Objective,
        k: int = 1,
        budget: SupportsSpend | None = None,
        *,
        plan: Plan | None = None,
    ) -> Release:
        """Draw ``k`` candidates without replacement, exactly; safe to publish.

        Each round costs ``epsilon / k``, the release ``epsilon``. The budget is charged
        before anything is drawn.

        Args:
            objective: What to choose from.
            k: How many candidates to draw; 1 to ``n``.
            budget: Where to record the spend, such as a :class:`~dpselect.Budget`.
            plan: The plan of a function that calls this one; :meth:`plan` if not given.

        Raises:
            ParameterError: ``k`` is not an integer from 1 to ``n``, the mechanism needs a
                fact that neither it nor the objective states, or ``plan`` states less than
                ``epsilon``.
            InsufficientBudgetError: The budget does not allow it; nothing is drawn.
            NeighboursError: The budget or ``plan`` is for another neighbour relation.
        """
        _validate.instance("objective", objective, Objective)
        k = checked_k(k, objective)
        mechanism = self.for_objective(objective)
        if plan is None:
            plan = mechanism.plan(k, neighbours=objective.neighbours)
        else:
            check_covers(plan, mechanism, objective)
        draw = mechanism.drawing(objective, k)
        return charged_release(plan, budget, objective, draw, exact=mechanism.exact)

    @np.errstate(all="ignore")
    def simulate(
        self, objective: Objective, k: int = 1, *, size: int, rng: np.random.Generator
    ) -> Simulation:
        """Repeat the draw ``size`` times with NumPy: for experiments, never to publish.

        Args:
            objective: What to choose from.
            k: How many candidates each repetition draws; 1 to ``n``.
            size: How many repetitions; >= 1.
            rng: The generator, for reproducible experiments.
        """
        k = checked_k(k, objective)
        size = _validate.at_least("size", size, 1)
        _validate.instance("rng", rng, np.random.Generator)
        indices = self._simulated(objective, k, size, rng)
        return Simulation(indices[:, 0] if k == 1 else indices, repr(self))

    def _simulated(
        self, objective: Objective, k: int, size: int, rng: np.random.Generator
    ) -> Indices:
        """Return simulated positions, shape ``(size, k)``."""
        scores = self.unit_scores(objective)
        return self.draws_by.simulate(scores, self.epsilon, k=k, size=size, rng=rng)


def charged_release(
    plan: Plan,
    budget: SupportsSpend | None,
    objective: Objective,
    draw: Callable[[], Drawn],
    *,
    exact: bool,
) -> Release:
    """Charge a plan, then draw."""
    receipt = plan.charge(budget)
    drawn = draw()
    return Release(
        answer=tuple(objective.candidates[position] for position in drawn.positions),
        plan=plan,
        exact=exact,
        noisy_scores=drawn.noisy_scores,
    ).recorded(receipt)


def checked_k(k: int, objective: Objective) -> int:
    """Return how many candidates to draw.

    Raises:
        ParameterError: It is not an integer from 1 to ``n``.
    """
    k = _validate.at_least("k", k, 1)
    if k > len(objective):
        raise ParameterError(
            f"k must be at most the number of candidates, {len(objective)}, not {k}"
        )
    return k


def check_covers(plan: Plan, mechanism: Mechanism, objective: Objective) -> None:
    """Check that a plan states the relation of an objective and the price of a mechanism.

    Raises:
        NeighboursError: It is for another relation.
        ParameterError: It states a smaller epsilon or delta.
    """
    if plan.neighbours is not objective.neighbours:
        raise NeighboursError(
            f"the plan is for {plan.neighbours} neighbours, the objective for "
            f"{objective.neighbours} neighbours"
        )
    delta = mechanism.spend("").delta
    if plan.epsilon < mechanism.epsilon or plan.delta < delta:
        raise ParameterError(
            f"the plan states epsilon = {plan.epsilon!r} and delta = {plan.delta!r}, and the "
            f"mechanism draws at {mechanism.epsilon!r} and {delta!r}"
        )
