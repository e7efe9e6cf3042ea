"""Entries in an SQLite file that survives a crash and is shared by processes.

One spend is one transaction: it takes the write lock, reads, decides, inserts and commits.
SIGKILL at any moment leaves the file as it was before the transaction or after it, and the
next reader rolls back what was begun. Every operation opens a connection of its own, so
threads and forks share none. A file system without working locks (some network mounts) is
no place for a ledger.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Self

from dpselect.budget.entry import Entry, Totals
from dpselect.budget.store import Entries
from dpselect.errors import LedgerError
from dpselect.neighbours import Neighbours

APPLICATION_ID = int.from_bytes(b"dpsl", "big")
SCHEMA_VERSION = 2
PATIENCE = 120.0
"""Seconds to wait for one's turn; 200 spends at once need about 3."""

_CREATE = (
    """CREATE TABLE totals (
        epsilon REAL NOT NULL CHECK (epsilon > 0),
        delta REAL NOT NULL CHECK (delta >= 0 AND delta < 1),
        neighbours TEXT NOT NULL
    )""",
    """CREATE TABLE entries (
        sequence INTEGER PRIMARY KEY,
        time TEXT NOT NULL,
        epsilon REAL NOT NULL CHECK (epsilon >= 0),
        delta REAL NOT NULL CHECK (delta >= 0 AND delta < 1),
        rho REAL NOT NULL CHECK (rho >= 0),
        mechanism TEXT NOT NULL,
        note TEXT NOT NULL,
        version TEXT NOT NULL,
        laplace INTEGER NOT NULL CHECK (laplace >= 0),
        CHECK (delta > 0 OR (epsilon > 0 AND rho > 0))
    )""",
    *(
        f"""CREATE TRIGGER {table}_no_{action} BEFORE {action} ON {table}
        BEGIN SELECT RAISE(ABORT, 'a ledger only grows'); END"""
        for table in ("totals", "entries")
        for action in ("UPDATE", "DELETE")
    ),
    f"PRAGMA application_id = {APPLICATION_ID}",
    f"PRAGMA user_version = {SCHEMA_VERSION}",
)
_COLUMNS = (
    "sequence",
    "time",
    "epsilon",
    "delta",
    "rho",
    "mechanism",
    "note",
    "version",
    "laplace",
)


