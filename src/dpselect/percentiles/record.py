"""The record at a percentile, released by its label: its query, scores and sensitivity.

Private values that do not fit their public range are repaired record by record. An exception
instead would be an output that depends on one record, outside the guarantee. A repair of each
record by itself maps neighbours to neighbours, so the guarantee holds for the data as given.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import Annotated, Any

import numpy as np
from numpy.typing import ArrayLike

from dpselect import tables, validation
from dpselect.errors import ParameterError, PublicClaimError
from dpselect.mechanisms import Mechanism, MechanismLike, NoisySequence, by_name
from dpselect.mechanisms.base import released
from dpselect.neighbours import Neighbours
from dpselect.objective import Objective
from dpselect.percentiles.objectives import exact_fraction, percent
from dpselect.percentiles.reading import checked_column, no_records
from dpselect.plan import Plan
from dpselect.query import ANYTHING, NOTHING, Claim, Columns, Design, Query, query
from dpselect.release import Release
from dpselect.sensitivity import GlobalSensitivity, Sensitivity, weighted_sum
from dpselect.tables.values import listed
from dpselect.typing import OnInvalid, Values

OF_THE_OBJECTIVE = ("p", "upper", "horizon", "missing_as", "on_invalid")
"""Fields of the query that its objective is made of."""

APART = 1 / 64
"""Share of the global sensitivity in that of the default. Among values of 0 and ``upper`` alone
a shifted score by the local one can tie the record at the percentile with the farthest."""


def percentile(
    values: ArrayLike,
    *,
    p: float,
    upper: float,
    labels: Sequence[Hashable] | None = None,
    horizon: int = 1,
    missing_as: float = 0.0,
    on_invalid: OnInvalid = "repair",
) -> Objective:
    """Return the objective whose best candidates are the records at the percentile.

    The candidates are the records' labels, ``u_r = -|x_(k) - x_r|`` with ``k = ⌈p(n+1)/100⌉``,
    at most ``n``.

    Guarantee:
        For substitution: one record's value is replaced. The number of records, their
        labels, ``p``, ``upper`` and ``horizon`` are public.

    Args:
        values: One number per record, shape ``(n,)``, ``n >= 1``: an array, a list or a
            Series. Private. Repaired record by record: below 0 to 0, above ``upper`` to
            ``upper``, missing to ``missing_as``.
        p: The percentile, in [1, 100].
        upper: The largest value that can occur, Λ; finite, > 0. Not derived from the data.
        labels: Label to release for each record; by default row numbers from 0.
        horizon: From this distance on the sensitivity is taken to be ``upper``. Plain
            dampening looks only at distance 0, and the shifted mechanism is best near 1
            on the histograms of ``docs/report/measurements.md`` and up to twice worse without.
        missing_as: Value that replaces a missing one, in ``[0, upper]``. Public.
        on_invalid: ``"raise"`` instead of repairing, if it is public that nothing needs it.

    Returns:
        Scores in the units of the values; never above 0, which is stated as ``highest``.

    Raises:
        ParameterError: ``p``, ``upper``, ``horizon``, ``missing_as`` or ``labels`` is out of
            range.
        DataError: ``values`` is empty or not numeric.
        PublicClaimError: A value is missing or out of range and ``on_invalid="raise"``.

    Source: Farias et al., VLDB J. 2023, section 5 (there ``k`` can be ``n + 1``).

    Examples:
        >>> from dpselect.percentiles import percentile
        >>> objective = percentile([1, 5, 2], p=50, upper=10, labels=["a", "b", "c"])
        >>> [float(score) for score in objective.scores]
        [-1.0, -3.0, 0.0]
    """
    upper = validation.positive("upper", upper)
    missing_as = validation.within("missing_as", missing_as, 0, upper)
    on_invalid = validation.one_of("on_invalid", on_invalid, OnInvalid)
    numbers = _clamped(tables.numeric_column(values), upper, missing_as, on_invalid)
    k = rank_of(p, numbers.size)
    if labels is not None and len(labels) != numbers.size:
        raise ParameterError(
            f"`labels` must be {numbers.size}, one a record, not {len(labels)}"
        )
    chosen = np.partition(numbers, k - 1)[k - 1]
    return Objective(
        0.0 - np.abs(chosen - numbers),
        PercentileSensitivity(numbers, k, upper, validation.at_least("horizon", horizon, 0)),
        candidates=labels,
        highest=0.0,
        # On the histograms of docs/report/measurements.md; any direction is admissible.
        direction="non-decreasing",
    )


def rank_of(p: float, n: int) -> int:
    """Return ``k = ⌈p(n+1)/100⌉``, cut to 1 to ``n``.

    Args:
        p: The percentile, in [1, 100].
        n: The number of records, >= 1.

    Raises:
        ParameterError: ``p`` is out of range.
        DataError: There is no record.
    """
    # In floats 0.07 * 100 is above 7.
    fraction = exact_fraction(percent(p))
    if n == 0:
        raise no_records()
    return min(max(ceil(fraction * (n + 1)), 1), n)


def _clamped(numbers: Values, upper: float, missing_as: float, on_invalid: OnInvalid) -> Values:
    """Return values in ``[0, upper]``, and a public one in place of each that is missing.

    Dropping a missing one would make the number of records private and leave its label
    without a score; under substitution every record keeps its place.
    """
    if on_invalid == "raise" and not ((numbers >= 0) & (numbers <= upper)).all():
        raise PublicClaimError(
            "a value is missing or outside [0, upper], which `on_invalid`='raise' declares "
            "impossible; `on_invalid`='repair' takes it as the nearest end, a missing one as "
            "`missing_as`"
        )
    return np.clip(np.nan_to_num(numbers, nan=missing_as, posinf=upper, neginf=0.0), 0.0, upper)


class PercentileSensitivity(Sensitivity):
    """Equal to ``LS(x, t, r)`` of ``u_r = -|x_(k) - x_r|`` below the horizon.

    Let ``X_1 ≤ ... ≤ X_n`` be the sorted values in ``[0, Λ]``, with ``X_j = 0`` for ``j < 1``
    and Λ for ``j > n``, and let ``s ≤ X_k`` be the value of a candidate that is sorted before
    the percentile ``X_k``. Its element local sensitivity is, for ``t ≥ 2``,

        max{X_(k+t-1), Λ - X_(k-t+2), X_(k+t) - s, Λ - X_(k-t+1) - (X_(k-t) - s)^+},

    for ``t = 1`` the same with ``X_(k+2) - X_k`` among the terms, and for ``t = 0``
    ``max{X_(k+1) - X_k, X_k - s, s, Λ - X_(k+1) - X_k + s}``. A candidate sorted after the
    percentile is one before it in the reflected database ``Λ - x``.

    After one sort every candidate and distance costs O(1). From distance ``min(k, n - k + 1) +
    1`` on it is the bound at every database, so a larger horizon changes nothing.

    Args:
        values: The records' values in ``[0, upper]``, shape ``(n,)``. Private.
        k: Rank of the percentile, 1 to ``n``. Public.
        upper: ``Λ = Δ``. Public.
        horizon: The distance from which on the bound is used. Public.

    Guarantee:
        Admissible under substitution, with ``n``, ``k`` and ``upper`` public.

    Source: ours; equal to the O(1) form in ``docs/report`` and to Definition 5 of Farias
    et al., VLDB J. 2023, in every cell that the tests enumerate. The forms in the paper
    (Lemma 10, Algorithm 2) are not equal to it: one is too large, the other not admissible.
    """

    def __init__(self, values: Values, k: int, upper: float, horizon: int) -> None:
        n = values.size
        super().__init__(
            upper, Neighbours.SUBSTITUTE, horizon=min(horizon, min(k, n - k + 1) + 1)
        )
        self._order, self._k = np.argsort(values, kind="stable"), k
        self._ordered = values[self._order]

    def _local(self, distance: int) -> Values:
        upper, n, k = self.bound, self._order.size, self._k
        ordered, reflected = self._ordered, upper - self._ordered[::-1]
        after_it = _up_to_it(reflected, n - k + 1, upper, distance)[:-1]
        changes = np.append(_up_to_it(ordered, k, upper, distance), after_it[::-1])
        before, here, after = np.pad(ordered, 1, constant_values=(0, upper))[k - 1 : k + 2]
        if distance == 0:
            # It moves away from the percentile only if another record takes its place: with
            # k = 1 nobody is left below it to rise, with k = n nobody above it to fall.
            moved = (k > 1) * (after - here), (k < n) * (here - before)
            changes[k - 1] = max(before, upper - after, *moved)
        elif distance == 1:
            changes[k - 1] = max(changes[k - 1], after - before)
        found = np.zeros(n)
        if n > 1:
            found[self._order] = changes
        return found


def _up_to_it(ordered: Values, k: int, upper: float, t: int) -> Values:
    """Return the sensitivity at distance ``t`` of the candidates sorted up to the percentile.

    Args:
        ordered: The values of all records, ascending, in ``[0, upper]``.
        k: The percentile's rank.
        upper: The public upper end.
        t: The distance, below the horizon.
    """
    # By ranks, of which the horizon leaves one before the first and two after the last.
    x = np.pad(ordered, (1, 2), constant_values=(0, upper))
    values = x[1 : k + 1]
    if t == 0:
        moved = np.maximum(x[k] - values, np.maximum(values, upper - x[k + 1] - x[k] + values))
        return np.maximum(moved, x[k + 1] - x[k])
    least = max(x[k + t - 1], upper - x[k - t + 2], x[k + 2] - x[k] if t == 1 else 0.0)
    fallen = upper - x[k - t + 1] - np.maximum(x[k - t] - values, 0)
    return np.maximum(np.maximum(x[k + t] - values, fallen), least)


@query
class PercentileRecord(Query[Release[Any]]):
    """The label of a record whose value is near the percentile.

    Use it if the answer must be a record. One individual determines the value of a record, so
    no mechanism that treats all labels equally can release the best of ``n`` with a probability
    above ``exp(2 epsilon)/(exp(2 epsilon) + n - 1)``. If a *value* is wanted and epsilon is
    below ``ln(n)``, ``Percentiles`` is far more accurate.

    Data are a frame, the path of a Parquet or CSV file, or an array, list or Series. Every
    record is a candidate, so its column is read into memory, also from a lazy frame.

    Guarantee:
        ``epsilon``-DP under substitution of one record's value. The number of records, their
        order, their labels and all fields are public.

    Attributes:
        column: Name of the numeric column.
        label: Public column of labels to release; by default row numbers from 0.
        p: Percentile, above 0 and up to 100.
        upper: The largest possible value. Values are clamped to ``[0, upper]``. Not derived
            from the data.
        horizon: Distance from which on the sensitivity is ``upper``. At least 0. The default is
            the best one of the shifted mechanism on three histograms.
        missing_as: Value that replaces a missing one, in ``[0, upper]``. Without a value a
            record would have no score, and which records can be released would be private.
        epsilon: Price of the release, in nats; finite, > 0.
        mechanism: Mechanism that draws the record, by default ``"shifted"``. A short name
            (``dpselect.mechanisms.MECHANISMS``), or a function of ``epsilon=``. The default has
            the least expected error on average over three histograms.
        on_invalid: ``"repair"`` or ``"raise"``, for values that are missing or out of range.
            They are replaced by the nearest end, or by ``missing_as``; use raise if it is
            public that there are none.

    Source: Farias et al., VLDB J. 2023, section 5.

    Examples:
        >>> import dpselect as dp
        >>> days = dp.PercentileRecord(p=90, upper=30, epsilon=1.0)
        >>> days.release([3, 1, 4, 1, 5, 9]).candidate in range(6)
        True
    """

    column: str | None = None
    label: Annotated[str | None, Claim()] = None
    p: float
    upper: float
    horizon: int = 1
    missing_as: float = 0.0
    epsilon: float
    mechanism: MechanismLike | None = None
    on_invalid: Annotated[OnInvalid, Claim("repair")] = "repair"

    def heads(self) -> tuple[str, str]:
        return self.label or "record", super().heads()[1]

    def predicted(self) -> dict[str, object]:
        """Return that no bound on the error below the range holds on all data."""
        return {
            "beware": "where epsilon is below ln(n), of n records, the error can be the whole "
            "range; Percentiles, or dpselect percentile, releases a value, which is far closer"
        }

    def reads(self) -> Columns:
        label = () if self.label is None else ((self.label, ANYTHING),)
        return ((self.column_named(), NOTHING), *label)

    def design(self) -> _RecordDesign:
        validation.different_columns(column=self.column, label=self.label)
        if self.label is not None and self.column is None:
            raise validation.needs("label", "column", of="values")
        named = "shifted" if self.mechanism is None else self.mechanism
        draw, facts = by_name(named, self.epsilon), _objective(self, np.zeros(1))
        # Noise on all scores is made for the number of records, which those that are read have.
        draw = draw if isinstance(draw, NoisySequence) else draw.for_objective(facts)
        return _RecordDesign(
            plan=Plan(
                mechanism=str(draw),
                spends=(draw.spend(draw.purpose),),
                epsilon=draw.epsilon,
                neighbours=Neighbours.SUBSTITUTE,
                public=(
                    "the number, the order and the labels of the records", "p", "upper",
                    "horizon", f"that a missing value counts as {self.missing_as:g}",
                ),
                passes=1,
            ),
            exact=draw.exact,
            query=self,
            draw=draw,
        )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class _RecordDesign(Design[Release[Any]]):
    query: PercentileRecord
    draw: Mechanism

    def check(self, data: object) -> None:
        self._check_order(data)
        if (column := checked_column(data, self.query.column)) is not None:
            plain = [] if self.query.label is None else [self.query.label]
            if tables.count_records(data, numeric=[column], plain=plain) == 0:
                raise no_records()

    def prepare(self, data: object) -> Callable[[Plan], Release[Any]]:
        self._check_order(data)
        values, labels = self._read(data)
        objective = _objective(self.query, values, labels)
        return released(objective.candidates, self.draw.prepare(objective, 1))

    def _read(self, data: object) -> tuple[Values, list[Hashable] | None]:
        """Return the values of all records and their labels, if there is a column of them."""
        column, label = self.query.column, self.query.label
        if column is None or label is None:
            return tables.numeric_column(data, column), None
        table = tables.read_columns(data, numeric=[column], plain=[label])
        return tables.series_numbers(table[column]), listed(table[label])

    def _check_order(self, data: object) -> None:
        """Refuse row numbers of a table whose rows have no order."""
        if self.query.label is None and not tables.is_ordered(data):
            raise ParameterError(
                "rows of Spark have no order, so they have no row numbers: give `label`, or "
                "release a value with Percentiles"
            )


def _objective(
    query: PercentileRecord, values: Values, labels: list[Hashable] | None = None
) -> Objective:
    asked: Any = {name: getattr(query, name) for name in OF_THE_OBJECTIVE}
    made = percentile(values, labels=labels, **asked)
    if query.mechanism is not None:
        return made
    whole = GlobalSensitivity(made.sensitivity.bound, Neighbours.SUBSTITUTE)
    apart = weighted_sum([made.sensitivity, whole], [1 - APART, APART])
    return replace(made, sensitivity=apart)
