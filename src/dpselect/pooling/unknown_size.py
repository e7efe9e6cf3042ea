r"""Subset retrieval when the number of members is private too.

Neighbours are then two databases in which one person's status differs: ``SUBSTITUTE`` over n
public people. Two ways, which protect the same and cost differently:

- :func:`randomised_response` flips everybody's status with probability
  :math:`1/(1 + e^\varepsilon)`: pure epsilon, needs nobody's trust (each can flip their own),
  and adds about :math:`n/(1 + e^\varepsilon)` strangers: far too many when few are positive.
- :func:`retrieve_of_unknown_size` draws a noisy size, brings the subset to that size at
  random, and retrieves. If one status changes, the subsets brought to a common size can be
  coupled to be at most one swap apart: a person more or less in the pool to draw from changes
  at most one of those drawn. So the retrieval's own guarantee holds, and epsilons add up.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from dpselect import _validate
from dpselect.errors import ParameterError
from dpselect.neighbours import Neighbours
from dpselect.pooling.subset import (
    SpendsWithDelta,
    SubsetRelease,
    SubsetRetrieval,
    checked_members,
)


def randomised_response(
    subset: Iterable[int], *, n: int, epsilon: float, budget: SpendsWithDelta | None = None
) -> SubsetRelease:
    r"""Flip everybody's status with probability :math:`1/(1 + e^\varepsilon)`, exactly.

    Guarantee:
        ``epsilon``-DP under ``SUBSTITUTE``: one person's status changes. ``n`` is public.

    Args:
        subset: Positions of the members. Private.
        n: People.
        epsilon: In nats; finite, > 0.
        budget: Where to record the spend.

    Raises:
        ParameterError: ``n`` or ``epsilon`` is out of range.
        DataError: ``subset`` names somebody twice or somebody who is not there.
    """
    from dpselect.pooling.flips import flipper

    n = _validate.at_least("n", n, 1)
    epsilon = _validate.positive("epsilon", epsilon)
    inside = set(checked_members(subset, n))
    flip = flipper(epsilon)
    name = f"randomised_response(n={n}, epsilon={epsilon!r})"
    if budget is not None:
        budget.spend(epsilon, neighbours=Neighbours.SUBSTITUTE, delta=0.0, mechanism=name)
    return SubsetRelease(
        members=tuple(person for person in range(n) if flip(person in inside)),
        mechanism=name,
        epsilon=epsilon,
        delta=0.0,
        neighbours=Neighbours.SUBSTITUTE,
    )


@dataclass(frozen=True, slots=True)
class _Plan:
    """How to retrieve from a subset of any size; see :func:`retrieve_of_unknown_size`."""

    n: int
    beta: int
    epsilon: float
    failure: float

    def at(self, d: int) -> SubsetRetrieval:
        """Return the retrieval for size ``d``, with no more errors than that allows."""
        beta = min(self.beta, d, self.n - d)
        return SubsetRetrieval(
            n=self.n, d=d, beta=beta, epsilon=self.epsilon, failure=self.failure
        )


def retrieve_of_unknown_size(
    subset: Iterable[int],
    *,
    n: int,
    beta: int,
    epsilon_size: float,
    epsilon: float,
    delta: float,
    failure: float = 0.0,
    budget: SpendsWithDelta | None = None,
) -> SubsetRelease:
    """Release a subset near a private one of private size, by the optimal scheme.

    Guarantee:
        ``(epsilon_size + epsilon, delta)``-DP under ``SUBSTITUTE``: one person's status
        changes. ``n`` is public. A noisy size for which ``beta`` gives more than ``delta``
        is retrieved with the pure law instead.

    Args:
        subset: Positions of the members. Private.
        n: People.
        beta: Swaps that are allowed for.
        epsilon_size: Spent on the size, by discrete Laplace noise; > 0.
        epsilon: Spent on the retrieval, 0 to 1000.
        delta: In [0, 1).
        failure: Probability of more than ``beta`` swaps.
        budget: Where to record the spend.

    Raises:
        ParameterError: An argument is out of range.
        DataError: ``subset`` names somebody twice or somebody who is not there.
    """
    plan = _Plan(_validate.at_least("n", n, 1), beta, epsilon, failure)
    if _validate.within("delta", delta, 0, 1) == 1:
        raise ParameterError("delta must be below 1")
    epsilon_size = _validate.positive("epsilon_size", epsilon_size)
    _validate.at_least("beta", beta, 0)
    plan.at(0)
    members = checked_members(subset, n)
    total = epsilon_size + epsilon
    name = (
        f"retrieve_of_unknown_size(n={n}, beta={beta}, epsilon_size={epsilon_size!r}, "
        f"epsilon={epsilon!r}, delta={delta!r}, failure={failure!r})"
    )
    if budget is not None:
        budget.spend(total, neighbours=Neighbours.SUBSTITUTE, delta=delta, mechanism=name)
    return SubsetRelease(
        members=tuple(_draw(members, plan, epsilon_size, delta)),
        mechanism=name,
        epsilon=total,
        delta=delta,
        neighbours=Neighbours.SUBSTITUTE,
    )


def _draw(members: list[int], plan: _Plan, epsilon_size: float, delta: float) -> list[int]:
    from dpselect.pooling.exact import SYSTEM
    from dpselect.pooling.flips import noisy_count

    size = min(max(noisy_count(len(members), epsilon_size), 0), plan.n)
    if size <= len(members):
        members = sorted(SYSTEM.sample(members, size))
    else:
        inside = set(members)
        others = [person for person in range(plan.n) if person not in inside]
        members = sorted(members + SYSTEM.sample(others, size - len(members)))
    retrieval = plan.at(size)
    if retrieval.delta_rounded_up() > delta:
        retrieval = SubsetRetrieval(
            n=plan.n, d=size, beta=0, epsilon=plan.epsilon, scheme="distance"
        )
    return retrieval.draw(members)
