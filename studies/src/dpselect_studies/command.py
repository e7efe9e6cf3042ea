"""The commands ``dpselect papers list``, ``run`` and ``page``.

The program ``dpselect`` adds them where this package is installed.
"""

from __future__ import annotations

import os
import shlex
from dataclasses import replace
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress, TaskID

    from dpselect_studies import Run

HELP = """Reproduce numbered results of the papers; needs dpselect-studies.

All runs are on public data, and nothing is released. Install it with pip install ./studies,
from a clone of dpselect.

$ dpselect papers list

$ dpselect papers run farias-2024/table-2 --full --jobs 2
"""

Folder = Annotated[
    Path, typer.Option(help="Folder of the results, and of finished cells between runs.")
]

COLUMNS = """
printed  numbers that the paper prints
agree    how many of these a full run reproduced
null     how many it reproduced, though chance or a constant would too
differ   how many it did not reproduce
code     how many of those agree at the settings of the authors' code
why?     how many of those no run explains
apart    formulas and sentences of the paper: how many of them hold"""
"""What the columns of the list mean."""

RESULTS = Path("studies/results")
commands = typer.Typer(help=HELP, no_args_is_help=True)


def register(app: typer.Typer) -> None:
    """Add the commands to the program ``dpselect``."""
    app.add_typer(commands, name="papers")


@commands.command("list")
def listing(
    *,
    folder: Folder = RESULTS,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print JSON, with every printed number.")
    ] = False,
) -> None:
    """List all studies: how many numbers the papers print, and how many agree.

    Compared are the full runs in the folder of results.
    """
    import json

    from rich.table import Table

    from dpselect_studies import listed

    rows = listed(folder)
    if as_json:
        typer.echo(json.dumps(rows, indent=2))
        return
    heads = ("printed", "agree", "null", "differ", "code", "why?", "apart")
    table = Table("name", *heads, box=None)
    shown = ("printed", "agree", "as_null", "differ", "in_code", "unexplained")
    totals = {key: sum(row[key] for row in rows) for key in (*shown, "apart", "hold")}
    for row in [*rows, {"name": "all", **totals}]:
        apart = f"{row['hold']} of {row['apart']}" if row["apart"] else ""
        table.add_row(row["name"], *(str(row[key]) for key in shown), apart)
    console = _console()
    console.print(table)
    console.print(COLUMNS)


@commands.command("run")
def run(
    names: Annotated[list[str], typer.Argument(help="Names of the list, or all.")],
    *,
    full: Annotated[
        bool, typer.Option("--full", help="The paper's setting; else one of seconds.")
    ] = False,
    code: Annotated[
        bool, typer.Option("--code", help="The settings of the authors' published code.")
    ] = False,
    jobs: Annotated[int, typer.Option(help="Processes.")] = 1,
    seed: Annotated[int, typer.Option(help="The same seed gives the same numbers.")] = 0,
    folder: Folder = Path("results"),
) -> None:
    """Run studies; write their numbers as Parquet and a picture. Resumes an unfinished run."""
    import dpselect_studies as studies

    chosen = studies.STUDIES if names == ["all"] else tuple(names)
    for name in chosen:
        studies.load(name)  # a wrong name is refused before the first hour
    for name in chosen:
        if full:
            _say_how_long(name, jobs)
        setting = ["--code"] * code or ["--full"] * full
        command = ["dpselect", "papers", "run", name, *setting]
        command += ["--jobs", str(jobs), "--seed", str(seed)]
        with _progress() as bar:
            task = bar.add_task(name, total=None)
            done = studies.run(
                name,
                folder=folder,
                full=full,
                code=code,
                jobs=jobs,
                seed=seed,
                on_cell=partial(_move, bar, task),
            )
        made = studies.Provenance(
            shlex.join(command), done.seconds, os.cpu_count() or 1, version("dpselect")
        )
        path = studies.store(name, done, made, folder, code=code)
        _show(name, done, path, paper=full or code, code=code)


def _progress() -> Progress:
    """Return a bar of cells, with the time that has passed and what is left."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    return Progress(
        TextColumn("{task.description}"),
        BarColumn(bar_width=20),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )


def _say_how_long(name: str, jobs: int) -> None:
    """Say on standard error what a full run takes, in minutes."""
    from dpselect_studies import load

    minutes = load(name).seconds / 60 / jobs
    said = "under a minute" if minutes < 1 else f"about {minutes:.0f} minutes"
    typer.echo(f"{name}: {said}; cells that are finished are kept", err=True)


def _move(bar: Progress, task: TaskID, done: int, cells: int) -> None:
    bar.update(task, completed=done, total=cells)


def _show(name: str, done: Run, path: Path, *, paper: bool, code: bool) -> None:
    from rich.table import Table

    from dpselect_studies import compare, load

    console, study = _console(), load(name)
    if code:
        study = replace(study, printed=[one.as_in_code() for one in study.printed])
    console.print(f"{name}: {done.frame.height} numbers in {path}, {done.seconds:.1f} s")
    if not study.printed:
        console.print("The paper prints no number of this item.")
        return
    beside = compare(study, done.frame)
    if beside.is_empty():
        console.print("This is not the paper's setting: no printed number is measured.")
        return
    verdict = "verdict" if paper else ""
    table = Table("where", "printed", "ours", "within" if paper else "", verdict, box=None)
    for row in beside.iter_rows(named=True):
        judged = (f"{row['tolerance']:.2g}", row["verdict"]) if paper else ("", "")
        table.add_row(row["where"], f"{row['printed']:.3g}", f"{row['ours']:.3g}", *judged)
    console.print(table)
    if not paper:
        console.print("This is not the paper's setting: the numbers need not agree.")


@commands.command("page")
def page(
    folder: Folder = RESULTS,
    out: Annotated[Path, typer.Option(help="The Markdown file.")] = RESULTS / "README.md",
) -> None:
    """Write the stored results between the marks of a page."""
    from dpselect_studies import page as filled

    out.write_text(filled(out.read_text(encoding="utf-8"), folder), encoding="utf-8")
    _console().print(f"wrote {out}")


def _console() -> Console:
    from rich.console import Console

    out = Console(highlight=False)
    return out if out.is_terminal else Console(highlight=False, width=80)
