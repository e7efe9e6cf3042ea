"""Entries in an SQLite file that survives a crash and is shared by processes.

One spend is one transaction: it takes the write lock, reads, decides, inserts and commits.
SIGKILL at any moment leaves the file as it was before the transaction or after it, and the
next reader rolls back what was begun. A file system without working locks (some network
mounts) is no place for a ledger, nor is one without hard links: a new ledger gets its name
when it is complete.

Each entry holds the exact sums of all entries of its share and period up to it, so a spend
takes the same time however many there are, and a random token. A ledger has a random
identity. Whoever has it open compares both with what they saw last, so a file that was
replaced, emptied or restored from a copy is refused.

The answer of a release and its refund are rows of their own, written after the draw: a crash
in between loses the answer and the refund and never the spend. What was drawn of an answer
that takes longer to work out is kept meanwhile.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import fields, replace
from fractions import Fraction
from functools import partial
from itertools import product
from math import inf
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Self

from dpselect.budget import lists
from dpselect.budget.connection import check_folder, connected, not_ours
from dpselect.budget.entry import Entry, Question
from dpselect.budget.filter import Sums
from dpselect.budget.store import Decide, Entries, State, T
from dpselect.budget.totals import Totals
from dpselect.errors import LedgerError
from dpselect.neighbours import Neighbours
from dpselect.writing import strict

APPLICATION_ID = int.from_bytes(b"dpsl", "big")
SCHEMA_VERSION = 5

_APART = {"neighbours", "refunded", "answer", "release", "token"}
"""Fields of an entry that are not in its own row."""

_COLUMNS = tuple(one.name for one in fields(Entry) if one.name not in _APART)
_TEXTS = tuple(one.name for one in fields(Entry) if one.type in {str, "str"})

_TEXT = "{} TEXT NOT NULL DEFAULT ''"


def _only_growing(*tables: str) -> Iterator[str]:
    for table, action in product(tables, ("UPDATE", "DELETE")):
        yield f"""CREATE TRIGGER IF NOT EXISTS {table}_no_{action} BEFORE {action} ON {table}
        BEGIN SELECT RAISE(ABORT, 'a ledger only grows'); END"""


_ADDED = (
    """CREATE TABLE IF NOT EXISTS lists (
        sha256 TEXT PRIMARY KEY,
        json TEXT NOT NULL
    )""",
    """CREATE TABLE IF NOT EXISTS draws (
        sequence INTEGER PRIMARY KEY,
        token TEXT NOT NULL,
        answer TEXT NOT NULL
    )""",
    *_only_growing("lists", "draws"),
    # INSERT OR REPLACE deletes a row without the trigger for it.
    """CREATE TRIGGER IF NOT EXISTS lists_once BEFORE INSERT ON lists
    WHEN EXISTS (SELECT * FROM lists WHERE sha256 = NEW.sha256)
    BEGIN SELECT RAISE(IGNORE); END""",
    """CREATE TRIGGER IF NOT EXISTS draws_once BEFORE INSERT ON draws
    WHEN EXISTS (SELECT * FROM draws WHERE sequence = NEW.sequence)
        OR NEW.token IS NOT (SELECT token FROM entries WHERE sequence = NEW.sequence)
    BEGIN SELECT RAISE(ABORT, 'an entry is drawn once'); END""",
)
"""Tables that a ledger made before gets with the first row of one."""

_CREATE = (
    """CREATE TABLE totals (
        epsilon REAL NOT NULL CHECK (epsilon > 0),
        delta REAL NOT NULL CHECK (delta >= 0 AND delta < 1),
        neighbours TEXT NOT NULL,
        terms TEXT NOT NULL,
        identity TEXT NOT NULL DEFAULT (hex(randomblob(16)))
    )""",
    f"""CREATE TABLE entries (
        sequence INTEGER PRIMARY KEY,
        epsilon REAL NOT NULL CHECK (epsilon >= 0),
        delta REAL NOT NULL CHECK (delta >= 0 AND delta < 1),
        rho REAL NOT NULL CHECK (rho >= 0),
        question TEXT NOT NULL DEFAULT '{{}}',
        {", ".join(_TEXT.format(name) for name in _TEXTS if name != "token")},
        steps INTEGER NOT NULL DEFAULT 1 CHECK (typeof(steps) = 'integer' AND steps > 0),
        laplace_rounds INTEGER NOT NULL DEFAULT 0 CHECK (laplace_rounds >= 0),
        epsilons TEXT NOT NULL,
        deltas TEXT NOT NULL,
        rhos TEXT NOT NULL,
        token TEXT NOT NULL DEFAULT (hex(randomblob(16))),
        CHECK (typeof(epsilon) = 'real' AND typeof(delta) = 'real' AND typeof(rho) = 'real'),
        CHECK (typeof(laplace_rounds) = 'integer'),
        CHECK (delta > 0 OR (epsilon > 0 AND rho > 0))
    )""",
    """CREATE TABLE answers (
        sequence INTEGER PRIMARY KEY,
        token TEXT NOT NULL,
        answer TEXT NOT NULL,
        release TEXT
    )""",
    """CREATE TABLE refunds (
        number INTEGER PRIMARY KEY,
        sequence INTEGER NOT NULL UNIQUE,
        epsilon REAL NOT NULL CHECK (typeof(epsilon) = 'real' AND epsilon > 0),
        refunds TEXT NOT NULL,
        share TEXT NOT NULL DEFAULT '',
        period TEXT NOT NULL DEFAULT ''
    )""",
    "CREATE INDEX entries_of ON entries (period, share)",
    "CREATE INDEX refunds_of ON refunds (period, share)",
    "CREATE INDEX entries_like ON entries (key) WHERE key <> ''",
    *_only_growing("totals", "entries", "answers", "refunds"),
    # INSERT OR REPLACE deletes a row without the trigger for it.
    """CREATE TRIGGER totals_one_row BEFORE INSERT ON totals
    WHEN EXISTS (SELECT * FROM totals)
    BEGIN SELECT RAISE(ABORT, 'a ledger only grows'); END""",
    """CREATE TRIGGER entries_in_order BEFORE INSERT ON entries
    WHEN NEW.sequence IS NOT (SELECT coalesce(max(sequence), 0) + 1 FROM entries)
    BEGIN SELECT RAISE(ABORT, 'a ledger only grows'); END""",
    """CREATE TRIGGER answers_once BEFORE INSERT ON answers
    WHEN EXISTS (SELECT * FROM answers WHERE sequence = NEW.sequence)
        OR NEW.token IS NOT (SELECT token FROM entries WHERE sequence = NEW.sequence)
    BEGIN SELECT RAISE(ABORT, 'an entry has one answer'); END""",
    """CREATE TRIGGER refunds_in_order BEFORE INSERT ON refunds
    WHEN NEW.number IS NOT (SELECT coalesce(max(number), 0) + 1 FROM refunds)
        OR EXISTS (SELECT * FROM refunds WHERE sequence = NEW.sequence)
        OR NOT EXISTS (
            SELECT * FROM entries WHERE sequence = NEW.sequence AND epsilon >= NEW.epsilon
        )
    BEGIN SELECT RAISE(ABORT, 'a spend is refunded once'); END""",
    *_ADDED,
    f"PRAGMA application_id = {APPLICATION_ID}",
    f"PRAGMA user_version = {SCHEMA_VERSION}",
)
_SUMS = ("epsilons", "deltas", "rhos")
_INSERT = (
    f"INSERT INTO entries ({', '.join(_COLUMNS + _SUMS)}) "  # noqa: S608 -- names of ours
    f"VALUES ({', '.join('?' * len(_COLUMNS + _SUMS))})"
)
_MARK_OF = "SELECT token FROM entries WHERE sequence = ?"
_MARKS_FROM = "SELECT token FROM entries WHERE sequence >= ? ORDER BY sequence"
_ENTRIES = (
    f"SELECT {', '.join(f'entries.{column}' for column in _COLUMNS)}, "  # noqa: S608
    "entries.token, coalesce(answers.answer, {drawn}), release, "
    "coalesce(refunds.epsilon, 0.0) FROM entries "
    "LEFT JOIN answers USING (sequence) LEFT JOIN refunds USING (sequence) "
)
_DRAWN = "(SELECT answer FROM draws WHERE draws.sequence = entries.sequence)"
_IN_ORDER = "ORDER BY entries.sequence"
_AT = "WHERE entries.sequence = ?"
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


class Ledger:
    """A store in a file.

    Attributes:
        path: Absolute path of the file.
        totals: What the file says that it grants.
    """

    def __init__(self, path: Path, totals: Totals) -> None:
        self.path = path
        self.totals = totals
        self._identity: str | None = None
        self._seen: tuple[int, str] = (0, "")

    @classmethod
    def create_or_open(cls, path: str | Path, totals: Totals) -> Self:
        """Open the ledger at ``path``, or make one where there is no file.

        Raises:
            LedgerError: The file is not a ledger, is one for other totals or of another
                schema version, or cannot be opened.
        """
        ledger = cls(_absolute(path), totals)
        if not os.path.lexists(ledger.path):
            _create(totals, ledger.path)
        ledger.entries()
        return ledger

    @classmethod
    def open(cls, path: str | Path) -> Self:
        """Open the ledger at ``path`` with the totals that it states; never make a file.

        Raises:
            LedgerError: There is no ledger of this schema version at ``path``.
        """
        where = _absolute(path)
        if not where.exists():
            raise LedgerError(
                f"there is no ledger at {where}; make one first, by `dpselect budget FILE "
                "--create` or dpselect.Budget(..., path=...)"
            )
        with connected(where) as connection:
            ledger = cls(where, _stored_totals(connection, where)[0])
        ledger.entries()
        return ledger

    def entries(self) -> Entries:
        """Return all entries, and check that their sums are those of the last of each share.

        Raises:
            LedgerError: The file is gone, was replaced, emptied or restored, holds an
                invalid entry, or cannot be read.
        """
        # One snapshot for all that is read.
        with connected(self.path, begin="BEGIN") as connection:
            state = self._checked(connection)
            entries = tuple(self._entries(connection, _IN_ORDER))
            found = State.of(entries)
            for where in found.known:
                state.sums(*where)
        if found != state:
            raise LedgerError(f"the ledger {self.path} does not add up")
        return entries

    def look(self, at: Callable[[State], T]) -> T:
        """Return what a function makes of the state, as the last entries say it.

        Raises:
            LedgerError: As for ``entries``.
        """
        with connected(self.path, begin="BEGIN") as connection:
            return at(self._checked(connection))

    def append(self, decide: Decide) -> Entries:
        """Add the entries that ``decide`` makes of the state, on the disk, or none.

        Raises:
            LedgerError: The file is gone, was replaced, emptied or restored, or cannot be
                written.
        """
        with connected(self.path, begin="BEGIN IMMEDIATE") as connection:
            after = self._checked(connection).copy()
            made = decide(after)
            for entry, sums in made:
                row = [getattr(entry, column) for column in _COLUMNS]
                row[_COLUMNS.index("question")] = _written(connection, dict(entry.question))
                totals = [str(sums.epsilon + sums.refunded), str(sums.delta), str(sums.rho)]
                connection.execute(_INSERT, row + totals)
            first = after.number - len(made) + 1
            marks = [mark for (mark,) in connection.execute(_MARKS_FROM, (first,))]
            connection.execute("COMMIT")
        self._seen = max(self._seen, (after.number, marks[-1]))
        marked = zip(made, marks, strict=True)
        return tuple(replace(entry, token=mark) for (entry, _), mark in marked)

    def find(self, key: str, period: str) -> Entry | None:
        """Return the last entry of a key and a period that a release can be made of.

        Raises:
            LedgerError: As for ``entries``.
        """
        with connected(self.path, begin="BEGIN") as connection:
            self._checked(connection)
            found = next(self._entries(connection, _LIKE, key, period), None)
        return found if found is not None and lists.is_whole(found.release) else None

    def answer(
        self,
        entry: Entry,
        answer: Mapping[str, object],
        release: Mapping[str, object] | None = None,
        *,
        is_last: bool = True,
    ) -> None:
        """Add the answer of an entry, on the disk; one that is not the last is replaced by it.

        Raises:
            LedgerError: The ledger has another entry of this number or an answer of it, or
                the file is gone, was replaced, emptied or restored, or cannot be written.
        """
        with self._holding(entry) as (connection, found, _):
            row = [found.sequence, found.token, _written(connection, strict(answer))]
            if is_last:
                row.append(None if release is None else _written(connection, release))
            elif not _has_draws(connection):
                _add_tables(connection)
            table = "answers" if is_last else "draws"
            marks = ", ".join("?" * len(row))
            connection.execute(f"INSERT INTO {table} VALUES ({marks})", row)  # noqa: S608

    def refund(self, entry: Entry, epsilon: float) -> None:
        """Give back a part of an entry's epsilon, on the disk; errors as for ``answer``."""
        with self._holding(entry) as (connection, found, state):
            given = found.given_back(epsilon)
            refunds = state.sums(found.period, found.share).less(given).refunded
            row = found.sequence, given, str(refunds), found.share, found.period
            insert = "INSERT INTO refunds SELECT count(*) + 1, ?, ?, ?, ?, ? FROM refunds"
            connection.execute(insert, row)

    @contextmanager
    def _holding(self, entry: Entry) -> Iterator[tuple[sqlite3.Connection, Entry, State]]:
        """Write what belongs to an entry in one transaction, as it is kept."""
        with connected(self.path, begin="BEGIN IMMEDIATE") as connection:
            state = self._checked(connection)
            found = next(self._entries(connection, _AT, entry.sequence), None)
            if found is None or not found.is_record_of(entry):
                raise LedgerError(f"the ledger {self.path} does not hold the entry")
            yield connection, found, state
            connection.execute("COMMIT")

    def _entries(
        self, connection: sqlite3.Connection, which: str, *values: object
    ) -> Iterator[Entry]:
        """Yield entries, by the end of a query of them."""
        drawn = _DRAWN if _has_draws(connection) else "NULL"
        yield from map(
            self._entry, connection.execute(_ENTRIES.format(drawn=drawn) + which, values)
        )

    def _entry(self, row: tuple[object, ...]) -> Entry:
        found = dict(
            zip((*_COLUMNS, "token", "answer", "release", "refunded"), row, strict=True)
        )
        texts = [found[name] for name in _TEXTS]
        try:
            for name in ("question", "answer", "release"):
                plain = _mapping(found[name])
                found[name] = plain and Question(partial(lists.unfolded, plain, self._list))
        except ValueError:
            texts.append(None)
        amounts = [found[name] for name in ("epsilon", "delta", "rho", "refunded")]
        if not (
            all(isinstance(text, str) for text in texts)
            and all(isinstance(amount, float) and 0 <= amount < inf for amount in amounts)
            and all(isinstance(found[name], int) for name in ("laplace_rounds", "steps"))
        ):
            raise _no_entry(self.path)
        return Entry(**found, neighbours=self.totals.neighbours)  # type: ignore[arg-type]

    def _list(self, digest: str) -> str | None:
        """Return the JSON of a long list; of a ledger made before that of a file beside it."""
        with suppress(LedgerError), connected(self.path) as connection:
            asked = "SELECT json FROM lists WHERE sha256 = ?"
            for (text,) in connection.execute(asked, (digest,)):
                return str(text)
        with suppress(OSError, UnicodeDecodeError):
            beside = self.path.with_name(f"{self.path.name}.lists") / f"{digest}.json"
            return beside.read_text(encoding="utf-8")
        return None

    def _checked(self, connection: sqlite3.Connection) -> State:
        """Return the state of a file that is the one seen before, and remember it."""
        self._check_totals(connection)
        sequence, token = self._seen
        if sequence:
            found = connection.execute(_MARK_OF, (sequence,)).fetchone()
            if found != (token,):
                raise LedgerError(
                    f"the ledger {self.path} has lost spends: it was emptied or restored from "
                    "a copy"
                )

        # Without the ledger itself, which would then be deleted late.
        read = partial(_stored_sums, connection, self.path)
        last = connection.execute(_LAST).fetchone()
        if last is None:
            return State(read=read)
        sequence, token, period = last
        if not (isinstance(sequence, int) and isinstance(token, str)):
            raise _no_entry(self.path)
        self._seen = max(self._seen, (sequence, token))
        return State(sequence, str(period), read=read)

    def _check_totals(self, connection: sqlite3.Connection) -> None:
        stored, identity = _stored_totals(connection, self.path)
        for one in fields(Totals):
            name, says = one.name, getattr(stored, one.name)
            if says != (asked := getattr(self.totals, name)):
                raise LedgerError(
                    f"the ledger {self.path} is for {name} {says}, not {asked}; open it with "
                    "its own totals, or give another path"
                )
        if self._identity not in (None, identity):
            raise LedgerError(f"the ledger {self.path} was replaced by another one")
        self._identity = identity


