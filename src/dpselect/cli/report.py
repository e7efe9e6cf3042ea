"""``dpselect report``: a ledger as one page to print and sign."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dpselect.cli import output
from dpselect.errors import ParameterError

HELP = """Write what a ledger holds as one HTML page that somebody can sign.

Each question with its file, its public arguments, its note and who asked; the answer, the
price in words, what was declared public, and what is left. The page needs no network.

[bold]dpselect report clinic.budget --out report.html[/bold]
"""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("report", help=HELP)(report)


def report(
    ledger: Annotated[Path, typer.Argument(help="The ledger.")],
    out: Annotated[Path, typer.Option("--out", help="The page, such as report.html.")],
) -> None:
    """Write the report."""
    from dpselect.budget import Budget

    page = Budget.open(ledger).to_html()
    try:
        out.write_text(page, encoding="utf-8")
    except OSError:
        raise ParameterError(
            f"cannot write {out}: give a page such as report.html in an existing folder"
        ) from None
    output.print_facts({"report": out})
