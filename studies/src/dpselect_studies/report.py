"""Storage of runs, and the page of results made from the stored full runs."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from dpselect_studies.catalogue import PAPERS, STUDIES, load
from dpselect_studies.comparison import DIFFERS, compare, counted
from dpselect_studies.running import Run

ABOUT = """Numbered items of the papers, measured anew by `dpselect papers run NAME --full`,
each under its own number. All are simulations on public data, or exact.

A number **agrees** if it is within its tolerance of the printed one: half of the last printed
digit, and twice the standard error of the difference of both sides; the paper's is that of its
own number of runs, at the spread that ours have. Beside each table stands a **null predictor**:
a choice by chance or a constant. What it would meet too shows nothing, and is counted **as the
null**, not as agreement. Where a number **differs**, the reason names the stored run that shows
it, and a test fails if that run does not; where no run of ours shows why, it is unexplained.
Formulas of the papers, and words that we put as numbers, are counted **apart**. One in twenty
true numbers differs by more than its tolerance. [Mechanisms](mechanisms.md#which-one) draws
the conclusions."""


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


def listed(folder: Path) -> list[dict[str, Any]]:
    """Return each study's name, its counts, and all of its printed numbers beside ours.

    Args:
        folder: The folder of stored full runs; what is not there is not compared.

    Returns:
        ``name``; what ``counted`` returns; and ``rows``, the rows of ``compare`` as
        dictionaries.
    """
    stored = Stored(folder)
    found: list[dict[str, Any]] = []
    for name in STUDIES:
        study, frame = load(name), stored.run(name)
        rows = [] if frame is None else compare(study, frame, stored.claims).to_dicts()
        found.append({"name": name, **counted(study, frame), "rows": rows})
    return found


@dataclass(frozen=True)
class Stored:
    """The stored full runs of a folder.

    Attributes:
        folder: The folder of results.
    """

    folder: Path

    def run(self, name: str) -> pl.DataFrame | None:
        """Return the frame of a study, or None if none is stored."""
        path = self.folder / f"{name}.parquet"
        return pl.read_parquet(path) if path.exists() else None

    def claims(self, name: str) -> pl.DataFrame | None:
        """Return the same with the rows that statements are compared with."""
        frame = self.run(name)
        return None if frame is None else load(name).with_claims(frame)


COUNTS = ("printed", "agree", "as_null", "differ", "unexplained", "apart", "hold")
"""What is counted of each study."""


def _overview(folder: Path) -> str:
    rows = listed(folder)
    totals = {name: sum(row[name] for row in rows) for name in COUNTS}
    lines = [
        "| item | printed | agree | as the null | differ | unexplained | apart | hold |",
        "|---" * (len(COUNTS) + 1) + "|",
    ]
    every: list[dict[str, Any]] = [*rows, {"name": "**all**", **totals}]
    for row in every:
        counts = " | ".join(str(row[one]) for one in COUNTS)
        lines.append(f"| {row['name']} | {counts} |")
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
    beside = compare(study, frame, Stored(folder).claims)
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


def _table(beside: pl.DataFrame) -> str:
    lines = [
        "| where | printed | ours | within | null predictor | verdict | stated in |",
        "|---" * 7 + "|",
    ]
    for row in beside.iter_rows(named=True):
        errors = row["our_error"] or row["their_error"]
        ours = f"{row['ours']:.3g}"
        within = f"{row['tolerance']:.2g}"
        if errors:
            within += f" (s.e. {row['their_error']:.2g}, {row['our_error']:.2g})"
        null = "none: exact" if row["null"] is None else f"{row['null']}: {_short(row)}"
        kind = "" if row["kind"] == "number" else f" ({row['kind']})"
        lines.append(
            f"| {row['where']} | {row['printed']:.3g} | {ours} | {within} | {null} "
            f"| {_verdict(row)}{kind} | {row['source']} |"
        )
    return "\n".join(lines)


def _short(row: dict[str, Any]) -> str:
    value = row["null_value"]
    return "not measured" if value is None else f"{value:.2g}"


def _verdict(row: dict[str, Any]) -> str:
    if row["verdict"] != DIFFERS:
        return str(row["verdict"])
    if not row["run"]:
        return "differs; no run shows why"
    shown = "" if row["shown"] is None else f", {row['shown']:.3g}"
    return f"differs: {row['why']} ({row['run']}{shown})"
