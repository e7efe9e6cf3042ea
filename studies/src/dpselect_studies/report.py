"""Storage of runs, and the results of stored full runs in a page of Markdown."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from textwrap import fill
from typing import Any

import numpy as np
import polars as pl

from dpselect_studies.catalogue import STUDIES, load
from dpselect_studies.comparison import AGREES, CODE, DIFFERS, NULL_TOO, compare, counted
from dpselect_studies.running import Run

MARK = re.compile(r"(<!-- (?:counts|results [a-z0-9-]+) -->\n)")
END = "<!-- end -->"
WIDTH = 110
"""Letters in a line of a text."""
MISSING = "n/a"
"""A number of a text that a run does not have."""
UNEXPLAINED = "unexplained: no run shows why"


@dataclass(frozen=True)
class Provenance:
    """How a run was made, stored beside its numbers.

    Attributes:
        command: The command that repeats it.
        seconds: Processor time of measurement, summed over processes.
        cores: Number of cores of the machine.
        version: Of dpselect.
    """

    command: str
    seconds: float
    cores: int
    version: str


def store(name: str, run: Run, made: Provenance, folder: Path, *, code: bool = False) -> Path:
    """Write a run's numbers, its picture and how it was made; return the numbers' path.

    Args:
        name: The study.
        run: Its numbers.
        made: How it was made.
        folder: The folder of results; the files are ``<name>.parquet``, ``.png``, ``.json``.
        code: It is a run at the settings of the authors' code: ``<name>-code``, without a
            picture.
    """
    table = folder / f"{name}{CODE if code else ''}.parquet"
    table.parent.mkdir(parents=True, exist_ok=True)
    run.frame.write_parquet(table)
    if not code:
        load(name).plot(run.frame).savefig(table.with_suffix(".png"), dpi=90)
    table.with_suffix(".json").write_text(json.dumps(vars(made), indent=2) + "\n", "utf-8")
    return table


def page(text: str, folder: Path) -> str:
    """Return a page of Markdown with the results of a folder between its marks.

    ``<!-- counts -->`` begins the table of all studies and ``<!-- results PAPER -->`` the
    sections of the studies of a paper; ``<!-- end -->`` ends both.

    Args:
        text: The page.
        folder: The folder of results, in which the page lies, too.
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
        beside = stored.beside(name)
        found.append({
            "name": name, **counted(load(name), beside), "rows": beside.to_dicts()
        })  # fmt: skip
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
        return None if frame is None else load(name.removesuffix(CODE)).with_claims(frame)

    def beside(self, name: str) -> pl.DataFrame:
        """Return what ``compare`` makes of both runs of a study; no rows if none is stored."""
        return compare(load(name), self.run(name), self.claims, self.run(f"{name}{CODE}"))


COUNTS = (
    "printed", "agree", "as_null", "differ", "in_code", "unexplained", "apart", "hold"
)  # fmt: skip
"""What is counted of each study."""
HEADS = (
    "item", "printed", "agree", "as the null", "differ", "in the code", "unexplained", "apart",
    "hold",
)  # fmt: skip


def _overview(folder: Path) -> str:
    rows = listed(folder)
    totals = {name: sum(row[name] for row in rows) for name in COUNTS}
    lines = [
        f"| {' | '.join(HEADS)} |",
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
    parts = [
        f"### {study.title}",
        f"![{study.title}]({name}.png)",
        filled(study.discussion.strip(), name, Stored(folder)),
    ]
    beside = Stored(folder).beside(name)
    if not beside.is_empty():
        parts += [_agreeing(beside), _differing(beside)]
    parts += [_made(one, folder) for one in (name, f"{name}{CODE}")]
    return "\n\n".join(part for part in parts if part)


QUOTED = re.compile(r"\{(code\s)?(?:(min|max)\s)?([\w\s]+?):\s([^{}]+?)(?:\s\|\s\.(\d))?\}")
"""A number in a text, as ``{column: value | column=value | .3}``."""


def filled(text: str, name: str, stored: Stored) -> str:
    """Return a text on a study with its numbers, of the stored run.

    ``{column: value | column=value | .3}`` is the mean of a column over the rows that have
    these values, in any column if none is named, with three digits after the point, two if not
    said; ``{min column: ...}`` and ``{max column: ...}`` are the ends, and ``{code column:
    ...}`` is of the run at the settings of the authors' code.

    What the run does not have is ``MISSING``.
    """

    def number(match: re.Match[str]) -> str:
        spaced = (one and " ".join(one.split()) for one in match.groups())
        code, end, column, values, digits = spaced
        frame = stored.claims(f"{name}{CODE}" if code else name)
        rows = [] if frame is None or column not in frame.columns else frame.to_dicts()
        asked = {*values.split(" | ")}
        found = [
            row[column]
            for row in rows
            if row[column] is not None
            and asked
            <= {*map(str, row.values()), *(f"{key}={one}" for key, one in row.items())}
        ]
        if not found:
            return MISSING
        rounded = f"{getattr(np, end or 'mean')(found):,.{digits or 2}f}"
        return re.sub(r"^(-?)0\.", r"\1.", rounded)

    return "\n\n".join(
        fill(QUOTED.sub(number, one), WIDTH, break_on_hyphens=False)
        for one in text.split("\n\n")
    )


def _made(name: str, folder: Path) -> str:
    """Return a line on how a stored run was made, or nothing if there is none."""
    frame = Stored(folder).run(name)
    if frame is None:
        return ""
    made = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
    return (
        f"[All {frame.height} numbers]({name}.parquet) · `{made['command']}` · "
        f"{_minutes(made['seconds'])} on {made['cores']} cores"
    )


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
    in_code = beside["code_verdict"].drop_nulls()
    if not in_code.is_empty():
        met = (in_code != DIFFERS).sum()
        said += f"; at the settings of the authors' code {met} agree or are as the null"
    return f"{said}."


def _differing(beside: pl.DataFrame) -> str:
    """Return a table of the numbers that differ, those of one reason together."""
    reasons = pl.when(pl.col("why") == "").then(pl.lit(UNEXPLAINED)).otherwise("why")
    differ = beside.filter(verdict=DIFFERS).with_columns(why=reasons)
    shown = ["printed", "ours", *["in_code"] * differ["in_code"].count()][:3]
    heads = ["differs", *(one.replace("_", " the ") for one in shown), "because"]
    lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for _, same in differ.group_by("why", maintain_order=True):
        where = same["where"][0] + (f", and {same.height - 1} more" if same.height > 1 else "")
        ranges = (_range(same[column].drop_nulls().to_list()) for column in shown)
        lines.append(f"| {where} | {' | '.join(ranges)} | {same['why'][0]} |")
    return "\n".join(lines) if differ.height else ""


def _range(numbers: list[float]) -> str:
    if not numbers:
        return ""
    ends = dict.fromkeys(f"{end:.3g}" for end in (min(numbers), max(numbers)))
    return " to ".join(ends)
