"""``dpselect budget`` and ``report``: look at a ledger or make one; write it as a page."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dpselect.cli import options, output
from dpselect.errors import ParameterError

if TYPE_CHECKING:
    from dpselect.budget import Budget


LONGEST = 300
"""Characters of an answer that the table shows; 'dpselect report' shows all."""


REPORT_HELP = """Write what a ledger holds as one HTML page that somebody can sign.

Each question with its file, its public arguments, its note and who asked; the answer, the
price in words, what was declared public, and what is left. The page needs no network.

[bold]dpselect report clinic.budget --out report.html[/bold]
"""


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("budget")(budget)
    app.command("report", help=REPORT_HELP)(report)


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
                "`epsilon`, `delta` and `neighbours` go with `create`: the totals of a ledger "
                "do not change"
            )
        shown = Budget.open(file)
    else:
        if epsilon is None or neighbours is None:
            raise ParameterError("`create` needs `epsilon` and `neighbours`")
        if file.exists():
            raise ParameterError(f"{file} is there already; `create` makes a new ledger")
        shown = Budget(
            epsilon,
            delta,
            neighbours=options.relation("neighbours", neighbours),
            path=file,
        )
    if as_json:
        output.print_json(json.loads(shown.to_json()))
        return
    _show(shown, file)


def _show(shown: Budget, file: Path) -> None:
    from rich.table import Table

    from dpselect.budget import report as words

    output.print_facts(
        {
            "ledger": file,
            "total": f"epsilon {shown.epsilon:g}, delta {shown.delta:g} ({shown.neighbours})",
            "spent": f"{shown.spent:.6g} ({shown.totals.composition} composition)",
            "remaining": f"{shown.remaining:.6g}",
            "odds": f"all releases together change them by a factor of at most "
            f"{words.odds(shown.epsilon)}",
        }
    )
    if not shown.entries:
        return
    table = Table("", "asked", "answered", "price", show_lines=True)
    for entry in shown.entries:
        price = f"{entry.epsilon:.6g}"
        if entry.refunded:
            price += f"\n- {entry.refunded:.6g}"
        if entry.delta:
            price += f"\ndelta {entry.delta:.3g}"
        about = [entry.note, entry.analyst, entry.time.removesuffix("+00:00") + " UTC"]
        table.add_row(
            str(entry.sequence),
            f"{words.question_of(entry)}\n({', '.join(filter(None, about))})",
            _short(words.answer_of(entry)),
            price,
        )
    output.console().print(table)


def _short(answer: str) -> str:
    return answer if len(answer) <= LONGEST else f"{answer[:LONGEST]} ..."


def report(
    ledger: Annotated[Path, typer.Argument(help="The ledger.")],
    out: Annotated[Path, typer.Option("--out", help="The page, such as report.html.")],
) -> None:
    """Write the report."""
    from dpselect.budget import Budget

    page = Budget.open(ledger).to_html()
    with output.writing(out, "a page such as report.html"):
        out.write_text(page, encoding="utf-8")
    output.print_facts({"report": out})
