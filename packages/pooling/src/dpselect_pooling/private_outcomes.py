"""Outcomes made private: flipped by the machine, or by the collector's secret exchanges.

What the collector draws is secret, so ``ReplacedSamples`` and ``SwappedPools`` take no data and
release nothing: the outcomes that the lab sees are then private.

Source: Gonen, Langberg and Sprintson 2025, arXiv:2501.13278, equations (21) and (22).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import inf, nextafter
from typing import Any

from numpy.typing import ArrayLike

from dpselect import ErrorBound, Neighbours, Plan, Query, Release, Spend
from dpselect.errors import ParameterError
from dpselect.extend import (
    Design,
    NeighboursLike,
    SupportsSpend,
    bernoulli,
    query,
    uniform,
    validation,
)
from dpselect_pooling import designs, outcome_privacy
from dpselect_pooling.assay import checked_outcomes
from dpselect_pooling.decoding_bounds import check_found, decoding_error
from dpselect_pooling.pool_noise import IndependentNoise, JointNoise, PoolNoise

PEOPLE = "the people and their order"
NO_COLLUSION = "who collects and who tests do not collude"

MOST_PEOPLE = 2**31 - 1
"""Their positions are drawn from."""


@query
class PooledOutcomes(Query[Release[bool]]):
    """Outcomes, each flipped independently and exactly.

    Data are whether each pool tested positive, and the answer the flipped outcomes. Equation
    (22) with independent exchanges has the same distribution; there the collector draws them,
    and the machine need not be trusted: ``SwappedPools``.

    Guarantee:
        Pure epsilon-DP with the epsilon of ``flip_epsilon``, under the relation given: each
        outcome that one neighbour step can change costs ``ln((1-ρ)/ρ)``. The design is public.

    Attributes:
        matrix: The pooling design, of shape ``(pools, people)``.
        d: Number of positives, for a bound on the error; public.
        flip: The probability of a flip, in (0, 1/2). A float is the binary fraction that it is,
            however small; ``flip_for`` has the smallest for an epsilon.
        neighbours: ``"substitute"`` (one status changes) or ``"swap"``.

    Examples:
        >>> from dpselect_pooling import PooledOutcomes
        >>> design = [[True, True, False], [False, True, True]]
        >>> flips = PooledOutcomes(matrix=design, flip=0.1, neighbours="substitute")
        >>> released = flips.release([True, False])
        >>> len(released.answer), round(released.epsilon, 3)
        (2, 4.394)
    """

    matrix: ArrayLike
    d: int | None = None
    flip: float | Fraction
    neighbours: NeighboursLike

    def design(self) -> _Flips:
        matrix = designs.checked(self.matrix)
        relation = outcome_privacy.outcome_neighbours(self.neighbours)
        flip = outcome_privacy.checked_flip(self.flip)
        if flip == Fraction(1, 2):
            raise ParameterError("`flip` must be above 0 and below 1/2")
        changed = outcome_privacy.outcomes_changed(matrix, relation)
        each = outcome_privacy.outcome_epsilon(flip)
        return _Flips(
            plan=Plan(
                mechanism=f"outcomes flipped with probability {float(flip):.6g}",
                spends=(Spend("one outcome", each, times=changed),),
                epsilon=changed * each,
                neighbours=relation,
                public=("the design", PEOPLE),
                composition="sequential over the outcomes that one neighbour step can change",
                error=_error(matrix, self.d, IndependentNoise(flip, flip)),
            ),
            matrix=matrix,
            flip=flip,
        )


@dataclass(frozen=True, kw_only=True)
class _Flips(Design[Release[bool]]):
    matrix: designs.Design
    flip: Fraction

    def prepare(self, data: ArrayLike) -> Callable[[Plan], Release[bool]]:
        bits = checked_outcomes(data, self.matrix).tolist()
        return lambda plan: Release(tuple(bernoulli.flipped(bits, self.flip)), plan)


@dataclass(frozen=True, repr=False)
class Secret(Release[int]):
    """Secret actions of the collector: the answer reveals the outcomes.

    It is in ``answer`` alone, never in a ledger, a file or a printed line.
    """

    def released(self) -> dict[str, Any]:
        return {"answer": "secret, not kept"}

    def table(self) -> dict[str, list[Any]]:
        return {"answer": ["secret"]}

    def __repr__(self) -> str:
        return f"<Secret of {self.plan.name}; {self.plan.price}>"


class _Exchange(Query[Secret]):
    """A query without data."""

    def draw(self, *, budget: SupportsSpend | None = None) -> Secret:
        """Draw exactly; what is returned is secret, so that the lab's outcomes are private.

        Args:
            budget: Where to record the spend; charged before anything is drawn.

        Raises:
            InsufficientBudgetError: The budget does not allow it; nothing was drawn.
            NeighboursError: The budget is kept for another neighbour relation.
        """
        return self.release(None, budget=budget)


@dataclass(frozen=True, kw_only=True)
class _Secretly(Design[Secret]):
    positions: Callable[[], Sequence[int]]

    def prepare(self, data: object) -> Callable[[Plan], Secret]:  # noqa: ARG002 -- there are none
        return lambda plan: Secret(tuple(self.positions()), plan)


@query
class ReplacedSamples(_Exchange):
    """Samples to replace by known positives: noise before pooling, Algorithm A2.

    ``draw()`` takes no data, and its answer has the positions of people, ascending. It is
    secret: it reveals who was not replaced.

    Guarantee:
        The outcomes of pools with these samples replaced are ``(ε, 1 - β/n)``-DP for every
        epsilon under ``SWAP``, for readers who do not know the answer. The collector and the
        lab must not collude.

    Attributes:
        people: Number of people, at least 1.
        beta: Number of samples to replace, 0 to ``people``. With 0 delta is 1.
        matrix: The pooling design, for a bound on the error. COMP decodes the members *and* the
            replaced people, so it must be made for ``d + beta`` positives: ``positives_found``
            says how many it finds.
        d: Number of positives, for a bound on the error; public.
    """

    people: int
    beta: int
    matrix: ArrayLike | None = None
    d: int | None = None

    def design(self) -> _Secretly:
        people = validation.at_least("people", self.people, 1, MOST_PEOPLE)
        beta = validation.at_least("beta", self.beta, 0, people)
        if (self.matrix is None) != (self.d is None):
            raise ParameterError("a bound on the error needs both `matrix` and `d`")
        error = None
        if self.matrix is not None and self.d is not None:
            if designs.checked(self.matrix).shape[1] != people:
                raise ParameterError("`matrix` must have one column for each of the `people`")
            check_found(self.matrix, d=self.d, beta=beta)
            error = ErrorBound(float(beta), "people added", 1.0)
        exact = Fraction(people - beta, people)
        delta = float(exact)
        if Fraction(delta) < exact:
            delta = nextafter(delta, inf)
        return _Secretly(
            plan=Plan(
                mechanism=f"{beta} of {people} samples replaced by known positives",
                spends=(Spend("the replaced samples", 0.0, delta=delta),),
                epsilon=0.0,
                delta=delta,
                neighbours=Neighbours.SWAP,
                public=(PEOPLE, "the number of positives", NO_COLLUSION),
                error=error,
            ),
            positions=lambda: sorted(uniform.sample(range(people), beta)),
        )


@query
class SwappedPools(_Exchange):
    """Pools to exchange for clean or contaminated ones: noise after pooling, (22).

    ``draw()`` takes no data, and its answer has a state for each pool: 0 (clean), 1
    (contaminated) or 2 (kept). It is secret: for readers who know it there is no noise.

    Guarantee:
        The lab's outcomes are (ε, δ)-DP with the plan's delta, under the relation given, for
        readers who do not know the answer. The collector and the lab must not collude; the lab
        need not be trusted with anything else.

    Attributes:
        matrix: The pooling design, of shape ``(pools, people)``.
        clean: Chance that a pool is exchanged for a clean one; a float is the binary fraction
            that it is.
        contaminated: Chance that a pool is exchanged for a contaminated one.
        joint: The weights of all states together, in place of independent chances; see
            ``JointNoise``.
        d: Number of positives, for a bound on the error of independent noise; public.
        epsilon: Epsilon for which delta is stated, in nats, >= 0. The ``epsilon`` of the noise
            is the smallest with a delta of 0.
        neighbours: ``"substitute"`` (one status changes) or ``"swap"``.

    Examples:
        >>> from dpselect_pooling import IndependentNoise, SwappedPools
        >>> design = [[True, True, False], [False, True, True]]
        >>> epsilon = IndependentNoise(0.1, 0.1).epsilon(design, neighbours="substitute")
        >>> swapped = SwappedPools(
        ...     matrix=design, clean=0.1, contaminated=0.1, epsilon=epsilon,
        ...     neighbours="substitute",
        ... ).draw()
        >>> len(swapped.answer), round(swapped.epsilon, 3), swapped.delta
        (2, 4.394, 0.0)
    """

    matrix: ArrayLike
    clean: float = 0.0
    contaminated: float = 0.0
    joint: Mapping[str, int] | None = None
    d: int | None = None
    epsilon: float
    neighbours: NeighboursLike

    def design(self) -> _Secretly:
        matrix = designs.checked(self.matrix)
        pools = len(matrix)
        epsilon = validation.within("epsilon", self.epsilon, 0, inf)
        relation = outcome_privacy.outcome_neighbours(self.neighbours)
        independent = IndependentNoise(self.clean, self.contaminated)
        noise: PoolNoise = independent
        if self.joint is not None:
            if self.clean or self.contaminated or self.d is not None:
                raise ParameterError("`joint` does not go with `clean`, `contaminated` and `d`")
            noise = JointNoise(self.joint)
        pure = epsilon >= noise.epsilon(matrix, neighbours=relation)
        delta = 0.0 if pure else noise.delta(matrix, epsilon=epsilon, neighbours=relation)
        return _Secretly(
            plan=Plan(
                mechanism=repr(noise),
                spends=(Spend("the exchanged pools", epsilon, delta=delta),),
                epsilon=epsilon,
                delta=delta,
                neighbours=relation,
                public=("the design", PEOPLE, NO_COLLUSION),
                error=_error(matrix, self.d, independent),
            ),
            positions=lambda: noise.draw(pools),
        )


def _error(matrix: designs.Design, d: int | None, noise: IndependentNoise) -> ErrorBound | None:
    if d is None:
        return None
    chances = {"clean": noise.clean, "contaminated": noise.contaminated}
    return decoding_error(matrix, d=d, **chances)
