"""Entries in an SQLite file that survives a crash and is shared by processes.

One spend is one transaction: it takes the write lock, reads, decides, inserts and commits.
SIGKILL at any moment leaves the file as it was before the transaction or after it, and the
next reader rolls back what was begun. A file system without working locks (some network
mounts) is no place for a ledger, nor is one without hard links: a new ledger gets its name
when it is complete. Each operation has a connection of its own, so threads and forks share
none, and a file at rest is one file, and whole.

Each entry holds the exact sums of all entries of its share and period up to it, so a spend
takes the same time however many there are, and a random token. A ledger has a random
identity. Whoever has it open compares both with what they saw last, so a file that was
replaced, emptied or restored from a copy is refused.

The answer of a release and its refund are rows of their own, written after the draw: a crash
in between loses the answer and the refund and never the spend. What was drawn of an answer
that takes longer to work out is kept meanwhile.
"""

import json
import os
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import fields, replace
from fractions import Fraction
from functools import partial
from math import inf
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Self, Unpack

from dpselect.budget.entry import Entry, Kept, Question
from dpselect.budget.store import Decide, Entries, State, T, sums_of
from dpselect.budget.totals import Sums, Totals
from dpselect.errors import LedgerError, possible
from dpselect.neighbours import Neighbours
from dpselect.writing import readable

PATIENCE = 120.0
"""Seconds to wait for one's turn; 200 spends at once need about 3."""

APPLICATION_ID = int.from_bytes(b"dpsl", "big")
SCHEMA_VERSION = 8

_KEPT = ("answer", "shown", "release")
"""Fields of an entry that are written with its answer."""

_APART = {"neighbours", "refunded", *_KEPT}
"""Fields of an entry that are not in its own row."""

_COLUMNS = tuple(one.name for one in fields(Entry) if one.name not in _APART)
_TEXTS = tuple(one.name for one in fields(Entry) if one.type in {str, "str"})
_SUMS = ("epsilons", "deltas", "rhos")

