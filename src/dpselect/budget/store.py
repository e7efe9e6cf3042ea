"""Stores of a budget's entries: what spends are decided on, and the store in memory."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import count
from threading import Lock
from typing import Self, TypeAlias, TypeVar

from dpselect.budget.entry import Entry, Question
from dpselect.budget.filter import Sums
from dpselect.errors import BudgetError, LedgerError
from dpselect.writing import strict

Entries: TypeAlias = tuple[Entry, ...]

T = TypeVar("T")

_NUMBERS = count()
"""Numbers of the stores in memory of a process, which entries of theirs state."""


def _nothing(_period: str, _share: str) -> Sums:
    return Sums()


@dataclass(slots=True)
class State:
    """State of a store, read in constant time.

    Attributes:
        number: How many entries there are.
        period: The last period that was charged.
        known: Sums by period and share, as far as they were asked for.
        read: Returns those that are not known.
    """

    number: int = 0
    period: str = ""
    known: dict[tuple[str, str], Sums] = field(default_factory=dict)
    read: Callable[[str, str], Sums] = field(default=_nothing, compare=False)

    @classmethod
    def of(cls, entries: Iterable[Entry]) -> Self:
        """Return the state of a store that holds these."""
        state = cls()
        for entry in entries:
            state.add(entry, state.sums(entry.period, entry.share).plus(entry))
        return state

    def sums(self, period: str, share: str) -> Sums:
        """Return the sums that a share paid in a period."""
        where = period, share
        if where not in self.known:
            self.known[where] = self.read(*where)
        return self.known[where]

    def add(self, entry: Entry, sums: Sums) -> None:
        """Count an entry, after which the sums of its share are these."""
        self.known[entry.period, entry.share] = sums
        self.number, self.period = entry.sequence, max(self.period, entry.period)

    def copy(self) -> State:
        """Return a state of which what is added is not counted here."""
        return replace(self, known=dict(self.known))


Decide: TypeAlias = Callable[[State], list[tuple[Entry, Sums]]]
"""Makes entries of a state and adds them to it; with each the sums of its share after it."""


class Memory:
    """A store for one process; safe between its threads.

    A forked copy raises: two copies could spend the same epsilon.
    """

    def __init__(self) -> None:
        self._entries: list[Entry] = []
        self._drawn: set[int] = set()
        self._state = State()
        self._lock = Lock()
        self._process, self._token = os.getpid(), f"memory {next(_NUMBERS)}"

    def entries(self) -> Entries:
        """Return all entries."""
        self._check_process()
        return tuple(self._entries)

    def look(self, at: Callable[[State], T]) -> T:
        """Return what a function makes of the state."""
        self._check_process()
        with self._lock:
            return at(self._state)

    def append(self, decide: Decide) -> Entries:
        """Add the entries that ``decide`` makes of the state."""
        self._check_process()
        with self._lock:
            after = self._state.copy()
            entries = tuple(replace(entry, token=self._token) for entry, _ in decide(after))
            self._entries += entries
            self._state = after
        return entries

    def find(self, key: str, period: str) -> Entry | None:
        """Return the last entry of a key and a period that a release can be made of."""
        found = (
            entry
            for entry in reversed(self.entries())
            if (entry.key, entry.period) == (key, period) and entry.release is not None
        )
        return next(found, None)

    def answer(
        self,
        entry: Entry,
        answer: Mapping[str, object],
        release: Mapping[str, object] | None = None,
        *,
        is_last: bool = True,
    ) -> None:
        """Add the answer of an entry; one that is not the last is replaced by it.

        Raises:
            LedgerError: This is no entry of the budget, or it has its answer.
        """
        self._check_process()
        with self._lock:
            place, found = self._found(entry)
            if found.answer is not None and place not in self._drawn:
                raise LedgerError("an entry has one answer")
            self._drawn.discard(place) if is_last else self._drawn.add(place)
            whole = Question(partial(strict, answer))
            self._entries[place] = replace(found, answer=whole, release=release)

    def refund(self, entry: Entry, epsilon: float) -> None:
        """Give back a part of an entry's epsilon.

        Raises:
            LedgerError: This is no entry of the budget, or it had a refund.
            ParameterError: It is more than was spent.
        """
        self._check_process()
        with self._lock:
            place, found = self._found(entry)
            if found.refunded:
                raise LedgerError("an entry is refunded once")
            given = found.given_back(epsilon)
            self._entries[place] = replace(found, refunded=given)
            where = found.period, found.share
            self._state.known[where] = self._state.known[where].less(given)

    def _found(self, entry: Entry) -> tuple[int, Entry]:
        """Return the place of an entry, and the entry as it is now."""
        place = entry.sequence - 1
        for found in self._entries[place : place + 1]:
            if found.is_record_of(entry):
                return place, found
        raise LedgerError("the budget does not hold the entry")

    def _check_process(self) -> None:
        if os.getpid() != self._process:
            raise BudgetError(
                "a budget in memory belongs to the process that made it; give the budget a "
                "path= to share it between processes"
            )
