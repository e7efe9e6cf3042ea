"""Stores of a budget's entries: the protocol, and the one in memory."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from threading import Lock
from typing import Protocol, TypeAlias

from dpselect.budget.entry import Entry
from dpselect.budget.sums import Sums
from dpselect.errors import BudgetError, LedgerError

Entries: TypeAlias = tuple[Entry, ...]


class Store(Protocol):
    """A list of entries that only grows."""

    def entries(self) -> Entries:
        """Return all entries in the order of their sequence numbers."""
        ...

    def sums(self) -> Sums:
        """Return the sums of all entries, in constant time."""
        ...

    def append(self, decide: Callable[[Sums], Entry]) -> Entry:
        """Add the entry that ``decide`` makes of the sums so far, and return it.

        No other thread or process adds one in between. The entry is kept before this
        returns; if ``decide`` raises, nothing changes.
        """
        ...

    def answer(self, entry: Entry, answer: Mapping[str, object]) -> None:
        """Add the answer of an entry, once."""
        ...

    def refund(self, entry: Entry, epsilon: float) -> None:
        """Give back a part of an entry's epsilon, once."""
        ...


class Memory:
    """A store for one process; safe between its threads.

    A forked copy raises: two copies could spend the same epsilon.
    """

    def __init__(self) -> None:
        self._entries: list[Entry] = []
        self._sums = Sums()
        self._lock = Lock()
        self._process = os.getpid()

    def entries(self) -> Entries:
        """Return all entries."""
        self._check_process()
        return tuple(self._entries)

    def sums(self) -> Sums:
        """Return the sums of all entries."""
        self._check_process()
        return self._sums

    def append(self, decide: Callable[[Sums], Entry]) -> Entry:
        """Add the entry that ``decide`` makes of the sums so far."""
        self._check_process()
        with self._lock:
            entry = decide(self._sums)
            self._entries.append(entry)
            self._sums = self._sums.plus(entry)
        return entry

    def answer(self, entry: Entry, answer: Mapping[str, object]) -> None:
        """Add the answer of an entry.

        Raises:
            LedgerError: This is no entry of the budget, or it has an answer.
        """
        self._check_process()
        with self._lock:
            place, found = self._found(entry)
            if found.answer is not None:
                raise LedgerError("an entry has one answer")
            self._entries[place] = replace(found, answer=dict(answer))

    def refund(self, entry: Entry, epsilon: float) -> None:
        """Give back a part of an entry's epsilon.

        Raises:
            LedgerError: This is no entry of the budget, or it had a refund.
        """
        self._check_process()
        with self._lock:
            place, found = self._found(entry)
            if found.refunded:
                raise LedgerError("an entry is refunded once")
            self._entries[place] = replace(found, refunded=epsilon)
            self._sums = self._sums.less(epsilon)

    def _found(self, entry: Entry) -> tuple[int, Entry]:
        """Return the place of an entry, and the entry as it is now."""
        place = entry.sequence - 1
        for found in self._entries[place : place + 1]:
            if (found.time, found.mechanism) == (entry.time, entry.mechanism):
                return place, found
        raise LedgerError("the budget does not hold the entry")

    def _check_process(self) -> None:
        if os.getpid() != self._process:
            raise BudgetError(
                "a budget in memory belongs to the process that made it; give the budget a "
                "path= to share it between processes"
            )
