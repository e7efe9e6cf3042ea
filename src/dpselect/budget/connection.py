"""Connections to the file of a ledger: one for each operation, or one kept for many spends.

A ledger at rest is one file, and each operation opens a connection of its own, so threads and
forks share none. Such a commit waits several times for the disk. From ``MANY`` spends on, an
object keeps one connection and lets SQLite write ahead, where a commit waits once. The newest
spends are then in a second file, ``<name>-wal``, until the object is deleted, the process
forks, or somebody else writes or replaces the first one.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from threading import Lock
from weakref import WeakSet, finalize

from dpselect.errors import LedgerError

PATIENCE = 120.0
"""Seconds to wait for one's turn; 200 spends at once need about 3."""

MANY = 100
"""Spends of one object after which it keeps its connection."""


@contextmanager
def connected(path: Path, what: str = "ledger") -> Iterator[sqlite3.Connection]:
    """Open the database at ``path`` for one operation; roll back what was not committed.

    Args:
        path: The file.
        what: What it is, in an error.

    Raises:
        LedgerError: There is no folder for it, or SQLite cannot use the file.
    """
    check_folder(path, what)
    # Closing rolls back a transaction that was not committed.
    with _refusing(path, what), closing(_opened(path)) as connection:
        yield connection


class Connections:
    """The connections of one object to one file.

    Args:
        path: The file.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._spends = 0
        self._kept: _Kept | None = None

    @contextmanager
    def transaction(self, begin: str) -> Iterator[sqlite3.Connection]:
        """Begin a transaction; what the block does not commit is rolled back.

        Raises:
            LedgerError: As for ``connected``.
        """
        kept = self._kept
        if kept is not None:
            with kept.lock, _refusing(self._path):
                if kept.is_usable():
                    with kept.transaction(begin) as connection:
                        yield connection
                    return
            self._kept = None
        with connected(self._path) as connection:
            connection.execute(begin)
            yield connection

    def count_spend(self) -> None:
        """Keep a connection once there were many spends."""
        self._spends += 1
        if self._kept is None and self._spends % MANY == 0:
            # Where SQLite cannot write ahead, or others are at work, all stays as it is.
            with suppress(sqlite3.Error):
                self._kept = _Kept(self._path)
                finalize(self, self._kept.close)


class _Kept:
    """One connection that writes ahead, and the file that it belongs to."""

    def __init__(self, path: Path) -> None:
        self.lock = Lock()
        self._path = path
        self._connection: sqlite3.Connection | None = _opened(path)
        self._stamp = self._stamped()
        try:
            _set_journal(self._connection, "WAL")
        except sqlite3.Error:
            self.close()
            raise
        self._stamp = self._stamped()
        _KEPT.add(self)

    def is_usable(self) -> bool:
        """Return whether the file is as it was left; if it is not, give the connection up."""
        if self._connection is not None and self._stamped() != self._stamp:
            self._connection.close()
            self._connection = None
        return self._connection is not None

    @contextmanager
    def transaction(self, begin: str) -> Iterator[sqlite3.Connection]:
        """As ``Connections.transaction``, while ``is_usable``."""
        connection = self._connection
        if connection is None:
            raise LedgerError(f"the connection to {self._path} is closed")
        connection.execute(begin)
        try:
            yield connection
        finally:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            # SQLite moves pages into the file now and then; it stays the same file.
            self._stamp = self._stamp[:2] + self._stamped()[2:]

    def close(self) -> None:
        """Leave one file with a rollback journal, unless others have it open."""
        if self.is_usable() and self._connection is not None:
            with closing(self._connection) as connection, suppress(sqlite3.Error):
                _set_journal(connection, "DELETE")
            self._connection = None

    def _stamped(self) -> tuple[int, ...]:
        """Return what changes when somebody replaces or writes the file."""
        try:
            found = self._path.stat()
        except OSError:
            return ()
        return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


_KEPT: WeakSet[_Kept] = WeakSet()
_HELD: list[_Kept] = []


def _before_fork() -> None:
    """Close all kept connections: SQLite allows none to be carried into a fork."""
    _HELD.extend(_KEPT)
    for kept in _HELD:
        kept.lock.acquire()
        kept.close()


def _after_fork() -> None:
    while _HELD:
        _HELD.pop().lock.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork
    )


def _opened(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(
        f"{path.as_uri()}?mode=rw",
        uri=True,
        timeout=PATIENCE,
        isolation_level=None,
        check_same_thread=False,
    )
    # FULL alone may forget a commit at a power loss: the rollback journal's removal is not on
    # the disk until its folder is. EXTRA syncs the folder; fullfsync is for macOS.
    try:
        connection.execute("PRAGMA synchronous = EXTRA")
        connection.execute("PRAGMA fullfsync = ON")
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def _set_journal(connection: sqlite3.Connection, mode: str) -> None:
    connection.execute("PRAGMA busy_timeout = 0")
    connection.execute(f"PRAGMA journal_mode = {mode}")
    connection.execute(f"PRAGMA busy_timeout = {round(1000 * PATIENCE)}")


def check_folder(path: Path, what: str) -> None:
    """Raise a ``LedgerError`` if there is no folder for a file."""
    if not path.parent.is_dir():
        raise LedgerError(f"there is no folder {path.parent} for the {what}")


def not_ours(path: Path, what: str) -> LedgerError:
    """Return the error for a file that another program made."""
    return LedgerError(f"{path} is not a {what} of dpselect; it was left as it is")


@contextmanager
def _refusing(path: Path, what: str = "ledger") -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        if isinstance(error, sqlite3.DatabaseError) and "not a database" in str(error):
            raise not_ours(path, what) from None
        raise LedgerError(f"the {what} {path} cannot be used: {error}") from error
    except UnicodeDecodeError:  # of what SQLite says of a damaged file
        raise LedgerError(f"the {what} {path} cannot be used: it is damaged") from None
