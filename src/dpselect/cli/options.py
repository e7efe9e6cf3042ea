"""Options that several commands share, and what stands behind them: engines and ledgers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer
from rich.console import Console

from dpselect import validation
from dpselect.errors import DataError, ParameterError
from dpselect.neighbours import Neighbours
from dpselect.passes import watching

if TYPE_CHECKING:
    from dpselect.budget import Budget
    from dpselect.tables import Source
    from dpselect.tables.fields import FieldType

Data: TypeAlias = Annotated[
    str,
    typer.Argument(
        help="A .parquet, .csv or .tsv file (also .csv.gz), a folder of them or a pattern of "
        "names."
    ),
]
_of_data = partial(typer.Option, rich_help_panel="Data")

Separator: TypeAlias = Annotated[
    str | None,
    _of_data("--separator", help="Separator of the fields of a text file, such as ';'."),
]
Decimal: TypeAlias = Annotated[
    str, _of_data("--decimal", help="Decimal mark of numbers in a text file: '.' or ','.")
]
ColumnType: TypeAlias = Annotated[
    list[str] | None,
    _of_data(
        "--column-type",
        help="What a column of a text file holds, as admitted=date: text, number, integer, "
        "date or time; may be repeated.",
    ),
]
Where: TypeAlias = Annotated[
    list[str] | None,
    _of_data(
        "--where",
        help='Select rows by "year >= 2024" or "ward = \'A\'"; if repeated, all must hold.',
    ),
]
Master: TypeAlias = Annotated[
    str | None,
    typer.Option(
        help=r"With --engine spark: such as spark://host:7077 or local\[4].",
        rich_help_panel="Engine",
    ),
]
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
        arguments={**(asked or {}), **rows(source)},
    )


def _login() -> str:
    import getpass

    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return ""


def lines_of(name: str, path: Path, words: str) -> list[str]:
    """Return the lines of a text file that are not empty.

    Raises:
        DataError: It cannot be read.
    """
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError):
        raise DataError(f"`{name}` must be {words} per line; cannot read {path}") from None
    return [line for line in lines if line]


def integers(name: str, text: str) -> list[int]:
    """Return the integers of a list such as ``48,32``.

    Raises:
        ParameterError: A part is not an integer.
    """
    return _several(name, text, int, "an integer")


PLUS = " + "
"""Between the terms of a weighted sum; without spaces it is part of a number or a name."""


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


def engine(leaving: str) -> Any:  # noqa: ANN401 -- a type
    """Return the type of the option ``--engine``, whose help says what leaves the engine.

    Args:
        leaving: What leaves polars, DuckDB and Spark.
    """
    return Annotated[
        str,
        typer.Option(
            help="memory; polars, for files larger than memory; duckdb, also for tables such "
            f"as clinic.duckdb::stays; or spark. {leaving} leave the last three; the "
            "distribution of the answer is the same.",
            rich_help_panel="Engine",
        ),
    ]


def rows_of(
    path: str,
    separator: str | None,
    decimal: str = ".",
    column_type: Sequence[str] | None = None,
    where: Sequence[str] | None = None,
) -> str | Source:
    """Return the rows that are asked for of a table.

    Raises:
        ParameterError: A comparison or a type of a column cannot be read, or the separator or
            the decimal mark is none.
    """
    if separator is None and decimal == "." and not column_type and not where:
        return path
    from dpselect.tables import Source

    one = None if separator is None else separator.replace("\\t", "\t")
    return Source(
        path,
        separator=one,
        decimal=decimal,
        column_type=dict(map(_column_type, column_type or ())),
        where=tuple(where or ()),
    )


def _column_type(text: str) -> tuple[str, FieldType]:
    from dpselect.tables.fields import FIELD_TYPES

    column, _, kind = text.rpartition("=")
    found = next((one for one in FIELD_TYPES if one == kind), None)
    if not column or found is None:
        raise ParameterError(
            f"`column_type` must be such as admitted=date, of {', '.join(FIELD_TYPES)}, "
            f"not {text!r}"
        )
    return column, found


def stated(source: str | Path | Source | None) -> tuple[str, ...]:
    """Return the comparisons by which rows of a table are asked for; public."""
    return getattr(source, "where", ())


def rows(source: str | Path | Source | None) -> dict[str, object]:
    """Return which rows of a file are asked for and how it is read, where that is stated."""
    given: dict[str, object] = getattr(source, "stated_rows", {})
    return given


def opened(path: str | Source, engine: str, master: str | None) -> object:
    """Return the table as the engine holds it; no row is read.

    The arguments are those of ``dpselect.tables.engines.held``.

    Raises:
        ParameterError: There is no such engine, or a master for another.
        DataError: The table cannot be opened.
    """
    from dpselect.tables.engines import held

    waiting = working("starting Spark and looking for the table")
    with waiting if engine == "spark" else nullcontext():
        return held(path, engine, master=master)


@contextmanager
def working(doing: str) -> Iterator[None]:
    """Show on a terminal that something is going on, and which pass an engine makes."""
    with Console(stderr=True).status(f"{doing} ...") as line:

        def show(done: int, whole: int) -> None:
            step = f"{doing}, pass {done + 1} of {whole}" if done < whole else doing
            line.update(f"{step} ...")

        with watching(show):
            yield
