"""Plans and releases of percentiles: the label of a record, or public values."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from dpselect import _validate, tables
from dpselect.accuracy import error_bound
from dpselect.errors import ParameterError
from dpselect.mechanisms import Mechanism, MechanismFactory, by_name
from dpselect.neighbours import Neighbours, NeighboursLike
from dpselect.objective import Objective
from dpselect.percentiles.objectives import (
    by_rank,
    checked_candidates,
    no_records,
    percent,
    percentile,
    rank_of,
    ranks_in,
)
from dpselect.percentiles.ranks import NumbersInMemory
from dpselect.plan import ErrorBound, Plan, SupportsSpend
from dpselect.release import Release
from dpselect.typing import OnInvalid, Values

Percents: TypeAlias = "float | Sequence[float] | Values"
"""One percentile, or several that increase, each in (0, 100]."""


def plan_percentile_record(  # noqa: PLR0913 -- keyword-only, each one a public claim
    *,
    column: str | None = None,
    label_column: str | None = None,
    p: float,
    upper: float,
    horizon: int = 1,
    records: int,
    epsilon: float,
    mechanism: str | MechanismFactory = "shifted",
    on_invalid: OnInvalid = "repair",
) -> Plan:
    """Return what :func:`release_percentile_record` will spend; needs no data.

    Args:
        column: As for the release, and so are the others.
        label_column: The column of labels.
        p: The percentile.
        upper: The largest value that can occur.
        horizon: From this distance on the sensitivity is taken to be ``upper``.
        records: The number of records, which substitution makes public; >= 1. The error
            bound depends on it.
        epsilon: What the release costs, in nats.
        mechanism: A short name, or a function of ``epsilon=``.
        on_invalid: What happens to a value that is missing or outside ``[0, upper]``.

    Returns:
        The plan. Its error bound is in the units of the values.

    Raises:
        ParameterError: An argument is out of range, or the mechanism is unknown.
        DataError: There are no records.
    """
    draw = _for_record(p, upper, horizon, epsilon, mechanism, on_invalid)
    rank_of(p, _validate.at_least("records", records, 0))
    unit = "units of the values" if column is None else f"units of {column}"
    error = error_bound(draw, candidates=records, bound=upper, unit=unit, attained=0.0)
    return draw.plan(
        neighbours=Neighbours.SUBSTITUTE,
        function="release_percentile_record",
        arguments={
            "column": column,
            "label_column": label_column,
            "p": p,
            "upper": upper,
            "horizon": horizon,
            "records": records,
            "on_invalid": on_invalid,
        },
        public=("the number, the order and the labels of the records", "p", "upper", "horizon"),
        error=ErrorBound(min(error.value, float(upper)), unit, error.probability),
    )


def release_percentile_record(  # noqa: PLR0913 -- keyword-only, each one a public claim
    data: object,
    *,
    column: str | None = None,
    label_column: str | None = None,
    p: float,
    upper: float,
    horizon: int = 1,
    epsilon: float,
    mechanism: str | MechanismFactory = "shifted",
    budget: SupportsSpend | None = None,
    on_invalid: OnInvalid = "repair",
) -> Release:
    """Release the label of a record whose value is near the percentile.

    Use it where the answer must be a record. One individual sets the value of one record at
    will, so no mechanism that treats labels alike releases the best of ``n`` with probability
    above ``exp(2 epsilon)/(exp(2 epsilon) + n - 1)``. Where a *value* is wanted and epsilon is
    below ``ln(n)``, :func:`release_percentiles` is far closer.

    Guarantee:
        ``epsilon``-DP under substitution of one record's value. The number of records,
        their order, their labels and all arguments but ``data`` are public.

    Args:
        data: A frame, the path of a Parquet or CSV file, or an array, list or Series. Every
            record is a candidate, so its column is read into memory, also from a lazy frame.
        column: The numeric column, if ``data`` is a table.
        label_column: A public column to release from; row numbers from 0 if not given.
        p: The percentile, in (0, 100].
        upper: The largest value that can occur; values are repaired into ``[0, upper]``.
        horizon: From this distance on the sensitivity is taken to be ``upper``; >= 0. The
            default is the best of the shifted mechanism in ``docs/percentiles.md``.
        epsilon: What the release costs, in nats; finite, > 0.
        mechanism: A short name (:data:`dpselect.mechanisms.MECHANISMS`), or a function of
            ``epsilon=`` such as ``dpselect.PermuteAndFlip``. The default has the least
            expected error on average over the histograms of ``docs/percentiles.md``.
        budget: Where to record the spend, before anything is drawn.
        on_invalid: ``"raise"`` if it is public that no value needs repair.

    Returns:
        One label or row number.

    Raises:
        ParameterError: An argument is out of range, or the mechanism is unknown.
        ColumnError: A column is missing or not numeric.
        DataError: The data cannot be read, or hold no records.
        NeighboursError: The budget is for another relation than substitution.
        InsufficientBudgetError: The budget does not allow it; nothing was drawn.

    Source: Farias et al., VLDB J. 2023, section 5.
    """
    draw = _for_record(p, upper, horizon, epsilon, mechanism, on_invalid)
    values, labels = _read_records(data, column, label_column)
    objective = percentile(
        values, p=p, upper=upper, labels=labels, horizon=horizon, on_invalid=on_invalid
    )
    plan = plan_percentile_record(
        column=column,
        label_column=label_column,
        p=p,
        upper=upper,
        horizon=horizon,
        records=values.size,
        epsilon=epsilon,
        mechanism=mechanism,
        on_invalid=on_invalid,
    )
    return draw.release(objective, budget=budget, plan=plan)


def plan_percentiles(
    *,
    column: str | None = None,
    p: Percents,
    candidates: ArrayLike,
    epsilon: float,
    neighbours: NeighboursLike,
    mechanism: str | MechanismFactory = "permute-and-flip",
    on_invalid: OnInvalid = "repair",
) -> Plan:
    r"""Return what :func:`release_percentiles` will spend; needs no data.

    Args:
        column: As for the release, and so are the others.
        p: The percentile, or several.
        candidates: The values that may be released.
        epsilon: What the whole release costs, in nats.
        neighbours: ``"add-remove"`` or ``"substitute"``.
        mechanism: A short name, or a function of ``epsilon=``.
        on_invalid: What happens to a record without a value.

    Returns:
        The plan, with one spend per percentile. Its error bound, in ranks, is on the distance
        of a released value's ranks from the percentile's, less that of the candidate that is
        best for it; of several percentiles on the largest distance, less the largest of their
        best candidates. Sorting the drawn values does not increase the largest distance.

    Raises:
        ParameterError: An argument is out of range, or the mechanism is unknown.
        NeighboursError: Another relation.
    """
    percents, points = _percents(p), checked_candidates(candidates)
    relation = _validate.table_neighbours(neighbours)
    _validate.on_invalid(on_invalid)
    examples = [_example_by_rank(one, points, relation) for one in percents]
    draw = _of_several(percents, examples[0], epsilon, mechanism)
    several = len(percents) > 1
    return Plan(
        function="release_percentiles",
        arguments={
            "column": column,
            "p": list(percents) if several else percents[0],
            "candidates": points.tolist(),
            "on_invalid": on_invalid,
        },
        mechanism=repr(draw),
        spends=tuple(draw.spend(f"percentile {one:g}") for one in percents),
        epsilon=float(epsilon),
        neighbours=relation,
        public=("the candidates", "p", *_public_number(relation)),
        error=error_bound(
            draw,
            # The union of all candidates of all percentiles.
            candidates=points.size * len(percents),
            bound=max(example.sensitivity.bound for example in examples),
            unit="ranks",
            attained=0.0,
        ),
    )


def release_percentiles(  # noqa: PLR0913 -- keyword-only, each one a public claim
    data: object,
    *,
    column: str | None = None,
    p: Percents,
    candidates: ArrayLike,
    epsilon: float,
    neighbours: NeighboursLike,
    mechanism: str | MechanismFactory = "permute-and-flip",
    budget: SupportsSpend | None = None,
    on_invalid: OnInvalid = "repair",
) -> Release:
    """Release public values whose ranks are near those of one or several percentiles.

    Each of ``m`` percentiles is drawn with ``epsilon / m``. The values are then sorted, which
    is post-processing, so that a larger percentile never has a smaller value.

    Guarantee:
        ``epsilon``-DP under ``neighbours``; under add/remove the number of records is
        private. All arguments but ``data`` are public.

    Args:
        data: A frame, the path of a Parquet or CSV file, or an array, list or Series. Of a
            lazy frame (polars, DuckDB, PySpark) only ranks of candidates leave the engine.
        column: The numeric column, if ``data`` is a table.
        p: The percentile, in (0, 100]; or several that increase.
        candidates: The values that may be released, finite; not to be read off the data.
        epsilon: What the whole release costs, in nats; finite, > 0.
        neighbours: ``"add-remove"`` or ``"substitute"``.
        mechanism: A short name (:data:`dpselect.mechanisms.MECHANISMS`), or a function of
            ``epsilon=``. The default has never a larger expected rank error than the
            exponential mechanism.
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

    Source: Smith, STOC 2011.

    Examples:
        >>> from dpselect.percentiles import release_percentiles
        >>> release = release_percentiles(
        ...     range(1000), p=[25, 75], candidates=[0, 250, 500, 750], epsilon=20.0,
        ...     neighbours="add-remove",
        ... )
        >>> release.answer
        (250.0, 750.0)
    """
    plan = plan_percentiles(
        column=column,
        p=p,
        candidates=candidates,
        epsilon=epsilon,
        neighbours=neighbours,
        mechanism=mechanism,
        on_invalid=on_invalid,
    )
    percents, points = _percents(p), checked_candidates(candidates)
    ranks = ranks_in(data, column, points, on_invalid)
    objectives = [
        by_rank(ranks, p=one, points=points, neighbours=plan.neighbours) for one in percents
    ]
    draw = _of_several(percents, objectives[0], epsilon, mechanism)
    plan.charge(budget)
    chosen = [draw.choose(objective)[0] for objective in objectives]
    return Release(
        answer=tuple(sorted(float(points[position]) for position in chosen)),
        plan=plan,
        exact=draw.exact,
    )


def public_records(data: object, column: str, label_column: str | None = None) -> int:
    """Return the number of records of a table, which substitution makes public.

    It makes the checks of :func:`release_percentile_record` that read no value.

    Raises:
        ParameterError: The rows have no order and there is no label column.
        ColumnError, DataError: As for the release.
    """
    _check_labels(data, column, label_column)
    plain = [] if label_column is None else [label_column]
    return tables.count_records(data, numeric=[column], plain=plain)


def check_table(data: object, column: str, neighbours: NeighboursLike) -> None:
    """Make the checks of :func:`release_percentiles` on a table that read no private value.

    Raises:
        NeighboursError, ColumnError, DataError: As for the release.
    """
    tables.check_columns(data, numeric=[column])
    relation = _validate.table_neighbours(neighbours)
    if relation is Neighbours.SUBSTITUTE and tables.count_records(data, numeric=[column]) == 0:
        raise no_records()


def _for_record(
    p: float,
    upper: float,
    horizon: int,
    epsilon: float,
    mechanism: str | MechanismFactory,
    on_invalid: OnInvalid,
) -> Mechanism:
    """Return the mechanism with the public facts of the objective, and check all arguments."""
    example = percentile([0.0], p=p, upper=upper, horizon=horizon, on_invalid=on_invalid)
    return by_name(mechanism, epsilon).for_objective(example)


def _of_several(
    percents: tuple[float, ...],
    objective: Objective,
    epsilon: float,
    mechanism: str | MechanismFactory,
) -> Mechanism:
    """Return the mechanism that draws one of the percentiles."""
    each = _validate.positive("epsilon", epsilon) / len(percents)
    return by_name(mechanism, each).for_objective(objective)


def _example_by_rank(p: float, points: Values, neighbours: Neighbours) -> Objective:
    """Return the objective of one made-up record: its public facts are those of any data."""
    ranks = NumbersInMemory(np.zeros(1)).ranks(points)
    return by_rank(ranks, p=p, points=points, neighbours=neighbours)


def _percents(p: Percents) -> tuple[float, ...]:
    if isinstance(p, Sequence | np.ndarray) and not isinstance(p, str):
        percents = tuple(percent(one) for one in p)
    else:
        percents = (percent(p),)
    if not percents or any(low >= high for low, high in pairwise(percents)):
        raise ParameterError("p must be one percentile, or several distinct ones that increase")
    return percents


def _public_number(relation: Neighbours) -> tuple[str, ...]:
    return ("the number of records",) if relation is Neighbours.SUBSTITUTE else ()


def _read_records(
    data: object, column: str | None, label_column: str | None
) -> tuple[Values, list[object] | None]:
    """Return the values of all records and their labels, if there is a column of them."""
    _check_labels(data, column, label_column)
    if column is None or label_column is None:
        return tables.numeric_column(data, column), None
    table = tables.read_columns(data, numeric=[column], plain=[label_column])
    return tables.series_numbers(table[column]), table[label_column].to_list()


def _check_labels(data: object, column: str | None, label_column: str | None) -> None:
    """Refuse labels without a table, and row numbers of a table whose rows have no order."""
    if label_column is not None:
        if column is None:
            raise ParameterError(
                "label_column is for tables: name the column of the values too"
            )
    elif tables.is_lazy(data) and tables.open_table(data).implementation.is_spark_like():
        raise ParameterError(
            "rows of Spark have no order, so they have no row numbers: give label_column, or "
            "release a value with release_percentiles"
        )
