"""Options for the engine that holds the rows of a table: memory, polars or Spark."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from dpselect.cli.waiting import working
from dpselect.errors import ParameterError

Data: TypeAlias = Annotated[
    str,
    typer.Argument(
        help="A .parquet, .csv or .tsv file (also .csv.gz), a folder of them or a pattern of "
        "names."
    ),
]
Separator: TypeAlias = Annotated[
    str | None,
    typer.Option("--separator", help="Of the fields of a text file, such as ';'."),
]
Where: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--where",
        help='Only rows such as "year >= 2024" or "ward = \'A\'"; repeated, all must hold.',
    ),
]
Engine: TypeAlias = Annotated[
    str,
    typer.Option(
        help="memory; polars, for files larger than memory; or spark. Only counts leave the "
        "last two; the law of the draw is the same."
    ),
]
Master: TypeAlias = Annotated[
    str | None,
    typer.Option(help="With --engine spark: such as spark://host:7077 or local[4]."),
]

ENGINES = ("memory", "polars", "spark")


def separated(path: str, separator: str | None) -> str:
    """Return the path of a table, with what separates its fields if that was given."""
    if separator is None:
        return path
    from dpselect import tables

    return tables.SeparatedFile(path, separator.replace("\\t", "\t"))


def rows_of(
    path: str, separator: str | None, where: Sequence[str] | None, neighbours: str | None
) -> str:
    """Return the path of a table, with what separates fields and which rows are asked for.

    A row that is replaced can be kept before and dropped after: then there is one less, which
    no guarantee for a replaced row has to cover.

    Raises:
        ParameterError: A comparison cannot be read, or rows may be replaced.
    """
    path = separated(path, separator)
    if not where:
        return path
    if neighbours not in {None, "add-remove"}:
        raise ParameterError(
            "--where goes with --neighbours add-remove: of a row that is replaced it can keep "
            "one version and drop the other, which changes how many rows there are"
        )
    from dpselect.tables.where import FilteredFile

    return FilteredFile(path, where)


def stated(source: str | Path) -> tuple[str, ...]:
    """Return the comparisons by which rows of a table are asked for; public."""
    return getattr(source, "where", ())


def opened(
    path: str,
    engine: str,
    master: str | None,
    *,
    numeric: Collection[str] = (),
    whole: Collection[str] = (),
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

    if engine == "spark":
        with working("starting Spark and looking for the table"):
            return tables.spark_table(path, master=master, numeric=numeric, whole=whole)
    columns = list(numeric)
    table = tables.check_columns(path, numeric=columns)
    return tables.as_numbers(table, path, columns) if columns else table


def checked(engine: str, master: str | None) -> None:
    """Raise unless there is such an engine, and a master only for Spark."""
    if engine not in ENGINES:
        raise ParameterError(f"--engine must be one of {', '.join(ENGINES)}, not {engine!r}")
    if master is not None and engine != "spark":
        raise ParameterError("--master goes with --engine spark")
