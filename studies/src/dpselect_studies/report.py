"""Storage of runs, and the page of results made from the stored full runs."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from dpselect_studies.catalogue import PAPERS, STUDIES, load
from dpselect_studies.running import Run
from dpselect_studies.study import Row, compare, counted

ABOUT = """Numbered items of the papers, measured anew by `dpselect papers run NAME --full`,
each under its own number. All are simulations on public data, or exact. The table says how many
numbers of each item are printed in the paper, and how many of ours agree with them within the
tolerance that stands beside each; items without a printed number are figures whose curves are
known through the text alone. [Which mechanism](which-mechanism.md) draws the conclusions."""


@dataclass(frozen=True)
class Provenance:
    """How a run was made, stored beside its numbers.

    Attributes:
        command: The command that repeats it.
        seconds: Time of measurement, summed over processes.
        cores: Number of cores of the machine.
        version: Of dpselect.
    """

    command: str
    seconds: float
    cores: int
    version: str


def store(name: str, run: Run, made: Provenance, folder: Path) -> Path:
    """Write a run's numbers, its picture and how it was made; return the numbers' path.

    Args:
        name: The study.
        run: Its numbers.
        made: How it was made.
        folder: The folder of results; the files are ``<name>.parquet``, ``.png``, ``.json``.
    """
    table = folder / f"{name}.parquet"
    table.parent.mkdir(parents=True, exist_ok=True)
    run.frame.write_parquet(table)
    load(name).plot(run.frame).savefig(table.with_suffix(".png"), dpi=90)
    table.with_suffix(".json").write_text(json.dumps(vars(made), indent=2) + "\n", "utf-8")
    return table


def page(folder: Path) -> str:
    """Return the page of all results that are stored in a folder, as Markdown.

    Args:
        folder: The folder of results, which the page lies beside, by the same name.
    """
    parts = ["# Results", ABOUT, _overview(folder)]
    for paper, title in PAPERS.items():
        parts.append(f"## {title}")
        stored = (name for name in STUDIES if (folder / f"{name}.json").exists())
        parts += [_section(name, folder) for name in stored if name.startswith(f"{paper}/")]
    return "\n\n".join(parts) + "\n"


def listed(folder: Path) -> list[Row]:
    """Return each study's name, title, number of printed values, and how many agree.

    Args:
        folder: The folder of stored full runs; what is not there is not compared.
    """
    rows: list[Row] = []
    for name in STUDIES:
        stored = folder / f"{name}.parquet"
        frame = pl.read_parquet(stored) if stored.exists() else None
        rows.append({"name": name, **counted(load(name), frame)})
    return rows


def _overview(folder: Path) -> str:
    lines = ["| item | printed | agree |", "|---|---|---|"]
    lines += [
        f"| {row['name']} | {row['printed']} | {row['agree']} |" for row in listed(folder)
    ]
    return "\n".join(lines)


def _section(name: str, folder: Path) -> str:
    study = load(name)
    made = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
    frame = pl.read_parquet(folder / f"{name}.parquet")
    base = f"{folder.name}/{name}"
    parts = [
        f"### {study.title}",
        f"![{study.title}]({base}.png)",
        study.discussion.strip(),
    ]
    beside = compare(study, frame)
    if not beside.is_empty():
        parts.append(_table(beside))
    parts.append(
        f"[All {frame.height} numbers]({base}.parquet), made by `{made['command']}` in "
        f"{_minutes(made['seconds'])} of computing on {made['cores']} cores "
        f"(dpselect {made['version']})."
    )
    return "\n\n".join(parts)


def _minutes(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} minutes"


def _table(frame: pl.DataFrame) -> str:
    lines = ["| " + " | ".join(frame.columns) + " |", "|---" * frame.width + "|"]
    lines += ["| " + " | ".join(map(_text, row)) + " |" for row in frame.iter_rows()]
    return "\n".join(lines)


def _text(value: Any) -> str:  # noqa: ANN401 -- whatever a cell of a frame holds
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.3g}" if isinstance(value, float) else str(value)
