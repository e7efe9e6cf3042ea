"""The engine that holds the rows of a table: its options, its table, and what it is doing."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer
from rich.console import Console

from dpselect.errors import ParameterError
from dpselect.passes import watching

if TYPE_CHECKING:
    from dpselect.tables import Source

Data: TypeAlias = Annotated[
    str,
    typer.Argument(
        help="A .parquet, .csv or .tsv file (also .csv.gz), a folder of them or a pattern of "
        "names."
    ),
]
Separator: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--separator",
        help="What separates the fields of a text file, such as ';'.",
        rich_help_panel="Data",
    ),
]
Where: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--where",
        help='Only rows such as "year >= 2024" or "ward = \'A\'"; repeated, all must hold.',
        rich_help_panel="Data",
    ),
]
Engine: TypeAlias = Annotated[
    str,
    typer.Option(
        help="memory; polars, for files larger than memory; or spark. Only counts leave the "
        "last two; the law of the draw is the same.",
        rich_help_panel="Engine",
    ),
]
Master: TypeAlias = Annotated[
    str | None,
    typer.Option(
        help="With --engine spark: such as spark://host:7077 or local[[4].",
        rich_help_panel="Engine",
    ),
]

ENGINES = ("memory", "polars", "spark")

REPLACED = (
    "`where` goes with `neighbours`=add-remove: of a row that is replaced it can keep one "
    "version and drop the other, which changes how many rows there are"
)
"""Then there is one less, which no guarantee for a replaced row has to cover."""


def rows_of(
    path: str, separator: str | None, where: Sequence[str] | None = None
) -> str | Source:
    """Return the rows that are asked for of a table.

    Raises:
        ParameterError: A comparison cannot be read, or the separator is none.
    """
    if separator is None and not where:
        return path
    from dpselect.tables import Source

    one = None if separator is None else separator.replace("\\t", "\t")
    return Source(path, separator=one, where=tuple(where or ()))


def stated(source: str | Path | Source | None) -> tuple[str, ...]:
    """Return the comparisons by which rows of a table are asked for; public."""
    return getattr(source, "where", ())


def rows(source: str | Path | Source | None) -> dict[str, list[str]]:
    """Return which rows of a file are asked for, by name; nothing if all are."""
    where = list(stated(source))
    return {"where": where} if where else {}


def opened(
    path: str | Source,
    engine: str,
    master: str | None,
    *,
    numeric: Collection[str] = (),
    whole: Sequence[str] = (),
) -> object:
    """Return the table as the engine holds it; no row is read.

    Args:
        path: Where it is; Spark also reads ``s3a://`` and ``hdfs://``.
        engine: One of ``ENGINES``.
        master: Spark's.
        numeric: Columns of numbers, which a CSV file does not declare.
        whole: Columns of integers.

    Raises:
        ParameterError: There is no such engine, or a master for another.
        DataError: The table cannot be opened.
    """
    checked(engine, master)
    if engine == "memory":
        return path
    from dpselect import tables
    from dpselect.tables.columns import as_integers

    if engine == "spark":
        with working("starting Spark and looking for the table"):
            return tables.spark_table(path, master=master, numeric=numeric, whole=whole)
    columns = list(numeric)
    table = tables.check_columns(path, numeric=columns, plain=whole)
    if whole and tables.Source.of(path).is_csv:
        table = as_integers(table, whole)
    return tables.as_numbers(table, path, columns) if columns else table


def checked(engine: str, master: str | None) -> None:
    """Raise unless there is such an engine, and a master only for Spark."""
    if engine not in ENGINES:
        raise ParameterError(f"`engine` must be one of {', '.join(ENGINES)}, not {engine!r}")
    if master is not None and engine != "spark":
        raise ParameterError("`master` goes with `engine`=spark")


@contextmanager
def working(doing: str) -> Iterator[None]:
    """Show on a terminal that something is going on, and which pass an engine makes."""
    with Console(stderr=True).status(f"{doing} ...") as line:

        def show(done: int, whole: int) -> None:
            step = f"{doing}, pass {done + 1} of {whole}" if done < whole else doing
            line.update(f"{step} ...")

        with watching(show):
            yield
