r"""Parallel composition: one price for releases of disjoint parts of the records.

If a public rule sends each record to at most one part by that record alone, releases of the
parts cost together

- under add/remove, the *largest* of their prices: one record more or less changes one part;
- under substitution, the price of *two* add/remove steps at the largest prices: the record
  that goes and the one that comes may be in two parts, or in the same. So
  :math:`2\varepsilon`, :math:`(1 + e^\varepsilon)\delta`, :math:`4\rho`.

In both cases the parts' plans must be for add/remove: a plan under substitution takes the
number of records of its part as public, and a replaced record changes two such numbers.

Source: McSherry 2009, Theorem 4 (add/remove); substitution by group privacy.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp

from dpselect import _validate
from dpselect.errors import NeighboursError, ParameterError
from dpselect.neighbours import Neighbours, NeighboursLike
from dpselect.plan import Plan, Spend

PARTS = "parts are disjoint, by a rule that reads one record at a time"


def parallel_plan(plans: Sequence[Plan], *, neighbours: NeighboursLike) -> Plan:
    """Return the plan of several releases, each of its own part of the records.

    Charge this plan once, before the first release, and make the releases without a budget.

    Guarantee:
        Its price covers all releases together under ``neighbours``. Public, and claimed by
        the caller: which parts there are, and a rule that sends each record to at most one
        of them by that record alone.

    Args:
        plans: Of the releases, each under add/remove; at least one.
        neighbours: ``"add-remove"`` or ``"substitute"``, the relation between whole
            databases.

    Raises:
        ParameterError: There is no plan.
        NeighboursError: A plan is for another relation than add/remove, or ``neighbours`` is
            not a relation between tables.

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
    parts = [_validate.instance("each of plans", plan, Plan) for plan in plans]
    relation = _validate.table_neighbours(neighbours)
    if not parts:
        raise ParameterError("plans must be at least one")
    if any(part.neighbours is not Neighbours.ADD_REMOVE for part in parts):
        raise NeighboursError(
            "plans of disjoint parts must be for add-remove neighbours: under substitution the "
            "number of records of a part is not public"
        )
    epsilon = max(part.epsilon for part in parts)
    delta = max(part.delta for part in parts)
    rho = max(part.rho for part in parts)
    steps = "the dearest part"
    if relation is Neighbours.SUBSTITUTE:
        delta = min(1.0, (1 + exp(min(epsilon, 700.0))) * delta)
        epsilon, rho = 2 * epsilon, 4 * rho
        steps = "the parts of the record that goes and of the one that comes"
    return Plan(
        function="parallel_plan",
        arguments={"parts": [part.description for part in parts]},
        mechanism=f"{len(parts)} releases of disjoint parts",
        spends=(Spend(steps, epsilon, delta=delta, rho=rho),),
        epsilon=epsilon,
        delta=delta,
        neighbours=relation,
        public=(PARTS, *dict.fromkeys(claim for part in parts for claim in part.public)),
        composition=f"parallel: {steps} counts",
    )
