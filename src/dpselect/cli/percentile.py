"""``dpselect percentile`` and ``dpselect record``: the value or the record at a percentile."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import inf, isfinite
from typing import TYPE_CHECKING, Any, cast

from dpselect._numbers import shown
from dpselect.cli import options, output
from dpselect.cli.command import Given, Option, QueryCommand
from dpselect.errors import ParameterError

if TYPE_CHECKING:
    import typer

    from dpselect.percentiles import PercentileRecord, PercentileRelease, Percentiles
    from dpselect.release import Release

VALUE_HELP = """Release a public value near a percentile, or several.

The values are --lower, --lower + --step and so on up to --upper; without --upper there is no
end, and with --lower -inf no beginning. --assumed-records is a public guess of the number of
records, by which the method is chosen; the guarantee does not depend on it.

[bold]dpselect percentile stays.parquet --column days --p 90 --upper 60 --step 1 \
--neighbours add-remove --epsilon 1[/bold]

[bold]dpselect percentile stays.csv --column days --p 25,50,75,90 --upper 60 --step 1 \
--user patient --max-per-user 3 --neighbours add-remove --epsilon 1[/bold]

[bold]dpselect percentile pay.csv --column pay --p 99 --step 0.01 \
--assumed-records 4000 --neighbours add-remove --epsilon 1[/bold]

With --engine polars or spark only the ranks of at most 100,001 values leave the engine; with
more values the column is read.
"""

RECORD_HELP = """Release which record holds a percentile: its row number from 0, or its label.

One record's value is protected (substitution); the number of records, their order and labels
are public. At a small epsilon a value is far closer: dpselect percentile.

[bold]dpselect record stays.parquet --column days --p 90 --upper 60 --label ward \
--epsilon 10[/bold]
"""


def _percentiles() -> type[Percentiles]:
    from dpselect.percentiles import Percentiles

    return Percentiles


def _record() -> type[PercentileRecord]:
    from dpselect.percentiles import PercentileRecord

    return PercentileRecord


def _percents(given: str | tuple[str, ...], _given: Given) -> float | list[float]:
    """Return percentiles that are separated by commas, or given one by one."""
    text = given if isinstance(given, str) else ",".join(given)
    listed = options.numbers("p", text)
    if any(0 < one < 1 for one in listed):
        raise ParameterError(
            f"`p` {text} is a percentile below 1: give 90 for the share .9 of the records"
        )
    return listed if len(listed) > 1 else listed[0]


def _facts(query: Percentiles, _given: Given) -> Mapping[str, object]:
    """Return what can be released, and the error in percentiles and in units."""
    points, column, records = query.design().points, query.column, query.assumed_records
    ends = f"{shown(points[0])} to {shown(points[len(points) - 1])}"
    facts: dict[str, object] = {"values": f"{len(points):,} from {ends}, in units of {column}"}
    if records is None:
        facts[f"error in {column}"] = "give --assumed-records, such as 10000, to have it"
        return facts
    error = query.plan.error
    if error is not None and isfinite(error.value):
        share = 100 * error.value / records
        facts["error in percentiles"] = (
            f"at most {share:.3g}, if there are {records:,} records"
            if share < 100
            else f"the bound says nothing of {records:,} records"
        )
    is_open = query.upper in {None, inf} or query.lower in {None, -inf}
    if query.candidates is not None or not is_open:
        facts[f"error in {column}"] = _assumed_error(query, records)
    return facts


def _assumed_error(query: Percentiles, records: int) -> str:
    """Return how far values are from their percentiles with probability 0.95, in words."""
    from dpselect.percentiles.prediction import predicted, shapes

    design = query.design()
    errors = predicted(design, records, 0.95)
    within = [f"within about {shown(error)}" if error else "none" for error in errors.tolist()]
    each = (
        "; ".join(f"{p:g}: {one}" for p, one in zip(design.percents, within, strict=True))
        if len(within) > 1
        else within[0]
    )
    return (
        f"{each} with probability 0.95, assuming about {records:,} records of one of these "
        f"shapes: {', '.join(shapes(1))}"
    )


def _after_value(release: Release[Any], _given: Given) -> Mapping[str, object]:
    made = cast("PercentileRelease", release)
    more = {"interval": made.meaning, "chosen": made.chosen}
    return {name: one for name, one in more.items() if one is not None}


def _record_facts(query: PercentileRecord, _given: Given) -> Mapping[str, object]:
    _warn(query)
    if query.records is not None:
        return {}
    return {f"error in {query.column}": "give --records, their number, to have it"}


def _after_record(release: Release[Any], _given: Given) -> Mapping[str, object]:
    _warn(cast("PercentileRecord", release.query))
    return {}


def _warn(query: PercentileRecord) -> None:
    """Warn where the error can be the whole range, of one record if no number is given."""
    error = replace(query, records=query.records or 1).plan.error
    if error is not None and error.says_nothing:
        output.print_warning(
            "the error of a record can be the whole range at this epsilon; dpselect "
            "percentile releases a value, which is far closer"
        )


VALUE = QueryCommand(
    name="percentile",
    query=_percentiles,
    help=VALUE_HELP,
    options={
        "p": Option(
            read=_percents,
            kind=list[str],
            help="The percentile, up to 100; or several, as 50,90,99.",
        ),
        "candidates": Option(
            read=lambda text, _given: options.numbers("candidates", text),
            help="In place of a range: the values that may be released, as 0,7,14.",
        ),
    },
    numeric=("column",),
    facts=_facts,
    after=_after_value,
)

RECORD = QueryCommand(
    name="record",
    query=_record,
    help=RECORD_HELP,
    numeric=("column",),
    facts=_record_facts,
    after=_after_record,
)


def register(app: typer.Typer) -> None:
    """Add the commands."""
    VALUE.register(app)
    RECORD.register(app)
