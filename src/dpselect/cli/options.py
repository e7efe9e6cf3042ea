"""Options that several commands share, and what stands behind them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from dpselect import validation
from dpselect.cli import engines
from dpselect.errors import ParameterError
from dpselect.neighbours import Neighbours

if TYPE_CHECKING:
    from dpselect.budget import Budget
    from dpselect.tables import Source

Epsilon: TypeAlias = Annotated[
    float, typer.Option("--epsilon", help="Price of the release, in nats; > 0.")
]
of_output = partial(typer.Option, rich_help_panel="Output")

Ledger: TypeAlias = Annotated[
    Path | None,
    of_output(
        "--ledger",
        help="Budget file to charge; create one with 'dpselect budget --create'.",
    ),
]
Note: TypeAlias = Annotated[
    str, of_output("--note", help="With --ledger: a note on the entry.")
]
Analyst: TypeAlias = Annotated[
    str,
    of_output(
        "--analyst",
        help="With --ledger: the analyst, whose share is charged; by default your login.",
    ),
]
SourceVersion: TypeAlias = Annotated[
    str,
    of_output(
        "--source-version",
        help="With --ledger: version of the data, such as a date. A repeated query of the same "
        "version returns the recorded answer at no cost.",
    ),
]
Again: TypeAlias = Annotated[
    bool,
    of_output(
        "--again", help="With --ledger: draw a new answer and pay, even if one is recorded."
    ),
]
Json: TypeAlias = Annotated[bool, of_output("--json", help="Print one JSON object.")]
DryRun: TypeAlias = Annotated[
    bool, of_output("--dry-run", help="Print the price and the error; read no private value.")
]
Plot: TypeAlias = Annotated[
    Path | None, of_output("--plot", help="Write a picture, such as out.png.")
]
Out: TypeAlias = Annotated[
    Path | None, of_output("--out", help="Write the table of the answer, as .csv or .parquet.")
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
            raise validation.goes_with(name, "ledger")
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
    return _several(name, text, int, "an integer")


def numbers(name: str, text: str) -> list[float]:
    """Return the numbers of a list such as ``0.1,1,10``.

    Raises:
        ParameterError: A part is not a number.
    """
    return _several(name, text, float, "a number")


def _several(name: str, text: str, read: Callable[[str], Any], kind: str) -> list[Any]:
    try:
        return list(map(read, text.split(",")))
    except ValueError:
        words = f"{kind}, or several separated by commas"
        raise validation.must_be(name, words, f"not {text!r}") from None


def relation(name: str, text: str) -> Neighbours:
    """Return the neighbour relation of a name such as ``add-remove``."""
    return Neighbours(validation.one_of(name, text, map(str, Neighbours)))


def declared_public(declared: bool, command: str) -> None:
    """Refuse a command that prints exact values unless the data were declared public."""
    if not declared:
        raise ParameterError(
            f"'{command}' prints exact values, which no epsilon protects: run it on public "
            "or synthetic data of the same kind and say `data_is_public`"
        )
