"""Odd data at every public entry: errors that are not ours, and private values in messages.

Every entry that reads private data is called with data of every container that it takes:
values of all types, mixed and of one, with a private number among them that no message, log,
warning or output may hold. Run, in the folder of the project::

    python benchmarks/odd_input.py --cases 100000

Every container of an entry gets ``--least`` cases, and those in memory the others, the more the
faster they are; a dictionary, which most refuse, gets no more. ``--seconds`` ends an entry
early. Writes ``benchmarks/results/odd_input.csv``: of each entry and container the cases, how
many of them were refused by an error of ours, and what must be 0: errors that are not ours, and
texts with a private value. Lines of entries that were not asked for are kept.
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
from concurrent.futures import ProcessPoolExecutor, as_completed
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
    Entry,
    data_for,
    seeded,
)
from support.odd_input import observed  # type: ignore[import-not-found] # noqa: E402

LIBRARIES = ("polars", "pandas", "pyarrow", "numpy", "duckdb", "narwhals")
SLOW = ("dictionary", "lazy", "duckdb", "csv", "parquet")
"""Containers that get the least number of cases."""

FIRST = 100
"""Seeds of a container by which its time is measured."""

OUTCOMES = ("released", "refused", "foreign", "told")


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


class Tries:
    """The cases of one entry and container, by growing seeds."""

    def __init__(self, name: str, container: str, folder: Path) -> None:
        self.case = name, ENTRIES[name], container
        self.folder, self.seed, self.seconds = folder, 0, 0.0
        self.found: Counter[str] = Counter()

    def run(self, cases: int, until: float) -> None:
        """Try so many cases more, or until a time of the process."""
        began, wanted = time.process_time(), self.found.total() + cases
        while self.found.total() < wanted and time.process_time() < until:
            name, entry, container = self.case
            outcome = tried(name, entry, container, self.seed, self.folder)
            self.seed += 1
            if outcome is not None:
                self.found[outcome] += 1
        self.seconds += time.process_time() - began

    def row(self) -> dict[str, Any]:
        """Return the line of the table."""
        name, _, container = self.case
        counts = {one: self.found[one] for one in OUTCOMES}
        found = {"entry": name, "container": container, "cases": self.found.total()}
        return found | counts | {"seconds": f"{self.seconds:.1f}"}


def measured(name: str, cases: int, least: int, seconds: float) -> list[dict[str, Any]]:
    """Return a row for each container of an entry."""
    until = time.process_time() + seconds
    with tempfile.TemporaryDirectory() as folder:
        tries = [Tries(name, one, Path(folder)) for one in CONTAINERS[ENTRIES[name].data]]
        for one in tries:
            one.run(FIRST, until)
        many = [one for one in tries if one.case[2] not in SLOW]
        rates = [one.found.total() / one.seconds for one in many]
        rest = cases - least * (len(tries) - len(many))
        for one, rate in zip(many, rates, strict=True):
            share = max(least, -(-rest * rate // sum(rates)))
            one.run(int(share) - FIRST, until)
        for one in tries:
            if one not in many:
                one.run(least - FIRST, until)
    return [one.row() for one in tries]


def stored() -> dict[str, list[dict[str, Any]]]:
    """Return the lines of the table by entry."""
    found: dict[str, list[dict[str, Any]]] = {}
    if RESULTS.exists():
        with RESULTS.open(newline="", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                found.setdefault(row["entry"], []).append(row)
    return found


def write(rows: dict[str, list[dict[str, Any]]]) -> None:
    """Write the lines of all entries that there are."""
    known = [row for name in ENTRIES if name in rows for row in rows[name]]
    with RESULTS.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, [*known[0]])
        writer.writeheader()
        writer.writerows(known)


def main() -> None:
    """Try all cases, write the table and print what is wrong."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--cases", type=int, default=100_000, help="of each entry")
    parser.add_argument("--least", type=int, default=500, help="of each container")
    parser.add_argument("--seconds", type=float, default=1e9, help="of each entry at most")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--entries", nargs="*", default=list(ENTRIES))
    asked = parser.parse_args()
    versions = {name: version(name) for name in LIBRARIES}
    rows, total = stored(), Counter[str]()
    with ProcessPoolExecutor(asked.processes) as pool:
        limits = asked.cases, asked.least, asked.seconds
        made = {pool.submit(measured, name, *limits): name for name in asked.entries}
        for one in as_completed(made):
            rows[made[one]] = [row | versions for row in one.result()]
            counts = Counter({k: sum(row[k] for row in one.result()) for k in OUTCOMES})
            print(made[one], counts.total(), dict(counts), flush=True)
            total += counts
            write(rows)
    print(f"{len(asked.entries)} entries, {total.total()} cases: {dict(total)}")


if __name__ == "__main__":
    main()
