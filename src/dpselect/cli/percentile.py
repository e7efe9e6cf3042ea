"""``dpselect percentile``: release the value, or the record, at a percentile."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from math import isfinite
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import typer

from dpselect._numbers import shown
from dpselect.cli import engines, options, output, waiting
from dpselect.cli.choices import ListsNames
from dpselect.errors import ParameterError

if TYPE_CHECKING:
    from dpselect.budget import Budget
    from dpselect.neighbours import Neighbours
    from dpselect.percentiles import Range
    from dpselect.plan import Plan
    from dpselect.release import Release
    from dpselect.typing import Values

HELP = """Release a public value near a percentile, or several.

The values are --lower, --lower + --step and so on up to --upper; without --upper there is no
end, and with --lower none no beginning. --assumed-records is a public guess of the number of
records, by which the method is chosen; the guarantee does not depend on it.

[bold]dpselect percentile stays.parquet --column days --p 90 --upper 60 --step 1 \
--neighbours add-remove --epsilon 1[/bold]

[bold]dpselect percentile stays.csv --column days --p 25,50,75,90 --upper 60 --step 1 \
--user patient --max-per-user 3 --neighbours add-remove --epsilon 1[/bold]

[bold]dpselect percentile pay.csv --column pay --quantile .99 --step 0.01 \
--assumed-records 4000 --neighbours add-remove --epsilon 1[/bold]

With --engine polars or spark only the ranks of at most 100,001 values leave the engine; with
more values the column is read.

