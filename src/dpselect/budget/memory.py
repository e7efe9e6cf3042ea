"""Entries that live as long as the process that made them."""

from __future__ import annotations

import os
from collections.abc import Callable
from threading import Lock

from dpselect.budget.entry import Entry
from dpselect.budget.store import Entries
from dpselect.errors import BudgetError


class Memory:
    """A store for one process; safe between its threads.

    A copy in a second process would let both spend the same epsilon, so a copy refuses.
    """

    def __init__(self) -> None:
        self._entries: list[Entry] = []
        self._lock = Lock()
        self._process = os.getpid()

    def entries(self) -> Entries:
        """Return all entries."""
        self._stay_home()
        return tuple(self._entries)

    def append(self, decide: Callable[[Entries], Entry]) -> Entry:
        """Add the entry that ``decide`` makes of the entries so far."""
        self._stay_home()
        with self._lock:
            entry = decide(tuple(self._entries))
            self._entries.append(entry)
        return entry

    def _stay_home(self) -> None:
        if os.getpid() != self._process:
            raise BudgetError(
                "a budget in memory belongs to the process that made it; give the budget a "
                "path= to share it between processes"
            )
