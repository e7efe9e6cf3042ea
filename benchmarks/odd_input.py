"""Odd data at every public entry: errors that are not ours, and private values in messages.

Every entry that reads private data is called with data of every container that it takes:
values of all types, mixed and of one, with a private number among them that no message, log,
warning or output may hold. Run, in the folder of the project::

    python benchmarks/odd_input.py --minutes 60

Goes on where the last run ended, entries with the fewest cases first, a few seconds for each:
all its containers get the same time, so the faster ones more cases, but those that read files
no more than ``--least``. Writes ``benchmarks/results/odd_input.csv``: of each entry and
container the cases of all runs, how many of them were refused by an error of ours, and what
must be 0: errors that are not ours, and texts with a private value. Where these are not 0 the
next run begins anew.
"""

from __future__ import annotations

import argparse
import csv
import os
import sys
import tempfile
import time
import traceback
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from importlib.metadata import version
from pathlib import Path
from typing import Any

# Where the odd data make polars panic, a stack trace would take longer than all the rest.
os.environ["RUST_BACKTRACE"] = "0"
os.environ["POLARS_MAX_THREADS"] = "1"

ROOT = Path(__file__).parents[1]
RESULTS = Path(__file__).with_name("results") / "odd_input.csv"
sys.path.insert(0, str(ROOT / "tests"))
from support.odd_entries import (  # type: ignore[import-not-found] # noqa: E402 -- beside tests
    CONTAINERS,
    ENTRIES,
    data_for,
    seeded,
)
from support.odd_input import (  # type: ignore[import-not-found] # noqa: E402 -- beside tests
    MARKER,
    observed,
)

LIBRARIES = ("polars", "pandas", "pyarrow", "numpy", "duckdb", "narwhals")
SLOW = ("dictionary", "lazy", "duckdb", "csv", "parquet")
"""Containers that get no more than the least number of cases: their reading is the same of all
entries, and most refuse a dictionary."""

OUTCOMES = ("released", "refused", "foreign", "told")

Row = dict[str, Any]


class Panics:
    """What the libraries below Python print where they panic; it is no output of Python's."""

    def __init__(self, folder: Path) -> None:
        self.file = (folder / "panics").open("w+b", buffering=0)
        os.dup2(self.file.fileno(), 2)

    def end(self) -> int:
        """Return how much there is."""
        return os.fstat(self.file.fileno()).st_size

    def tell(self, begin: int) -> bool:
        """Return whether what came after a place holds the private number."""
        if self.end() == begin:
            return False
        return str(MARKER).encode() in os.pread(self.file.fileno(), self.end() - begin, begin)


def tried(name: str, container: str, seed: int, folder: Path, panics: Panics) -> str | None:
    """Return what became of one case; None where the container has none of the values."""
    entry = ENTRIES[name]
    data = data_for(entry, container, seeded(name, container, seed), folder)
    if data is None:
        return None
    printed = panics.end()
    try:
        with observed() as seen:
            entry.call(data)
    except BaseException:  # noqa: BLE001 -- it is counted
        print(name, container, seed, traceback.format_exc(limit=-6), flush=True)
        return "foreign"
    if seen.is_private() or panics.tell(printed):
        print(name, container, seed, "gives a private value away", flush=True)
        return "told"
    return "refused" if seen.error is not None else "released"


def more(name: str, known: dict[str, Row], cases: int, least: int, seconds: float) -> list[Row]:
    """Return the rows of an entry's containers after so many seconds more."""
    made = []
    containers = CONTAINERS[ENTRIES[name].data]
    every = sum(int(row["cases"]) for row in known.values())
    with tempfile.TemporaryDirectory() as folder:
        panics = Panics(Path(folder))
        for container in containers:
            row = known.get(container)
            if row is None or int(row["foreign"]) or int(row["told"]):
                row = dict.fromkeys(("seeds", *OUTCOMES), 0) | {"seconds": 0.0}
            found = Counter({one: int(row[one]) for one in OUTCOMES})
            most = least if container in SLOW else found.total() + max(0, cases - every)
            seed, began = int(row["seeds"]), time.process_time()
            until = began + seconds / len(containers)
            while found.total() < most and time.process_time() < until:
                outcome = tried(name, container, seed, Path(folder), panics)
                seed += 1
                if outcome is not None:
                    found[outcome] += 1
            spent = float(row["seconds"]) + time.process_time() - began
            counts = {"seeds": seed, "cases": found.total()}
            counts |= {one: found[one] for one in OUTCOMES}
            made.append(
                {"entry": name, "container": container, **counts, "seconds": f"{spent:.1f}"}
            )
    return made


def stored() -> dict[str, dict[str, Row]]:
    """Return the lines of the table by entry and container."""
    found: dict[str, dict[str, Row]] = {}
    if RESULTS.exists():
        with RESULTS.open(newline="", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                found.setdefault(row["entry"], {})[row["container"]] = row
    return found


def write(rows: dict[str, dict[str, Row]]) -> None:
    """Write the lines of all entries that there are."""
    versions = {name: version(name) for name in LIBRARIES}
    known = [row | versions for name in ENTRIES for row in rows.get(name, {}).values()]
    with RESULTS.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, [*known[0]])
        writer.writeheader()
        writer.writerows(known)


def total(rows: dict[str, Row]) -> Counter[str]:
    """Return the outcomes of an entry's cases."""
    return Counter({one: sum(int(row[one]) for row in rows.values()) for one in OUTCOMES})


def main() -> None:
    """Try cases, write the table and print what is wrong."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--cases", type=int, default=100_000, help="of each entry at most")
    parser.add_argument("--least", type=int, default=500, help="of a container of files")
    parser.add_argument("--seconds", type=float, default=10.0, help="of an entry at once")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--entries", nargs="*", default=list(ENTRIES))
    asked = parser.parse_args()
    rows, until = stored(), time.monotonic() + 60 * asked.minutes
    limits = asked.cases, asked.least, asked.seconds
    with ProcessPoolExecutor(asked.processes) as pool:
        while time.monotonic() < until:
            left = {name: total(rows.get(name, {})).total() for name in asked.entries}
            names = sorted(
                (one for one in left if left[one] < asked.cases), key=left.__getitem__
            )
            for some in range(0, len(names), asked.processes):
                if time.monotonic() > until:
                    break
                here = names[some : some + asked.processes]
                found = [pool.submit(more, one, rows.get(one, {}), *limits) for one in here]
                for name, one in zip(here, found, strict=True):
                    rows[name] = {row["container"]: row for row in one.result()}
                    counts = total(rows[name])
                    print(name, counts.total(), dict(counts), flush=True)
                write(rows)
            if not names:
                break
    counts = sum((total(one) for one in rows.values()), Counter[str]())
    print(f"{len(rows)} entries, {counts.total()} cases: {dict(counts)}")


if __name__ == "__main__":
    main()
