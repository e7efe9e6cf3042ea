"""Plans of several releases together, of disjoint parts or of the same records."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp

from dpselect import validation
from dpselect._numbers import LARGEST_EXPONENT, exact
from dpselect.errors import NeighboursError, ParameterError
from dpselect.neighbours import Neighbours, NeighboursLike
from dpselect.plan import Plan, Spend

PARTS = "parts are disjoint, by a rule that reads one row at a time"


def parallel_plan(
    plans: Sequence[Plan], *, neighbours: NeighboursLike, parts_per_user: int | None = None
) -> Plan:
    """Return the plan of several releases, each of its own part of the rows.

    A public rule sends each row to at most one part by that row alone. A record, which is one
    row, is then in one part; a person whom the plans protect by ``user`` may have rows in every
    part, or in at most ``parts_per_user``, if that is public. Let ε, δ and ρ be the sums of as
    many of the largest prices. Releases of the parts cost together

    - under add/remove ε, δ, ρ: one record or person more or less changes so many parts;
    - under substitution the price of *two* such steps: who goes and who comes may be in
      different parts, or in the same. So ``2ε``, ``(1 + e^(ε_1))δ``, ``4ρ`` with the largest
      ``ε_1`` of a part.

    In both cases the parts' plans must be for add/remove: a plan under substitution takes the
    number of records of its part as public, and a replaced record changes two such numbers.

    Charge this plan once, before the first release, and make the releases without a budget.

    Guarantee:
        Its price covers all releases together under ``neighbours``. Public, and claimed by
        the caller: which parts there are, a rule that sends each row to at most one of them
        by that row alone, and ``parts_per_user``, if it is given.

    Args:
        plans: The plans of the releases, each under add/remove; at least one.
        neighbours: ``"add-remove"`` or ``"substitute"``, the relation between whole
            databases.
        parts_per_user: How many parts a person can have rows in, such as 1 where parts are
            places of residence. For plans that protect persons; all parts if not given.

    Raises:
        ParameterError: There is no plan, or ``parts_per_user`` is below 1, or given though the
            plans protect rows.
        NeighboursError: A plan is for another relation than add/remove, they protect records
            and persons, or ``neighbours`` is not a relation between tables.

    Source: McSherry 2009, Theorem 4 (add/remove); substitution by group privacy.

    Examples:
        >>> import dpselect as dp
        >>> plans = [
        ...     dp.PermuteAndFlip(epsilon=epsilon).plan(neighbours="add-remove")
        ...     for epsilon in (0.5, 1.0)
        ... ]
        >>> dp.parallel_plan(plans, neighbours="add-remove").epsilon
        1.0
        >>> dp.parallel_plan(plans, neighbours="substitute").epsilon
        2.0
    """
    parts, relation = _checked(plans), validation.table_neighbours(neighbours)
    if any(part.neighbours is not Neighbours.ADD_REMOVE for part in parts):
        raise NeighboursError(
            "plans of disjoint parts must be for add-remove neighbours: under substitution the "
            "number of records of a part is not public"
        )
    user = _same_user(parts)
    touched = _parts_of_one(parts, user, parts_per_user)
    epsilon = _largest([part.epsilon for part in parts], touched)
    delta = _largest([part.delta for part in parts], touched)
    rho = _largest([part.rho for part in parts], touched)
    unit = "record" if user is None else "person"
    steps = "the most expensive part" if touched == 1 else f"the {touched} most expensive parts"
    if relation is Neighbours.SUBSTITUTE:
        most = max(part.epsilon for part in parts)
        delta = min(1.0, (1 + exp(min(most, LARGEST_EXPONENT))) * delta)
        epsilon, rho = 2 * epsilon, 4 * rho
        steps = f"the parts of the {unit} that goes and of the one that comes"
    claims: tuple[str, ...] = (PARTS,)
    if parts_per_user is not None:
        claims = (PARTS, f"a person has rows in at most {touched} of them")
    return Plan(
        name="parallel_plan",
        arguments={"parts": [part.description for part in parts]},
        mechanism=f"{len(parts)} releases of disjoint parts",
        spends=(Spend(steps, epsilon, delta=delta, rho=rho),),
        epsilon=epsilon,
        delta=delta,
        neighbours=relation,
        user=user,
        public=(*claims, *dict.fromkeys(claim for part in parts for claim in part.public)),
        composition=f"parallel: {steps} counts",
    )


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
    parts = _checked(plans)
    if len({part.neighbours for part in parts}) > 1:
        raise NeighboursError(
            "releases of one sum must be for one neighbour relation, not "
            f"{' and '.join(sorted({str(part.neighbours) for part in parts}))}"
        )
    return Plan(
        name="sequential_plan",
        arguments={"parts": [part.description for part in parts]},
        mechanism=f"{len(parts)} releases of the same records",
        spends=tuple(spend for part in parts for spend in part.spends),
        epsilon=float(sum(exact(part.epsilon) for part in parts)),
        delta=float(sum(exact(part.delta) for part in parts)),
        neighbours=parts[0].neighbours,
        user=_same_user(parts),
        public=tuple(dict.fromkeys(claim for part in parts for claim in part.public)),
        passes=sum(part.passes for part in parts),
    )


def _checked(plans: Sequence[Plan]) -> list[Plan]:
    validation.some("plans", plans)
    return [validation.instance("plans", plan, Plan) for plan in plans]


def _parts_of_one(parts: Sequence[Plan], user: str | None, most: int | None) -> int:
    """Return how many parts a record or a person can be in."""
    if user is None and most is not None:
        raise ParameterError("`parts_per_user` is for plans with `user`: a row is in one part")
    if user is None:
        return 1
    known = len(parts) if most is None else validation.at_least("parts_per_user", most, 1)
    return min(len(parts), known)


def _largest(prices: Sequence[float], number: int) -> float:
    """Return the sum of so many of the largest prices, rounded as a budget rounds."""
    return float(sum(map(exact, sorted(prices, reverse=True)[:number])))


def _same_user(parts: Sequence[Plan]) -> str | None:
    """Return the column of persons of all plans; None if they protect records."""
    found = {part.user for part in parts}
    if len(found) > 1:
        raise NeighboursError(
            "releases of one sum must protect one unit: give all the same `user`, or none"
        )
    return found.pop()