--record releases which record holds a percentile instead: its row number from 0, or what
--label-column says. One record's value is protected (substitution); the number of records,
their order and labels are public.
"""

MOST_LISTED = 100_001
"""Values up to which they are listed; more are a range by pieces."""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("percentile", help=HELP, cls=ListsNames)(percentile)


def percentile(
    data: engines.Data,
    column: Annotated[str, typer.Option(help="The numeric column.")],
    epsilon: options.Epsilon,
    p: Annotated[
        list[str] | None,
        typer.Option("--p", help="The percentile, up to 100; or several, as 50,90,99."),
    ] = None,
    quantile: Annotated[
        list[str] | None,
        typer.Option(help="The same as a share: .9 is the 90th percentile."),
    ] = None,
    lower: Annotated[
        str, typer.Option(help="The smallest value to release; none if it is not known.")
    ] = "0",
    upper: Annotated[
        float | None,
        typer.Option(
            help="The largest; not given if it is not known. With --record, the "
            "largest value that can occur."
        ),
    ] = None,
    step: Annotated[
        float | None, typer.Option(help="The distance of two values to release.")
    ] = None,
    user: options.User = None,
    max_per_user: options.MaxPerUser = None,
    assumed_records: Annotated[
        int | None, typer.Option(help="A public guess of the number of records.")
    ] = None,
    method: Annotated[
        str | None, typer.Option(help="one-by-one, above-threshold, recursive or joint.")
    ] = None,
    record: Annotated[
        bool, typer.Option("--record", help="Release which record it is; needs --upper.")
    ] = False,
    label_column: Annotated[
        str | None,
        typer.Option(help="With --record: a public column to release; else the row number."),
    ] = None,
    neighbours: Annotated[
        str | None, typer.Option(help="add-remove or substitute: of a row or a person.")
    ] = None,
    mechanism: Annotated[
        str | None,
        typer.Option(
            help="One of {mechanisms}; if not given, shifted for a record, and for a value "
            "permute-and-flip, or the exponential one above 100,001 values."
        ),
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Stop at a value that is missing or out of range.")
    ] = False,
    where: engines.Where = None,
    separator: engines.Separator = None,
    engine: engines.Engine = "memory",
    master: engines.Master = None,
    ledger: options.Ledger = None,
    note: options.Note = "",
    analyst: options.Analyst = "",
    dry_run: options.DryRun = False,
    as_json: options.Json = False,
) -> None:
    """Release a value or a record at a percentile."""
    data = engines.rows_of(data, separator, where, "substitute" if record else neighbours)
    of_values = {
        "--step": step, "--user": user, "--max-per-user": max_per_user,
        "--assumed-records": assumed_records, "--method": method,
    }  # fmt: skip
    which: _Record | _Value
    if record:
        which = _record(upper, label_column, neighbours, lower, of_values)
    else:
        if label_column is not None:
            raise ParameterError("--label-column goes with --record")
        if step is None or neighbours is None:
            raise ParameterError(
                "give --step, the distance of two values that may be released, and "
                "--neighbours: add-remove or substitute"
            )
        which = _Value(
            _candidates(lower, upper, step),
            lower != "none" and upper is not None,
            options.relation("--neighbours", neighbours),
            user,
            max_per_user,
            assumed_records,
            method,
        )
    budget = options.open_ledger(ledger, source=data, note=note, analyst=analyst)
    table = engines.opened(data, engine, master, numeric=[column])
    shared = {
        "column": column,
        "p": which.percents(_percents(p, quantile)),
        "epsilon": epsilon,
        "on_invalid": "raise" if strict else "repair",
    }
    if mechanism is not None:
        shared["mechanism"] = mechanism
    if dry_run:
        plan = which.plan(table, shared)
        more = which.facts(plan, mechanism)
        output.print_plan(
            plan,
            budget,
            source=data,
            as_json=as_json,
            more=more,
            engine=engine,
        )
        which.warn(plan)
        return
    with waiting.working("choosing"):
        release = which.release(table, budget, shared)
    output.print_release(release, which.chosen, budget, source=data, as_json=as_json)
    which.warn(release.plan)


@dataclass(frozen=True)
class _Record:
    """The release of the record that holds the percentile."""

    upper: float
    label_column: str | None
    chosen: ClassVar[str] = "record"

    def percents(self, listed: list[float]) -> float:
        """Return the one percentile of a record."""
        if len(listed) > 1:
            raise ParameterError("--record is for one percentile")
        return listed[0]

    def plan(self, data: object, shared: dict[str, Any]) -> Plan:
        """Return the plan, after all checks of the release that read no private value."""
        from dpselect.percentiles import plan_percentile_record
        from dpselect.percentiles.record_release import public_records

        records = public_records(data, shared["column"], self.label_column)
        return plan_percentile_record(
            upper=self.upper, label_column=self.label_column, records=records, **shared
        )

    def release(self, data: object, budget: Budget | None, shared: dict[str, Any]) -> Release:
        from dpselect.percentiles import release_percentile_record

        return release_percentile_record(
            data, upper=self.upper, label_column=self.label_column, budget=budget, **shared
        )

    def facts(self, *_known: object) -> dict[str, object]:
        """Return what else is known without the data."""
        return {}

    def warn(self, plan: Plan) -> None:
        """Warn where the error can be the whole range."""
        if plan.error is not None and plan.error.value >= self.upper:
            output.print_warning(
                "the error of a record can be the whole range at this epsilon; without "
                "--record a value is released, which is far closer"
            )


@dataclass(frozen=True)
class _Value:
    """The release of public values near the percentiles."""

    candidates: Values | Range
    bounded: bool
    neighbours: Neighbours
    user: str | None
    max_per_user: int | None
    assumed_records: int | None
    method: str | None
    chosen: ClassVar[str] = "value"

    def percents(self, listed: list[float]) -> float | list[float]:
        """Return one percentile, or several."""
        return listed if len(listed) > 1 else listed[0]

    def plan(self, data: object, shared: dict[str, Any]) -> Plan:
        """Return the plan, after all checks of the release that read no private value."""
        from dpselect.percentiles import plan_percentiles
        from dpselect.percentiles.release import check_table
        from dpselect.percentiles.users import user_cap

        users = user_cap(shared["column"], self.user, self.max_per_user)
        check_table(data, shared["column"], self.neighbours, users)
        return plan_percentiles(**self._asked, **shared)

    def release(self, data: object, budget: Budget | None, shared: dict[str, Any]) -> Release:
        from dpselect.percentiles import release_percentiles

        return release_percentiles(data, **self._asked, budget=budget, **shared)

    @property
    def _asked(self) -> dict[str, Any]:
        return {
            "candidates": self.candidates,
            "neighbours": self.neighbours,
            "user": self.user,
            "max_per_user": self.max_per_user,
            "assumed_records": self.assumed_records,
            "method": self.method,
        }

    def facts(self, plan: Plan, mechanism: str | None) -> dict[str, object]:
        """Return what can be released, and the error in percentiles and in its units."""
        points = self.candidates
        first, last = points[0], points[len(points) - 1]
        column = plan.arguments["column"]
        values = f"{len(points):,} from {shown(first)} to {shown(last)}"
        facts: dict[str, object] = {"values": f"{values}, in units of {column}"}
        if not self.assumed_records:
            facts[f"error in {column}"] = "give --assumed-records, such as 10000, to have it"
            return facts
        if plan.error is not None and isfinite(plan.error.value):
            share = 100 * plan.error.value / self.assumed_records
            facts["error in percentiles"] = (
                f"at most {share:.3g}, if there are {self.assumed_records:,} records"
                if share < 100
                else f"the bound says nothing of {self.assumed_records:,} records"
            )
        if self.bounded:
            from dpselect.cli.assumed import percentile_error

            facts[f"error in {column}"] = percentile_error(plan, self._asked, mechanism)
        return facts

    def warn(self, plan: Plan) -> None:
        """Warn of nothing: the plan states the error."""


def _record(
    upper: float | None,
    label_column: str | None,
    neighbours: str | None,
    lower: str,
    of_values: Mapping[str, object],
) -> _Record:
    """Return the release of a record, with none of the options of values."""
    given = [option for option, value in of_values.items() if value is not None]
    if given or lower != "0":
        raise ParameterError(f"{given[0] if given else '--lower'} does not go with --record")
    if neighbours not in {None, "substitute"}:
        raise ParameterError("with --record the relation is substitute: leave --neighbours out")
    if upper is None:
        raise ParameterError("--record needs --upper, the largest value that can occur")
    return _Record(upper, label_column)


def _percents(p: list[str] | None, quantile: list[str] | None) -> list[float]:
    """Return percentiles that are separated by commas, or given one by one.

    Raises:
        ParameterError: They are no numbers, or look like shares.
    """
    if bool(p) == bool(quantile):
        raise ParameterError("give --p, such as 90, or --quantile, such as .9")
    text = ",".join(p or quantile or ())
    try:
        listed = [Decimal(part) for part in text.split(",")]
    except InvalidOperation:
        option = (
            "--quantile must be a number, or several as .5,.9"
            if not p
            else ("--p must be a number, or several as 50,90,99")
        )
        raise ParameterError(option) from None
    if not p:
        return [float(100 * one) for one in listed]
    if any(0 < one < 1 for one in listed):
        raise ParameterError(
            f"--p {text} is a percentile below 1: say --quantile {text} for a share of the "
            "records"
        )
    return [float(one) for one in listed]


def _candidates(lower: str, upper: float | None, step: float) -> Values | Range:
    """Return the values that may be released, listed if they are few."""
    import numpy as np

    from dpselect.percentiles import Range

    try:
        low = None if lower == "none" else float(lower)
    except ValueError:
        raise ParameterError("--lower must be a number, or none") from None
    points = Range(low, upper, step)
    if len(points) > MOST_LISTED:
        return points
    return np.array([points[position] for position in range(len(points))])
