"""Stores of a budget's entries: what spends are decided on, and the store in memory."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from itertools import count
from threading import Lock
from typing import NamedTuple, NoReturn, Self, TypeAlias, TypeVar, Unpack

from dpselect.budget.entry import Entry, Kept, Question
from dpselect.budget.totals import Sums
from dpselect.errors import BudgetError, LedgerError
from dpselect.writing import readable

Entries: TypeAlias = tuple[Entry, ...]

T = TypeVar("T")

_NUMBERS = count()
"""Numbers of the stores in memory of a process, which entries of theirs state."""


class State(NamedTuple):
    """State of a store, read in constant time."""

    number: int
    """How many entries there are."""

    period: str
    """The last period that was charged; empty before any was."""

    sums: Callable[[str, str], Sums]
    """Returns the sums that a share paid in a period."""


Decide: TypeAlias = Callable[[State], list[tuple[Entry, Sums]]]
"""Makes entries of a state, not yet numbered; with each the sums of its share after it."""


def sums_of(entries: Iterable[Entry]) -> dict[tuple[str, str], Sums]:
    """Return the sums of entries by period and share."""
    found: dict[tuple[str, str], Sums] = {}
    for entry in entries:
        where = entry.period, entry.share
        found[where] = found.get(where, Sums()).plus(entry)
    return found


class PaidOnce:
    """What is secret, or spent from, in memory: one process has it, and it has no copies.

    Threads may share it; a copy of it is the object itself.

    Args:
        kind: What it is, in errors.
        danger: What two copies of it could do.
    """

    def __init__(self, kind: str, danger: str = "each answer what was paid for once") -> None:
        self._words, self._lock, self._process = (kind, danger), Lock(), os.getpid()

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Keep other threads out of the block; other processes are refused."""
        # Asked before the lock is taken, which a thread may have held as the process forked.
        if os.getpid() != self._process:
            raise self._refusal("belongs to the process that made it")
        with self._lock:
            yield

    def _refusal(self, said: str) -> BudgetError:
        kind, danger = self._words
        return BudgetError(f"a {kind} {said}: two copies could {danger}")

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, _memo: dict[int, object]) -> Self:
        return self

    def __reduce__(self) -> NoReturn:
        raise self._refusal("cannot be pickled")


class Memory(PaidOnce):
    """A store for one process; safe between its threads."""

    def __init__(self) -> None:
        super().__init__("budget in memory", "spend the same epsilon; give the budget a path=")
        self._entries: list[Entry] = []
        self._drawn: set[int] = set()
        self._sums: dict[tuple[str, str], Sums] = {}
        self._token = f"memory {next(_NUMBERS)}"

    def _state(self) -> State:
        period = max((period for period, _ in self._sums), default="")
        return State(len(self._entries), period, lambda *at: self._sums.get(at, Sums()))

    def entries(self) -> Entries:
        """Return all entries."""
        with self._alone():
            return tuple(self._entries)

    def look(self, at: Callable[[State], T]) -> T:
        """Return what a function makes of the state."""
        with self._alone():
            return at(self._state())

    def append(self, decide: Decide) -> Entries:
        """Add the entries that ``decide`` makes of the state."""
        with self._alone():
            before = len(self._entries)
            for entry, sums in decide(self._state()):
                number = len(self._entries) + 1
                self._entries.append(replace(entry, sequence=number, token=self._token))
                self._sums[entry.period, entry.share] = sums
            return tuple(self._entries[before:])

    def find(self, key: str, period: str) -> Entry | None:
        """Return the last entry of a key and a period that a release can be made of."""
        found = (
            entry
            for entry in reversed(self.entries())
            if (entry.key, entry.period) == (key, period) and entry.release is not None
        )
        return next(found, None)

    def answer(self, entry: Entry, answer: Mapping[str, object], **kept: Unpack[Kept]) -> None:
        """Add the answer of an entry; one that is not the last is replaced by it.

        Raises:
            LedgerError: This is no entry of the budget, or it has its answer.
        """
        with self._alone():
            found = self._found(entry)
            if found.answer is not None and found.sequence not in self._drawn:
                raise LedgerError("an entry has one answer")
            is_last = kept.get("is_last", True)
            (self._drawn.discard if is_last else self._drawn.add)(found.sequence)
            self._entries[found.sequence - 1] = replace(
                found,
                answer=Question(partial(readable, answer)),
                shown=kept.get("shown"),
                release=kept.get("release"),
            )

    def refund(self, entry: Entry, epsilon: float) -> None:
        """Give back a part of an entry's epsilon.

        Raises:
            LedgerError: This is no entry of the budget, or it had a refund.
            ParameterError: It is more than was spent.
        """
        with self._alone():
            found = self._found(entry)
            if found.refunded:
                raise LedgerError("an entry is refunded once")
            given = found.given_back(epsilon)
            self._entries[found.sequence - 1] = replace(found, refunded=given)
            where = found.period, found.share
            self._sums[where] = self._sums[where].less(given)

    def _found(self, entry: Entry) -> Entry:
        """Return an entry as it is now."""
        for found in self._entries[entry.sequence - 1 : entry.sequence]:
            if found.token == entry.token:
                return found
        raise LedgerError("the budget does not hold the entry")
