"""The record at a percentile, released by its label."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from typing import Annotated, Any

import numpy as np

from dpselect import tables, validation
from dpselect.errors import ParameterError, PublicClaimError
from dpselect.mechanisms import Mechanism, MechanismLike, NoisySequence, by_name
from dpselect.mechanisms.base import released
from dpselect.neighbours import Neighbours
from dpselect.objective import Objective
from dpselect.percentiles.objectives import percentile
from dpselect.percentiles.reading import checked_column, no_records
from dpselect.plan import ErrorBound, Plan
from dpselect.query import ANYTHING, NOTHING, Claim, Columns, Design, Query, query
from dpselect.release import Release
from dpselect.sensitivity import GlobalSensitivity, weighted_sum
from dpselect.tables.values import listed
from dpselect.typing import OnInvalid, Values

APART = 1 / 64
"""Share of the global sensitivity in that of the default. Among values of 0 and ``upper`` alone
a shifted score by the local one can tie the record at the percentile with the farthest."""


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
        records: Number of records, with which an error bound can be stated. Data with another
            number are refused.
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
    records: Annotated[int | None, Claim(None)] = None
    epsilon: float
    mechanism: MechanismLike | None = None
    on_invalid: Annotated[OnInvalid, Claim("repair")] = "repair"

    def heads(self) -> tuple[str, str]:
        return self.label or "record", super().heads()[1]

    def predicted(self) -> dict[str, object]:
        """Return what the bound on the error needs, or that it says nothing."""
        of_one = replace(self, records=self.records or 1).plan.error
        known: dict[str, object] = {}
        if self.records is None:
            known[f"error in {self.column}"] = "give `records`, their number, to have it"
        if of_one is not None and of_one.says_nothing:
            known["beware"] = (
                "the error can be the whole range at this epsilon; Percentiles, or dpselect "
                "percentile, releases a value, which is far closer"
            )
        return known

    def reads(self) -> Columns:
        label = () if self.label is None else ((self.label, ANYTHING),)
        return ((self.column_named(), NOTHING), *label)

    def design(self) -> _RecordDesign:
        for name in ("column", "label"):
            if getattr(self, name) is not None:
                validation.instance(name, getattr(self, name), str)
        if self.label is not None and self.column is None:
            raise validation.needs("label", "column", of="values")
        named = "shifted" if self.mechanism is None else self.mechanism
        draw, facts = by_name(named, self.epsilon), _objective(self, np.zeros(1))
        # Noise on all scores is made for the number of records, which those that are read have.
        draw = draw if isinstance(draw, NoisySequence) else draw.for_objective(facts)
        records = self.records
        if records is not None:
            records = validation.at_least("records", records, 1, validation.EXACT)
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
                error=None if records is None else self._error(draw, records),
                passes=1,
            ),
            exact=draw.exact,
            query=self,
            draw=draw,
        )  # fmt: skip

    def _error(self, draw: Mechanism, records: int) -> ErrorBound:
        return draw.error_bound(
            candidates=records,
            bound=self.upper,
            unit="units of the values" if self.column is None else f"units of {self.column}",
            attained=0.0,
            largest=float(self.upper),
        )


@dataclass(frozen=True, kw_only=True)
class _RecordDesign(Design[Release[Any]]):
    query: PercentileRecord
    draw: Mechanism

    def check(self, data: object) -> None:
        self._check_order(data)
        if (column := checked_column(data, self.query.column)) is None:
            return
        plain = [] if self.query.label is None else [self.query.label]
        records = tables.count_records(data, numeric=[column], plain=plain)
        if records == 0:
            raise no_records()
        self._check_number(records)

    def prepare(self, data: object) -> Callable[[Plan], Release[Any]]:
        self._check_order(data)
        values, labels = self._read(data)
        objective = _objective(self.query, values, labels)
        self._check_number(values.size)
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

    def _check_number(self, records: int) -> None:
        if self.query.records not in {None, records}:
            raise PublicClaimError("the data have another number of records than `records`")


def _objective(
    query: PercentileRecord, values: Values, labels: list[Hashable] | None = None
) -> Objective:
    made = percentile(
        values,
        p=query.p,
        upper=query.upper,
        labels=labels,
        horizon=query.horizon,
        missing_as=query.missing_as,
        on_invalid=query.on_invalid,
    )
    if query.mechanism is not None:
        return made
    whole = GlobalSensitivity(made.sensitivity.bound, Neighbours.SUBSTITUTE)
    apart = weighted_sum([made.sensitivity, whole], [1 - APART, APART])
    return Objective(
        made.scores, apart, candidates=made.candidates, highest=0.0, direction=made.direction
    )
