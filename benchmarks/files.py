"""Processor time of percentiles or keys of one column of a CSV file, beside polars alone.

Run: ``python benchmarks/files.py``; it writes ``benchmarks/results/files.csv``. Both read the
same file of two million rows (73 MB; with quotation marks around texts 81 MB, around all
fields 93 MB) in turn, in one process; the ratio is the median over pairs. polars is told the
types: of fields that are all quoted it would infer texts.
"""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any, Literal

import numpy as np
import polars as pl

import dpselect as dp

RESULTS = Path(__file__).with_name("results") / "files.csv"
ROWS, PAIRS = 2_000_000, 15
QUOTED: dict[str, Literal["necessary", "non_numeric", "always"]] = {
    "no quotation marks": "necessary",
    "texts quoted": "non_numeric",
    "all fields quoted": "always",
}
ASKED: dict[str, list[float]] = {
    "median": [50.0],
    "three percentiles": [10.0, 50.0, 90.0],
    "most common texts": [],
}
ADDED: dict[str, Any] = {"epsilon": 1.0, "neighbours": "add-remove"}


def made() -> pl.DataFrame:
    """Return the table."""
    rng = np.random.default_rng(0)
    return pl.DataFrame(
        {
            "person": np.arange(ROWS),
            "ward": rng.choice(list("ABCDEFGH"), ROWS),
            "days": rng.integers(0, 60, ROWS),
            "cost": np.round(rng.gamma(2, 500, ROWS), 2),
            "at": ["2026-01-31T12:00"] * ROWS,
        }
    )


def taken(run: Callable[[], object]) -> float:
    """Return the processor time of a run, in seconds."""
    start = process_time()
    run()
    return process_time() - start


def pairs(path: Path, percents: list[float]) -> list[tuple[float, float]]:
    """Return the times of polars and of a release, pair by pair."""
    wanted = [pl.col("days").quantile(p / 100).alias(str(p)) for p in percents]
    query: dp.Query[Any] = (
        dp.Percentiles(column="days", p=percents, upper=100, step=1, **ADDED)
        if percents
        else dp.TopKeys(column="ward", k=3, delta=1e-6, **ADDED)
    )

    def plain() -> object:
        rows = pl.scan_csv(path, schema_overrides={"days": pl.Int64})
        asked = rows.select(wanted) if wanted else rows.group_by("ward").len()
        return asked.collect(engine="streaming")

    def released() -> object:
        return query.release(path)

    plain(), released()
    return [(taken(plain), taken(released)) for _ in range(PAIRS)]


def main() -> None:
    """Time both files and write the table."""
    header: list[object] = ["file", "asked", "polars, ms", "dpselect, ms", "ratio"]
    rows = [header]
    with TemporaryDirectory() as folder:
        path = Path(folder, "rows.csv")
        for file, style in QUOTED.items():
            made().write_csv(path, quote_style=style)
            for asked, percents in ASKED.items():
                times = pairs(path, percents)
                alone, ours = (round(1000 * median(one)) for one in zip(*times, strict=True))
                ratio = median(mine / theirs for theirs, mine in times)
                rows.append([file, asked, alone, ours, f"{ratio:.2f}"])
    with RESULTS.open("w", newline="") as out:
        csv.writer(out, lineterminator="\n").writerows(rows)


if __name__ == "__main__":
    main()
