"""``dpselect percentile``: release the record or the value at a percentile."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import typer

from dpselect.cli import engines, options, output
from dpselect.errors import ParameterError

if TYPE_CHECKING:
    from dpselect.neighbours import Neighbours
    from dpselect.release import Release
    from dpselect.typing import Values

HELP = """Release which record holds a percentile, or which public value is near it.

Without --candidates the label of a record is released: its row number from 0, or what
--label-column says. One record's value is protected (substitution); the number of records,
their order and labels are public. With --candidates one of these public values is released.

[bold]dpselect percentile stays.parquet --column days --p 90 --upper 60 --epsilon 1[/bold]

[bold]dpselect percentile stays.csv --column days --p 90 --candidates 0:60:61 \
--neighbours add-remove --epsilon 0.5 --ledger clinic.budget[/bold]

With --engine spark only the ranks of the candidates leave the cluster.
"""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("percentile", help=HELP)(percentile)


def percentile(
    data: engines.Data,
    column: Annotated[str, typer.Option(help="The numeric column.")],
    p: Annotated[float, typer.Option("--p", help="The percentile, above 0, up to 100.")],
    epsilon: options.Epsilon,
    upper: Annotated[
        float | None,
        typer.Option(help="The largest value that can occur; public. Values go from 0 to it."),
    ] = None,
    candidates: Annotated[
        str | None,
        typer.Option(help="Public values to choose from, as LOW:HIGH:COUNT."),
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
            help="exponential, permute-and-flip, noisy-max, local-dampening, shifted, "
            "anchored or pairwise; the best on average if not given."
        ),
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Stop at a value that is missing or out of range.")
    ] = False,
    engine: engines.Engine = "memory",
    master: engines.Master = None,
    ledger: options.Ledger = None,
    dry_run: options.DryRun = False,
    as_json: options.Json = False,
) -> None:
    """Release a record or a value at a percentile."""
    question = _question(upper, candidates, label_column, neighbours)
    name = question.mechanism if mechanism is None else mechanism
    budget = options.open_ledger(ledger)
    table = engines.opened(data, engine, master, numeric=[column])
    if dry_run:
        output.print_plan(question.plan(table, column, name, epsilon), budget, as_json=as_json)
        return
    with output.working("choosing"):
        release = question.release(
            table,
            column=column,
            p=p,
            epsilon=epsilon,
            mechanism=name,
            budget=budget,
            on_invalid="raise" if strict else "repair",
        )
    output.print_release(release, question.chosen, budget, as_json=as_json)


@dataclass(frozen=True)
class _Record:
    """Which record holds the percentile?"""

    upper: float
    label_column: str | None
    chosen: ClassVar[str] = "record"
    mechanism: ClassVar[str] = "shifted"

    def release(self, data: object, **how: Any) -> Release:  # noqa: ANN401 -- passed on
        from dpselect.percentiles import select_percentile

        return select_percentile(data, upper=self.upper, label_column=self.label_column, **how)

    def plan(self, data: object, column: str, name: str, epsilon: float) -> output.Plan:
        from dpselect import tables
        from dpselect.accuracy import error_bound
        from dpselect.neighbours import Neighbours
        from dpselect.percentiles import mechanism_for

        # Substitution makes the number of records public; no value is read.
        records = tables.count_records(data, numeric=[column], plain=self._plain)
        mechanism = mechanism_for(name, epsilon)
        error = error_bound(mechanism, candidates=records, bound=self.upper, best=0)
        return output.Plan(
            mechanism, Neighbours.SUBSTITUTE, min(error, self.upper), f"units of {column}"
        )

    @property
    def _plain(self) -> list[str]:
        return [] if self.label_column is None else [self.label_column]


@dataclass(frozen=True)
class _Value:
    """Which public value is near the percentile?"""

    candidates: Values
    neighbours: Neighbours
    chosen: ClassVar[str] = "value"
    mechanism: ClassVar[str] = "permute-and-flip"

    def release(self, data: object, **how: Any) -> Release:  # noqa: ANN401 -- passed on
        from dpselect.percentiles import select_percentile_value

        return select_percentile_value(
            data, candidates=self.candidates, neighbours=self.neighbours, **how
        )

    def plan(self, data: object, column: str, name: str, epsilon: float) -> output.Plan:
        from dpselect import tables
        from dpselect.accuracy import error_bound
        from dpselect.percentiles import mechanism_for

        tables.check_columns(data, numeric=[column])
        mechanism = mechanism_for(name, epsilon)
        error = error_bound(mechanism, candidates=self.candidates.size, bound=1.0, best=0)
        return output.Plan(mechanism, self.neighbours, error, "ranks")


def _question(
    upper: float | None,
    candidates: str | None,
    label_column: str | None,
    neighbours: str | None,
) -> _Record | _Value:
    """Return what is asked for, from options that belong to one question each."""
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
        return _Record(upper, label_column)
    if upper is not None or label_column is not None:
        raise ParameterError("--upper and --label-column do not go with --candidates")
    if neighbours is None:
        raise ParameterError("--candidates needs --neighbours: add-remove or substitute")
    return _Value(_grid(candidates), options.relation("--neighbours", neighbours))


def _grid(text: str) -> Values:
    """Return COUNT values from LOW to HIGH."""
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
