"""Outcomes made private: noise after pooling, and noise before it.

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
from dpselect.release import Release


def plan_outcomes(
    *, design: ArrayLike, flip: float | Fraction, neighbours: NeighboursLike
) -> Plan:
    r"""Return what :func:`release_outcomes` will spend; takes no outcomes.

    Args:
        design: Shape ``(pools, people)``. Public.
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
    )


def release_outcomes(
    outcomes: ArrayLike,
    *,
    design: ArrayLike,
    flip: float | Fraction,
    neighbours: NeighboursLike,
    budget: SupportsSpend | None = None,
) -> Release:
    r"""Release outcomes, each flipped independently and exactly: equation (22).

    Guarantee:
        Pure epsilon-DP with the epsilon of :func:`~dpselect.pooling.flip_epsilon`, under the
        relation given. The design is public.

    Args:
        outcomes: Whether each pool tested positive, shape ``(pools,)``. Private.
        design: Shape ``(pools, people)``. Public.
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

    plan = plan_outcomes(design=design, flip=flip, neighbours=neighbours)
    checked = checked_outcomes(outcomes, designs.checked(design))
    chance = outcome_privacy.checked_flip(flip)
    receipt = plan.charge(budget)
    released = uniform.flipped([bool(outcome) for outcome in checked], chance)
    return Release(answer=tuple(released), plan=plan, exact=True).recorded(receipt)


def plan_replaced(*, people: int, beta: int) -> Plan:
    """Return what :func:`draw_replaced` will spend; takes no data.

    Args:
        people: Number of people, at least 1. Public.
        beta: Number of samples to replace, 0 to ``people``.

    Raises:
        ParameterError: A number is out of range.
    """
    people = _validate.at_least("people", people, 1)
    if _validate.at_least("beta", beta, 0) > people:
        raise ParameterError(f"beta must be at most the number of people, {people}")
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
        public=("the people and their order", "the number of positives"),
        error=ErrorBound(float(beta), "people added", 1.0),
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
    *, people: int, beta: int, budget: SupportsSpend | None = None
) -> ReplacedSamples:
    r"""Draw the samples to replace by known positives: noise before pooling, Algorithm A2.

    Guarantee:
        The outcomes of pools with these samples replaced are
        :math:`(\varepsilon, 1 - \beta/n)`-DP for every epsilon under ``SWAP``, towards
        whoever does not learn the positions that are returned: keep them secret.

    Args:
        people: Number of people, at least 1. Public.
        beta: Number of samples to replace, 0 to ``people``. With 0 delta is 1.
        budget: Charged before anything is drawn.

    Returns:
        The samples. Secret.

    Raises:
        ParameterError: A number is out of range, or there is a budget and ``beta`` is 0.
        InsufficientBudgetError: The budget does not allow it; nothing is drawn.
        NeighboursError: The budget is kept for another relation than ``SWAP``.
    """
    from dpselect.draws import uniform

    plan = plan_replaced(people=people, beta=beta)
    receipt = plan.charge(budget)
    receipt.keep({"answer": "the positions of the replaced samples: secret, not kept"})
    return ReplacedSamples(tuple(sorted(uniform.sample(range(people), beta))), plan)
