"""Plans of several releases together, of disjoint parts or of the same records."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp

from dpselect import validation
from dpselect.budget.amount import exact
from dpselect.errors import NeighboursError, ParameterError
from dpselect.neighbours import Neighbours, NeighboursLike
from dpselect.plan import Plan, Spend

PARTS = "parts are disjoint, by a rule that reads one record at a time"
"""A record is here what a neighbour step changes: a row, or a person with all rows."""


def parallel_plan(plans: Sequence[Plan], *, neighbours: NeighboursLike) -> Plan:
    r"""Return the plan of several releases, each of its own part of the records.

    If a public rule sends each record to at most one part by that record alone, releases of
    the parts cost together

    - under add/remove, the *largest* of their prices: one record more or less changes one
      part;
    - under substitution, the price of *two* add/remove steps at the largest prices: the record
      that goes and the one that comes may be in two parts, or in the same. So
      :math:`2\varepsilon`, :math:`(1 + e^\varepsilon)\delta`, :math:`4\rho`.

    In both cases the parts' plans must be for add/remove: a plan under substitution takes the
    number of records of its part as public, and a replaced record changes two such numbers.

    Charge this plan once, before the first release, and make the releases without a budget.

    Guarantee:
        Its price covers all releases together under ``neighbours``. Public, and claimed by
        the caller: which parts there are, and a rule that sends each record to at most one
        of them by that record alone.

    Args:
        plans: The plans of the releases, each under add/remove; at least one.
        neighbours: ``"add-remove"`` or ``"substitute"``, the relation between whole
            databases.

    Raises:
        ParameterError: There is no plan.
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
    parts = [validation.instance("plans", plan, Plan) for plan in plans]
    relation = validation.table_neighbours(neighbours)
    if not parts:
        raise ParameterError("`plans` must be at least one")
    if any(part.neighbours is not Neighbours.ADD_REMOVE for part in parts):
        raise NeighboursError(
            "plans of disjoint parts must be for add-remove neighbours: under substitution the "
            "number of records of a part is not public"
        )
    epsilon = max(part.epsilon for part in parts)
    delta = max(part.delta for part in parts)
    rho = max(part.rho for part in parts)
    steps = "the most expensive part"
    if relation is Neighbours.SUBSTITUTE:
        delta = min(1.0, (1 + exp(min(epsilon, 700.0))) * delta)
        epsilon, rho = 2 * epsilon, 4 * rho
        steps = "the parts of the record that goes and of the one that comes"
    return Plan(
        name="parallel_plan",
        arguments={"parts": [part.description for part in parts]},
        mechanism=f"{len(parts)} releases of disjoint parts",
        spends=(Spend(steps, epsilon, delta=delta, rho=rho),),
        epsilon=epsilon,
        delta=delta,
        neighbours=relation,
        user=_same_user(parts),
        public=(PARTS, *dict.fromkeys(claim for part in parts for claim in part.public)),
        composition=f"parallel: {steps} counts",
    )


def sequential_plan(plans: Sequence[Plan]) -> Plan:
    """Return the plan of several releases of the same records: all prices add up.

    Raises:
        ParameterError: There is no plan.
        NeighboursError: They are for several relations, or for records and persons, of which
            no sum says anything.

    Examples:
        >>> import dpselect as dp
        >>> plans = [
        ...     dp.PermuteAndFlip(epsilon=epsilon).plan(neighbours="add-remove")
        ...     for epsilon in (0.1, 0.2)
        ... ]
        >>> dp.sequential_plan(plans).epsilon
        0.3
    """
    parts = [validation.instance("plans", plan, Plan) for plan in plans]
    if not parts:
        raise ParameterError("`plans` must be at least one")
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
        passes=tuple(one for part in parts for one in part.passes),
    )


def _same_user(parts: Sequence[Plan]) -> str | None:
    """Return the column of persons of all plans; None if they protect records."""
    found = {part.user for part in parts}
    if len(found) > 1:
        raise NeighboursError(
            "releases of one sum must protect one unit: give all the same `user`, or none"
        )
    return found.pop()
