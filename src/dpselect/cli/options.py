"""Options that several commands share, and what stands behind them: engines and ledgers.

Args:
    data: A file (.parquet, .csv, .tsv, .jsonl, .xlsx, .dta, ..., .csv.gz), a folder of them or
        a pattern of names.
    epsilon: Privacy loss of the whole answer, in nats: 0.1 is strict, 1 usual, 10 weak.
    by: Column of groups, or several, as ward,month: each combination is a group.
    groups: The public groups: a list as a,b,c, or a text file with one per line; with several
        columns repeat it, a list for each column.
    where: Select rows by "year >= 2024" or "ward = 'A'"; if repeated, all must hold.
    data_is_public: Declare that the data are public or synthetic: the output is not private.
    ledger: Budget file to charge; create one with 'dpselect budget --create'.
    note: With --ledger: a note on the entry.
    analyst: With --ledger: the analyst, whose share is charged; by default your login.
    source_version: With --ledger: version of the data, such as a date. A repeated query of the
        same version returns the recorded answer at no cost.
    again: With --ledger: draw a new answer and pay, even if one is recorded.
    dry_run: Print the price and the error; read no private value.
    as_json: Print one JSON object.
    plot: Write a picture, such as out.png.
    out: Write the table of the answer: .csv, .parquet, .xlsx or .tex.
    engine: memory; polars, for files larger than memory; duckdb, also for tables such as
        clinic.duckdb::stays; or spark. {leaving} leave the last three; the distribution of the
        answer is the same.
    master: With --engine spark: such as spark://host:7077 or local[4].
    missing: Fields that stand for a missing value, such as NA,.,-,999.
    strip: Leave out spaces around fields, as by default.
    header: Names of the columns, such as id,ward,days, where the file has none.
    column_type: Type of a column, as admitted=date: text, number, integer, date or time.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpselect import validation
from dpselect.passes import stated_rows, watching
from dpselect.writing import once

if TYPE_CHECKING:
    from dpselect.budget import Budget
    from dpselect.tables import Source

SHARED: dict[str, tuple[Any, str]] = {
    "epsilon": (float, "Needed"),
    "where": (list[str], "Data"),
    "ledger": (Path, "Output"),
    **dict.fromkeys(("note", "analyst", "source_version"), (str, "Output")),
    **dict.fromkeys(("data_is_public", "again", "dry_run", "as_json"), (bool, "Output")),
    **dict.fromkeys(("plot", "out"), (Path, "Output")),
    "master": (str, "Engine"),
}
"""What is typed, and the panel of the help that it stands in."""


def open_ledger(
    typed: Mapping[str, Any],
    source: str | Path | Source,
    asked: Mapping[str, object] | None = None,
) -> Budget | None:
    """Open the budget of ``--ledger`` for a question about a file; the ledger must be there.

    Args:
        typed: The options; ``note``, ``analyst``, ``source_version`` and ``again`` go with it.
        source: The file.
        asked: What is asked beside the fields of the query, by name; which rows are.

    Raises:
        ParameterError: One of these is given, and no ledger to keep it.
        LedgerError: There is no ledger at that path.
    """
    beside = [
        name for name in ("note", "analyst", "source_version", "again") if typed.get(name)
    ]
    if (path := typed["ledger"]) is None:
        for name in beside:
            raise validation.goes_with(name, "ledger")
        return None
    from dpselect.budget import Budget
    from dpselect.budget.entry import source_name

    return Budget.open(path).for_request(
        **{"analyst": _login()}
        | {name.removeprefix("source_"): typed[name] for name in beside},
        source=source_name(str(source), path),
        arguments={**(asked or {}), **stated_rows(source)},
    )


def _login() -> str:
    import getpass

    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return ""


PLUS = " + "
"""Between the terms of a weighted sum; without spaces it is part of a number or a name."""


def numbers(name: str, text: str, kind: type = float) -> list[Any]:
    """Return the numbers of a list such as ``0.1,1,10``; of floats, or of integers.

    Raises:
        ParameterError: A part is none.
    """
    try:
        return list(map(kind, text.split(",")))
    except ValueError:
        words = f"{'an integer' if kind is int else 'a number'}, or several separated by commas"
        raise validation.must_be(name, words, f"not {text!r}") from None


def rows_of(path: str, typed: Mapping[str, Any]) -> str | Source:
    """Return the rows that are asked for of a table.

    Args:
        path: The table.
        typed: Options; ``where`` and those of a dialect say which rows are read and how.

    Raises:
        ParameterError: One of them is not what it should be.
    """
    from dpselect.tables import Source
    from dpselect.tables.dialect import DEFAULTS

    named = {one: typed.get(one) for one in ("where", *DEFAULTS)}
    given: dict[str, Any] = {one: held for one, held in named.items() if held not in (None, [])}
    for name in given.keys() & {"separator", "thousands"}:
        given[name] = given[name].replace("\\t", "\t")
    for name in given.keys() & {"missing", "header"}:
        given[name] = tuple(given[name].split(","))
    if "column_type" in given:
        given["column_type"] = once([*map(_column_type, given["column_type"])])
    return Source(path, **given) if given else path


def _column_type(text: str) -> tuple[str, str]:
    column, _, kind = text.rpartition("=")
    if not column:
        raise validation.must_be("column_type", "such as admitted=date", f"not {text!r}")
    return column, kind


def stated(source: str | Path | Source | None) -> tuple[str, ...]:
    """Return the comparisons by which rows of a table are asked for; public."""
    return getattr(source, "where", ())


def opened(path: str | Source, engine: str | None, master: str | None) -> object:
    """Return the table as the engine holds it; no row is read.

    The arguments are those of ``dpselect.tables.opening.held``.

    Raises:
        ParameterError: There is no such engine, or a master for another.
        DataError: The table cannot be opened.
    """
    from dpselect.tables.opening import held

    waiting = working("starting Spark and looking for the table")
    with waiting if engine == "spark" else nullcontext():
        return held(path, engine or "memory", master=master)


@contextmanager
def working(doing: str) -> Iterator[None]:
    """Show on a terminal that something is going on, and which pass an engine makes."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(f"{doing} ...") as line:

        def show(done: int, whole: int) -> None:
            step = f"{doing}, pass {done + 1} of {whole}" if done < whole else doing
            line.update(f"{step} ...")

        with watching(show):
            yield
