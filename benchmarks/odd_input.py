"""Odd data at every public entry: errors that are not ours, and private values in messages.

Every entry that reads private data is called with data of every container that it takes:
values of all types, mixed and of one, with a private number among them that no message, log,
warning or output may hold. Run, in the folder of the project::

    python benchmarks/odd_input.py --minutes 60

Entries that read a container by the same code, as all mechanisms read scores, are one reading;
each table is read by one of its entries. A case is a block of up to eight rows. Every other
table has one, so that it may be empty or have a single row, and the others have ``BLOCKS``: an
error that a row makes it makes among others as well. Goes on where the last run ended, readings
with the fewest cases first. The readings of one shape of data get the same data, which are made
once. Most cases are in the containers that are read fast; the others get the shares of
``SHARES``. Writes ``benchmarks/results/odd_input.csv``: of each reading and container the
tables and cases of all runs, and what became of the cases: released, refused for their types,
refused because they contradict what the caller declares of the data, or because a value that
the caller himself counted is wrong; and what must be 0: errors that are not ours, texts with a
private value, and refusals that the same container without a row does not have, so that a row
decides. Where these are not 0 the next run begins anew.
"""

from __future__ import annotations

import argparse
import csv
import os
import random
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterator
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
    READINGS,
    data_for,
    outcome,
    seeded,
)
from support.odd_input import (  # type: ignore[import-not-found] # noqa: E402 -- beside tests
    MARKER,
    observed,
)

LIBRARIES = ("polars", "pandas", "pyarrow", "numpy", "duckdb", "narwhals")
SHARES = {
    "pandas": 0.04,
    "pandas objects": 0.02,
    "duckdb": 0.02,
    "csv": 0.02,
    "parquet": 0.01,
    "dictionary": 0.01,
    "pandas of Arrow": 0.05,
    "pandas nullable": 0.05,
    "wide integers": 0.05,
    "extreme moments": 0.05,
    "constants": 0.05,
}
"""Of a reading's cases, in containers that take longest, or that nearly all refuse."""

BLOCKS = 100
OUTCOMES = ("released", "refused", "claimed", "own", "foreign", "told", "decided")
WRONG = ("foreign", "told", "decided")
ONCE = {"generator", "iterators"}

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


def tried(entry: str, data: object, panics: Panics) -> str:
    """Return what became of one case."""
    printed = panics.end()
    try:
        with observed() as seen:
            ENTRIES[entry].call(data)
    except BaseException:  # noqa: BLE001 -- it is counted
        print(traceback.format_exc(limit=-6), flush=True)
        return "foreign"
    if seen.is_private() or panics.tell(printed):
        return "told"
    try:
        found = str(outcome(entry, data, seen.error))
    except BaseException:  # noqa: BLE001 -- it is counted
        print(traceback.format_exc(limit=-6), flush=True)
        return "foreign"
    if found == "decided":
        print(repr(seen.error), flush=True)
    return found


def shape(reading: str) -> str:
    """Return the shape of the data of a reading."""
    return str(ENTRIES[READINGS[reading][0]].data)


