"""``dpselect percentile``: release the record or the value at a percentile."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import typer

from dpselect.cli import engines, options, output
from dpselect.cli.choices import ListsNames
from dpselect.errors import ParameterError

if TYPE_CHECKING:
    from dpselect.budget import Budget
    from dpselect.neighbours import Neighbours
    from dpselect.plan import Plan
    from dpselect.release import Release
    from dpselect.typing import Values

HELP = """Release which record holds a percentile, or which public value is near it.

Without --candidates the label of a record is released: its row number from 0, or what
--label-column says. One record's value is protected (substitution); the number of records,
their order and labels are public. With --candidates one of these public values is released.

[bold]dpselect percentile stays.parquet --column days --p 90 --upper 60 --epsilon 1[/bold]

[bold]dpselect percentile stays.csv --column days --p 90 --candidates 0:60:61 \
--neighbours add-remove --epsilon 0.5 --ledger clinic.budget[/bold]

[bold]dpselect percentile stays.csv --column days --p 25,50,75,90 --candidates 0:60:61 \
--neighbours add-remove --epsilon 1[/bold]

With --engine spark and --candidates only the ranks of the candidates leave the cluster.
"""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("percentile", help=HELP, cls=ListsNames)(percentile)


def percentile(
    data: engines.Data,
    column: Annotated[str, typer.Option(help="The numeric column.")],
    p: Annotated[
        str,
        typer.Option(
            "--p",
            help="The percentile, up to 100; or several with --candidates, as 50,90,99.",
        ),
    ],
    epsilon: options.Epsilon,
    upper: Annotated[
        float | None,
        typer.Option(help="The largest value that can occur; public. Values go from 0 to it."),
    ] = None,
    candidates: Annotated[
        str | None,
        typer.Option(help="Public values to choose from, as LOW:HIGH:COUNT."),
    ] = None,
    method: Annotated[
        str | None,
        typer.Option(help="recursive or one-by-one, with several percentiles."),
    ] = None,
    label_column: Annotated[
        str | None, typer.Option(help="A public column to release from; else the row number.")
    ] = None,
    neighbours: Annotated[
        str | None, typer.Option(help="add-remove or substitute, with --candidates.")
    ] = None,
    mechanism: Annotated[
        str | None,
        typer.Option(
            help="One of {mechanisms}; if not given, shifted for a record and "
            "permute-and-flip for a value."
        ),
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Stop at a value that is missing or out of range.")
    ] = False,
    separator: engines.Separator = None,
    engine: engines.Engine = "memory",
    master: engines.Master = None,
    ledger: options.Ledger = None,
    note: options.Note = "",
    analyst: options.Analyst = "",
    dry_run: options.DryRun = False,
    as_json: options.Json = False,
) -> None:
    """Release a record or a value at a percentile."""
    data = engines.separated(data, separator)
    which = _which_release(upper, candidates, method, label_column, neighbours)
    budget = options.open_ledger(ledger, source=data, note=note, analyst=analyst)
    table = engines.opened(data, engine, master, numeric=[column])
    shared = {
        "column": column,
        "p": which.percents(p),
        "epsilon": epsilon,
        "mechanism": which.mechanism if mechanism is None else mechanism,
        "on_invalid": "raise" if strict else "repair",
    }
    if dry_run:
        output.print_plan(which.plan(table, shared), budget, as_json=as_json)
        return
    with output.working("choosing"):
        release = which.release(table, budget, shared)
    output.print_release(release, which.chosen, budget, source=data, as_json=as_json)


@dataclass(frozen=True)
class _Record:
    """The release of the record that holds the percentile."""

    upper: float
    label_column: str | None
    chosen: ClassVar[str] = "record"
    mechanism: ClassVar[str] = "shifted"

    def percents(self, text: str) -> float:
        """Return the one percentile of a record."""
        listed = _numbers(text)
        if len(listed) > 1:
            raise ParameterError("several percentiles go with --candidates")
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


@dataclass(frozen=True)
class _Value:
    """The release of a public value near the percentile."""

    candidates: Values
    method: str | None
    neighbours: Neighbours
    chosen: ClassVar[str] = "value"
    mechanism: ClassVar[str] = "permute-and-flip"

    def percents(self, text: str) -> float | list[float]:
        """Return one percentile, or several."""
        listed = _numbers(text)
        return listed if len(listed) > 1 else listed[0]

    def plan(self, data: object, shared: dict[str, Any]) -> Plan:
        """Return the plan, after all checks of the release that read no private value."""
        from dpselect.percentiles import plan_percentiles
        from dpselect.percentiles.release import check_table

        check_table(data, shared["column"], self.neighbours)
        return plan_percentiles(
            candidates=self.candidates,
            method=self.method,  # type: ignore[arg-type]  # checked there
            neighbours=self.neighbours,
            **shared,
        )

    def release(self, data: object, budget: Budget | None, shared: dict[str, Any]) -> Release:
        from dpselect.percentiles import release_percentiles

        return release_percentiles(
            data,
            candidates=self.candidates,
            method=self.method,  # type: ignore[arg-type]  # checked there
            neighbours=self.neighbours,
            budget=budget,
            **shared,
        )


def _which_release(
    upper: float | None,
    candidates: str | None,
    method: str | None,
    label_column: str | None,
    neighbours: str | None,
) -> _Record | _Value:
    """Return which release is meant, from options that belong to one of the two each."""
    if candidates is None:
        if upper is None:
            raise ParameterError(
                "give --upper, the largest value that can occur (public), to release a "
                "record; or --candidates LOW:HIGH:COUNT to release a value"
            )
        if neighbours not in {None, "substitute"}:
            raise ParameterError(
                "--neighbours goes with --candidates: a record's label is protected under "
                "substitution"
            )
        if method is not None:
            raise ParameterError("--method goes with --candidates")
        return _Record(upper, label_column)
    if upper is not None or label_column is not None:
        raise ParameterError("--upper and --label-column do not go with --candidates")
    if neighbours is None:
        raise ParameterError("--candidates needs --neighbours: add-remove or substitute")
    return _Value(_grid(candidates), method, options.relation("--neighbours", neighbours))


def _numbers(text: str) -> list[float]:
    """Return percentiles that are separated by commas."""
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise ParameterError("--p must be a number, or several as 50,90,99") from None


def _grid(text: str) -> Values:
    """Return COUNT equally spaced values from LOW to HIGH."""
    import numpy as np

    parts = text.split(":")
    try:
        low, high, count = float(parts[0]), float(parts[1]), int(parts[2])
    except (ValueError, IndexError):
        low, high, count = 0.0, 0.0, 0
    if len(parts) != 3 or not -inf < low < high < inf or count < 2:
        raise ParameterError(
            "--candidates must be LOW:HIGH:COUNT with LOW < HIGH and COUNT >= 2, as 0:60:61"
        )
    return np.linspace(low, high, count)
