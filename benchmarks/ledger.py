"""Spends of a budget in a file: microseconds of each, beside inserts that are as durable.

Run: ``python benchmarks/ledger.py [SPENDS [SPENDS_ON_DISK]]``; 100,000 in a folder of memory
(``/dev/shm``) and 10,000 in the folder of temporary files if not given. One ledger is of
rows; the other of persons with at most three rows each, with shares of 20 analysts who take
turns and totals that renew monthly. In turns with the spends, rows of the same size are
inserted into a bare SQLite file, each in a transaction of its own that waits for the disk
(write-ahead journal, ``synchronous = FULL``). Kept in ``benchmarks/results/ledger.csv`` are the
means up to 10^2, 10^3, ... spends. At last a hundred spends are recorded together, as
``dp.run`` does with those of its queries, beside a hundred inserts.
"""

from __future__ import annotations

import csv
import sqlite3
import sys
import tempfile
from collections.abc import Callable
from itertools import cycle
from pathlib import Path
from time import perf_counter
from typing import Any

import dpselect as dp

RESULTS = Path(__file__).with_name("results") / "ledger.csv"

FOLDERS = {"memory": "/dev/shm", "disk": None}  # noqa: S108 -- not for secrets

SPENDS = (100_000, 10_000)

ANALYSTS = [f"analyst {n}" for n in range(20)]

TERMS: dict[str, dict[str, Any]] = {
    "rows": {},
    "persons, shares, periods": {
        "delta": 1e-6,
        "protects": dp.budget.Persons("patient", 3),
        "shares": dict.fromkeys(ANALYSTS, 0.04),
        "period": dp.budget.Period("month", "each-period"),
    },
}
"""Of both ledgers, beside epsilon and the relation."""


def bare(path: Path) -> Callable[[], object]:
    """Return a function that inserts one row."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("CREATE TABLE rows (number INTEGER PRIMARY KEY, text TEXT)")

    def insert() -> None:
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("INSERT INTO rows (text) VALUES (?)", ("x" * 150,))
        connection.execute("COMMIT")

    return insert


def measured(name: str, path: Path, spends: int) -> list[list[object]]:
    """Return a row for each power of ten of spends: the means in microseconds."""
    terms = TERMS[name]
    budget = dp.Budget(1.0, neighbours="add-remove", path=path, **terms)
    insert = bare(path.with_name(f"{path.name} bare"))
    asked = [budget.for_request(analyst=one) for one in ANALYSTS if "shares" in terms]
    turns = cycle(asked or [budget])

    def spend() -> object:
        return next(turns).spend(1e-6, neighbours="add-remove", mechanism="benchmark")

    rows: list[list[object]] = []
    seconds = {spend: 0.0, insert: 0.0}
    started, shown = 0, 100
    for number in range(1, spends + 1):
        for act in seconds:
            start = perf_counter()
            act()
            seconds[act] += perf_counter() - start
        if number == shown:
            each, least = (1e6 * total / (number - started) for total in seconds.values())
            rows.append([name, started, number, round(each), round(least)])
            print(f"{name}, {started} to {number}: {each:.0f} us, an insert {least:.0f} us")
            seconds = dict.fromkeys(seconds, 0.0)
            started, shown = number, 10 * shown
    return rows


def together(path: Path, spends: int) -> list[object]:
    """Return the row of spends that are recorded a hundred at a time."""
    name = "persons, shares, periods"
    budget = dp.Budget(1.0, neighbours="add-remove", path=path, **TERMS[name])
    insert = bare(path.with_name(f"{path.name} bare"))
    one = {"epsilon": 1e-8, "neighbours": "add-remove", "mechanism": "benchmark"}
    seconds = {"spend": 0.0, "insert": 0.0}
    for turn in range(spends // 100):
        asked = budget.for_request(analyst=ANALYSTS[turn % len(ANALYSTS)])
        start = perf_counter()
        asked.reserve([one] * 100)()
        between = perf_counter()
        insert()
        seconds["spend"] += between - start
        seconds["insert"] += perf_counter() - between
    each, least = 1e6 * seconds["spend"] / spends, 1e8 * seconds["insert"] / spends
    return [f"{name}, 100 together", 0, spends, round(each), round(least)]


def main() -> None:
    """Measure both ledgers and keep the table."""
    numbers = [*map(int, sys.argv[1:]), *SPENDS[len(sys.argv) - 1 :]]
    rows = []
    for (kind, where), spends in zip(FOLDERS.items(), numbers, strict=True):
        with tempfile.TemporaryDirectory(dir=where) as folder:
            for number, name in enumerate(TERMS):
                found = measured(name, Path(folder) / f"budget {number}", spends)
                rows += [[kind, *row] for row in found]
            rows.append([kind, *together(Path(folder) / "together", spends)])
    with RESULTS.open("w", newline="", encoding="utf-8") as stored:
        writer = csv.writer(stored, lineterminator="\n")
        writer.writerow(["folder", "ledger", "from", "to", "us_a_spend", "us_an_insert"])
        writer.writerows(rows)


if __name__ == "__main__":
    main()
