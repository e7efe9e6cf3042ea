"""``dpselect budget``: look at a ledger, or make one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dpselect.cli import options, output
from dpselect.errors import ParameterError

if TYPE_CHECKING:
    from dpselect.budget import Budget


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("budget")(budget)


def budget(
    file: Annotated[Path, typer.Argument(help="The ledger.")],
    create: Annotated[
        bool, typer.Option("--create", help="Make the ledger; it must not be there yet.")
    ] = False,
    epsilon: Annotated[float | None, typer.Option(help="Total epsilon, with --create.")] = None,
    delta: Annotated[float, typer.Option(help="Total delta, with --create.")] = 0.0,
    neighbours: Annotated[
        str | None,
        typer.Option(help="add-remove, substitute, edge or swap, with --create."),
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Show what a ledger has spent and what remains; or make one with --create."""
    from dpselect.budget import Budget

    if not create:
        if epsilon is not None or neighbours is not None or delta:
            raise ParameterError(
                "--epsilon, --delta and --neighbours go with --create: the totals of a "
                "ledger do not change"
            )
        shown = Budget.open(file)
    else:
        if epsilon is None or neighbours is None:
            raise ParameterError("--create needs --epsilon and --neighbours")
        if file.exists():
            raise ParameterError(f"{file} is there already; --create makes a new ledger")
        shown = Budget(
            epsilon,
            delta,
            neighbours=options.relation("--neighbours", neighbours),
            path=file,
        )
    if as_json:
        output.print_json(json.loads(shown.to_json()))
        return
    _show(shown, file)


def _show(shown: Budget, file: Path) -> None:
    from rich.table import Table

    output.print_facts(
        {
            "ledger": file,
            "total": f"epsilon {shown.epsilon:g}, delta {shown.delta:g} ({shown.neighbours})",
            "spent": f"{shown.spent:g} ({shown.composition} composition)",
            "remaining": f"{shown.remaining:g}",
        }
    )
    if shown.entries:
        table = Table("", "time (UTC)", "epsilon", "delta", "mechanism", "note")
        for entry in shown.entries:
            table.add_row(
                str(entry.sequence),
                entry.time,
                f"{entry.epsilon:g}" + (f" - {entry.refunded:g}" if entry.refunded else ""),
                f"{entry.delta:g}",
                entry.mechanism,
                entry.note,
            )
        output.console().print(table)