def _stored_sums(connection: sqlite3.Connection, path: Path, period: str, share: str) -> Sums:
    found = connection.execute(_SUMS_OF, (period, share)).fetchone()
    if found is None:
        return Sums()
    try:
        epsilon, delta, rho, refunded = map(Fraction, found)
    except (TypeError, ValueError, ZeroDivisionError):
        raise _no_entry(path) from None
    return Sums(epsilon - refunded, delta, rho, refunded)


def _written(connection: sqlite3.Connection, value: Mapping[str, object]) -> str:
    """Return a plain value as JSON, and keep its long lists."""
    found: dict[str, str] = {}
    text = json.dumps(lists.folded(value, found))
    if found:
        _add_tables(connection)
        connection.executemany("INSERT INTO lists VALUES (?, ?)", found.items())
    return text


def _has_draws(connection: sqlite3.Connection) -> bool:
    tables = connection.execute("SELECT * FROM sqlite_master WHERE name = 'draws'")
    return tables.fetchone() is not None


def _add_tables(connection: sqlite3.Connection) -> None:
    for statement in _ADDED:
        connection.execute(statement)


def _no_entry(path: Path) -> LedgerError:
    return LedgerError(f"the ledger {path} holds an entry that is not one")


def _mapping(text: object) -> dict[str, object] | None:
    """Return a JSON object, or None for no text; ValueError for anything else."""
    if text is None:
        return None
    value = json.loads(text) if isinstance(text, str) else None
    if not isinstance(value, dict):
        raise ValueError("not a JSON object")  # noqa: TRY004 -- as json.loads does
    return value


