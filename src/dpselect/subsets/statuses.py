"""Randomised response: the status of each person, flipped by itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Any

from dpselect import validation
from dpselect.neighbours import Neighbours
from dpselect.plan import Plan, Spend
from dpselect.query import Claim, Design, Query, query
from dpselect.release import Release
from dpselect.subsets.reading import checked_members
from dpselect.subsets.subset import MOST_PEOPLE, PEOPLE


@query
class Statuses(Query[Release[int]]):
    """The status of every person, flipped with probability ``1/(1 + e^ε)``.

    Data are the positions of the members, and the answer those of the released members,
    ascending: about ``n/(1 + e^ε)`` strangers among them. No trusted curator is needed, since
    each person can flip their own status. The probability is an exact fraction, rounded up by
    less than one part in ``2^100``; above an epsilon of 1000 it is that of 1000.

    Guarantee:
        ``epsilon``-DP under ``SUBSTITUTE``: one person's status changes. ``n`` is public.

    Attributes:
        n: Number of people, at least 1.
        epsilon: Price of the release, in nats; finite, > 0.

    Source: Warner 1965, doi:10.1080/01621459.1965.10480775.

    Examples:
        >>> import dpselect as dp
        >>> members = dp.subsets.Statuses(n=1000, epsilon=3.0).release(range(20)).answer
        >>> set(members) <= set(range(1000))
        True
    """

    n: Annotated[int, Claim()]
    epsilon: float

    def design(self) -> _Flips:
        from dpselect.draws.exact import inversion

        epsilon = validation.positive("epsilon", self.epsilon)
        return _Flips(
            plan=Plan(
                mechanism="randomised response",
                spends=(Spend("one status", epsilon),),
                epsilon=epsilon,
                neighbours=Neighbours.SUBSTITUTE,
                public=(PEOPLE,),
                composition="parallel: each status is flipped by itself, and a person has one",
            ),
            n=validation.at_least("n", self.n, 1, MOST_PEOPLE),
            chance=inversion.flip_chance(epsilon),
        )


@dataclass(frozen=True, kw_only=True)
class _Flips(Design[Release[int]]):
    n: int
    chance: Fraction

    def prepare(self, data: Any) -> Callable[[Plan], Release[int]]:  # noqa: ANN401
        from dpselect.draws.exact import bernoulli

        inside = set(checked_members(data, self.n))
        bits = [person in inside for person in range(self.n)]

        def draw(plan: Plan) -> Release[int]:
            flipped = bernoulli.flipped(bits, self.chance)
            return Release(tuple(person for person, bit in enumerate(flipped) if bit), plan)

        return draw