class Ledger:
    """A store in a file.

    Attributes:
        path: Absolute path of the file.
        totals: What the file says that it grants.
    """

    def __init__(self, path: Path, totals: Totals) -> None:
        self.path = path
        self.totals = totals

    @classmethod
    def create_or_open(cls, path: str | Path, totals: Totals) -> Self:
        """Open the ledger at ``path``, or make one where there is no file or an empty one.

        Raises:
            LedgerError: The file is not a ledger, is one for other totals or of another
                schema version, or cannot be opened.
        """
        ledger = cls(_absolute(path), totals)
        with _connected(ledger.path, mode="rwc") as connection:
            if _is_empty(connection, ledger.path):
                _create(connection, totals, ledger.path)
            ledger._check_totals(connection)
        return ledger

    @classmethod
    def open(cls, path: str | Path) -> Self:
        """Open the ledger at ``path`` with the totals that it states; never make a file.

        Raises:
            LedgerError: There is no ledger of this schema version at ``path``.
        """
        where = _absolute(path)
        if not where.exists():
            raise LedgerError(f"there is no ledger at {where}")
        with _connected(where, mode="rw") as connection:
            return cls(where, _stored_totals(connection, where))

    def entries(self) -> Entries:
        """Return all entries.

        Raises:
            LedgerError: The file is gone, was replaced, or cannot be read.
        """
        with _connected(self.path, mode="rw") as connection:
            self._check_totals(connection)
            return self._read(connection)

    def append(self, decide: Callable[[Entries], Entry]) -> Entry:
        """Add the entry that ``decide`` makes of the entries so far, on the disk.

        Raises:
            LedgerError: The file is gone, was replaced, or cannot be written.
        """
        with _connected(self.path, mode="rw") as connection:
            connection.execute("BEGIN IMMEDIATE")
            self._check_totals(connection)
            entry = decide(self._read(connection))
            row = [getattr(entry, column) for column in _COLUMNS]
            connection.execute("INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
            connection.execute("COMMIT")
        return entry

    def _read(self, connection: sqlite3.Connection) -> Entries:
        rows = connection.execute("SELECT * FROM entries ORDER BY sequence")
        return tuple(
            Entry(**dict(zip(_COLUMNS, row, strict=True)), neighbours=self.totals.neighbours)
            for row in rows
        )

    def _check_totals(self, connection: sqlite3.Connection) -> None:
        stored = _stored_totals(connection, self.path)
        for name in ("epsilon", "delta", "neighbours"):
            says, asked = getattr(stored, name), getattr(self.totals, name)
            if says != asked:
                raise LedgerError(
                    f"the ledger {self.path} is for {name} {says}, not {asked}; open it with "
                    "its own totals, or give another path"
                )


@contextmanager
def _connected(path: Path, *, mode: str) -> Iterator[sqlite3.Connection]:
    if not path.parent.is_dir():
        raise LedgerError(f"there is no folder {path.parent} for the ledger")
    try:
        # Closing rolls back a transaction that was not committed.
        with closing(
            sqlite3.connect(
                f"{path.as_uri()}?mode={mode}",
                uri=True,
                timeout=PATIENCE,
                isolation_level=None,
            )
        ) as connection:
            # FULL alone may forget a commit at a power loss: the journal's removal is not
            # on the disk until its folder is. EXTRA syncs the folder; fullfsync is for macOS.
            connection.execute("PRAGMA synchronous = EXTRA")
            connection.execute("PRAGMA fullfsync = ON")
            yield connection
    except sqlite3.Error as error:
        raise LedgerError(f"the ledger {path} cannot be used: {error}") from error


def _absolute(path: str | Path) -> Path:
    try:
        return Path(path).resolve()
    except (OSError, RuntimeError, ValueError) as error:
        raise LedgerError(f"a ledger cannot be at {str(path)!r}: {error}") from None


def _pragma(connection: sqlite3.Connection, name: str) -> int:
    (value,) = connection.execute(f"PRAGMA {name}").fetchone()
    return int(value)


def _is_empty(connection: sqlite3.Connection, path: Path) -> bool:
    # Reading rolls back what a killed process left half made. The size is asked of the file
    # since SQLite takes some files of a few bytes for empty databases.
    return _pragma(connection, "application_id") == 0 and path.stat().st_size == 0


def _create(connection: sqlite3.Connection, totals: Totals, path: Path) -> None:
    connection.execute("BEGIN IMMEDIATE")
    # Another process may have made it while this one waited for the lock.
    if _is_empty(connection, path):
        for statement in _CREATE:
            connection.execute(statement)
        connection.execute(
            "INSERT INTO totals VALUES (?, ?, ?)",
            (totals.epsilon, totals.delta, totals.neighbours.value),
        )
    connection.execute("COMMIT")


def _stored_totals(connection: sqlite3.Connection, path: Path) -> Totals:
    if _pragma(connection, "application_id") != APPLICATION_ID:
        raise LedgerError(f"{path} is not a ledger of dpselect; it was left as it is")
    version = _pragma(connection, "user_version")
    if version != SCHEMA_VERSION:
        raise LedgerError(
            f"the ledger {path} has schema version {version}, this dpselect reads version "
            f"{SCHEMA_VERSION}"
        )
    try:
        ((epsilon, delta, relation),) = connection.execute("SELECT * FROM totals")
        return Totals(epsilon=epsilon, delta=delta, neighbours=Neighbours(relation))
    except ValueError:
        raise LedgerError(f"the ledger {path} does not state its totals") from None
