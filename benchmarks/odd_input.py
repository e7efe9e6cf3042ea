"""Odd data at every public entry: errors that are not ours, and private values in messages.

Every entry that reads private data is called with data of every container that it takes:
values of all types, mixed and of one, with a private number among them that no message, log,
warning or output may hold. Run, in the folder of the project::

    python benchmarks/odd_input.py --cases 100000

Writes ``benchmarks/results/odd_input.csv``: of each entry and container the cases, how many of
them were refused by an error of ours, and what must be 0: errors that are not ours, and texts
with a private value. ``--seconds`` ends an entry early.
"""

from __future__ import annotations

import argparse
import csv
import sys
import tempfile
import time
import traceback
from importlib.metadata import version
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
RESULTS = Path(__file__).with_name("results") / "odd_input.csv"
sys.path.insert(0, str(ROOT / "tests"))
from support.odd_entries import (  # type: ignore[import-not-found] # noqa: E402 -- beside tests
    CONTAINERS,
    ENTRIES,
    Entry,
    data_for,
    seeded,
)
from support.odd_input import observed  # type: ignore[import-not-found] # noqa: E402

LIBRARIES = ("polars", "pandas", "pyarrow", "numpy", "duckdb", "narwhals")
BLOCK = 50
"""Cases between two looks at the clock."""


def tried(name: str, entry: Entry, container: str, seed: int, folder: Path) -> str | None:
    """Return what became of one case; None where the container has none of the values."""
    data = data_for(entry, container, seeded(name, container, seed), folder)
    if data is None:
        return None
    try:
        with observed() as seen:
            entry.call(data)
    except BaseException:  # noqa: BLE001 -- it is counted
        print(name, container, seed, traceback.format_exc(limit=-6), flush=True)
        return "foreign"
    try:
        seen.assert_nothing_private()
    except AssertionError:
        print(name, container, seed, "gives a private value away", flush=True)
        return "told"
    return "refused" if seen.error is not None else "released"


def measured(name: str, cases: int, seconds: float, folder: Path) -> list[dict[str, Any]]:
    """Return a row for each container of an entry."""
    entry, rows = ENTRIES[name], []
    containers = CONTAINERS[entry.data]
    for container in containers:
        began, seed = time.process_time(), 0
        found = dict.fromkeys(("released", "refused", "foreign", "told"), 0)
        while sum(found.values()) < cases // len(containers):
            for _ in range(BLOCK):
                outcome = tried(name, entry, container, seed, folder)
                seed += 1
                if outcome is not None:
                    found[outcome] += 1
            if time.process_time() - began > seconds / len(containers):
                break
        row = {"entry": name, "container": container, "cases": sum(found.values()), **found}
        rows.append(row | {"seconds": f"{time.process_time() - began:.1f}"})
    return rows


def main() -> None:
    """Try all cases, write the table and print what is wrong."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--cases", type=int, default=100_000, help="of each entry")
    parser.add_argument("--seconds", type=float, default=1e9, help="of each entry at most")
    parser.add_argument("--entries", nargs="*", default=list(ENTRIES))
    asked = parser.parse_args()
    versions = {name: version(name) for name in LIBRARIES}
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        for name in asked.entries:
            rows += measured(name, asked.cases, asked.seconds, Path(folder))
            with RESULTS.open("w", newline="", encoding="utf-8") as file:
                writer = csv.DictWriter(file, [*rows[0], *versions])
                writer.writeheader()
                writer.writerows(row | versions for row in rows)
    total = {c: sum(row[c] for row in rows) for c in ("cases", "refused", "foreign", "told")}
    print(f"{len(asked.entries)} entries: {total}")


if __name__ == "__main__":
    main()