def _absolute(path: str | Path) -> Path:
    try:
        return Path(path).resolve()
    except (OSError, RuntimeError, ValueError) as error:
        raise _no_place(path, error) from None


def _no_place(path: str | Path, why: object) -> LedgerError:
    return LedgerError(f"a ledger cannot be made at {str(path)!r}: {why}")


def _pragma(connection: sqlite3.Connection, name: str) -> int:
    (value,) = connection.execute(f"PRAGMA {name}").fetchone()
    return int(value)


def _create(totals: Totals, path: Path) -> None:
    """Make a ledger under another name and link it to ``path``, unless one is there by then."""
    check_folder(path, "ledger")
    try:
        with TemporaryDirectory(prefix=".ledger-", dir=path.parent) as folder:
            made = Path(folder) / "new"
            made.touch()
            with connected(made) as connection:
                connection.execute("BEGIN IMMEDIATE")
                for statement in _CREATE:
                    connection.execute(statement)
                amounts = totals.epsilon, totals.delta, totals.neighbours.value
                connection.execute(
                    "INSERT INTO totals (epsilon, delta, neighbours, terms) "
                    "VALUES (?, ?, ?, ?)",
                    (*amounts, json.dumps(totals.terms())),
                )
                connection.execute("COMMIT")
            with suppress(FileExistsError):
                os.link(made, path)
    except OSError as error:
        raise _no_place(path, error.strerror) from None


def _stored_totals(connection: sqlite3.Connection, path: Path) -> tuple[Totals, str]:
    if _pragma(connection, "application_id") != APPLICATION_ID:
        raise not_ours(path, "ledger")
    version = _pragma(connection, "user_version")
    if version != SCHEMA_VERSION:
        raise LedgerError(
            f"the ledger {path} has schema version {version}, this dpselect reads version "
            f"{SCHEMA_VERSION}"
        )
    try:
        (row,) = connection.execute("SELECT * FROM totals")
        epsilon, delta, relation, terms, identity = row
        amounts = {"epsilon": epsilon, "delta": delta, "neighbours": Neighbours(relation)}
        totals = Totals.read(terms=json.loads(terms), **amounts)
    except (TypeError, ValueError, LookupError):
        raise LedgerError(f"the ledger {path} does not state its totals") from None
    return totals, str(identity)
