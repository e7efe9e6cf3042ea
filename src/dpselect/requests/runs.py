"""Runs: several queries of the same data, all or nothing as to the budget."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import partial
from typing import Any, TypeVar

from dpselect import validation
from dpselect.composition import sequential_plan
from dpselect.errors import ColumnError, ParameterError
from dpselect.plan import SupportsSpend
from dpselect.query import Draw, Query, released
from dpselect.release import Release
from dpselect.requests.reading import columns_of
from dpselect.tables.together import in_rounds, is_of_polars, kept

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

    A file, or a lazy frame of polars, is read once for all queries that are counted in one
    pass. The counted columns of a relation of DuckDB or a frame of Spark are read once, and
    kept until everything is drawn.

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
    return released(asked, data, budget=budget, prepared=_together)


@contextmanager
def _together(queries: Sequence[Query[Out]], data: object) -> Iterator[list[Draw[Out]]]:
    """Read and count for several queries, while the block runs."""
    if len(queries) > 1:
        for one in queries:
            one.check(data)
    if len(queries) > 1 and is_of_polars(data):
        yield in_rounds([partial(one.prepare, data) for one in queries])
        return
    columns = _columns(queries) if len(queries) > 1 else None
    with kept(data, columns) if columns is not None else nullcontext(data) as held:
        yield [one.prepare(held) for one in queries]


def _columns(queries: Sequence[Query[Any]]) -> list[str] | None:
    """Return the columns that are read; None if a query does not say."""
    try:
        read = [name for one in queries for name, _ in columns_of(one)]
    except (ParameterError, ColumnError):
        return None
    return list(dict.fromkeys(read))
