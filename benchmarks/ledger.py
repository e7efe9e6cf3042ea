"""Spends of a budget in a file: microseconds of each, beside inserts that are as durable.

Run: ``python benchmarks/ledger.py [SPENDS] [FOLDER]``; 100,000 spends in the folder of
temporary files if not given. In turns with the spends, rows of the same size are inserted
into a bare SQLite file, each in a transaction of its own that waits for the disk
(write-ahead journal, ``synchronous = FULL``). Shown are the means up to 10^2, 10^3, ...
spends, and the ratio of both.
"""

from __future__ import annotations

import sqlite3
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

import dpselect as dp


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


def main() -> None:
    """Print the table."""
    spends = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    where = sys.argv[2] if len(sys.argv) > 2 else None
    with tempfile.TemporaryDirectory(dir=where) as folder:
        budget = dp.Budget(1.0, neighbours="add-remove", path=Path(folder) / "budget")
        insert = bare(Path(folder) / "bare")

        def spend() -> object:
            return budget.spend(1e-6, neighbours="add-remove", mechanism="benchmark")

        seconds = {spend: 0.0, insert: 0.0}
        started, shown = 0, 100
        for number in range(1, spends + 1):
            for act in seconds:
                start = perf_counter()
                act()
                seconds[act] += perf_counter() - start
            if number == shown:
                each, least = (1e6 * total / (number - started) for total in seconds.values())
                print(
                    f"{started:>7} to {number:>7}: {each:7.0f} us a spend, "
                    f"{least:6.0f} us an insert, {each / least:5.1f} times"
                )
                seconds = dict.fromkeys(seconds, 0.0)
                started, shown = number, 10 * shown


if __name__ == "__main__":
    main()
