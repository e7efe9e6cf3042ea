"""What a budget needs from the place where its entries are kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeAlias

from dpselect.budget.entry import Entry

Entries: TypeAlias = tuple[Entry, ...]


class Store(Protocol):
    """A list of entries that only grows."""

    def entries(self) -> Entries:
        """Return all entries in the order of their sequence numbers."""
        ...

    def append(self, decide: Callable[[Entries], Entry]) -> Entry:
        """Add the entry that ``decide`` makes of the entries so far, and return it.

        No other thread or process adds one in between. The entry is kept before this
        returns; if ``decide`` raises, nothing changes.
        """
        ...
