"""Outcomes made private: flipped by the machine, or by the collector's secret exchanges.

Source: Gonen, Langberg and Sprintson 2025, arXiv:2501.13278, equations (21) and (22).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import inf, nextafter

from numpy.typing import ArrayLike

from dpselect import _validate
from dpselect.errors import ParameterError
from dpselect.neighbours import Neighbours, NeighboursLike
from dpselect.plan import ErrorBound, Plan, Spend, SupportsSpend
from dpselect.pooling import designs, outcome_privacy
from dpselect.pooling.assay import checked_outcomes
from dpselect.pooling.decoding_bounds import check_found, decoding_error
from dpselect.pooling.designs import Design
from dpselect.pooling.pool_noise import IndependentNoise, JointNoise, States
from dpselect.release import Release

NO_COLLUSION = "who collects and who tests do not collude"

MOST_PEOPLE = 2**31 - 1
"""Their positions are drawn from."""


def plan_outcomes(
    *,
    design: ArrayLike,
    d: int | None = None,
    flip: float | Fraction,
    neighbours: NeighboursLike,
) -> Plan:
    r"""Return what :func:`release_outcomes` will spend; takes no outcomes.

    Args:
        design: Shape ``(pools, people)``. Public.
        d: Number of positives, for a bound on the error; public.
        flip: The probability of a flip, in (0, 1/2); a float is the binary fraction that it
            is. :func:`~dpselect.pooling.flip_for` has the smallest for an epsilon.
        neighbours: ``SUBSTITUTE`` (one status changes) or ``SWAP``.

    Returns:
        A plan of :func:`~dpselect.pooling.flip_epsilon`: each outcome that one neighbour
        step can change costs :math:`\ln((1-\rho)/\rho)`.

    Raises:
        ParameterError: ``flip`` is out of range, or ``design`` is no design.
        NeighboursError: Another relation.
    """
    matrix = designs.checked(design)
    relation = outcome_privacy.outcome_neighbours(neighbours)
    exact = outcome_privacy.checked_flip(flip)
    if exact == Fraction(1, 2):
        raise ParameterError("flip must be above 0 and below 1/2")
    changed = outcome_privacy.outcomes_changed(matrix, relation)
    each = outcome_privacy.outcome_epsilon(exact)
    pools, people = matrix.shape
    return Plan(
        function="release_outcomes",
        arguments={"pools": pools, "people": people, "flip": float(exact)},
        mechanism=f"outcomes flipped with probability {float(exact):.6g}",
        spends=(Spend("one outcome", each, times=changed),),
        epsilon=changed * each,
        neighbours=relation,
        public=("the design", "the people and their order"),
        composition="sequential over the outcomes that one neighbour step can change",
        error=_error(matrix, d, clean=exact, contaminated=exact),
    )


def release_outcomes(
    outcomes: ArrayLike,
    *,
    design: ArrayLike,
    d: int | None = None,
    flip: float | Fraction,
    neighbours: NeighboursLike,
    budget: SupportsSpend | None = None,
) -> Release:
    r"""Release outcomes, each flipped independently and exactly.

    Equation (22) with independent exchanges has the same law; there the collector draws
    them, and the machine need not be trusted: :func:`draw_swapped`.

    Guarantee:
        Pure epsilon-DP with the epsilon of :func:`~dpselect.pooling.flip_epsilon`, under the
        relation given. The design is public.

    Args:
        outcomes: Whether each pool tested positive, shape ``(pools,)``. Private.
        design: Shape ``(pools, people)``. Public.
        d: As for :func:`plan_outcomes`.
        flip: The probability of a flip, in (0, 1/2); a float is the binary fraction that it
            is, however small.
        neighbours: ``SUBSTITUTE`` (one status changes) or ``SWAP``.
        budget: Charged before anything is drawn.

    Returns:
        The flipped outcomes, one for each pool, as ``answer``.

    Raises:
        ParameterError: ``flip`` is out of range, or ``design`` is no design.
        NeighboursError: Another relation, or the budget is kept for another one.
        DataError: ``outcomes`` is not one truth value for each pool.
        InsufficientBudgetError: The budget does not allow it; nothing is drawn.

    Examples:
        >>> design = [[True, True, False], [False, True, True]]
        >>> released = release_outcomes(
        ...     [True, False], design=design, flip=0.1, neighbours="substitute"
        ... )
        >>> len(released.answer), round(released.epsilon, 3)
        (2, 4.394)
    """
    from dpselect.draws import uniform

    plan = plan_outcomes(design=design, d=d, flip=flip, neighbours=neighbours)
    checked = checked_outcomes(outcomes, designs.checked(design))
    chance = outcome_privacy.checked_flip(flip)
    receipt = plan.charge(budget)
    released = uniform.flipped([bool(outcome) for outcome in checked], chance)
    return Release(answer=tuple(released), plan=plan, exact=True).recorded(receipt)


def plan_replaced(
    *, people: int, beta: int, design: ArrayLike | None = None, d: int | None = None
) -> Plan:
    """Return what :func:`draw_replaced` will spend; takes no data.

    Args:
        people: Number of people, at least 1. Public.
        beta: Number of samples to replace, 0 to ``people``.
        design: Shape ``(pools, people)``, for a bound on the error; public. COMP decodes the
            members *and* the replaced people, so it must be made for ``d + beta`` positives:
            a Kautz-Singleton design for ``d`` alone decodes .43 of the draws exactly at 100
            people, ``d = 2`` and ``beta = 1``, and at most .01 from ``beta = 3`` on.
        d: Number of positives, with ``design``. Public.

    Returns:
        A plan, with the bound that at most ``beta`` people are added if ``design`` and ``d``
        are given: Definition 2 with no failure.

    Raises:
        ParameterError: A number is out of range, only one of ``design`` and ``d`` is given,
            or the design does not find ``d + beta`` positives for certain.
    """
    people = _validate.at_least("people", people, 1, MOST_PEOPLE)
    beta = _validate.at_least("beta", beta, 0)
    if beta > people:
        raise ParameterError(f"beta must be at most the number of people, {people}")
    error = None
    if (design is None) != (d is None):
        raise ParameterError("a bound on the error needs both design and d")
    if design is not None and d is not None:
        if designs.checked(design).shape[1] != people:
            raise ParameterError("design must have one column for each of the people")
        check_found(design, d=d, beta=beta)
        error = ErrorBound(float(beta), "people added", 1.0)
    exact = Fraction(people - beta, people)
    delta = float(exact)
    if Fraction(delta) < exact:
        delta = nextafter(delta, inf)
    return Plan(
        function="draw_replaced",
        arguments={"people": people, "beta": beta},
        mechanism=f"{beta} of {people} samples replaced by known positives",
        spends=(Spend("the replaced samples", 0.0, delta=delta),),
        epsilon=0.0,
        delta=delta,
        neighbours=Neighbours.SWAP,
        public=("the people and their order", "the number of positives", NO_COLLUSION),
        error=error,
    )


@dataclass(frozen=True, slots=True)
class ReplacedSamples:
    """Samples to replace by known positives before pooling; the positions are secret.

    Attributes:
        positions: Of people, ascending. Whoever learns them learns who was not replaced.
        plan: What drawing them cost.
    """

    positions: tuple[int, ...]
    plan: Plan


def draw_replaced(
    *,
    people: int,
    beta: int,
    design: ArrayLike | None = None,
    d: int | None = None,
    budget: SupportsSpend | None = None,
) -> ReplacedSamples:
    r"""Draw the samples to replace by known positives: noise before pooling, Algorithm A2.

    Guarantee:
        The outcomes of pools with these samples replaced are
        :math:`(\varepsilon, 1 - \beta/n)`-DP for every epsilon under ``SWAP``, towards
        whoever does not learn the positions that are returned: keep them secret. Who
        collects samples and who tests them must not collude.

    Args:
        people: Number of people, at least 1. Public.
        beta: Number of samples to replace, 0 to ``people``. With 0 delta is 1.
        design: As for :func:`plan_replaced`.
        d: As for :func:`plan_replaced`.
        budget: Charged before anything is drawn.

    Returns:
        The samples. Secret.

    Raises:
        ParameterError: A number is out of range, or there is a budget and ``beta`` is 0.
        InsufficientBudgetError: The budget does not allow it; nothing is drawn.
        NeighboursError: The budget is kept for another relation than ``SWAP``.
    """
    from dpselect.draws import uniform

    plan = plan_replaced(people=people, beta=beta, design=design, d=d)
    receipt = plan.charge(budget)
    receipt.keep({"answer": "the positions of the replaced samples: secret, not kept"})
    return ReplacedSamples(tuple(sorted(uniform.sample(range(int(people)), int(beta)))), plan)


def plan_swapped(
    *,
    design: ArrayLike,
    noise: IndependentNoise | JointNoise,
    d: int | None = None,
    epsilon: float,
    neighbours: NeighboursLike,
) -> Plan:
    """Return what :func:`draw_swapped` will spend; takes no data.

    Args:
        design: Shape ``(pools, people)``. Public.
        noise: The law of the pools' states. Public.
        d: Number of positives, for a bound on the error of independent noise; public.
        epsilon: The epsilon to state a delta for, in nats, >= 0; ``noise.epsilon`` has the
            least with a delta of 0.
        neighbours: ``SUBSTITUTE`` (one status changes) or ``SWAP``.

    Raises:
        ParameterError: The law is for another number of pools, or a number is out of range.
        NeighboursError: Another relation.
    """
    matrix = designs.checked(design)
    at = _validate.within("epsilon", epsilon, 0, inf)
    relation = outcome_privacy.outcome_neighbours(neighbours)
    pure = noise.epsilon(matrix, neighbours=relation)
    delta = 0.0 if at >= pure else noise.delta(matrix, epsilon=at, neighbours=relation)
    error = None
    if isinstance(noise, IndependentNoise):
        chances = {"clean": noise.clean, "contaminated": noise.contaminated}
        error = _error(matrix, d, **chances)
    pools, people = matrix.shape
    return Plan(
        function="draw_swapped",
        arguments={"pools": pools, "people": people, "noise": repr(noise)},
        mechanism=repr(noise),
        spends=(Spend("the exchanged pools", at, delta=delta),),
        epsilon=at,
        delta=delta,
        neighbours=relation,
        public=("the design", "the people and their order", NO_COLLUSION),
        error=error,
    )


@dataclass(frozen=True, slots=True)
class SwappedPools:
    """Pools to exchange before they go to the lab; the states are secret.

    Attributes:
        states: 0 (clean), 1 (contaminated) or 2 (kept), for each pool. To whoever learns
            them there is no noise.
        plan: What drawing them cost.
    """

    states: States
    plan: Plan


def draw_swapped(
    *,
    design: ArrayLike,
    noise: IndependentNoise | JointNoise,
    d: int | None = None,
    epsilon: float,
    neighbours: NeighboursLike,
    budget: SupportsSpend | None = None,
) -> SwappedPools:
    r"""Draw the pools to exchange for clean or contaminated ones: noise after pooling, (22).

    Guarantee:
        The lab's outcomes are :math:`(\varepsilon, \delta)`-DP with the plan's delta, under
        the relation given, towards whoever does not learn the states that are returned: keep
        them secret. Who collects samples and who tests them must not collude; the lab need
        not be trusted with anything else.

    Args:
        design: As for :func:`plan_swapped`, like all other arguments.
        noise: The law of the states.
        d: Number of positives, for a bound on the error.
        epsilon: The epsilon to state a delta for.
        neighbours: ``SUBSTITUTE`` or ``SWAP``.
        budget: Charged before anything is drawn.

    Returns:
        The states. Secret.

    Raises:
        ParameterError: As for :func:`plan_swapped`; or there is a budget and delta is 1.
        InsufficientBudgetError: The budget does not allow it; nothing is drawn.
        NeighboursError: Another relation, or the budget is kept for another one.

    Examples:
        >>> design = [[True, True, False], [False, True, True]]
        >>> noise = IndependentNoise(0.1, 0.1)
        >>> epsilon = noise.epsilon(design, neighbours="substitute")
        >>> swapped = draw_swapped(
        ...     design=design, noise=noise, epsilon=epsilon, neighbours="substitute"
        ... )
        >>> len(swapped.states), round(swapped.plan.epsilon, 3), swapped.plan.delta
        (2, 4.394, 0.0)
    """
    plan = plan_swapped(design=design, noise=noise, d=d, epsilon=epsilon, neighbours=neighbours)
    receipt = plan.charge(budget)
    receipt.keep({"answer": "the states of the pools: secret, not kept"})
    return SwappedPools(noise.draw(len(designs.checked(design))), plan)


def _error(
    design: Design, d: int | None, *, clean: Fraction, contaminated: Fraction
) -> ErrorBound | None:
    if d is None:
        return None
    return decoding_error(design, d=d, clean=clean, contaminated=contaminated)
