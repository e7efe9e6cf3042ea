"""Passes over records that an engine holds: what leaves it in each, and how many are done."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from dpselect._parallel import Progress

MOST_SUMS = 200
"""Sums of one query; more go in several."""


@dataclass(frozen=True, slots=True)
class Pass:
    """One count of all records; public.

    Attributes:
        rows: The most rows that leave the engine; in words where only the records bound them,
            such as ``"two for each edge"``.
        sums: Of a wide table: how many sums a row has, one for each value that is counted.
        cells: Of a wide table: the most sums that are not 0. Spark returns a row for each.
    """

    rows: int | str
    sums: int = 0
    cells: int = 0

    def queries(self, *, spark: bool) -> list[int | str]:
        """Return the most rows of each query that it takes."""
        if self.sums and spark:
            return [self.cells + 1]  # and one for the records that are not counted
        return [self.rows] * max(1, -(-self.sums // MOST_SUMS))


@dataclass(slots=True)
class _Watch:
    """Who watches, and how many queries are done of all."""

    show: Progress
    done: int = 0
    whole: int = 0


_WATCH: ContextVar[_Watch | None] = ContextVar("watch", default=None)


@contextmanager
def watching(show: Progress) -> Iterator[None]:
    """Tell how far the counts of releases are that an engine makes in the block.

    Args:
        show: Called before and after each query of a release, with the number done and the
            number of all: at most so many, since a tree can stay small.
    """
    before = _WATCH.set(_Watch(show))
    try:
        yield
    finally:
        _WATCH.reset(before)


def expect(passes: Sequence[Pass], *, spark: bool = False) -> None:
    """Tell a watcher which passes follow."""
    watch = _WATCH.get()
    if watch is not None:
        watch.done, watch.whole = 0, sum(len(one.queries(spark=spark)) for one in passes)


@contextmanager
def query() -> Iterator[None]:
    """Tell a watcher of the query of the block, if it was to be expected."""
    watch = _WATCH.get()
    if watch is None or watch.done == watch.whole:
        yield
        return
    watch.show(watch.done, watch.whole)
    yield
    watch.done += 1
    watch.show(watch.done, watch.whole)
