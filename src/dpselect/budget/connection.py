"""Connections to files of SQLite: one for each operation, so threads and forks share none.

A file at rest is one file, and whole: nothing of it is written ahead into a second one.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from dpselect.errors import LedgerError

PATIENCE = 120.0
"""Seconds to wait for one's turn; 200 spends at once need about 3."""


@contextmanager
def connected(
    path: Path, what: str = "ledger", begin: str = ""
) -> Iterator[sqlite3.Connection]:
    """Open the database at ``path`` for one operation; roll back what was not committed.

    Args:
        path: The file.
        what: What it is, in an error.
        begin: A statement that begins a transaction.

    Raises:
        LedgerError: There is no folder for it, or SQLite cannot use the file.
    """
    check_folder(path, what)
    try:
        # Closing rolls back a transaction that was not committed.
        with closing(
            sqlite3.connect(
                f"{path.as_uri()}?mode=rw", uri=True, timeout=PATIENCE, isolation_level=None
            )
        ) as connection:
            # FULL alone may forget a commit at a power loss: the rollback journal's removal is
            # not on the disk until its folder is. EXTRA syncs the folder; fullfsync is for
            # macOS.
            for statement in ("PRAGMA synchronous = EXTRA", "PRAGMA fullfsync = ON", begin):
                connection.execute(statement)
            yield connection
    except sqlite3.Error as error:
        if isinstance(error, sqlite3.DatabaseError) and "not a database" in str(error):
            raise not_ours(path, what) from None
        raise LedgerError(f"the {what} {path} cannot be used: {error}") from error
    except UnicodeDecodeError:  # of what SQLite says of a damaged file
        raise LedgerError(f"the {what} {path} cannot be used: it is damaged") from None


def check_folder(path: Path, what: str) -> None:
    """Raise a ``LedgerError`` if there is no folder for a file."""
    if not path.parent.is_dir():
        raise LedgerError(f"there is no folder {path.parent} for the {what}")


def not_ours(path: Path, what: str) -> LedgerError:
    """Return the error for a file that another program made."""
    return LedgerError(f"{path} is not a {what} of dpselect; it was left as it is")
