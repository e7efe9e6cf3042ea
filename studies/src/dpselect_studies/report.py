"""Storage of runs, and the results of stored full runs in a page of Markdown."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from dpselect_studies.catalogue import STUDIES, load
from dpselect_studies.comparison import AGREES, DIFFERS, NULL_TOO, compare, counted
from dpselect_studies.running import Run

MARK = re.compile(r"(<!-- (?:counts|results [a-z0-9-]+) -->\n)")
END = "<!-- end -->"
UNEXPLAINED = "unexplained: no run shows why"


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


def page(text: str, folder: Path) -> str:
    """Return a page of Markdown with the results of a folder between its marks.

    ``<!-- counts -->`` begins the table of all studies and ``<!-- results PAPER -->`` the
    sections of the studies of a paper; ``<!-- end -->`` ends both.

    Args:
        text: The page.
        folder: The folder of results, which the page lies beside.
    """
    parts = MARK.split(text)
    for place in range(1, len(parts), 2):
        _, _, *paper, _ = parts[place].split()
        made = _section_of(paper[0], folder) if paper else _overview(folder)
        after = parts[place + 1].partition(END)[2]
        parts[place + 1] = f"\n{made}\n\n{END}{after}"
    return "".join(parts)


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
    measured = [row for row in rows if row["rows"]]
    for row in [*measured, {"name": "**all**", **totals}]:
        counts = " | ".join(str(row[one]) for one in COUNTS)
        lines.append(f"| {row['name']} | {counts} |")
    return "\n".join(lines)


def _section_of(paper: str, folder: Path) -> str:
    """Return the sections of all stored studies of a paper."""
    stored = (name for name in STUDIES if (folder / f"{name}.json").exists())
    return "\n\n".join(
        _section(name, folder) for name in stored if name.startswith(f"{paper}/")
    )


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
        parts += [_agreeing(beside), _differing(beside)]
    parts.append(
        f"[All {frame.height} numbers]({base}.parquet) · `{made['command']}` · "
        f"{_minutes(made['seconds'])} on {made['cores']} cores"
    )
    return "\n\n".join(part for part in parts if part)


def _minutes(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} minutes"


def _agreeing(beside: pl.DataFrame) -> str:
    """Return a sentence on how many printed numbers agree."""
    agree, null = (beside.filter(verdict=verdict).height for verdict in (AGREES, NULL_TOO))
    said = f"Of {beside.height} printed values {agree} agree"
    if null:
        said += f", {null} as the null predictor would"
    if left := beside.height - agree - null:
        said += f", and {left} {'differs' if left == 1 else 'differ'}"
    return f"{said}."


def _differing(beside: pl.DataFrame) -> str:
    """Return a table of the numbers that differ, those of one reason together."""
    lines = ["| differs | printed | ours | because |", "|---|---|---|---|"]
    reasons = pl.when(pl.col("why") == "").then(pl.lit(UNEXPLAINED)).otherwise("why")
    differ = beside.filter(verdict=DIFFERS).with_columns(why=reasons)
    for _, same in differ.group_by("why", maintain_order=True):
        where = same["where"][0] + (f", and {same.height - 1} more" if same.height > 1 else "")
        ranges = (_range(same[column].to_list()) for column in ("printed", "ours"))
        lines.append(f"| {where} | {' | '.join(ranges)} | {same['why'][0]} |")
    return "\n".join(lines) if differ.height else ""


def _range(numbers: list[float]) -> str:
    ends = dict.fromkeys(f"{end:.3g}" for end in (min(numbers), max(numbers)))
    return " to ".join(ends)
