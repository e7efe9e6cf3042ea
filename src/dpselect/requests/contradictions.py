"""Claims of a policy that data contradicted: written down for its curator, and not used again.

That a claim is false is one fact about the data which no price covers. It is told once, in
words that do not depend on the claim, and stands in a file beside the ledger, one contradiction
a line. Nothing that rests on the claim is answered until the curator states another value in
the policy, or removes the line.
"""

import json
import os
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, nullcontext, suppress
from datetime import UTC, datetime
from io import TextIOWrapper
from pathlib import Path

from dpselect.errors import LedgerError, PublicClaimError

WAIT = 1e6
"""Seconds to wait for one's turn, while another reads."""

TOLD = (
    "the data contradict a claim of the policy: nothing that rests on it is answered until the "
    "curator has looked at it"
)
"""All that is told of a contradiction."""


def file_of(ledger: Path) -> Path:
    """Return the file of the contradictions of the policies of a ledger."""
    return ledger.with_name(f"{ledger.name}.contradicted")


@contextmanager
def kept(ledger: Path | None, claims: Mapping[str, object], **asked: str) -> Iterator[None]:
    """Read data in a block that rests on claims, unless one was contradicted before.

    One process at a time is in such a block: else each of many could learn one fact.

    Args:
        ledger: The ledger of the policy.
        claims: The values of the claims, by the names of their fields; plain.
        asked: Who asks what, for the curator.

    Raises:
        PublicClaimError: The data contradict a claim now, or did before.
        LedgerError: There is no ledger, or the file cannot be used.
    """
    if claims and ledger is None:
        raise LedgerError("claims need a `ledger`, beside which a contradiction is kept")
    with _opened(ledger) if claims and ledger else nullcontext() as file:
        if file and any(one in claims.items() for one in _read(file)):
            raise PublicClaimError(TOLD)
        try:
            yield
        except PublicClaimError as error:
            if file:
                time = datetime.now(UTC).isoformat(timespec="seconds")
                for name in [one for one in error.arguments if one in claims] or claims:
                    found = {"claim": name, "value": claims[name], "time": time, **asked}
                    file.write(json.dumps(found) + "\n")
                file.flush()
                os.fsync(file.fileno())
            raise PublicClaimError(TOLD) from None


def _read(file: TextIOWrapper) -> list[tuple[str, object]]:
    """Return the claims in the lines of a file, with the values that were contradicted."""
    try:
        found = map(json.loads, filter(str.strip, file))
        return [(str(one["claim"]), one["value"]) for one in found]
    except (ValueError, TypeError, KeyError):
        raise LedgerError(f"{file.name} has a line that is no contradiction") from None


@contextmanager
def _opened(ledger: Path) -> Iterator[TextIOWrapper]:
    """Open the file for one process at a time, by a lock that every system has: SQLite's."""
    path = file_of(ledger)
    guard = path.with_name(f"{path.name}.lock")
    try:
        for one in (path, guard):
            one.touch()
            share_rights(ledger, one)
        with (
            closing(sqlite3.connect(guard, timeout=WAIT, isolation_level=None)) as lock,
            path.open("r+", encoding="utf-8") as file,
        ):
            lock.execute("BEGIN EXCLUSIVE")
            yield file
    except (OSError, sqlite3.Error) as error:
        raise LedgerError(f"contradictions cannot be kept in {path}: {error}") from None


def share_rights(ledger: Path, path: Path) -> None:
    """Let those who may read and write a ledger do so with what is beside it."""
    with suppress(OSError):  # where it is somebody else's, they did so
        rights = ledger.stat()
        path.chmod(rights.st_mode & 0o666)
        if hasattr(os, "chown"):
            os.chown(path, -1, rights.st_gid)
