"""Several releases of the same rows, counted in as few passes over them as can be.

polars is asked for the aggregates of all releases at once, of which it reads each source once.
DuckDB and Spark keep the columns that are counted, read once, while the releases last; whether
Spark does depends on its server.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from contextvars import copy_context
from dataclasses import replace
from queue import SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import narwhals as nw

from dpselect._optional import needed, replaced
from dpselect.tables.embedded import STEP
from dpselect.tables.engine import engine_of
from dpselect.tables.opening import check_columns, is_lazy, open_table, unreadable
from dpselect.tables.source import Source

if TYPE_CHECKING:
    import polars as pl

Out = TypeVar("Out")


class _Stopped(BaseException):
    """Ends a step whose answer nobody waits for any more."""


class _Step(Generic[Out]):
    """A step in a thread of its own, which runs only until its next query.

    Args:
        work: The step.
    """

    def __init__(self, work: Callable[[], Out]) -> None:
        self.query: pl.LazyFrame | None = None
        self.made: Callable[[], Out] | None = None
        self._replies: SimpleQueue[Callable[[], pl.DataFrame]] = SimpleQueue()
        self._turns: SimpleQueue[None] = SimpleQueue()
        Thread(target=copy_context().run, args=(self._run, work), daemon=True).start()
        self._turns.get()

    def answer(self, reply: Callable[[], pl.DataFrame]) -> None:
        """Go on with the answer, or its error, until the next query or the end."""
        self.query = None
        self._replies.put(reply)
        self._turns.get()

    def ask(self, query: pl.LazyFrame) -> pl.DataFrame:
        """Return the answer of a query, asked together with those of others."""
        self.query = query
        self._turns.put(None)
        return self._replies.get()()

    def _run(self, work: Callable[[], Out]) -> None:
        STEP.set(self)
        try:
            made = work()
            self.made = lambda: made
        except BaseException as error:  # noqa: BLE001 -- raised where it is waited for
            self.made = _raising(error)
        self._turns.put(None)


def in_rounds(works: Sequence[Callable[[], Out]]) -> list[Out]:
    """Return the results of steps, of which one runs at a time.

    The next queries of all steps are one round: polars answers them together.

    Raises:
        Exception: What the first of the steps that fail raises.
    """
    needed("polars", extra="standard")
    import polars as pl

    steps: list[_Step[Out]] = []
    try:
        steps += map(_Step, works)
        while asking := [one for one in steps if one.query is not None]:
            queries = [one.query for one in asking if one.query is not None]
            try:
                answers = map(_returning, pl.collect_all(queries, engine="streaming"))
                replies = list(answers)
            except Exception as error:  # noqa: BLE001 -- each step says what it means
                replies = [_raising(error)] * len(asking)
            for one, reply in zip(asking, replies, strict=True):
                one.answer(reply)
    finally:
        for one in steps:
            if one.query is not None:
                one.answer(_raising(_Stopped()))
    return [one.made() for one in steps if one.made is not None]


def _returning(value: Out) -> Callable[[], Out]:
    return lambda: value


def _raising(error: BaseException) -> Callable[[], Any]:
    def fail() -> Any:  # noqa: ANN401 -- it never returns
        raise error

    return fail


def is_of_polars(data: object) -> bool:
    """Return whether polars reads the rows: those of a file, or of a lazy frame of its own."""
    source = Source.of(data)
    frame = nw.from_native(source.frame, pass_through=True)
    lazy = isinstance(frame, nw.LazyFrame)
    return source.path is not None or (lazy and frame.implementation.is_polars())


@contextmanager
def kept(data: object, columns: Collection[str]) -> Iterator[object]:
    """Keep columns of the rows of another engine, which are read once, while the block runs.

    Raises:
        ColumnError: There is no such column.
        DataError: The rows cannot be read.
    """
    if not is_lazy(data):
        yield data
        return
    check_columns(data, plain=[*columns])
    rows = engine_of(open_table(data).lazy().select(*columns)).kept()
    held = replaced(rows.__enter__, lambda: unreadable(data))
    try:
        yield _as_read(data, held)
    finally:
        rows.__exit__(None, None, None)


def _as_read(data: object, kept: object) -> object:
    """Return rows that are kept, which are read as those of the data were."""
    return replace(data, frame=kept, where=()) if isinstance(data, Source) else kept
