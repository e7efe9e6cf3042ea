"""Plans and releases of the record at a percentile: a label."""

from __future__ import annotations

from dpselect import _validate, tables
from dpselect.accuracy import error_bound
from dpselect.errors import ParameterError
from dpselect.mechanisms import Mechanism, MechanismFactory, by_name
from dpselect.neighbours import Neighbours
from dpselect.passes import Pass
from dpselect.percentiles.objectives import percentile, rank_of
from dpselect.plan import ErrorBound, Plan, SupportsSpend
from dpselect.release import Release
from dpselect.typing import OnInvalid, Values

MOST_RECORDS = 2**53
"""Whose positions a float tells apart."""


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
    rank_of(p, _validate.at_least("records", records, 0, MOST_RECORDS))
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
        passes=(Pass(records),),
        error=ErrorBound(error.value, unit, error.probability, largest=float(upper)),
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
    below ``ln(n)``, :func:`~dpselect.percentiles.release_percentiles` is far closer.

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