def wanted(reading: str, cases: int) -> dict[str, int]:
    """Return how many of the cases of a reading are in each container."""
    containers = CONTAINERS[shape(reading)]
    if not {*containers} - {*SHARES}:
        return dict.fromkeys(containers, -int(-cases // len(containers)))
    slow = {one: SHARES[one] for one in containers if one in SHARES}
    rest = (1 - sum(slow.values())) / (len(containers) - len(slow))
    return {one: -int(-cases * slow.get(one, rest) // 1) for one in containers}


def more(
    readings: list[str], rows: dict[str, dict[str, Row]], cases: int, panics: Panics
) -> None:
    """Bring readings of data of one shape to so many cases."""
    for container in CONTAINERS[shape(readings[0])]:
        made: dict[int, object] = {}
        with tempfile.TemporaryDirectory() as folder:
            for reading in readings:
                known = rows.setdefault(reading, {})
                row = known.get(container)
                wrong = row is not None and any(int(row.get(one) or 0) for one in WRONG)
                if row is None or "tables" not in row or wrong:
                    row = dict.fromkeys(("seeds", "tables", *OUTCOMES), 0) | {"seconds": 0.0}
                found = Counter({one: int(row.get(one) or 0) for one in OUTCOMES})
                seed, tables = int(row["seeds"]), int(row["tables"])
                began = time.process_time()
                while found.total() < wanted(reading, cases)[container]:
                    became = _table(reading, container, seed, made, Path(folder), panics)
                    found[became] += _blocks(reading, container, seed) if became else 0
                    tables += bool(became)
                    seed += 1
                spent = float(row["seconds"]) + time.process_time() - began
                known[container] = {
                    "reading": reading,
                    "entries": len(READINGS[reading]),
                    "container": container,
                    "seeds": seed,
                    "tables": tables,
                    "cases": found.total(),
                    **{one: found[one] for one in OUTCOMES},
                    "seconds": f"{spent:.1f}",
                }


def _blocks(reading: str, container: str, seed: int) -> int:
    """Return how many blocks of rows a table has."""
    is_one = seed % 2 == 0 or "counts" in shape(reading) or container in ONCE
    return 1 if is_one else BLOCKS


def _table(
    reading: str,
    container: str,
    seed: int,
    made: dict[int, object],
    folder: Path,
    panics: Panics,
) -> str:
    """Return what became of one table; nothing where the container has none of the values."""
    kind = shape(reading)
    if seed in made:
        data = made[seed]
    else:
        first = ENTRIES[READINGS[reading][0]]
        rng, blocks = seeded(kind, container, seed), _blocks(reading, container, seed)
        data = data_for(first, container, rng, folder, blocks)
        if container not in ONCE:
            made[seed] = data
    if data is None:
        return ""
    entry = random.Random(f"{reading} {container} {seed}").choice(READINGS[reading])  # noqa: S311
    became = tried(entry, data, panics)
    if became in WRONG:
        print(became, entry, container, seed, flush=True)
    return became


def stored() -> dict[str, dict[str, Row]]:
    """Return the lines of the table by reading and container."""
    found: dict[str, dict[str, Row]] = {}
    if RESULTS.exists():
        with RESULTS.open(newline="", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                found.setdefault(row["reading"], {})[row["container"]] = row
    return found


def write(rows: dict[str, dict[str, Row]]) -> None:
    """Write the lines of all readings that there are."""
    versions = {name: version(name) for name in LIBRARIES}
    known = [row | versions for name in READINGS for row in rows.get(name, {}).values()]
    with RESULTS.open("w", newline="", encoding="utf-8") as file:
        names = dict.fromkeys(name for row in known for name in row)
        writer = csv.DictWriter(file, [*names])
        writer.writeheader()
        writer.writerows(known)


def total(rows: dict[str, Row]) -> Counter[str]:
    """Return the outcomes of a reading's cases."""
    asked = [
        row for name, row in rows.items() if any(name in one for one in CONTAINERS.values())
    ]
    return Counter({one: sum(int(row.get(one) or 0) for row in asked) for one in OUTCOMES})


def steps(
    names: list[str], rows: dict[str, dict[str, Row]], cases: int, step: int
) -> Iterator[tuple[list[str], int]]:
    """Yield readings of one shape, and how many cases each is to have, the fewest first."""
    while True:
        counts = {one: total(rows.get(one, {})).total() for one in names}
        fewest = min(names, key=counts.__getitem__)
        if counts[fewest] >= cases:
            return
        until = min(cases, counts[fewest] + step)
        alike = [one for one in names if shape(one) == shape(fewest)]
        yield [one for one in alike if counts[one] < until], until


def main() -> None:
    """Try cases, write the table and print what is wrong."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--minutes", type=float, default=60, help="of a processor")
    parser.add_argument("--cases", type=int, default=100_000, help="of each reading")
    parser.add_argument("--step", type=int, default=2_000, help="cases of a reading at once")
    parser.add_argument("--readings", nargs="*", default=list(READINGS))
    parser.add_argument("--containers", nargs="*", help="these alone")
    asked = parser.parse_args()
    if asked.containers:
        for known in CONTAINERS.values():
            known[:] = [one for one in known if one in asked.containers]
        asked.readings = [one for one in asked.readings if CONTAINERS[shape(one)]]
    if hasattr(os, "sched_setaffinity"):
        # Tables of eight rows: threads would take longer to start than to count them.
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    rows, until = stored(), time.process_time() + 60 * asked.minutes
    with tempfile.TemporaryDirectory() as folder:
        panics = Panics(Path(folder))
        for names, cases in steps(asked.readings, rows, asked.cases, asked.step):
            began = time.process_time()
            more(names, rows, cases, panics)
            write(rows)
            spent = time.process_time() - began
            print(shape(names[0]), len(names), cases, f"{spent:.1f} s", flush=True)
            if time.process_time() > until:
                break
    counts = sum((total(one) for one in rows.values()), Counter[str]())
    print(f"{len(rows)} readings, {counts.total()} cases: {dict(counts)}")


if __name__ == "__main__":
    main()
