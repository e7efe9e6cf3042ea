"""The engine that holds the rows of a table: its options, its table, and what it is doing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer
from rich.console import Console

from dpselect.errors import ParameterError
from dpselect.passes import watching

if TYPE_CHECKING:
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
    from dpselect.tables import engines

    waiting = working("starting Spark and looking for the table")
    with waiting if engine == "spark" else nullcontext():
        return engines.held(path, engine, master=master)


@contextmanager
def working(doing: str) -> Iterator[None]:
    """Show on a terminal that something is going on, and which pass an engine makes."""
    with Console(stderr=True).status(f"{doing} ...") as line:

        def show(done: int, whole: int) -> None:
            step = f"{doing}, pass {done + 1} of {whole}" if done < whole else doing
            line.update(f"{step} ...")

        with watching(show):
            yield
