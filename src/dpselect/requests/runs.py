"""Runs: several queries of the same data, all or nothing as to the budget."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from dpselect import validation
from dpselect.plan import SupportsSpend, sequential_plan
from dpselect.query import Query, released
from dpselect.release import Release

Out = TypeVar("Out", bound=Release[Any])


def run(
    queries: Sequence[Query[Out]],
    data: Any,  # noqa: ANN401 -- each query takes its own data
    *,
    budget: SupportsSpend | None = None,
) -> tuple[Out, ...]:
    """Release several queries of the same data; the budget is charged for all or none.

    The sum of all prices is checked before any row is read. All queries are counted, then all
    prices are charged in one step, each as an entry of its own, and then all are drawn. If
    drawing fails after the charge, the charge is not undone. Queries that the budget has
    answered before cost nothing, as in ``Query.release``.

    Guarantee:
        That of ``dpselect.sequential_plan`` of the plans, against an analyst who chose all
        queries before the first answer.

    Args:
        queries: What is released, for one neighbour relation.
        data: What to choose from. Private.
        budget: Where to record the spends, such as a ``Budget``.

    Returns:
        The releases, in the order of the queries.

    Raises:
        ParameterError: There is no query.
        NeighboursError: The queries, or the budget, are for several neighbour relations.
        InsufficientBudgetError: The budget does not allow the sum; nothing was drawn.
        ColumnError, DataError, PublicClaimError: As for ``Query.release``.

    Examples:
        >>> import dpselect as dp
        >>> wards = dict(column=None, candidates=["heart", "lung"], neighbours="add-remove")
        >>> first, both = dp.run(
        ...     [dp.TopKeys(k=1, epsilon=9.0, **wards), dp.TopKeys(k=2, epsilon=1.0, **wards)],
        ...     ["heart"] * 9 + ["lung"] * 2,
        ...     budget=dp.Budget(10.0, neighbours="add-remove"),
        ... )
        >>> first.answer, sorted(both.answer), both.entry
        (('heart',), ['heart', 'lung'], 2)
    """
    asked = [validation.instance("queries", one, Query) for one in queries]
    sequential_plan([one.plan for one in asked])  # raises what does not go together
    return released(asked, data, budget=budget)
