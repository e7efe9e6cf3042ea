r"""Subset retrieval when the number of members is private too.

Neighbours are then two databases in which one person's status differs: ``SUBSTITUTE`` over n
public people. Two mechanisms protect the same and cost differently:

- :func:`release_statuses` flips everybody's status with probability
  :math:`1/(1 + e^\varepsilon)` (randomised response): pure epsilon, and no trusted curator is
  needed, since each person can flip their own; it adds about
  :math:`n/(1 + e^\varepsilon)` strangers, far too many when few are positive.
- :func:`release_subset` draws a noisy size, brings the subset to that size at random, and
  retrieves. If one status changes, the subsets brought to a common size can be coupled to be
  at most one swap apart: a person more or less among those drawn from changes at most one of
  those drawn. So the guarantee of the retrieval holds, and the epsilons add up.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from math import nextafter

import numpy as np

from dpselect import _validate
from dpselect.errors import ParameterError
from dpselect.neighbours import Neighbours
from dpselect.plan import Plan, Spend, SupportsSpend
from dpselect.release import Release
from dpselect.retrieval.subset import MOST_PEOPLE, SubsetRetrieval, checked_members

SMALLEST_SIZE_EPSILON = 2.0**-49
"""Down to here the noise of the size stays within 64-bit integers."""


def plan_statuses(*, n: int, epsilon: float) -> Plan:
    """Return what :func:`release_statuses` will spend; takes no data.

    Args:
        n: Number of people, at least 1. Public.
        epsilon: What the release costs under ``SUBSTITUTE``, in nats; finite, > 0.

    Raises:
        ParameterError: ``n`` or ``epsilon`` is out of range.
    """
    n = _validate.at_least("n", n, 1, MOST_PEOPLE)
    epsilon = _validate.positive("epsilon", epsilon)
    return Plan(
        function="release_statuses",
        arguments={"n": n},
        mechanism="randomised response",
        spends=(Spend("one status", epsilon),),
        epsilon=epsilon,
        neighbours=Neighbours.SUBSTITUTE,
        public=("the people and their order",),
        composition="parallel: each status is flipped by itself, and one person has one status",
    )


def release_statuses(
    members: Iterable[int], *, n: int, epsilon: float, budget: SupportsSpend | None = None
) -> Release:
    r"""Release everybody's status, flipped with probability :math:`1/(1 + e^\varepsilon)`.

    The probability is an exact fraction, rounded up by less than one part in
    :math:`2^{100}`; above an epsilon of 1000 it is that of 1000.

    Guarantee:
        ``epsilon``-DP under ``SUBSTITUTE``: one person's status changes. ``n`` is public.

    Args:
        members: Positions of the members, 0 to ``n - 1``, each once. Private.
        n: Number of people, at least 1. Public.
        epsilon: What the release costs, in nats; finite, > 0.
        budget: Charged with ``epsilon`` before anything is drawn.

    Returns:
        The positions of the released members, ascending, as ``answer``.

    Raises:
        ParameterError: ``n`` or ``epsilon`` is out of range.
        DataError: ``members`` names somebody twice or somebody who is not there.
        InsufficientBudgetError: The budget does not allow it; nothing is drawn.
        NeighboursError: The budget is kept for another relation.

    Source: Warner 1965, doi:10.1080/01621459.1965.10480775.
    """
    from dpselect.draws import exp_bounds, uniform

    plan = plan_statuses(n=n, epsilon=epsilon)
    inside = set(checked_members(members, n))
    chance = exp_bounds.flip_chance(plan.epsilon)
    receipt = plan.charge(budget)
    released = uniform.flipped([person in inside for person in range(n)], chance)
    return Release(
        answer=tuple(person for person in range(n) if released[person]), plan=plan, exact=True
    ).recorded(receipt)


def plan_subset(
    *,
    n: int,
    beta: int,
    failure: float = 0.0,
    size_epsilon: float,
    epsilon: float,
    delta: float,
) -> Plan:
    """Return what :func:`release_subset` will spend; takes no data.

    Args:
        n: Number of people, at least 1. Public.
        beta: Swaps that are allowed for, at least 0.
        failure: Probability of more than ``beta`` swaps, in [0, 1).
        size_epsilon: Part of ``epsilon`` for the noisy size; 2^-49 to ``epsilon``.
        epsilon: What the release costs under ``SUBSTITUTE``, in nats; at most 1000 above
            ``size_epsilon``.
        delta: What it costs besides, in [0, 1).

    Raises:
        ParameterError: An argument is out of range.
    """
    terms = _Terms.checked(n, beta, failure, size_epsilon, epsilon)
    if _validate.within("delta", delta, 0, 1) == 1:
        raise ParameterError("delta must be below 1")
    return Plan(
        function="release_subset",
        arguments={"n": n, "beta": beta, "failure": failure, "size_epsilon": size_epsilon},
        mechanism="optimal retrieval at a noisy size",
        spends=(
            Spend("the number of members", terms.size_epsilon),
            Spend("the subset", terms.epsilon, delta=float(delta)),
        ),
        epsilon=float(epsilon),
        delta=float(delta),
        neighbours=Neighbours.SUBSTITUTE,
        public=("the people and their order",),
    )


def release_subset(
    members: Iterable[int],
    *,
    n: int,
    beta: int,
    failure: float = 0.0,
    size_epsilon: float,
    epsilon: float,
    delta: float,
    budget: SupportsSpend | None = None,
) -> Release:
    """Release a subset near a private one of private size, by the optimal scheme.

    Guarantee:
        ``(epsilon, delta)``-DP under ``SUBSTITUTE``: one person's status changes. ``n`` is
        public. A noisy size for which ``beta`` costs more than ``delta`` is retrieved by the
        ``distance`` scheme instead.

    Args:
        members: Positions of the members, 0 to ``n - 1``, each once. Private.
        n: Number of people, at least 1. Public.
        beta: Swaps that are allowed for, at least 0.
        failure: Probability of more than ``beta`` swaps, in [0, 1).
        size_epsilon: Part of ``epsilon`` for the noisy size (discrete Laplace noise); 2^-49
            to ``epsilon``.
        epsilon: What the release costs, in nats; at most 1000 above ``size_epsilon``.
        delta: What it costs besides, in [0, 1).
        budget: Charged with ``epsilon`` and ``delta`` before anything is drawn.

    Returns:
        The positions of the released members, ascending, as ``answer``.

    Raises:
        ParameterError: An argument is out of range.
        DataError: ``members`` names somebody twice or somebody who is not there.
        InsufficientBudgetError: The budget does not allow it; nothing is drawn.
        NeighboursError: The budget is kept for another relation.
    """
    plan = plan_subset(
        n=n,
        beta=beta,
        failure=failure,
        size_epsilon=size_epsilon,
        epsilon=epsilon,
        delta=delta,
    )
    checked = checked_members(members, n)
    terms = _Terms.checked(n, beta, failure, size_epsilon, epsilon)
    receipt = plan.charge(budget)
    drawn = terms.retrieval(_draw_size(len(checked), terms), plan.delta)
    answer = tuple(drawn.choose(checked))
    return Release(answer=answer, plan=plan, exact=True).recorded(receipt)


@dataclass(frozen=True, slots=True)
class _Terms:
    """The public arguments of :func:`release_subset`, with the two parts of epsilon.

    Attributes:
        n: Number of people.
        beta: Swaps that are allowed for.
        failure: Probability of more.
        size_epsilon: For the noisy size.
        epsilon: For the retrieval; the two add up to at most the whole.
    """

    n: int
    beta: int
    failure: float
    size_epsilon: float
    epsilon: float

    @classmethod
    def checked(
        cls, n: int, beta: int, failure: float, size_epsilon: float, epsilon: float
    ) -> _Terms:
        """Return the terms, or refuse what is out of range."""
        whole = _validate.positive("epsilon", epsilon)
        part = _validate.within("size_epsilon", size_epsilon, SMALLEST_SIZE_EPSILON, whole)
        rest = whole - part
        if Fraction(rest) + Fraction(part) > Fraction(whole):
            rest = nextafter(rest, 0.0)
        terms = cls(
            _validate.at_least("n", n, 1, MOST_PEOPLE),
            _validate.at_least("beta", beta, 0),
            failure,
            part,
            rest,
        )
        terms._optimal(0)
        return terms

    def retrieval(self, d: int, delta: float) -> SubsetRetrieval:
        """Return the retrieval for size ``d``, pure where the optimal one costs more."""
        optimal = self._optimal(d)
        if optimal.delta_rounded_up() <= delta:
            return optimal
        return SubsetRetrieval(n=self.n, d=d, beta=0, epsilon=self.epsilon, scheme="distance")

    def _optimal(self, d: int) -> SubsetRetrieval:
        """Return the optimal retrieval, with no more errors than the size allows."""
        return SubsetRetrieval(
            n=self.n,
            d=d,
            beta=min(self.beta, d, self.n - d),
            epsilon=self.epsilon,
            failure=self.failure,
        )


def _draw_size(members: int, terms: _Terms) -> int:
    """Return the noisy number of members, between 0 and ``n``."""
    from dpselect.draws import noisy_counts

    scale = noisy_counts.scale_for(terms.size_epsilon)
    noisy = noisy_counts.discrete_laplace(np.array([members]), scale)
    return min(max(int(noisy[0]), 0), terms.n)
