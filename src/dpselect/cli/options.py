"""Options that several commands share, and what stands behind them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from dpselect.cli import engines
from dpselect.errors import ParameterError
from dpselect.neighbours import Neighbours

if TYPE_CHECKING:
    from dpselect.budget import Budget
    from dpselect.tables import Source

Epsilon: TypeAlias = Annotated[
    float, typer.Option("--epsilon", help="Price of the release, in nats; > 0.")
]
Ledger: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--ledger",
        help="Budget file to charge; create one with 'dpselect budget --create'.",
        rich_help_panel="Output",
    ),
]
Note: TypeAlias = Annotated[
    str,
    typer.Option(
        "--note", help="With --ledger: a note on the entry.", rich_help_panel="Output"
    ),
]
Analyst: TypeAlias = Annotated[
    str,
    typer.Option(
        "--analyst",
        help="With --ledger: the analyst, whose share is charged; by default your login.",
        rich_help_panel="Output",
    ),
]
SourceVersion: TypeAlias = Annotated[
    str,
    typer.Option(
        "--source-version",
        help="With --ledger: version of the data, such as a date. A repeated query of the same "
        "version returns the recorded answer at no cost.",
        rich_help_panel="Output",
    ),
]
Again: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--again",
        help="With --ledger: draw a new answer and pay, even if one is recorded.",
        rich_help_panel="Output",
    ),
]
Json: TypeAlias = Annotated[
    bool, typer.Option("--json", help="Print one JSON object.", rich_help_panel="Output")
]
DryRun: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--dry-run",
        help="Print the price and the error; read no private value.",
        rich_help_panel="Output",
    ),
]
Plot: TypeAlias = Annotated[
    Path | None,
    typer.Option("--plot", help="Write a picture, such as out.png.", rich_help_panel="Output"),
]
Out: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--out",
        help="Write the table of the answer, as .csv or .parquet.",
        rich_help_panel="Output",
    ),
]
DataIsPublic: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--data-is-public",
        help="Declare that the data are public or synthetic: the output is not private.",
    ),
]


def open_ledger(
    path: Path | None,
    *,
    source: str | Path | Source,
    note: str = "",
    analyst: str = "",
    version: str = "",
    again: bool = False,
    asked: Mapping[str, object] | None = None,
) -> Budget | None:
    """Open the budget of ``--ledger`` for a question about a file; the ledger must be there.

    Args:
        path: The ledger.
        source: The file.
        note: Kept with the answer.
        analyst: Who asks.
        version: Which state of the file.
        again: Draw anew where an entry would have answered.
        asked: What is asked beside the fields of the query, by name; which rows are.

    Raises:
        ParameterError: One of these is given, and no ledger to keep it.
        LedgerError: There is no ledger at ``path``.
    """
    if path is None:
        given = {"note": note, "analyst": analyst, "source_version": version, "again": again}
        for name in filter(given.get, given):
            raise ParameterError(f"`{name}` goes with `ledger`")
        return None
    from dpselect.budget import Budget
    from dpselect.budget.origin import source_name

    return Budget.open(path).for_request(
        note=note,
        source=source_name(str(source), path),
        version=version,
        analyst=analyst or _login(),
        again=again,
        arguments={**(asked or {}), **engines.rows(source)},
    )


def _login() -> str:
    import getpass

    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return ""


def integers(name: str, text: str) -> list[int]:
    """Return the integers of a list such as ``48,32``.

    Raises:
        ParameterError: A part is not an integer.
    """
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise ParameterError(
            f"`{name}` must be an integer, or several separated by commas, not {text!r}"
        ) from None


PLUS = " + "
"""Between the terms of a weighted sum; without spaces it is part of a number or a name."""


def numbers(name: str, text: str) -> list[float]:
    """Return the numbers of a list such as ``0.1,1,10``.

    Raises:
        ParameterError: A part is not a number.
    """
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise ParameterError(
            f"`{name}` must be a number, or several separated by commas, not {text!r}"
        ) from None


def relation(name: str, text: str) -> Neighbours:
    """Return the neighbour relation of a name such as ``add-remove``."""
    try:
        return Neighbours(text)
    except ValueError:
        names = ", ".join(map(str, Neighbours))
        raise ParameterError(f"`{name}` must be one of {names}, not {text!r}") from None


def declared_public(declared: bool, command: str) -> None:
    """Refuse a command that prints exact values unless the data were declared public."""
    if not declared:
        raise ParameterError(
            f"'{command}' prints exact values, which no epsilon protects: run it on public "
            "or synthetic data of the same kind and say `data_is_public`"
        )
