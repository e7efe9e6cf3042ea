"""The file of a series: what was released of each period, for which query.

It is an SQLite database. Whoever draws holds its lock from before rows are read until the sums
are on the disk, and only then are they returned: so each period is drawn once, by one process,
and what a crash loses was seen by nobody. All that it holds is public, but it must be the only
copy: if an older one is put back, a period could be drawn a second time.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from dpselect.budget.connection import connected, not_ours
from dpselect.errors import LedgerError

APPLICATION_ID = int.from_bytes(b"dpse", "big")
SCHEMA_VERSION = 1

_CREATE = (
    "CREATE TABLE series (query TEXT NOT NULL, entry INTEGER)",
    "CREATE TABLE periods (number INTEGER PRIMARY KEY, sums TEXT NOT NULL)",
    f"PRAGMA application_id = {APPLICATION_ID}",
    f"PRAGMA user_version = {SCHEMA_VERSION}",
)


class Kept:
    """An open file of a series, which nobody else can write meanwhile.

    Attributes:
        is_paid: Whether the price of the series was charged.
        entry: The number of the entry in the budget; None if nothing was recorded.
    """

    def __init__(self, connection: sqlite3.Connection, query: str, path: Path) -> None:
        self._connection, self._query = connection, query
        self.is_paid = False
        self.entry: int | None = None
        self._read(path)

    def _read(self, path: Path) -> None:
        """Check that it is the file of this query, if it is one already."""
        found = [
            self._connection.execute(f"PRAGMA {one}").fetchone()[0]
            for one in ("application_id", "user_version", "schema_version")
        ]
        if found == [0, 0, 0]:
            return
        if found[0] != APPLICATION_ID:
            raise not_ours(path, "file of a series")
        if found[1] != SCHEMA_VERSION:
            raise LedgerError(f"{path} is a file of another version of dpselect")
        [(query, self.entry)] = self._connection.execute("SELECT query, entry FROM series")
        if query != self._query:
            raise LedgerError(
                f"{path} is the file of another series: all but `k` must be as it was"
            )
        self.is_paid = True

    def sums(self) -> list[tuple[int, ...]]:
        """Return the sums of the periods that were released, in order."""
        rows = self._connection.execute("SELECT sums FROM periods ORDER BY number")
        return [tuple(json.loads(one)) for (one,) in rows]

    def pay(self, entry: int | None) -> None:
        """Keep on the disk that the price was charged."""
        for statement in _CREATE:
            self._connection.execute(statement)
        self._connection.execute("INSERT INTO series VALUES (?, ?)", (self._query, entry))
        self._connection.execute("COMMIT")
        self._connection.execute("BEGIN IMMEDIATE")
        self.is_paid, self.entry = True, entry

    def add(self, first: int, sums: Sequence[Sequence[int]]) -> None:
        """Keep the sums of periods on the disk, from a number on."""
        rows = [(first + at, json.dumps(list(one))) for at, one in enumerate(sums)]
        self._connection.executemany("INSERT INTO periods VALUES (?, ?)", rows)
        self._connection.execute("COMMIT")


@contextmanager
def opened(path: Path, query: str) -> Iterator[Kept]:
    """Open the file of a series, and make it where there is none.

    Args:
        path: Absolute.
        query: The written form of the query.

    Raises:
        LedgerError: It is of another query, is another file, or cannot be used.
    """
    if path.parent.is_dir():
        path.touch()
    with connected(path, "file of a series") as connection:
        connection.execute("BEGIN IMMEDIATE")
        yield Kept(connection, query, path)
