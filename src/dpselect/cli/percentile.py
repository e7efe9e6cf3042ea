"""``dpselect percentile`` and ``dpselect record``: the value or the record at a percentile."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import isfinite
from typing import TYPE_CHECKING, Any

from dpselect.cli import options, output
from dpselect.cli.command import Given, Option, QueryCommand
from dpselect.cli.keys import BY
from dpselect.writing import as_text, digits

if TYPE_CHECKING:
    from dpselect.percentiles import PercentileRecord, PercentileRelease, Percentiles
    from dpselect.release import Release


def _percents(given: str | tuple[str, ...], _given: Given) -> float | list[float]:
    """Return percentiles that are separated by commas, or given one by one."""
    listed = options.numbers("p", given if isinstance(given, str) else ",".join(given))
    return listed if len(listed) > 1 else listed[0]


def _quantities(text: str, _given: Given) -> list[object]:
    from dpselect.percentiles.units import quantity

    return [quantity("candidates", part) for part in text.split(",")]


class Percentile(QueryCommand):
    """Release a public value near a percentile, or several.

    The candidates are --lower, --lower + --step and so on up to --upper. Without --upper they
    have no upper end, and with --lower -inf no lower end.

    $ dpselect percentile stays.parquet --column days --p 90 --upper 60 --step 1
    --neighbours add-remove --epsilon 1

    $ dpselect percentile stays.csv --column days --p 25,50,75,90 --upper 60 --step 1
    --user patient --max-per-user 3 --neighbours add-remove --epsilon 1

    $ dpselect percentile pay.csv --column pay --p 99 --step 0.01
    --neighbours add-remove --epsilon 1

    $ dpselect percentile stays.parquet --column days --p 50,90 --upper 60 --step 1
    --by ward --groups wards.txt --neighbours add-remove --epsilon 1

    With --by every group gets an answer, for one epsilon in total. The groups are public
    (--groups), or those with enough people, which needs --delta.

    $ dpselect percentile stays.csv --column discharged --minus admitted --p 90 --upper 60d
    --step 1d --neighbours add-remove --epsilon 1

    With another --engine than memory only ranks leave it, if there are at most 100,001
    candidates; otherwise the column is read.

    Args:
        p: Percentile, up to 100; or several, as 50,90,99.
        interval: Probability with which an interval around each value contains the percentile,
            by default 0.95; 0 for no intervals.
        candidates: The candidates, instead of a range, as 0,7,14.
        groups: The public groups: a list as a,b,c, or a text file with one per line; with
            several columns repeat it, a list for each column.
    """

    name, query, numeric = "percentile", "Percentiles", ("column",)
    options = {
        "p": Option(read=_percents, kind=list[str]),
        "interval": Option(read=lambda given, _given: given or None, kind=float, default=0.95),
        "candidates": Option(read=_quantities),
        "groups": BY["groups"],
    }

    def facts(self, query: Percentiles, given: Given) -> Mapping[str, object]:
        """Return what can be released, and the error in percentiles and in units."""
        made, column, records = query.design(), query.column, query.assumed_records
        design: Any = getattr(made, "each", made)
        points, unit = design.points, design.unit
        ends = " to ".join(_in_unit(unit.value(points[at])) for at in (0, len(points) - 1))
        facts: dict[str, object] = {
            "values": f"{len(points):,} from {ends}, in units of {column}"
        }
        if query.ends_early is not None:
            facts["values end"] = query.ends_early.replace("`lower`", "--lower")
        error = query.plan.error
        if records is not None and error is not None and isfinite(error.value):
            share = 100 * error.value / records
            facts["error in percentiles"] = (
                f"at most {share:.3g}, if there are {records:,} records"
                if share < 100
                else f"no useful bound for {records:,} records"
            )
        if (within := query.expected_error()) is not None:
            facts[f"error in {column}"] = within
        return facts

    def after(self, release: PercentileRelease, given: Given) -> Mapping[str, object]:
        """Return the noisy number of records, and what else was found."""
        query: Any = release.query
        more = {
            "values": query.ends_early and query.ends_early.replace("`lower`", "--lower"),
            "rows": release.records_in_words,
            "likely error": release.expected_error,
        }
        return {name: one for name, one in more.items() if one is not None}


def _in_unit(value: object) -> str:
    return digits(value) if isinstance(value, int | float) else as_text(value)


class Record(QueryCommand):
    """Release which record holds a percentile, rarely what you want.

    The answer is its row number from 0, or its label. This is PercentileSelection (local
    dampening): --mechanism exponential, permute-and-flip and local-dampening are its EM, PF and
    LD; the default is the shifted form.

    Neighbours differ in the value of one record (substitution); the number of records, their
    order and labels are public. At a small epsilon 'dpselect percentile' is far more accurate.

    $ dpselect record stays.parquet --column days --p 90 --upper 60 --label ward --epsilon 10
    """

    name, query, numeric = "record", "PercentileRecord", ("column",)
    left_out = ("where",)

    def facts(self, query: PercentileRecord, given: Given) -> Mapping[str, object]:
        """Return what the error needs to be known."""
        _warn(query)
        if query.records is not None:
            return {}
        return {f"error in {query.column}": "give --records, their number, to have it"}

    def after(self, release: Release[Any], given: Given) -> Mapping[str, object]:
        """Warn of a useless answer."""
        _warn(release.query)
        return {}


def _warn(query: Any) -> None:
    """Warn where the error can be the whole range, of one record if no number is given."""
    error = replace(query, records=query.records or 1).plan.error
    if error is not None and error.says_nothing:
        output.print_warning(
            "the error of a record can be the whole range at this epsilon; dpselect "
            "percentile releases a value, which is far closer"
        )