_INSERT = (
    f"INSERT INTO entries ({', '.join(_COLUMNS + _SUMS)}) "  # noqa: S608 -- names of ours
    f"VALUES ({', '.join('?' * len(_COLUMNS + _SUMS))})"
)
_ENTRIES = (
    f"SELECT {', '.join(f'entries.{column}' for column in _COLUMNS)}, "  # noqa: S608
    f"{', '.join(_KEPT)}, coalesce(refunds.epsilon, 0.0) FROM entries "
    "LEFT JOIN answers ON answers.sequence = entries.sequence AND is_last = "
    "(SELECT max(is_last) FROM answers WHERE answers.sequence = entries.sequence) "
    "LEFT JOIN refunds ON refunds.sequence = entries.sequence "
)
_IN_ORDER = "ORDER BY entries.sequence"
_IS_THERE = "SELECT 1 FROM entries WHERE sequence = ? AND token = ?"
_AT = "WHERE entries.sequence = ? AND entries.token = ?"
_LIKE = (
    "WHERE key = ? AND entries.period = ? AND release IS NOT NULL "
    "ORDER BY entries.sequence DESC LIMIT 1"
)
_LAST = (
    "SELECT sequence, token, (SELECT max(period) FROM entries) FROM entries "
    "ORDER BY sequence DESC LIMIT 1"
)
_SUMS_OF = (
    "SELECT epsilons, deltas, rhos, coalesce((SELECT refunds FROM refunds "
    "WHERE period = ?1 AND share = ?2 ORDER BY number DESC LIMIT 1), '0') "
    "FROM entries WHERE period = ?1 AND share = ?2 ORDER BY sequence DESC LIMIT 1"
)
_REFUND = "INSERT INTO refunds SELECT count(*) + 1, ?, ?, ?, ?, ? FROM refunds"


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
    uri = f"{path.as_uri()}?mode=rw"
    try:
        # Closing rolls back a transaction that was not committed.
        with closing(
            sqlite3.connect(uri, uri=True, timeout=PATIENCE, isolation_level=None)
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


class Ledger:
    """A store in a file.

    Args:
        path: An existing ledger.

    Attributes:
        path: Absolute path of the file.
        totals: What the file says that it grants.

    Raises:
        LedgerError: There is no ledger of this schema version at ``path``.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = _absolute(path)
        if not self.path.exists():
            raise LedgerError(
                f"there is no ledger at {self.path}; make one first, by `dpselect budget FILE "
                "--create` or dpselect.Budget(..., path=...)"
            )
        with connected(self.path) as connection:
            self._stated = _stated(connection, self.path)
        self.totals = _totals(self._stated, self.path)
        self._seen: tuple[int, str] = (0, "")
        self.entries()

    @classmethod
    def create_or_open(cls, path: str | Path, totals: Totals) -> Self:
        """Open the ledger at ``path``, or make one where there is no file.

        Raises:
            LedgerError: The file is not a ledger, is one for other totals or of another
                schema version, or cannot be opened.
        """
        if not os.path.lexists(where := _absolute(path)):
            _create(totals, where)
        ledger = cls(where)
        for one in fields(Totals):
            says, asked = (getattr(of, one.name) for of in (ledger.totals, totals))
            if says != asked:
                raise LedgerError(
                    f"the ledger {where} is for {one.name} {says}, not {asked}; open it with "
                    "its own totals, or give another path"
                )
        return ledger

    def entries(self) -> Entries:
        """Return all entries, and check that their sums are those of the last of each share.

        Raises:
            LedgerError: The file is gone, was replaced, emptied or restored, holds an
                invalid entry, or cannot be read.
        """
        # One snapshot for all that is read.
        with self._opened() as (connection, state):
            entries = tuple(self._entries(connection, _IN_ORDER))
            found = sums_of(entries)
            adds_up = all(state.sums(*at) == sums for at, sums in found.items())
        last = max((period for period, _ in found), default="")
        if not adds_up or (len(entries), last) != state[:2]:
            raise LedgerError(f"the ledger {self.path} does not add up")
        return entries

    def look(self, at: Callable[[State], T]) -> T:
        """Return what a function makes of the state, as the last entries say it.

        Raises:
            LedgerError: As for ``entries``.
        """
        with self._opened() as (_, state):
            return at(state)

    def append(self, decide: Decide) -> Entries:
        """Add the entries that ``decide`` makes of the state, on the disk, or none.

        Raises:
            LedgerError: The file is gone, was replaced, emptied or restored, or cannot be
                written.
        """
        made = []
        with self._opened("BEGIN IMMEDIATE") as (connection, state):
            for number, (new, sums) in enumerate(decide(state), state.number + 1):
                (token,) = connection.execute("SELECT hex(randomblob(16))").fetchone()
                entry = replace(new, sequence=number, token=token)
                row = [getattr(entry, column) for column in _COLUMNS]
                row[_COLUMNS.index("question")] = json.dumps(dict(entry.question))
                totals = [str(sums.epsilon + sums.refunded), str(sums.delta), str(sums.rho)]
                connection.execute(_INSERT, row + totals)
                made.append(entry)
            connection.execute("COMMIT")
        self._seen = max([self._seen, *((one.sequence, one.token) for one in made)])
        return tuple(made)

    def find(self, key: str, period: str) -> Entry | None:
        """Return the last entry of a key and a period that a release can be made of.

        Raises:
            LedgerError: As for ``entries``.
        """
        with self._opened() as (connection, _):
            return next(self._entries(connection, _LIKE, key, period), None)

    def answer(self, entry: Entry, answer: Mapping[str, object], **kept: Unpack[Kept]) -> None:
        """Add the answer of an entry, on the disk; one that is not the last is replaced by it.

        Raises:
            LedgerError: The ledger has another entry of this number or an answer of it, or
                the file is gone, was replaced, emptied or restored, or cannot be written.
        """
        with self._holding(entry) as (connection, found, _):
            more = kept.get("shown"), kept.get("release")
            texts = (None if one is None else json.dumps(one) for one in more)
            row = found.sequence, kept.get("is_last", True), found.token
            written = (*row, json.dumps(readable(answer)), *texts)
            connection.execute("INSERT INTO answers VALUES (?, ?, ?, ?, ?, ?)", written)

    def refund(self, entry: Entry, epsilon: float) -> None:
        """Give back a part of an entry's epsilon, on the disk; errors as for ``answer``."""
        with self._holding(entry) as (connection, found, state):
            given = found.given_back(epsilon)
            refunds = state.sums(found.period, found.share).less(given).refunded
            row = found.sequence, given, str(refunds), found.share, found.period
            connection.execute(_REFUND, row)

    @contextmanager
    def _holding(self, entry: Entry) -> Iterator[tuple[sqlite3.Connection, Entry, State]]:
        """Write what belongs to an entry in one transaction, as it is kept."""
        with self._opened("BEGIN IMMEDIATE") as (connection, state):
            at = entry.sequence, entry.token
            found = next(self._entries(connection, _AT, *at), None)
            if found is None:
                raise LedgerError(f"the ledger {self.path} does not hold the entry")
            yield connection, found, state
            connection.execute("COMMIT")

    @contextmanager
    def _opened(self, begin: str = "BEGIN") -> Iterator[tuple[sqlite3.Connection, State]]:
        """Open the file, if it is the one seen before, for one transaction; remember it."""
        with connected(self.path, begin=begin) as connection:
            if _stated(connection, self.path) != self._stated:
                raise LedgerError(f"the ledger {self.path} was replaced by another one")
            if self._seen[0] and not connection.execute(_IS_THERE, self._seen).fetchone():
                raise LedgerError(
                    f"the ledger {self.path} has lost spends: it was emptied or restored from "
                    "a copy"
                )
            sequence, token, period = connection.execute(_LAST).fetchone() or (0, "", "")
            if not (isinstance(sequence, int) and isinstance(token, str)):
                raise _no_entry(self.path)
            self._seen = max(self._seen, (sequence, token))
            # Without the ledger itself, which would then be deleted late.
            sums = partial(_sums, connection, self.path)
            yield connection, State(sequence, str(period), sums)

    def _entries(
        self, connection: sqlite3.Connection, which: str, *values: object
    ) -> Iterator[Entry]:
        """Yield entries, by the end of a query of them."""
        yield from map(self._entry, connection.execute(_ENTRIES + which, values))

    def _entry(self, row: tuple[Any, ...]) -> Entry:
        names = (*_COLUMNS, *_KEPT, "refunded")
        found = dict(zip(names, row, strict=True))
        texts = [found[name] for name in _TEXTS]
        for name in ("question", *_KEPT):
            if (kept := found[name]) is not None:
                texts.append(kept)
                found[name] = Question(partial(_read, kept, self.path))
        amounts = [found[name] for name in ("epsilon", "delta", "rho", "refunded")]
        if not (
            all(isinstance(text, str) for text in texts)
            and all(isinstance(amount, float) and 0 <= amount < inf for amount in amounts)
            and isinstance(found["steps"], int)
        ):
            raise _no_entry(self.path)
        return Entry(**found, neighbours=self.totals.neighbours)


def _sums(connection: sqlite3.Connection, path: Path, period: str, share: str) -> Sums:
    found = connection.execute(_SUMS_OF, (period, share)).fetchone()
    if found is None:
        return Sums()
    try:
        epsilon, delta, rho, refunded = map(Fraction, found)
    except (TypeError, ValueError, ZeroDivisionError):
        raise _no_entry(path) from None
    return Sums(epsilon - refunded, delta, rho, refunded)


def _no_entry(path: Path) -> LedgerError:
    return LedgerError(f"the ledger {path} holds an entry that is not one")


def _read(text: str, path: Path) -> dict[str, object]:
    """Return the JSON object of a text."""
    try:
        value = json.loads(text)
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise _no_entry(path)
    return value


def _absolute(path: str | Path) -> Path:
    try:
        return possible(Path(path).resolve())
    except (OSError, RuntimeError, ValueError) as error:
        raise _no_place(path, error) from None


def _no_place(path: str | Path, why: object) -> LedgerError:
    return LedgerError(f"a ledger cannot be made at {str(path)!r}: {why}")


def _create(totals: Totals, path: Path) -> None:
    """Make a ledger under another name and link it to ``path``, unless one is there by then."""
    from importlib.resources import files

    check_folder(path, "ledger")
    schema = files("dpselect.budget").joinpath("ledger.sql").read_text("utf-8").split("\n\n")
    try:
        with TemporaryDirectory(prefix=".ledger-", dir=path.parent) as folder:
            made = Path(folder) / "new"
            made.touch()
            with connected(made, begin="BEGIN IMMEDIATE") as connection:
                for statement in schema:
                    connection.execute(statement)
                connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
                connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
                row = totals.epsilon, totals.delta, totals.neighbours.value
                insert = "INSERT INTO totals VALUES (?, ?, ?, ?, hex(randomblob(16)))"
                connection.execute(insert, (*row, json.dumps(totals.terms())))
                connection.execute("COMMIT")
            with suppress(FileExistsError):
                os.link(made, path)
    except OSError as error:
        raise _no_place(path, error.strerror) from None


def _stated(connection: sqlite3.Connection, path: Path) -> list[tuple[Any, ...]]:
    """Return what a ledger states: totals, terms and identity.

    Raises:
        LedgerError: It is not a ledger, or one of another version.
    """
    application, version = (
        connection.execute(f"PRAGMA {name}").fetchone()[0]
        for name in ("application_id", "user_version")
    )
    if application != APPLICATION_ID:
        raise not_ours(path, "ledger")
    if version != SCHEMA_VERSION:
        raise LedgerError(
            f"the ledger {path} has schema version {version}, this dpselect reads version "
            f"{SCHEMA_VERSION}"
        )
    return connection.execute("SELECT * FROM totals").fetchall()


def _totals(stated: list[tuple[Any, ...]], path: Path) -> Totals:
    try:
        [(epsilon, delta, relation, terms, _)] = stated
        amounts = {"epsilon": epsilon, "delta": delta, "neighbours": Neighbours(relation)}
        return Totals.read(terms=json.loads(terms), **amounts)
    except (TypeError, ValueError, LookupError):
        raise LedgerError(f"the ledger {path} does not state its totals") from None
