"""Plans and releases of percentiles as public values.

Several percentiles are drawn by the recursion of halves, where a record pays once for every
level of a binary tree, or one by one, where it pays once for every percentile.
"""

from __future__ import annotations

from numpy.typing import ArrayLike

from dpselect import _validate, tables
from dpselect.mechanisms import MechanismFactory
from dpselect.neighbours import Neighbours, NeighboursLike
from dpselect.percentiles import methods
from dpselect.percentiles.objectives import checked_candidates, no_records
from dpselect.percentiles.ranges import Range
from dpselect.plan import Plan, SupportsSpend
from dpselect.release import Release
from dpselect.typing import OnInvalid, Values


def plan_percentiles(
    *,
    column: str | None = None,
    p: methods.Percents,
    candidates: ArrayLike | Range,
    method: methods.Method | None = None,
    epsilon: float,
    neighbours: NeighboursLike,
    mechanism: str | MechanismFactory | None = None,
    on_invalid: OnInvalid = "repair",
) -> Plan:
    r"""Return what :func:`release_percentiles` will spend; needs no data.

    Args:
        column: As for the release, and so are the others.
        p: The percentile, or several.
        candidates: The values that may be released.
        method: ``"recursive"`` or ``"one-by-one"``.
        epsilon: What the whole release costs, in nats.
        neighbours: ``"add-remove"`` or ``"substitute"``.
        mechanism: A short name, or a function of ``epsilon=``.
        on_invalid: What happens to a record without a value.

    Returns:
        The plan, with one spend per percentile one by one, and one per level of the
        recursion: of the levels on the path with the largest rho, since a record is in one
        half of a level, or in several with weights that sum to 1. One by one it has an error
        bound in ranks, on the distance of a released value's ranks from the percentile's,
        less that of the candidate that is best for it; of several percentiles on the largest
        distance, less the largest of their best candidates.

    Raises:
        ParameterError: An argument is out of range, or the mechanism is unknown.
        NeighboursError: Another relation.
    """
    drawn = methods.chosen(
        percents=methods.checked_percents(p),
        points=_points(candidates),
        method=method,
        epsilon=epsilon,
        neighbours=_validate.table_neighbours(neighbours),
        mechanism=mechanism,
    )
    return _plan(drawn, column, float(epsilon), _validate.on_invalid(on_invalid))


def release_percentiles(  # noqa: PLR0913 -- keyword-only, each one a public claim
    data: object,
    *,
    column: str | None = None,
    p: methods.Percents,
    candidates: ArrayLike | Range,
    method: methods.Method | None = None,
    epsilon: float,
    neighbours: NeighboursLike,
    mechanism: str | MechanismFactory | None = None,
    budget: SupportsSpend | None = None,
    on_invalid: OnInvalid = "repair",
) -> Release:
    """Release public values whose ranks are near those of one or several percentiles.

    A larger percentile never has a smaller value. One by one, each of ``m`` percentiles is
    drawn with ``epsilon / m`` by :func:`percentile_rank`, and the values are sorted. The
    recursion draws the middle one with an equal part of ``ceil(log2(m + 1))``, splits records
    and candidates at it and goes on in both halves.

    Guarantee:
        ``epsilon``-DP under ``neighbours``; under add/remove the number of records is
        private. All arguments but ``data`` are public.

    Args:
        data: A frame, the path of a Parquet or CSV file, or an array, list or Series. Of a
            lazy frame (polars, DuckDB, PySpark) only ranks of candidates leave the engine.
        column: The numeric column, if ``data`` is a table.
        p: The percentile, in (0, 100]; or several that increase.
        candidates: The values that may be released, finite; not to be read off the data. A
            :class:`Range` may have up to ``2**52``: its column is read into memory, and a
            piece of candidates between two records is drawn and then one of its candidates.
        method: ``"recursive"`` or ``"one-by-one"``; if not given, the recursion from 3
            percentiles on, where it has fewer steps to pay for, if the candidates and the
            mechanism allow it. The recursion needs candidates that increase, and the
            exponential mechanism, permute-and-flip or report noisy max.
        epsilon: What the whole release costs, in nats; finite, > 0.
        neighbours: ``"add-remove"`` or ``"substitute"``.
        mechanism: A short name (:data:`dpselect.mechanisms.MECHANISMS`), or a function of
            ``epsilon=``. The default is permute-and-flip, which has never a larger expected
            rank error than the exponential mechanism; and the exponential mechanism for a
            range, whose pieces only it can weigh.
        budget: Where to record the spend, once, before anything is drawn.
        on_invalid: ``"raise"`` if it is public that no value is missing; else a missing one
            is dropped under add/remove, and 0 under substitution.

    Returns:
        One value per percentile, ascending.

    Raises:
        ParameterError: An argument is out of range, or the mechanism is unknown.
        NeighboursError: Another relation than the two, or than the budget's.
        ColumnError: The column is missing or not numeric.
        DataError: The data cannot be read; under substitution also if there is no record.
        InsufficientBudgetError: The budget does not allow it; nothing was drawn.

    Source: Smith, STOC 2011; Kaplan, Schnapp and Stemmer, ICML 2022.

    Examples:
        >>> from dpselect.percentiles import release_percentiles
        >>> release = release_percentiles(
        ...     range(1000), p=[25, 75], candidates=[0, 250, 500, 750], epsilon=20.0,
        ...     neighbours="add-remove",
        ... )
        >>> release.answer
        (250.0, 750.0)
    """
    drawn = methods.chosen(
        percents=methods.checked_percents(p),
        points=_points(candidates),
        method=method,
        epsilon=epsilon,
        neighbours=_validate.table_neighbours(neighbours),
        mechanism=mechanism,
    )
    plan = _plan(drawn, column, float(epsilon), _validate.on_invalid(on_invalid))
    draw = drawn.prepared(data, column, on_invalid)
    receipt = plan.charge(budget)
    return Release(answer=draw(), plan=plan, exact=drawn.draw.exact).recorded(receipt)


def check_table(data: object, column: str, neighbours: NeighboursLike) -> None:
    """Make the checks of :func:`release_percentiles` on a table that read no private value.

    Raises:
        NeighboursError, ColumnError, DataError: As for the release.
    """
    tables.check_columns(data, numeric=[column])
    relation = _validate.table_neighbours(neighbours)
    if relation is Neighbours.SUBSTITUTE and tables.count_records(data, numeric=[column]) == 0:
        raise no_records()


def _points(candidates: ArrayLike | Range) -> Values | Range:
    return candidates if isinstance(candidates, Range) else checked_candidates(candidates)


def _plan(
    drawn: methods.Percentiles, column: str | None, epsilon: float, on_invalid: OnInvalid
) -> Plan:
    points = drawn.points
    substitute = drawn.neighbours is Neighbours.SUBSTITUTE
    return Plan(
        function="release_percentiles",
        arguments={
            "column": column,
            "p": list(drawn.percents) if len(drawn.percents) > 1 else drawn.percents[0],
            "candidates": str(points) if isinstance(points, Range) else points.tolist(),
            "method": drawn.name,
            "on_invalid": on_invalid,
        },
        mechanism=drawn.mechanism,
        spends=drawn.spends,
        epsilon=epsilon,
        neighbours=drawn.neighbours,
        public=("the candidates", "p", *(("the number of records",) if substitute else ())),
        composition=drawn.composition,
        error=drawn.error,
    )
