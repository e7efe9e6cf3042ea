"""The file of a series: what was released of each period, for which query of which rows.

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
from os import PathLike
from pathlib import Path
from typing import Any

from dpselect.budget import Budget, Entry
from dpselect.errors import LedgerError
from dpselect.extend import connected, not_ours, readable, source_name, stated_rows
from dpselect.tables import Source

APPLICATION_ID = int.from_bytes(b"dpse", "big")
SCHEMA_VERSION = 2

_CREATE = (
    "CREATE TABLE series (query TEXT NOT NULL, rows TEXT NOT NULL, entry TEXT NOT NULL)",
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

    def __init__(
        self, connection: sqlite3.Connection, query: str, rows: str | None, path: Path
    ) -> None:
        self._connection, self._query, self._rows, self._path = connection, query, rows, path
        self._mark: list[Any] = [None]
        self.is_paid = False
        self._read()

    @property
    def entry(self) -> int | None:
        number: int | None = self._mark[0]
        return number

    def _read(self) -> None:
        """Check that it is the file of this query and these rows, if it is one already."""
        path = self._path
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
        [(query, rows, mark)] = self._connection.execute("SELECT * FROM series")
        if query != self._query:
            raise LedgerError(
                f"{path} is the file of another series: all but `k` must be as it was"
            )
        if self._rows not in {None, rows}:
            raise LedgerError(
                f"{path} is the file of a series of other rows: their source, its version, "
                "`where` and how a file is read must be as they were"
            )
        self._mark, self.is_paid = json.loads(mark), True

    def check_payer(self, budget: object) -> None:
        """Raise if the price was charged, and not to this budget.

        Raises:
            LedgerError: It was charged to another one, or to none.
        """
        if not (self.is_paid and isinstance(budget, Budget)):
            return
        number = self.entry or 0
        if [_mark(one) for one in budget.entries[max(number - 1, 0) : number]] != [self._mark]:
            raise LedgerError(
                f"the series of {self._path} was not charged to this `budget`: give the one "
                "that was charged, or none"
            )

    def sums(self) -> list[tuple[int, ...]]:
        """Return the sums of the periods that were released, in order."""
        rows = self._connection.execute("SELECT sums FROM periods ORDER BY number")
        return [tuple(json.loads(one)) for (one,) in rows]

    def pay(self, entry: Entry | None) -> None:
        """Keep on the disk that the price was charged."""
        for statement in _CREATE:
            self._connection.execute(statement)
        self._mark = [None] if entry is None else _mark(entry)
        row = self._query, self._rows, json.dumps(self._mark)
        self._connection.execute("INSERT INTO series VALUES (?, ?, ?)", row)
        self._connection.execute("COMMIT")
        self._connection.execute("BEGIN IMMEDIATE")
        self.is_paid = True

    def add(self, first: int, sums: Sequence[Sequence[int]]) -> None:
        """Keep the sums of periods on the disk, from a number on."""
        rows = [(first + at, json.dumps(list(one))) for at, one in enumerate(sums)]
        self._connection.executemany("INSERT INTO periods VALUES (?, ?)", rows)
        self._connection.execute("COMMIT")


def _mark(entry: Entry) -> list[Any]:
    """Return what tells an entry from those of all other budgets."""
    return [entry.sequence, entry.token, entry.time]


def rows_of(data: object, budget: object, path: Path) -> str | None:
    """Return which rows of which source are counted; public.

    Args:
        data: None if nothing is to be read.
        budget: What knows the source and its version, if it does.
        path: The file of the series, from which a file of rows is named.
    """
    if data is None:
        return None
    source, version = "", ""
    if isinstance(budget, Budget):
        source, version = budget.origin.source, budget.origin.version
    file = data.path if isinstance(data, Source) else data
    if isinstance(file, str | PathLike):
        source = source_name(str(file), path)
    return json.dumps([source, version, readable(stated_rows(data))])


@contextmanager
def opened(path: Path, query: str, rows: str | None) -> Iterator[Kept]:
    """Open the file of a series, and make it where there is none.

    Args:
        path: Absolute.
        query: The written form of the query.
        rows: What ``rows_of`` returns.

    Raises:
        LedgerError: It is of another query or other rows, is another file, or cannot be used.
    """
    if path.parent.is_dir():
        path.touch()
    with connected(path, "file of a series") as connection:
        connection.execute("BEGIN IMMEDIATE")
        yield Kept(connection, query, rows, path)
