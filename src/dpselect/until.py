"""Repetition of a query with doubled epsilons until its answer is good enough."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any, TypeVar

from dpselect import validation
from dpselect.budget import Budget
from dpselect.budget.amount import exact
from dpselect.errors import InsufficientBudgetError, ParameterError
from dpselect.plan import SupportsSpend, remaining_after
from dpselect.query import Query, readable_again
from dpselect.release import Release

Out = TypeVar("Out", bound=Release[Any])


def run_until(
    query: Query[Out],
    data: Any,  # noqa: ANN401 -- each query takes its own data
    *,
    enough: Callable[[Out], bool],
    most: float,
    budget: SupportsSpend | None = None,
) -> tuple[Out, ...]:
    """Release a query with growing epsilons until a public test accepts the answer.

    The first release has the query's own epsilon and each further one twice that of the one
    before, with independent noise. All together cost less than twice the last epsilon. If every
    larger epsilon would be accepted too, the last one is less than twice the smallest that is.

    A budget must allow ``most`` at the start and is charged release by release, as
    ``Query.release`` does: only drawn releases are charged, also in rho and delta, and their
    answers are in the ledger if the process ends. Started again for the same named source, it
    continues after the last of them and pays for none twice.

    Guarantee:
        Let c be the sum of the epsilons of the releases that were drawn, minus refunds. The
        sequence of releases is at most ``e^c`` times as probable as under any neighbour, except
        for an event whose probability is the sum of their deltas (ex-post privacy), and c is at
        most ``most``. The guarantee of the budget holds as well, since it allows epsilons that
        depend on earlier answers. All of this holds if ``enough`` depends on the release alone
        and not on the data.

    Args:
        query: The first query to release; it has a field ``epsilon``.
        data: What to choose from. Private.
        enough: The test of quality, of a release. Public; it must not read data. It should take
            the noise into account: an answer that looks good by chance ends the series as well.
        most: Largest price of all releases together, in nats; finite, at least the query's
            epsilon. A series of n releases costs ``2^n - 1`` times that.
        budget: Where to record the spends, such as a ``Budget``.

    Returns:
        All releases, in order. The last one is accepted by ``enough``, unless ``most`` or a
        budget that others use allowed no further release: call ``enough`` on it.

    Raises:
        ParameterError: ``most`` is out of its range, or the query has no ``epsilon``.
        InsufficientBudgetError: The budget does not allow ``most``; nothing was drawn.
        ColumnError, DataError, PublicClaimError, NeighboursError: As for ``Query.release``.

    Source: Ligett, Neel, Roth, Waggoner & Wu 2017, arXiv:1705.10829, have ex-post privacy and
        doubling; Ghazi et al. 2025, arXiv:2508.15183, reach twice the last epsilon for any
        series of private estimators.

    Examples:
        >>> import dpselect as dp
        >>> wards = dp.TopKeys(
        ...     column=None, k=2, candidates=["heart", "lung", "skin"], counts_share=0.5,
        ...     epsilon=0.01, neighbours="add-remove",
        ... )
        >>> def accurate(release):
        ...     return 3 * release.scale <= 0.05 * min(release.counts)
        >>> budget = dp.Budget(8.0, neighbours="add-remove")
        >>> stays = ["heart"] * 900 + ["lung"] * 600 + ["skin"] * 9
        >>> releases = dp.run_until(wards, stays, enough=accurate, most=5.11, budget=budget)
        >>> releases[-1].answer, budget.spent < 2 * releases[-1].plan.epsilon
        (('heart', 'lung'), True)
    """
    series, data = list(_doubled(query, most)), readable_again(data)
    if isinstance(budget, Budget):
        budget = budget.for_rows_of(data)
    if budget is not None:
        new = [one.plan for one in series if one.plan.answered(budget) is None]
        remaining_after(new, budget)
    made: list[Out] = []
    for one in series:
        try:
            made.append(one.release(data, budget=budget))
        except InsufficientBudgetError:
            if not made:
                raise
            break
        if enough(made[-1]):
            break
    return tuple(made)


def _doubled(query: Query[Out], most: float) -> Iterator[Query[Out]]:
    """Yield the query with its epsilon doubled, as often as the sum of prices allows."""
    first = getattr(validation.instance("query", query, Query), "epsilon", None)
    if not isinstance(first, float):
        raise ParameterError(f"a {type(query).__name__} has no `epsilon` to double")
    left = exact(validation.finite("most", most))
    if left < exact(first):
        raise ParameterError(f"`most` must be at least the query's `epsilon`, {first!r}")
    epsilon, price = first, Fraction()
    while (price := exact(epsilon)) <= left:
        yield replace(query, epsilon=epsilon)  # type: ignore[type-var]
        left -= price
        epsilon *= 2
