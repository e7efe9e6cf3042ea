"""Passes over records that an engine holds: their size and their progress."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from importlib.util import find_spec
from typing import NamedTuple

from dpselect._parallel import Progress

MOST_SUMS = 200
"""Sums of one query; more go in several."""

BYTES_A_ROW = 130
"""Memory of a collected row, with what is drawn from it: measured on 4 million degrees."""

BYTES_IN_PROCESS, BYTES_AS_OBJECT = 60, 300
"""More, where the engine groups in the same process, and where Spark has no Arrow and makes an
object of each row."""

BYTES_A_SUM = 16
"""Memory of a sum in a wide row: the engine's and ours."""

START = 250e6
"""Bytes of a process that has read nothing, about: 110 to 370 million by what it imports."""


@dataclass(frozen=True, slots=True)
class Pass:
    """One count of all records; public.

    Attributes:
        rows: The most rows that leave the engine; in words where only the records bound them,
            such as ``"two for each edge"``.
        sums: Number of sums in a row of a wide table, one for each value that is counted.
        cells: Largest number of them that are not 0, for each of which Spark returns a row.
        bytes_a_row: Memory of the driver for each row.
    """

    rows: int | str
    sums: int = 0
    cells: int = 0
    bytes_a_row: int = BYTES_A_ROW

    def queries(self, *, spark: bool) -> list[int | str]:
        """Return the most rows of each query that it takes."""
        if self.sums and spark:
            return [self.cells + 1]  # and one for the records that are not counted
        return [self.rows] * max(1, -(-self.sums // MOST_SUMS))


class Load(NamedTuple):
    """What counting takes; public."""

    passes: int
    """Queries over all records, at most."""

    rows: tuple[int | str, ...]
    """The most rows that leave the engine in each; in words where the records bound them."""

    driver_bytes: int
    """Memory of the process that draws, about, without rows that are stated in words."""


def load(passes: Sequence[Pass], *, spark: bool = False) -> Load:
    """Return what the passes of a plan take where an engine holds the records.

    Args:
        passes: Those of a ``dpselect.Plan``.
        spark: Whether that engine is Spark, which counts some tables in another way.

    Examples:
        >>> import dpselect as dp
        >>> median = dp.Percentiles(
        ...     p=50, candidates=range(21), epsilon=1.0, neighbours="add-remove"
        ... )
        >>> load(median.plan.passes)[:2]
        (1, (44,))
    """
    rows = tuple(most for one in passes for most in one.queries(spark=spark))
    largest = max((_bytes(one, spark=spark) for one in passes), default=0)
    return Load(len(rows), rows, int(START + largest))


def of_run(queries: Sequence[Sequence[Pass]], *, kept: bool, spark: bool = False) -> int:
    """Return how often a run reads the records, at most.

    Args:
        queries: The passes of each query.
        kept: Whether the engine keeps the columns that several queries count, as DuckDB and
            Spark do, and polars does not: it answers the next pass of all at once.
        spark: Whether that engine is Spark.
    """
    each = [load(one, spark=spark).passes for one in queries]
    return min(max(each), 1) if kept and len(each) > 1 else max(each)


def _bytes(one: Pass, *, spark: bool) -> int:
    if not isinstance(one.rows, int):
        return 0
    objects = BYTES_AS_OBJECT * (find_spec("pyarrow") is None)
    each = one.bytes_a_row + (objects if spark else BYTES_IN_PROCESS)
    if spark and one.sums:
        return one.cells * each + one.rows * one.sums * BYTES_A_SUM
    return one.rows * max(each, one.sums * BYTES_A_SUM)


@dataclass(slots=True)
class _Watch:
    """Progress callback and counters."""

    show: Progress
    done: int = 0
    whole: int = 0


_WATCH: ContextVar[_Watch | None] = ContextVar("watch", default=None)


@contextmanager
def watching(show: Progress) -> Iterator[None]:
    """Report progress of engine queries inside the block.

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
    """Report which passes follow."""
    watch = _WATCH.get()
    if watch is not None:
        watch.done, watch.whole = 0, sum(len(one.queries(spark=spark)) for one in passes)


@contextmanager
def query() -> Iterator[None]:
    """Report the query of the block, if it was expected."""
    watch = _WATCH.get()
    if watch is None or watch.done == watch.whole:
        yield
        return
    watch.show(watch.done, watch.whole)
    yield
    watch.done += 1
    watch.show(watch.done, watch.whole)
