"""From a table to a published percentile, in one call."""

from __future__ import annotations

from numpy.typing import ArrayLike

from dpselect import _validate, tables
from dpselect.errors import ParameterError
from dpselect.mechanisms import Mechanism, MechanismFactory, by_name
from dpselect.neighbours import Neighbours
from dpselect.percentiles.rank import percentile_rank, percentile_rank_of_column
from dpselect.percentiles.selection import percent, percentile
from dpselect.percentiles.values import OnInvalid
from dpselect.plan import SupportsSpend
from dpselect.release import Release


def mechanism_for(mechanism: str | MechanismFactory, epsilon: float) -> Mechanism:
    """Return the mechanism that a percentile is selected with.

    No score here is above 0, which is the public anchor; and on the histograms of
    ``docs/percentiles.md`` larger scores go with larger sensitivities.

    Args:
        mechanism: A short name, or a function of ``epsilon=``.
        epsilon: What one release costs, in nats.

    Raises:
        ParameterError: There is no such mechanism.
    """
    return by_name(mechanism, epsilon)


def select_percentile(  # noqa: PLR0913 -- keyword-only, each one a public claim
    data: object,
    *,
    column: str | None = None,
    p: float,
    upper: float,
    epsilon: float,
    mechanism: str | MechanismFactory = "shifted",
    label_column: str | None = None,
    budget: SupportsSpend | None = None,
    on_invalid: OnInvalid = "repair",
) -> Release:
    """Release the label of a record whose value is near the percentile.

    Use it where the answer must be a record. One person sets one record's value at will, so
    no mechanism that treats labels alike releases the best of ``n`` with probability above
    ``exp(2 epsilon)/(exp(2 epsilon) + n - 1)``; where a *value* is wanted, and this epsilon
    is below ``ln(n)``, :func:`select_percentile_value` is far closer.

    Guarantee:
        ``epsilon``-DP under substitution of one record's value. The number of records,
        their order, their labels and all arguments but ``data`` are public.

    Args:
        data: A frame, the path of a Parquet or CSV file, or an array, list or Series. Every
            record is a candidate, so its column is read into memory, also from a lazy frame.
        column: The numeric column, if ``data`` is a table.
        p: The percentile, in (0, 100].
        upper: The largest value that can occur; values are repaired into ``[0, upper]``.
        epsilon: What the release costs, in nats.
        mechanism: A short name, or a function of ``epsilon=`` such as
            ``dpselect.PermuteAndFlip``. The default has the least expected error on
            average over the histograms of ``docs/percentiles.md``.
        label_column: A public column to release from; row numbers from 0 if not given.
        budget: Where to record the spend, before anything is drawn.
        on_invalid: ``"raise"`` if it is public that no value needs repair.

    Raises:
        ParameterError: An argument is out of range, or the mechanism is unknown.
        ColumnError: A column is missing or not numeric.
        DataError: The data cannot be read, or hold no records.
        InsufficientBudgetError: The budget does not allow it.

    Source: Farias et al., VLDB J. 2023, section 5.
    """
    how = mechanism_for(mechanism, epsilon)
    percent(p)
    _validate.positive("upper", upper)
    labels = None
    if label_column is None:
        _refuse_unordered(data)
        values = tables.numeric_column(data, column)
    elif column is None:
        raise ParameterError("label_column is for tables: name the column of the values too")
    else:
        table = tables.read_columns(data, numeric=[column], plain=[label_column])
        values = tables.series_numbers(table[column])
        labels = table[label_column].to_list()
    objective = percentile(values, p=p, upper=upper, labels=labels, on_invalid=on_invalid)
    return how.release(objective, budget=budget)


def select_percentile_value(  # noqa: PLR0913 -- keyword-only, each one a public claim
    data: object,
    *,
    column: str | None = None,
    p: float,
    candidates: ArrayLike,
    epsilon: float,
    neighbours: Neighbours,
    mechanism: str | MechanismFactory = "permute-and-flip",
    budget: SupportsSpend | None = None,
    on_invalid: OnInvalid = "repair",
) -> Release:
    """Release a public value whose rank is near the percentile's.

    Guarantee:
        ``epsilon``-DP under ``neighbours``; under add/remove the number of records is
        private. All arguments but ``data`` are public.

    Args:
        data: A frame, the path of a Parquet or CSV file, or an array, list or Series. Of a
            lazy frame (polars, DuckDB, PySpark) only ranks of candidates leave the engine.
        column: The numeric column, if ``data`` is a table.
        p: The percentile, in (0, 100].
        candidates: The values that may be released; not to be read off the data.
        epsilon: What the release costs, in nats.
        neighbours: ``Neighbours.ADD_REMOVE`` or ``Neighbours.SUBSTITUTE``.
        mechanism: A short name, or a function of ``epsilon=``. The default has never a
            larger expected rank error than the exponential mechanism.
        budget: Where to record the spend, before anything is drawn.
        on_invalid: ``"raise"`` if it is public that no value is missing.

    Raises:
        ParameterError: An argument is out of range, or the mechanism is unknown.
        NeighboursError: Another relation than the two.
        ColumnError: The column is missing or not numeric.
        DataError: The data cannot be read.
        InsufficientBudgetError: The budget does not allow it.

    Source: Smith, STOC 2011.
    """
    how = mechanism_for(mechanism, epsilon)
    percent(p)
    if column is not None and tables.is_lazy(data):
        objective = percentile_rank_of_column(
            data,
            column,
            p=p,
            candidates=candidates,
            neighbours=neighbours,
            on_invalid=on_invalid,
        )
    else:
        objective = percentile_rank(
            tables.numeric_column(data, column),
            p=p,
            candidates=candidates,
            neighbours=neighbours,
            on_invalid=on_invalid,
        )
    return how.release(objective, budget=budget)


def _refuse_unordered(data: object) -> None:
    """Refuse to release a row number of a table whose rows have none."""
    if tables.is_lazy(data) and tables.open_table(data).implementation.is_spark_like():
        raise ParameterError(
            "rows of Spark have no order, so a row number says nothing: give label_column, or "
            "release a value with select_percentile_value"
        )
